"""Dates in words that a query names. Those of a memory are in `describe.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from itertools import dropwhile, takewhile

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import NamedTuple
from .describe import MONTHS, WEEKDAYS

_MONTH_OF = (
    {name: i for i, name in enumerate(MONTHS, 1)} | {name[:3]: i for i, name in enumerate(MONTHS, 1)} | {"sept": 9}
)
_DAY_OF = {name: i for i, name in enumerate(WEEKDAYS)}
_MONTH = "(" + "|".join(sorted(_MONTH_OF, key=len, reverse=True)) + ")"
_DAY_MONTH = rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH}\b"
_MONTH_DAY = rf"\b{_MONTH}\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b"
_MONTH_ALONE = rf"\b{_MONTH}\b"
# Months that are words or names too: in a date they are months; capitals tell all but "may".
_DOUBTFUL = frozenset({"may", "mar", "march", "dec", "sep", "jan"})
_SPOKEN_OF = (
    r"\b(?:in|of|by|during|since|until|last|this|next|early|late|mid)[\s-]+{name}\b"
    r"|\b{name},?\s+\d|\d(?:st|nd|rd|th)?\s+{name}\b"
)
_YEAR = r"\b(19\d\d|20\d\d)\b"
_ISO = r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b"
_WEEKDAY = r"\b(" + "|".join(WEEKDAYS) + r")s?\b"

# Times as seen from now: English.
_COUNT_WORDS = "one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_COUNTS = {name: n for n, name in enumerate(_COUNT_WORDS, 1)} | {"a": 1, "an": 1, "couple of": 2, "a couple of": 2}
_DAYS_OF = {"day": 1, "week": 7, "month": 30, "year": 365}
_COUNT = r"(\d{1,3}|" + "|".join(sorted(_COUNTS, key=len, reverse=True)) + r")"
_AGO = rf"\b{_COUNT}[\s-]+(day|week|month|year)s?\s+ago\b"
_PAST = rf"\b(?:last|past)\s+{_COUNT}\s+(day|week|month|year)s?\b"
_NAMED = r"\b(last|this|past)\s+(week|weekend|month|year|" + "|".join(WEEKDAYS) + r")\b"
_DAYS_NEAR = r"\b(?:yesterday|today|tonight)\b"
_WEEKEND = r"\b(?:over|at|on|during)\s+the\s+weekend\b"
_SINCE = r"\bsince\b"
_FROM_DAY = r"\b(?:between|from)\s+(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?\s+(?:and|to|until)\b"
# Parts of a year that have several months, after a word that makes them a time; no name of two words ("Spring Boot").
_PART = (
    r"\b(?:in|of|during|over|since|last|past|this)\s+(?:the\s+)?"
    r"(?:(spring|summer|autumn|fall|winter)|q([1-4])|(first|second|third|fourth)\s+quarter)\b(?!\s+(?-i:[A-Z]))"
)
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_QUARTERS = {"first": 1, "second": 4, "third": 7, "fourth": 10}
# How far back the date is looked for that a text names.
MOST_DAYS = 3_660


class Mentioned(NamedTuple):
    """Parts of dates that a text names; weekdays from Monday = 0. `any` of them: it names one."""

    years: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()


NOTHING = Mentioned()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when a query is first read: writes need none of them."""
    return re.compile(pattern, re.IGNORECASE)


def mentioned(text: str) -> Mentioned:
    """Return the parts of dates that a text names, in English or ISO 8601."""
    text = text[:2_000]
    iso = _compiled(_ISO).findall(text)
    years = {int(year) for year in (*(year for year, _, _ in iso), *_compiled(_YEAR).findall(text))}
    months = {int(month) for _, month, _ in iso}
    days = {int(day) for _, _, day in iso if day}
    days.update(int(day) for day, _ in _compiled(_DAY_MONTH).findall(text))
    days.update(int(day) for _, day in _compiled(_MONTH_DAY).findall(text))
    for match in _compiled(_MONTH_ALONE).finditer(text):
        name = match[1].lower()
        capital = name != "may" and match[1][0].isupper()
        if name not in _DOUBTFUL or capital or _compiled(_SPOKEN_OF.format(name=name)).search(text):
            months.add(_MONTH_OF[name])
    weekdays = {_DAY_OF[name.lower()] for name in _compiled(_WEEKDAY).findall(text)}
    months, days = months & {*range(1, 13)}, days & {*range(1, 32)}
    return Mentioned(frozenset(years), frozenset(months), frozenset(days), frozenset(weekdays))


@lru_cache(maxsize=8)  # each step of a recall asks
def stretch(text: str, now: int, *, seasons: bool = False) -> tuple[int, int] | None:
    """Return the one stretch of time that a text names, [start, end) in microseconds UTC; None if it names none or
    several. A date without a year is the latest one, of the last MOST_DAYS days; "since" lasts until now. `seasons`: a
    season or a quarter is a time too; in most questions it is a name ("Spring Boot") or still to come."""
    text, when = text[:2_000], mentioned(text)
    today, parts = now - now % MICROSECONDS_PER_DAY, _compiled(_PART).findall(text) if seasons else []
    if len(parts) == 1 and not when.months:
        when = when._replace(months=frozenset(_months_of(*parts[0])))
    stretches = [] if any(when[:3]) else spans(text, now)
    if not stretches and (parts or max(map(len, when)) == 1):

        def fits(back: int) -> bool:
            return agreement(when, today - back * MICROSECONDS_PER_DAY) == 1.0

        run = list(takewhile(fits, dropwhile(lambda back: not fits(back), range(MOST_DAYS))))
        if run:
            stretches = [(today - run[-1] * MICROSECONDS_PER_DAY, today - (run[0] - 1) * MICROSECONDS_PER_DAY)]
    if len(stretches) != 1:
        return None
    start, end = stretches[0]
    if when.days and (first := _compiled(_FROM_DAY).search(text)):
        start -= max(0, min(when.days) - int(first[1])) * MICROSECONDS_PER_DAY
    return (start, today + MICROSECONDS_PER_DAY) if _compiled(_SINCE).search(text) else (start, end)


def _months_of(season: str, quarter: str, ordinal: str) -> set[int]:
    first = _SEASONS.get(season.lower()) or _QUARTERS.get(ordinal.lower()) or 3 * int(quarter or 1) - 2
    return {(first + i - 1) % 12 + 1 for i in range(3)}


def spans(text: str, now: int) -> list[tuple[int, int]]:
    """Return stretches of time that a text names as seen from `now`, [start, end) in microseconds UTC. English:
    "yesterday", "last Tuesday", "this month", "in the past three months"; "two weeks ago" is that week, "two months
    ago" about then."""
    text = text[:2_000]
    try:
        today = datetime.fromtimestamp(now // 1_000_000, UTC).date()
        return [(_start_of(first), _start_of(end)) for first, end in _stretches(text, today)]
    except (ValueError, OverflowError, OSError):
        return []


def _start_of(day: date) -> int:
    return (day - date(1970, 1, 1)).days * MICROSECONDS_PER_DAY


def _stretches(text: str, today: date) -> Iterator[tuple[date, date]]:
    """Yield [first day, the day after the last)."""
    tomorrow = today + timedelta(1)
    for word in _compiled(_DAYS_NEAR).findall(text):
        back = int(word.lower() == "yesterday")
        yield today - timedelta(back), tomorrow - timedelta(back)
    for count, unit in _compiled(_AGO).findall(text):
        days = _number(count) * _DAYS_OF[unit.lower()]
        if unit.lower() == "week":
            monday = today - timedelta(today.weekday() + days)
            yield monday, monday + timedelta(7)
            continue
        about = 0 if unit.lower() == "day" and days <= 3 else max(1, round(days / 4))
        yield today - timedelta(days + about), today - timedelta(days - about - 1)
    for count, unit in _compiled(_PAST).findall(text):
        yield today - timedelta(_number(count) * _DAYS_OF[unit.lower()]), tomorrow
    for which, name in _compiled(_NAMED).findall(text):
        yield _named(which.lower(), name.lower(), today)
    if _compiled(_WEEKEND).search(text):
        yield _named("last", "weekend", today)


def _named(which: str, name: str, today: date) -> tuple[date, date]:
    """Return the stretch named. `which`: last, this or past. A weekday is always the latest one before today."""
    tomorrow = today + timedelta(1)
    if name in _DAY_OF:
        day = today - timedelta((today.weekday() - _DAY_OF[name] - 1) % 7 + 1)
        return day, day + timedelta(1)
    if name == "weekend":
        saturday = today - timedelta((today.weekday() - 5) % 7 or 7)
        return saturday, saturday + timedelta(2)
    if which == "past":
        return today - timedelta(_DAYS_OF[name]), tomorrow
    if name == "week":
        monday = today - timedelta(today.weekday())
        return (monday, tomorrow) if which == "this" else (monday - timedelta(7), monday)
    first = today.replace(day=1) if name == "month" else today.replace(month=1, day=1)
    if which == "this":
        return first, tomorrow
    before = first - timedelta(1)
    return before.replace(day=1) if name == "month" else before.replace(month=1, day=1), first


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _COUNTS[word.lower()]


def agreement(wanted: Mentioned, at: int) -> float:
    """Return the share of the named parts of a date that a time has, 0 to 1; 0 when none was named."""
    try:
        day = datetime.fromtimestamp(at // 1_000_000, UTC)
    except (ValueError, OverflowError, OSError):
        return 0.0
    named = agreed = 0
    for parts, own in zip(wanted, (day.year, day.month, day.day, day.weekday()), strict=True):
        if parts:
            named += 1
            agreed += own in parts
    return agreed / named if named else 0.0
