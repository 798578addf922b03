"""Times as people write them: none is read as another one, and what could be two is refused."""

from __future__ import annotations

import pytest

from limpet.model.clock import format_time
from limpet.model.errors import BadInput
from limpet.model.times import parse_time

NOW = parse_time("2026-11-24T18:59:00Z", now=0)  # a Tuesday


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2026-03", "2026-03-01"),
        ("2026-3-7", "2026-03-07"),
        ("March 2026", "2026-03-01"),
        ("01.03.2026", "2026-03-01"),
        ("1.3.2026", "2026-03-01"),
        ("13.4.2026", "2026-04-13"),
        ("25/12/2025", "2025-12-25"),
        ("7/7/2026", "2026-07-07"),
        ("today", "2026-11-24"),
        ("Yesterday", "2026-11-23"),
        ("tomorrow", "2026-11-25"),
        ("this week", "2026-11-23"),
        ("this month", "2026-11-01"),
        ("this year", "2026-01-01"),
        ("monday", "2026-11-23"),
    ],
)
def test_a_date_means_its_first_instant(said, meant):
    assert format_time(parse_time(said, now=NOW)) == f"{meant}T00:00:00Z"


@pytest.mark.parametrize(
    "said",
    [
        "2026-13",
        "2026-13-01",
        "2026-02-30",
        "31.02.2026",
        "01/03/2026",
        "Q1 2026",
        "1/2/26",
        "01-02-2026",
        "1/2/2026 10:00",
        "5/6",
        "at 5",
        "-1",
        "5th",
        "a",
        "5 6",
        "2026",
        1_767_225_600,
        1_767_225_600_000,
    ],
)
def test_what_is_no_date_or_two_is_refused(said):
    with pytest.raises(BadInput):
        parse_time(said, now=NOW)


@pytest.mark.parametrize(
    ("said", "meant"),
    [("at 5pm", "24T17:00"), ("10:30", "24T10:30"), ("2h", "24T16:59"), ("-1 day", "23T18:59")],
)
def test_a_number_with_what_it_counts_is_a_time(said, meant):
    assert format_time(parse_time(said, now=NOW)) == f"2026-11-{meant}:00Z"


def test_what_is_two_dates_is_named():
    with pytest.raises(BadInput) as raised:
        parse_time("01/03/2026", now=NOW)
    assert "2026-01-03" in str(raised.value.hint) and "2026-03-01" in str(raised.value.hint)


def test_a_date_with_dots_has_its_day_first_with_a_time_too():
    assert format_time(parse_time("1.2.2026 10:00", now=NOW)) == "2026-02-01T10:00:00Z"


# -- a clock that is wrong


@pytest.mark.parametrize("days", [-365, -0.01])
@pytest.mark.parametrize("how", ["remember", "batch", "correct"])
def test_a_value_stored_by_a_clock_that_is_behind_stays_the_newest(memory, clock, how, days):
    """And the receipt says so: neither then nor when the clock is right again does an older value come back."""
    old = memory.remember("port 8080", key="api.port")
    clock.advance(days=days)
    if how == "correct":
        new = memory.correct(old.id, "port 9090")
    elif how == "batch":
        (new,) = memory.remember_batch([{"content": "port 9090", "key": "api.port"}])
    else:
        new = memory.remember("port 9090", key="api.port")
        assert "the clock says" in new.reason and "it holds until" not in new.reason

    for _ in range(2):
        assert memory.fact("api.port").value == "port 9090"
        assert memory.get(old.id).superseded_by == new.id and memory.get(new.id).valid_to is None
        clock.advance(days=-days + 10)
    memory.rebuild()
    assert memory.fact("api.port").value == "port 9090" and memory.verify() == []


def test_a_value_that_was_stated_for_later_begins_then_whatever_is_stored_before(memory, clock):
    memory.remember("port 8080", key="api.port", valid_from="2026-06-01")
    assert "it holds until 2026-06-01" in memory.remember("port 9090", key="api.port").reason
    clock.advance(days=200)
    assert memory.fact("api.port").value == "port 8080"


def test_a_clock_that_is_behind_lets_nobody_end_what_is_trusted_more(memory, clock):
    memory.remember("port 8080", key="api.port", origin="user")
    clock.advance(days=-365)
    assert memory.remember("port 9090", key="api.port", origin="web").status == "proposed"
