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
from ...model.memory import Filter, Memory, least_trusted
from ...remember.beliefs import WEIGHT
from ...remember.decide import state
from ...remember.validation import validate
from ...remember.write import Writer
from ...text.turns import OF_TIME, QUOTED_CHARACTERS
from ..transfer.records import imported_id

if TYPE_CHECKING:
    from ...context import Context

# A day or month with fewer memories is no more than they are.
FEWEST = 3
QUOTED = {"day": 8, "month": 12}
# Less than what it sums up: a recall that finds both shows the statement first.
IMPORTANCE = 0.2


def summarize(context: Context, scope: str, moments: set[int]) -> int:
    """Update the episodes of the days and months of some times. Return how many were made or changed."""
    spans = {span for at in moments for span in _spans(at)}
    return sum(_summarize(context, scope, *span) for span in sorted(spans))


def _spans(at: int) -> tuple[tuple[str, str, int, int], ...]:
    """Return (kind, name, first instant, first instant after) of the UTC day and month of a time."""
    moment = datetime.fromtimestamp(at / MICROSECONDS_PER_SECOND, UTC)
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    month = day.replace(day=1)
    after = (month + timedelta(days=32)).replace(day=1)
    return (
        ("day", f"{day:%Y-%m-%d}", from_datetime(day), from_datetime(day + timedelta(days=1))),
        ("month", f"{month:%Y-%m}", from_datetime(month), from_datetime(after)),
    )


def _summarize(context: Context, scope: str, kind: str, name: str, begin: int, end: int) -> bool:
    """Update one episode and return whether it was made or changed."""
    every = context.store.listings.each(Filter(scopes=(scope,), since=begin, until=end), descending=False)
    members = [memory for memory in every if "organized" in memory.metadata and memory.kind != "episode"]
    days = {_spans(memory.valid_from_us)[0] for memory in members}
    if len(members) < FEWEST or (kind == "month" and len(days) < 2):  # its one day says the same
        return False
    id = imported_id("organize", f"{scope}\0{kind}\0{name}")
    statement = validate(
        {
            "content": _quoted(name, members, QUOTED[kind]),
            "kind": "episode",
            "source": f"{OF_TIME} {kind} {name}",
            "valid_from": begin,
            "importance": IMPORTANCE,
            "id": format_id(id),
            "origin": least_trusted(memory.trust for memory in members),
        },
        scope=scope,
        now=context.now(),
    )

    def decide(writer: Writer) -> bool:
        there = writer.reads.memories.get(id)
        if there is None and not any(writer.reads.ledger.events(ids=[id])):
            state(writer, statement, fresh=True, unused=id)
        elif there is None or there.state != "active":
            return False
        elif there.content != statement.content:
            writer.event("edited", id, origin=statement.origin, content=statement.content)
        for memory in members if kind == "day" else []:
            if writer.reads.edges.between(parse_id(memory.id), "part_of", id) is None:
                writer.event("linked", parse_id(memory.id), origin="agent", edge="part_of", target=id.hex())
        return there is None or there.content != statement.content

    return context.write(decide)


def _quoted(name: str, members: Sequence[Memory], most: int) -> str:
    """Return a summary's text: the number of episodes, and the weightiest of them."""
    place = {kind: number for number, kind in enumerate(WEIGHT)}
    weighed = sorted(
        members,
        key=lambda row: (not row.pinned, place.get(row.kind, len(WEIGHT)), -row.importance, row.valid_from, row.id),
    )
    sessions = len({memory.session for memory in members if memory.session})
    lines = [f"{name}: {len(members)} memories" + (f" from {sessions} sessions." if sessions > 1 else ".")]
    for row in weighed[:most]:
        text = " ".join(row.content.split())
        lines.append(f"- {row.kind}: {text if len(text) <= QUOTED_CHARACTERS else text[: QUOTED_CHARACTERS - 1] + '…'}")
    return "\n".join([*lines, f"and {len(members) - most} more."] if len(members) > most else lines)
