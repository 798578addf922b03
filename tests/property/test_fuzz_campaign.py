"""The campaign of `make fuzz` (tests/fuzz.py), a few inputs of what needs no process of its own: handled, and the same when asked again."""

from __future__ import annotations

import signal

import pytest

from tests.fuzz import KINDS, block
from tests.fuzz_inside import KINDS as INSIDE


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="inputs are timed by SIGALRM")
@pytest.mark.parametrize("kind", ["dates", "lines", "queries", "readers", "texts"])
def test_inputs_of_a_number_are_the_same_and_handled(kind, tmp_path):
    count = 200 if kind == "lines" else 40  # a dry run takes one of twenty bent lines, as the import does
    once, again = (block((kind, KINDS[kind][1] + first, KINDS[kind][1] + count, tmp_path)) for first in (0, 20))
    assert once["unhandled"] == again["unhandled"] == []
    assert (once["inputs"], again["inputs"]) == (count, count - 20) and once["taken"] >= again["taken"] > 0


def test_the_whole_campaign_is_a_million_and_no_kind_is_left_to_a_few():
    assert sum(share for _, _, share in INSIDE.values()) == 1_000_000
    assert min(share for _, _, share in INSIDE.values()) >= 20_000
    assert all(KINDS[name][2] == 10_000 for name in ("cli", "http", "socket", "stdio"))
