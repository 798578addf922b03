"""A store as JSONL, whatever its life was: export, import, export is byte-identical, and the same is believed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.devices import OPERATIONS, Device, everything, seeded


@given(st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 1 << 20)), min_size=3, max_size=60))
def test_out_in_and_out_again_is_byte_identical(steps):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, two = (Device(folder / f"{i}.db", "d") for i in range(2))
        try:
            for what, seed in steps:
                one.act(what, seeded(seed))
            one.memory.export_to("jsonl", folder / "a.jsonl")
            report = two.memory.import_from("jsonl", folder / "a.jsonl", trust=True)
            two.memory.export_to("jsonl", folder / "b.jsonl")
            assert not report.rejected
            assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes()
            two.clock.set(one.clock.now())
            told, taken = everything(one.memory), everything(two.memory)
            for scope in told["scopes"].values():
                scope.pop("conflicts")  # the review list is the work of background checks, and no part of the ledger
            for scope in taken["scopes"].values():
                scope.pop("conflicts")
            assert told == taken
            assert two.memory.import_from("jsonl", folder / "a.jsonl", trust=True).new == 0
            assert two.memory.verify() == []
        finally:
            one.close()
            two.close()
