"""Ids in order, prefixes that are no wildcards, times in and out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

import limpet
from limpet.model.clock import MICROSECONDS_PER_DAY, SystemClock, format_time
from limpet.model.ids import IdSource, format_id, names_id, parse_id, parse_prefix, parse_short, short_id
from limpet.model.times import parse_time

NOW = limpet.FixedClock("2026-03-01T12:00:00Z").now()


def test_ids_are_version_7_and_say_when():
    raw = IdSource().make(NOW)
    assert raw[6] >> 4 == 7
    assert raw[8] >> 6 == 0b10
    assert int.from_bytes(raw[:6], "big") == NOW // 1000


def test_ids_never_go_backwards_whatever_the_clock_does():
    source = IdSource()
    made = [source.make(NOW + offset) for offset in [0] * 500 + [-5_000_000] * 500 + [1_000_000, -(10**18)]]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_an_id_is_read_as_it_was_written():
    raw = IdSource().make(NOW)
    text = format_id(raw)
    assert [len(part) for part in text.split("-")] == [8, 4, 4, 4, 12]
    assert parse_id(text) == parse_id(text.upper().replace("-", "")) == raw


@pytest.mark.parametrize("text", ["", "abc", "g" * 32, "0" * 31, "0" * 33, "%" * 32, "0" * 16 + "\0" * 16, "٣" * 32])
def test_what_is_no_id_is_refused(text):
    with pytest.raises(limpet.BadInput):
        parse_id(text)


def test_a_prefix_is_a_range_of_ids():
    low, high = parse_prefix("01890000-0")
    assert low == bytes.fromhex("018900000" + "0" * 23)
    assert high == bytes.fromhex("018900000" + "f" * 23)
    for text in ("01890", "0189%%", "0189__", "-" * 8):
        with pytest.raises(limpet.BadInput):
            parse_prefix(text)


def ending(end):
    return bytes.fromhex("0189000000007000800000" + end)


def test_a_short_id_is_as_long_as_it_takes_to_be_no_other():
    own = ending("ffffffffff")
    assert short_id(own, []) == short_id(own, [own, ending("0000000000")]) == "zzzzzz"
    assert short_id(own, [ending("fffffffff0")]) == "zzzzzzzz"
    assert short_id(own, [ending("fffffffdff")]) == "zzzzzzz"
    # Another that ends alike: nothing shorter than the whole id tells them apart.
    twin = bytes.fromhex("01890001" + own.hex()[8:])
    assert short_id(own, [twin]) == format_id(own)


def test_a_short_id_is_read_whatever_its_case_and_as_its_letters_look():
    assert (
        parse_short("zzzzzz") == parse_short(" ZZZZZZ ") == (bytes.fromhex("fffffffc00"), bytes.fromhex("ffffffffff"))
    )
    assert parse_short("10000010") == parse_short("lOOOOoio")
    assert all(parse_short(text) is None for text in ("zzzzz", "zzzzzzzzz", "uuuuuu", "zzz-zz", "zzz zz", ""))


def test_a_short_id_comes_before_a_prefix():
    short, long = "0123456789ab" * 3, "abcdef"
    id = format_id(bytes.fromhex("fedcba98" + "0" * 14 + "5294a5294a"))
    assert names_id("aaaaaa", id) and names_id("fedcba", id) and names_id(id, id)
    assert not names_id(long, id) and not names_id(short, id) and not names_id("", id)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-31T09:30:00Z", "2026-01-31T09:30:00Z"),
        ("2026-01-31T09:30:00+02:00", "2026-01-31T07:30:00Z"),
        ("2026-01-31 09:30", "2026-01-31T09:30:00Z"),
        (" 2026-01-31 ", "2026-01-31T00:00:00Z"),
        ("2026-01-31T09:30:00.123456Z", "2026-01-31T09:30:00.123456Z"),
        ("3 days ago", "2026-02-26T12:00:00Z"),
        ("now", "2026-03-01T12:00:00Z"),
        ("yesterday", "2026-02-28T00:00:00Z"),
        ("last week", "2026-02-22T12:00:00Z"),
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (datetime(2026, 1, 31, 9, 30, tzinfo=UTC), "2026-01-31T09:30:00Z"),
        (date(2026, 1, 31), "2026-01-31T00:00:00Z"),
        (datetime(2026, 1, 31, 9, 30, tzinfo=timezone(timedelta(hours=9))), "2026-01-31T00:30:00Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z"),
        ("9999-12-31", "9999-12-31T00:00:00Z"),
    ],
)
def test_times_are_read_in_many_ways_and_written_in_one(text, expected):
    assert format_time(parse_time(text, now=NOW)) == expected


@pytest.mark.parametrize(
    "text", ["", "soon-ish", "12", "99999-01-01", "x" * 200, "2026-02-30", "a\0b", 10**20, True, 1.5, None, b"now"]
)
def test_what_is_no_time_is_refused(text):
    with pytest.raises(limpet.BadInput):
        parse_time(text, now=NOW)


@pytest.mark.parametrize(
    "text",
    ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00+14:00", "31 December 9999 23:00 EST",
     datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12)))],
)  # fmt: skip
def test_a_time_that_is_beyond_the_years_in_utc_is_refused(text):
    with pytest.raises(limpet.BadInput) as refused:
        parse_time(text, now=NOW)
    assert "years 1 to 9999" in refused.value.hint


@pytest.mark.parametrize(
    "text", ["2026-11-01 Europe/Berlin", "2026-11-01T10:00[Europe/Berlin]", "99999-01-01", "last 3 days"]
)
def test_what_cannot_be_read_is_refused_with_what_can_be(text):
    with pytest.raises(limpet.BadInput) as refused:
        parse_time(text, now=NOW)
    for works in ("2026-01-31T09:30", "2026-01-31T09:30+01:00", "3 days ago"):
        assert works in refused.value.hint and parse_time(works, now=NOW)


def test_a_datetime_without_a_zone_is_refused_with_what_to_write():
    """Nine o'clock here or in Greenwich: a guess would be wrong for somebody, and nobody would notice."""
    with pytest.raises(limpet.BadInput, match="without a time zone") as refused:
        parse_time(datetime(2026, 1, 31, 9), now=NOW)

    assert "astimezone" in refused.value.hint


def test_a_fixed_clock_moves_only_when_told_to():
    clock = limpet.FixedClock("2026-03-01")
    assert clock.now() == clock.now()
    assert clock.advance(days=1, hours=-24, seconds=0.5) == clock.now()
    assert format_time(clock.now()) == "2026-03-01T00:00:00.500000Z"
    clock.set("2020-01-01")
    assert format_time(clock.now()) == "2020-01-01T00:00:00Z"
    assert limpet.FixedClock(7).now() == 7
    clock.set(date(2020, 1, 2))
    assert format_time(clock.now()) == "2020-01-02T00:00:00Z"


def test_the_machines_clock_is_in_microseconds():
    assert abs(SystemClock().now() - datetime.now(UTC).timestamp() * 1e6) < MICROSECONDS_PER_DAY


def test_no_time_is_written_as_nothing():
    assert format_time(None) is None
