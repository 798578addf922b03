"""The episode that sums up a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.clock import format_time
from ..model.dataclass import replace
from ..model.errors import BadInput, counted
from ..model.ids import parse_id
from ..model.memory import Memory, least_trusted
from ..text.quoted import OF_SESSION, QUOTED_CHARACTERS
from .decide import correct, state
from .write import Receipt, Writer

if TYPE_CHECKING:
    from ..context import Context

# How an episode says that a session was summed up in it; its own statements have other sources.
EPISODE_SOURCE = OF_SESSION
# Kinds in the order in which a quoted summary takes them.
WEIGHT = ("decision", "correction", "lesson", "goal", "preference", "fact", "skill", "inference", "opinion", "note")
SUMMARY_CHARACTERS = 3_000


def compress(writer: Writer, context: Context, name: str, summary: str | None) -> Receipt:
    """One episode for a session, with a `part_of` edge from each of its memories. Unchanged when nothing was added."""
    every = writer.reads.sessions.memories(context.scope, name)
    old = next((one for one in every if one.kind == "episode" and one.source == EPISODE_SOURCE), None)
    members = [one for one in every if not (one.kind == "episode" and one.source == EPISODE_SOURCE)]
    if not members:
        raise BadInput(f"session {name} holds no memories to sum up")
    if old is not None and summary is None and old.metadata.get("memories") == len(members):
        return Receipt(id=old.id, status="unchanged")
    statement = context.validate(
        {
            "content": summary or quoted(name, members),
            "kind": "episode",
            "session": name,
            "source": EPISODE_SOURCE,
            "topics": _topics(members),
            "valid_from": min(one.valid_from_us for one in members),
            "metadata": {"memories": len(members)},
        }
    )
    least = least_trusted([statement.origin, *(one.trust for one in members)])
    statement = replace(statement, trust=least)
    if old is None:
        receipt = state(writer, statement, fresh=True)
    else:
        receipt = correct(writer, old, statement, None, derived=True)
    assert receipt.id is not None
    for one in members:
        writer.event("linked", parse_id(one.id), origin="agent", edge="part_of", target=parse_id(receipt.id).hex())
    return receipt


def quoted(name: str, members: Sequence[Memory]) -> str:
    """The weightiest statements of a session, a line each, in the words in which they were made."""
    days = [(format_time(at) or "")[:10] for at in (members[0].created_at, members[-1].created_at)]
    lines = [f"Session {name}, {' to '.join(dict.fromkeys(days))}, {counted(len(members), 'memory')}."]
    place = {kind: number for number, kind in enumerate(WEIGHT)}
    weighed = sorted(members, key=lambda one: (not one.pinned, place.get(one.kind, len(WEIGHT)), -one.importance))
    length, left = len(lines[0]), len(members)
    for one in weighed:
        text = " ".join(one.content.split())
        line = f"- {one.kind}: {text if len(text) <= QUOTED_CHARACTERS else text[: QUOTED_CHARACTERS - 1] + '…'}"
        if length + len(line) > SUMMARY_CHARACTERS:
            break
        lines.append(line)
        length += len(line) + 1
        left -= 1
    return "\n".join(lines + ([f"and {left} more."] if left else []))


def _topics(members: Sequence[Memory]) -> list[str]:
    """The topics that come most often."""
    counts: dict[str, int] = {}
    for one in members:
        for topic in one.topics:
            counts[topic] = counts.get(topic, 0) + 1
    return sorted(counts, key=lambda topic: (-counts[topic], topic))[:8]
