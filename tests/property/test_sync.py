"""Devices that exchange their segments in any order hold the same: rows, history, ledger, one value of a key."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.devices import OPERATIONS, Device, check_keys, everything, same_time, seeded

# (device, what, seed): an operation, or an exchange through the shared folder.
STEPS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.one_of(st.sampled_from(OPERATIONS), st.sampled_from(["export", "import"])),
        st.integers(0, 1 << 20),
    ),
    min_size=5,
    max_size=60,
)


@pytest.mark.parametrize("count", [2, 3])
@given(steps=STEPS, skew=st.integers(-5_000, 5_000))
def test_stores_that_have_exchanged_all_segments_are_equal(count, steps, skew):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        devices = [Device(folder / f"{i}.db", f"d{i}", skew_seconds=skew * i) for i in range(count)]
        try:
            live(devices, folder / "shared", steps)
            for one in devices:
                one.memory.export_to("segments", folder / "shared")
            for one in reversed(devices):
                report = one.memory.import_from("segments", folder / "shared")
                assert not report.rejected
            same_time(devices)
            first = everything(devices[0].memory)
            for one in devices[1:]:
                assert everything(one.memory) == first
            for one in devices:
                assert one.memory.verify() == []
                check_keys(one.memory)
                # What was taken in is what a replay of the ledger gives, and nothing is left to say, except that what
                # another device purged is taken out of the files of this one.
                rewritten = one.memory.export_to("segments", folder / "shared").new
                assert rewritten == 0 or any(other.purged for other in devices)
                assert one.memory.export_to("segments", folder / "shared").new == 0
            devices[0].memory.rebuild()
            assert everything(devices[0].memory) == first
        finally:
            for one in devices:
                one.close()


def live(devices, shared, steps):
    for who, what, seed in steps:
        one = devices[who % len(devices)]
        if what == "export":
            one.memory.export_to("segments", shared)
        elif what == "import":
            if shared.is_dir():
                one.memory.import_from("segments", shared)
        else:
            one.act(what, seeded(seed))
