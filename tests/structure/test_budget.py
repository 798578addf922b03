"""The budget only falls: no package grows beyond its limit, and a limit follows what is measured down."""

from __future__ import annotations

import pytest

from tests.structure import budget


@pytest.fixture(scope="module")
def measured():
    return budget.measure()


def test_nothing_is_above_its_limit(measured):
    over = budget.above(measured, budget.read())

    assert over == [], "delete something; a limit in tests/structure/budget.json is raised by hand, with an ADR"


def test_no_limit_is_far_above_what_is_measured(measured):
    loose = budget.below(measured, budget.read())

    assert loose == [], "well done: `make budget` lowers the limits, commit tests/structure/budget.json"


def test_limits_are_lowered_and_never_raised():
    limits = {"text": {"lines": 1_000, "modules": 10}, "gone": {"lines": 5}, "whole": {"commands": 80}}
    found = {"text": {"lines": 900, "modules": 11}, "new": {"lines": 1}, "whole": {"commands": 80}}

    assert budget.lowered(found, limits) == {"text": {"lines": 900, "modules": 10}, "whole": {"commands": 80}}
    assert budget.above(found, limits) == ["text: 11 modules, and the limit is 10", "new: 1 lines, and the limit is 0"]
    assert budget.below(found, limits) == [
        "text: the limit of 1,000 lines is far above 900", "gone: the limit of 5 lines is far above 0"
    ]  # fmt: skip


def test_a_measure_may_lie_a_little_below_its_limit():
    limits = {"text": {"lines": 5_000, "tokens": 900, "patterns": 40}}

    assert budget.below({"text": {"lines": 4_900, "tokens": 800, "patterns": 38}}, limits) == []
    assert len(budget.below({"text": {"lines": 4_899, "tokens": 799, "patterns": 37}}, limits)) == 3


def test_docstrings_and_comments_are_no_tokens_of_code(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(
        '"""Docs."""\n# Why.\n\ndef f(x):\n    """Docs\n\n    more."""\n    return f"{x + 1} {x!r}" "b"\n'
    )

    # def f ( x ) :  and  return, two strings
    assert budget.tokens(module) == 9
