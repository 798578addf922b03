"""Days and months as episodes: the weightiest of what was taken from them, quoted, each member linked to its day.

An episode's id follows from its scope and day, so there is one; when more was taken, it is edited and its history
stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ...model.clock import MICROSECONDS_PER_SECOND, from_datetime
from ...model.ids import format_id, parse_id
from ...model.memory import Memory, least_trusted
from ...remember.beliefs import WEIGHT
from ...remember.decide import state
from ...remember.validation import validate
from ...remember.write import Writer
from ...store.records import Filter
from ...text.quoted import OF_TIME, QUOTED_CHARACTERS
from ..transfer.records import imported_id

if TYPE_CHECKING:
    from ...context import Context
    from ...store import Store

# A day or month with fewer memories is no more than they are.
FEWEST = 3
QUOTED = {"day": 8, "month": 12}
# Less than what it sums up: a recall that finds both shows the statement first.
IMPORTANCE = 0.2
SOURCE = OF_TIME


def summarize(context: Context, scope: str, moments: set[int]) -> int:
    """Bring the episodes of the days and months of some times up to date. Returns how many were made or changed."""
    spans = {_day(at) for at in moments} | {_month(at) for at in moments}
    return sum(_one(context, scope, *span) for span in sorted(spans))


def _one(
    context: Context,
    scope: str,
    name: str,
    begin: int,
    end: int,
) -> bool:
    members = _members(context.store, scope, begin, end)
    if len(members) < FEWEST:
        return False
    kind = "day" if len(name) == 10 else "month"
    if kind == "month" and len({_day(one.valid_from_us) for one in members}) < 2:
        return False  # its one day says the same
    id = imported_id("organize", f"{scope}\0{kind}\0{name}")
    statement = validate(
        {
            "content": _quoted(kind, name, members),
            "kind": "episode",
            "source": f"{SOURCE} {kind} {name}",
            "valid_from": begin,
            "importance": IMPORTANCE,
            "id": format_id(id),
            "origin": least_trusted(one.trust for one in members),
        },
        scope=scope,
        now=context.now(),
    )
    changed = False

    def decide(writer: Writer) -> None:
        nonlocal changed
        changed = False
        there = writer.reads.memories.get(id)
        if there is None and not any(writer.reads.ledger.events(ids=[id])):
            state(writer, statement, fresh=True, unused=id)
            changed = True
        elif there is not None and there.state == "active" and there.content != statement.content:
            writer.event("edited", id, origin=statement.origin, content=statement.content)
            changed = True
        elif there is None or there.state != "active":
            return
        for one in members if kind == "day" else []:
            if writer.reads.edges.between(parse_id(one.id), "part_of", id) is None:
                writer.event("linked", parse_id(one.id), origin="agent", edge="part_of", target=id.hex())

    context.write(decide)
    return changed


def _members(store: Store, scope: str, begin: int, end: int) -> list[Memory]:
    """What the organizer took from a span of time, and is still believed, in order."""
    where = Filter(scopes=(scope,), since=begin, until=end)
    every = store.listings.each(where, descending=False)
    found = [one for one in every if "organized" in one.metadata and one.kind != "episode"]
    return sorted(found, key=lambda one: (one.valid_from, one.id))


def _quoted(kind: str, name: str, members: Sequence[Memory]) -> str:
    place = {kind: number for number, kind in enumerate(WEIGHT)}
    weighed = sorted(
        members,
        key=lambda one: (not one.pinned, place.get(one.kind, len(WEIGHT)), -one.importance, one.valid_from, one.id),
    )
    sessions = len({one.session for one in members if one.session})
    lines = [f"{name}: {len(members)} memories" + (f" from {sessions} sessions." if sessions > 1 else ".")]
    for one in weighed[: QUOTED[kind]]:
        text = " ".join(one.content.split())
        lines.append(f"- {one.kind}: {text if len(text) <= QUOTED_CHARACTERS else text[: QUOTED_CHARACTERS - 1] + '…'}")
    rest = len(members) - QUOTED[kind]
    return "\n".join(lines + ([f"and {rest} more."] if rest > 0 else []))


def _moment(at: int) -> datetime:
    return datetime.fromtimestamp(at / MICROSECONDS_PER_SECOND, UTC)


def _day(at: int) -> tuple[str, int, int]:
    """(name, first instant, first instant after) of the UTC day."""
    begin = _moment(at).replace(hour=0, minute=0, second=0, microsecond=0)
    return begin.date().isoformat(), from_datetime(begin), from_datetime(begin + timedelta(days=1))


def _month(at: int) -> tuple[str, int, int]:
    begin = _moment(at).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    after = (begin + timedelta(days=32)).replace(day=1)
    return begin.date().isoformat()[:7], from_datetime(begin), from_datetime(after)
