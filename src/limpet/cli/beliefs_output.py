"""How facts, audits, the review list and sessions look in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..model.clock import format_time
from ..model.errors import counted
from ..model.memory import valued
from .output import (
    BOLD,
    CYAN,
    DIM,
    GREEN,
    MARGIN,
    RED,
    YELLOW,
    day,
    in_a_line,
    line,
    moment,
    paint,
    printable,
    table,
    words,
    wrapped,
)

if TYPE_CHECKING:
    from ..api import Limpet
    from ..features.usefulness.adherence import Adherence
    from ..history.audit import Audit, Belief
    from ..history.view import Node
    from ..recall.facts import Fact
    from ..remember.retention import Retention
    from ..remember.sweep import Swept
    from ..store.records import SessionRow

# Expiring memories that are listed, and the characters of each.
LISTED, EXCERPT = 20, 90
# Characters of a value up to which the others of a key stand in a column with it.
IN_COLUMN = 40


def facts(found: Sequence[Fact]) -> None:
    """A line for each value, oldest first; an open end means that it still holds. With the times of day where one
    held for less than a day."""
    tell = moment if any(day(one.valid_from) == day(one.valid_to) for one in found) else day
    width = len(tell(found[0].valid_from)) if found else 0
    size = max((len(printable(one.value)) for one in found if len(one.value) <= IN_COLUMN), default=0)
    for one in found:
        until = tell(one.valid_to) if one.valid_to is not None else "now"
        value = f"{printable(one.value):<{size}}"
        line(f"{tell(one.valid_from)} to {until:<{width}}  {value}  {paint(f'({one.origin})', DIM)}")


def audit(found: Audit, memory: Limpet) -> None:
    """One belief after the other, what was asked about first."""
    if not found.beliefs:
        words("nothing is believed about that")
        return
    short = _shortened(found.beliefs, memory)
    then = f" as known {moment(found.known_at)}" if found.known_at is not None else ""
    # What words find is near, and need not be about that.
    near = "nearest to" if found.by == "text" else "about"
    line(f"{paint(counted(len(found.beliefs), 'belief'), BOLD)} {near} {printable(found.about)}{then}")
    for one in found.beliefs:
        line("")
        _belief(one, short)


def _belief(one: Belief, short: dict[str, str]) -> None:
    node = one.node
    state = "" if node.standing == "held" else paint(f" [{node.standing}]", RED)
    line(f"{paint(short[node.id], YELLOW)}  {paint(node.kind, CYAN)}{state}")
    for text in wrapped(valued(node.key, node.content)):
        line(text)
    days = f"on {counted(one.observations, 'day')}"
    _named("confidence", f"{node.confidence_word}, {days}")
    until = f" to {moment(node.valid_to)}" if node.valid_to is not None else ""
    _named("holds", f"from {moment(node.valid_from)}{until}")
    _named("known since", moment(node.recorded_at))
    said = f"{node.origin}" + (f", trusted as {one.trust}" if one.trust != node.origin else "")
    for value in (one.speaker, one.source, f"session {node.session}" if node.session else None):
        said += f", {printable(value)}" if value else ""
    _named("from", said)
    for label, nodes in (
        ("replaced", one.replaced), ("replaced by", one.replaced_by), ("because", one.reasons),
        ("conflicts", one.conflicts), ("also said", one.merged),
    ):  # fmt: skip
        _nodes(label, nodes, short, one.corrections)
    for affected in one.rests_on_it:
        falls = paint("  would fall", RED) if affected.falls else ""
        _nodes("rests on it", [affected.node], short, {}, falls)
    _nodes("to look at", [affected.node for affected in one.rested_before], short, {}, "  rested on what it replaced")


def rules(judged: Sequence[Adherence]) -> None:
    """The rules that were kept or broken, with what says so; how many are not known."""
    for one in judged:
        if one.verdict == "unknown":
            continue
        colour = RED if one.verdict == "broken" else GREEN
        line(f"{paint(one.verdict, colour)}  {in_a_line(one.memory)}")
        for said in one.evidence:
            line(MARGIN + paint(printable(said), DIM))
    unknown = sum(one.verdict == "unknown" for one in judged)
    if unknown:
        words(f"{counted(unknown, 'rule')} of which the session's commands and edits say nothing")
    elif not judged:
        words("there are no rules")


def _nodes(label: str, nodes: Iterable[Node], short: dict[str, str], why: dict[str, str], mark: str = "") -> None:
    for node in nodes:
        state = f"[{node.standing}] " if node.standing not in ("held", "superseded") else ""
        reason = f"  ({printable(why[node.id])})" if node.id in why else ""
        _named(label, f"{paint(short[node.id], YELLOW)}  {state}{in_a_line(node)}{reason}{mark}")


def _named(label: str, value: str) -> None:
    line(f"{MARGIN}{paint(f'{label:<12}', DIM)} {value}")


def _shortened(beliefs: Sequence[Belief], memory: Limpet) -> dict[str, str]:
    ids: dict[str, None] = {}
    for one in beliefs:
        for node in (one.node, *one.replaced, *one.replaced_by, *one.reasons, *one.conflicts, *one.merged):
            ids[node.id] = None
        ids.update(dict.fromkeys(affected.node.id for affected in (*one.rests_on_it, *one.rested_before)))
    return dict(zip(ids, memory.abbreviate(list(ids)), strict=True))


def swept(one: Swept, short: str) -> None:
    line(f"{paint(short, YELLOW)}  {paint(one.rule, RED)}  {printable(one.reason)}")
    for text in wrapped(" ".join(str(one.as_dict()["content"]).split())):
        line(text)


def retention(found: Retention, short: Sequence[str]) -> None:
    """The first of what expires, a line each; then how many there are, and what is done with them."""
    for one, name in zip(found.archive, short, strict=False):
        line(f"{paint(name, YELLOW)}  {day(one.created_at)}  {in_a_line(one)[:EXCERPT]}")
    count = len(found.archive)
    if not count:
        words("nothing is that old and unused")
        return
    sessions = counted(len(found.fold), "session")
    folded = f", {sessions} summed up before" if found.fold else ""
    more = f" ({count - len(short)} more than shown)" if count > len(short) else ""
    if found.applied:
        words(f"{count} archived{folded}{more}; `limpet undo` brings them back")
    else:
        words(f"{count} would be archived{folded}{more}; --apply does it")


def sessions(rows: Sequence[SessionRow]) -> None:
    if not rows:
        words("no sessions yet")
        return
    table(
        ["session", "title", "began", "ended", "memories"],
        [
            [
                row.name,
                row.title or "",
                day(row.started_at),
                day(row.ended_at) if row.ended_at else "",
                str(row.memories),
            ]
            for row in rows
        ],
    )


def session_dict(row: SessionRow) -> dict[str, object]:
    """{"name", "scope", "title", "started_at", "ended_at", "memories"}."""
    return {
        "name": row.name,
        "scope": row.scope,
        "title": row.title,
        "started_at": format_time(row.started_at),
        "ended_at": format_time(row.ended_at),
        "memories": row.memories,
    }
