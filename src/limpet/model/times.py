"""Times and lengths of time that people and programs type."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from .clock import MICROSECONDS_PER_DAY, MICROSECONDS_PER_SECOND, from_datetime, to_datetime
from .errors import BadInput

# Numbers that are seconds or milliseconds of a time since 1973 at least; as microseconds, of 1970's first months.
_SECONDS, _MILLISECONDS = range(10**8, 10**10), range(10**11, 10**13)
# A year and a month, and a day, as far as ISO 8601 would have them in two digits.
_NUMERIC = r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?"
_BY_COUNTRY = r"(\d{1,2})([/.-])(\d{1,2})(?:\2(\d{2}|\d{4})?)?(?:\s.*)?"
# The least that makes a text a time: for a number alone, "at 5", a month or a day would be a guess.
_SAYS_TIME = r"(?i)\d:\d|\d\s*(?:[ap]\.?m|[smhdwy])\b|\d[/.-]\d|\d{4}|\b(?!(?:the|utc|gmt|about)\b)[a-z]{3,}"
_HINT = (
    'use ISO 8601 ("2026-01-31T09:30", in another time zone "2026-01-31T09:30+01:00"), a date of the years 1 to 9999, '
    'or "3 days ago"'
)
# A number and a unit, of which the first letter says enough.
_LENGTH = (
    r"([0-9]{1,6}(?:\.[0-9]{1,6})?|\ban?(?=\s))\s*(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)"
)
_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
MOST_DAYS = 73_000
# Characters of a length of time.
MOST_READ = 100
_QUARTER = r"(?i)\bq[1-4]\b"


def parse_time(text: str | int | date, *, now: int) -> int:
    """Read a time: ISO 8601 (in UTC unless it says otherwise), a date or a month (its first instant, UTC),
    microseconds, a datetime with its time zone, or words like "3 days ago", "yesterday" and "tomorrow" (their first
    instant).

    Returns microseconds UTC. Words are read by dateparser (imported only then) relative to `now`.
    Raises BadInput for anything else, and for years outside 1 to 9999.
    """
    if isinstance(text, bool):
        raise BadInput(f"not a time: {text!r}")
    if isinstance(text, int):
        unit = "seconds" if abs(text) in _SECONDS else "milliseconds" if abs(text) in _MILLISECONDS else ""
        if unit:
            raise BadInput(
                f"{text} looks like {unit} since 1970", hint="times are microseconds since 1970, or datetimes"
            )
        return _in_range(text, str(text))
    if isinstance(text, datetime):
        if text.tzinfo is None:
            raise BadInput(
                f"a datetime without a time zone: {text!r}",
                hint="datetime.now(timezone.utc), or .astimezone() for this machine's zone, or .replace(tzinfo=...)",
            )
        return _in_range(from_datetime(text), str(text))
    if isinstance(text, date):
        return from_datetime(datetime(text.year, text.month, text.day))
    if not isinstance(text, str):
        raise BadInput(
            f"not a time: {text!r:.60}", hint="a datetime, a date, ISO 8601 text, or microseconds since 1970"
        )
    words = text.strip()
    try:
        time = from_datetime(datetime.fromisoformat(words))
    except ValueError:
        time = None
    if time is not None:
        return _in_range(time, words)  # in the last hours of 9999 an offset leads beyond
    if not 0 < len(words) <= 100 or words.isdigit() or "\0" in words:
        raise _not_a_time(text)
    return _parse_words(words, now)


def parse_duration(text: str) -> int:
    """Read a length of time: "90m", "1h30m", "2 hours", "1 day and 12 hours". Returns microseconds, above 0.

    Raises BadInput, also above MOST_DAYS.
    """
    low = " ".join(part for part in text.lower().split(" ") if part)
    whole = len(low) <= MOST_READ and re.fullmatch(rf"{_LENGTH}(?: ?(?:,|and\b)? ?{_LENGTH})*", low)
    parts = re.findall(_LENGTH, low) if whole else []
    seconds = sum((1.0 if number in ("a", "an") else float(number)) * _UNIT_SECONDS[unit[0]] for number, unit in parts)
    duration = round(seconds * MICROSECONDS_PER_SECOND)
    if not 0 < duration <= MOST_DAYS * MICROSECONDS_PER_DAY:
        raise BadInput(f"not a length of time: {text[:40]!r}", hint="such as 30m, 2h, 1h30m or 1d")
    return duration


def _parse_words(words: str, now: int) -> int:
    simple = words.lower()
    if simple == "now":
        return now
    today = to_datetime(now - now % MICROSECONDS_PER_DAY)
    begins = {
        "today": today, "yesterday": today - timedelta(days=1), "tomorrow": today + timedelta(days=1),
        "this week": today - timedelta(days=today.weekday()),
        "this month": today.replace(day=1), "this year": today.replace(month=1, day=1),
    }  # fmt: skip
    if simple in begins:
        return from_datetime(begins[simple])
    if (numeric := re.fullmatch(_NUMERIC, words)) is not None:
        year, month, day = (int(part or 1) for part in numeric.groups())
        try:
            return from_datetime(datetime(year, month, day))
        except ValueError:
            raise _not_a_time(words) from None
    if re.search(_QUARTER, words) or not re.search(_SAYS_TIME, words):
        raise _not_a_time(words)
    order: dict[str, str] = {}
    if (numeric := re.fullmatch(_BY_COUNTRY, words)) is not None:
        first, other = int(numeric[1]), int(numeric[3])
        if numeric[2] == ".":  # where dates have dots, the day comes first
            order = {"DATE_ORDER": "DMY"}
        elif first != other and max(first, other) <= 12:
            which = numeric[4] or to_datetime(now).year
            raise BadInput(
                f"{words!r} is two dates", hint=f"write {which}-{first:02}-{other:02} or {which}-{other:02}-{first:02}"
            )
    import dateparser

    settings = order | {
        "RELATIVE_BASE": to_datetime(now).replace(tzinfo=None),
        "TIMEZONE": "UTC",
        "RETURN_AS_TIMEZONE_AWARE": True,
        "PREFER_DATES_FROM": "past",
        "PREFER_DAY_OF_MONTH": "first",
        "REQUIRE_PARTS": ["year"] if any(part.isdigit() and len(part) == 4 for part in words.split()) else [],
    }
    try:
        parsed = dateparser.parse(words, languages=["en"], settings=settings)
    except (ValueError, OverflowError, RecursionError):
        parsed = None
    if parsed is None:
        raise _not_a_time(words)
    return _in_range(from_datetime(parsed), words)


def _not_a_time(text: str) -> BadInput:
    shown = text if len(text) <= 60 else text[:60] + "..."
    return BadInput(f"not a time: {shown!r}", hint=_HINT)


def _in_range(at: int, shown: str) -> int:
    try:
        to_datetime(at)
    except OverflowError:
        raise BadInput(f"time out of range: {shown}", hint="years 1 to 9999, in UTC") from None
    return at
