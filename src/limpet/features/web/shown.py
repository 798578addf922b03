"""Formatting for templates: times, sizes, texts with invisible characters, differences, bars and lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from ...model.clock import format_time, to_datetime
from ...model.errors import counted
from ...model.ids import shorten_ids
from ...model.memory import KINDS
from ...remember.decide import SPEAKERS
from ...text.turns import cut

# Controls, marks that turn the direction of writing, and characters without width.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")
# Longer texts are not compared word by word.
MOST_PIECES = 6_000
_DAY = 86_400_000_000
# Microseconds of units, the largest first.
_UNITS = ((_DAY, "day"), (3_600_000_000, "hour"), (60_000_000, "minute"))


def text(value: str | None) -> str:
    """Return a text with its invisible characters made visible: ⟨202E⟩."""
    return _UNSEEN.sub(lambda match: f"⟨{ord(match[0]):04X}⟩", value or "")


def excerpt(value: str | None, most: int = 280) -> str:
    return cut(text(value), most)


def day(at: int | None) -> str:
    return (format_time(at) or "")[:10]


def moment(at: int | None) -> str:
    """Format a time: 2026-01-31 09:30 UTC."""
    return "" if at is None else to_datetime(at).strftime("%Y-%m-%d %H:%M UTC")


def ago(at: int | None, now: int) -> str:
    """Format an age in words, down to minutes: "3 days ago"."""
    if at is None:
        return "never"
    past = now - at
    if abs(past) >= 61 * _DAY:
        return day(at)
    for size, unit in _UNITS:
        if abs(past) >= size:
            count = counted(abs(past) // size, unit)
            return f"{count} ago" if past > 0 else f"in {count}"
    return "just now"


# Meanings of the words for confidence.
SURE = {
    "stated": "said, not yet confirmed",
    "repeated": "said on several days, not yet confirmed",
    "confirmed": "said by the user or on many days",
    "doubtful": "in doubt: said to be wrong, or an old opinion that nobody repeated",
}


def size(count: int) -> str:
    for scale, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= scale:
            return f"{count / scale:,.1f} {unit}"
    return f"{count:,} bytes"


def difference(before: str, after: str) -> list[tuple[str, str]]:
    """Return (same, gone or new; text) word by word; whole where they are long."""
    a, b = _PIECES.findall(text(before)), _PIECES.findall(text(after))
    if len(a) + len(b) > MOST_PIECES:
        return [("same", text(after))] if before == after else [("gone", text(before)), ("new", text(after))]
    parts: list[tuple[str, str]] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            parts.append(("same", "".join(a[i1:i2])))
            continue
        parts += [("gone", "".join(a[i1:i2]))] * (i1 < i2) + [("new", "".join(b[j1:j2]))] * (j1 < j2)
    return parts


class Bar(NamedTuple):
    """A part of a drawing, in its units."""

    name: str
    x: float
    y: float
    width: float
    height: float
    title: str


# The size of the drawing of growth, and its most columns.
WIDE, HIGH, COLUMNS = 720, 140, 36


class Growth(NamedTuple):
    """Memories stored over time by kind. `unit`: what a column stands for."""

    bars: list[Bar]
    labels: list[tuple[float, str]]
    rows: list[tuple[str, int]]
    unit: str


def _columns(days: Sequence[str]) -> tuple[str, list[str]]:
    """Return the unit of a column ("day" or "month") and the columns from the first day to the last."""
    first, last = (date.fromisoformat(day).toordinal() for day in (days[0], days[-1]))
    every = [date.fromordinal(number).isoformat() for number in range(first, last + 1)]
    if len(every) <= COLUMNS:
        return "day", every
    return "month", list(dict.fromkeys(day[:7] for day in every))[-COLUMNS:]


def growth(counts: Mapping[tuple[str, ...], int]) -> Growth:
    """Return columns of the counts by (day, kind): of days, or of the last months."""
    unit, names = _columns(sorted({when for when, _ in counts})) if counts else ("day", [])
    columns: dict[str, dict[str, int]] = {name: {} for name in names}
    for (day, kind), count in counts.items():
        if (of := columns.get(day if unit == "day" else day[:7])) is not None:
            of[kind] = of.get(kind, 0) + count
    most = max((sum(columns[name].values()) for name in names), default=1)
    step = WIDE / max(len(names), 8)
    bars, labels = [], []
    for place, name in enumerate(names):
        below = 0.0
        for kind in KINDS:
            count = columns[name].get(kind, 0)
            height = HIGH * count / most
            if count:
                title = f"{name}: {counted(count, kind)}"
                bars.append(Bar(kind, place * step + 1, HIGH - below - height, step - 2, height, title))
            below += height
        if place % max(1, len(names) // 6) == 0:
            labels.append((place * step + 1, name))
    return Growth(bars, labels, [(name, sum(columns[name].values())) for name in names], unit)


FILTERS = {
    "text": text, "excerpt": excerpt, "day": day, "moment": moment,
    "iso": lambda at: format_time(at) or "", "ago": ago,
    "size": size, "sure": lambda word: SURE.get(word, "believed no longer"), "counted": counted,
    "short_ids": shorten_ids, "words": lambda name: str(name).replace("_", " "),
}  # fmt: skip
# Stages of a statement (rank/adjust.py) in words.
STAGES = {"observation": "said once", "hypothesis": "said again on another day", "verified": "confirmed"}
GLOBALS: dict[str, Any] = {
    "KINDS": KINDS, "STAGES": STAGES, "SPEAKERS": SPEAKERS, "difference": difference, "HIGH": HIGH,
    "WIDE": WIDE,
}  # fmt: skip
