"""How facts, audits, the review list and sessions look in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..model.clock import format_time
from ..model.errors import counted
from ..model.ids import names_id
from ..model.memory import valued
from ..remember.review import Group, groups, sides
from .output import (
    BOLD,
    DIM,
    GREEN,
    MARGIN,
    RED,
    cut,
    day,
    detail,
    entry,
    in_a_line,
    line,
    listed,
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
    from ..history.claims import Audit, Belief
    from ..history.view import Node
    from ..model.memory import Memory
    from ..recall.facts import Fact
    from ..remember.policy import Swept
    from ..remember.retention import Retention
    from ..remember.review import ReviewItem
    from ..store.records import SessionRow

# Expiring memories that are listed.
LISTED = 20
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
    state = "" if node.standing == "held" else f"[{node.standing}]"
    entry(short[node.id], node.kind, state)
    for text in wrapped(valued(node.key, node.content)):
        line(text)
    days = f"on {counted(one.observations, 'day')}"
    detail("confidence", f"{node.confidence_word}, {days}")
    until = f" to {moment(node.valid_to)}" if node.valid_to is not None else ""
    detail("holds", f"from {moment(node.valid_from)}{until}")
    detail("known since", moment(node.recorded_at))
    said = f"{node.origin}" + (f", trusted as {one.trust}" if one.trust != node.origin else "")
    for value in (one.speaker, one.source, f"session {node.session}" if node.session else None):
        said += f", {printable(value)}" if value else ""
    detail("from", said)
    for label, nodes in (
        ("replaced", one.replaced), ("replaced by", one.replaced_by), ("because", one.reasons),
        ("conflicts", one.conflicts), ("also said", one.merged),
    ):  # fmt: skip
        _nodes(label, nodes, short, one.corrections)
    for affected in one.rests_on_it:
        _nodes("rests on it", [affected.node], short, {}, "  would fall" * affected.falls)
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
        detail(label, f"{short[node.id]}  {state}{in_a_line(node)}{reason}{mark}")


def _shortened(beliefs: Sequence[Belief], memory: Limpet) -> dict[str, str]:
    ids: dict[str, None] = {}
    for one in beliefs:
        for node in (one.node, *one.replaced, *one.replaced_by, *one.reasons, *one.conflicts, *one.merged):
            ids[node.id] = None
        ids.update(dict.fromkeys(affected.node.id for affected in (*one.rests_on_it, *one.rested_before)))
    return dict(zip(ids, memory.abbreviate(list(ids)), strict=True))


def swept(one: Swept, short: str) -> None:
    entry(short, one.rule, printable(one.reason))
    for text in wrapped(" ".join(str(one.as_dict()["content"]).split())):
        line(text)


def retention(found: Retention, memory: Limpet) -> None:
    """Print the first memories that expire, how many there are, and what is done with them."""
    listed(found.archive[:LISTED], memory)
    count = len(found.archive)
    if not count:
        words("nothing is that old and unused")
        return
    sessions = counted(len(found.fold), "session")
    folded = f", {sessions} summed up before" if found.fold else ""
    more = f" ({count - LISTED} more than shown)" if count > LISTED else ""
    if found.applied:
        words(f"{count} archived{folded}{more}; `limpet undo` brings them back")
    else:
        words(f"{count} would be archived{folded}{more}; --apply does it")


def sessions(rows: Sequence[SessionRow]) -> None:
    if not rows:
        words("no sessions yet")
        return
    cells = [[row.name, row.title or "", day(row.started_at), day(row.ended_at), str(row.memories)] for row in rows]
    table(["session", "title", "began", "ended", "memories"], cells)


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


# -- the review list

# Characters of a text, and pairs of a group, that are shown at most.
MOST_CHARACTERS, MOST_OF_GROUP = 400, 5


def review(items: Sequence[ReviewItem], memory: Limpet, *, limit: int) -> None:
    """Groups and single items until `limit` items are counted, and how many are left. `items`: all that wait."""
    if not items:
        words("nothing waits for review")
        return
    every = list(dict.fromkeys(id for one in items for id in (one.id, *sides(one))))
    names = dict(zip(every, memory.abbreviate(every, items=True), strict=True))
    left = limit
    for number, group in enumerate(groups(items)):
        if left <= 0:
            break
        if number:
            line("")
        if group.hub is None:
            _item(group.items[0], names)
            left -= 1
        else:
            left -= _group(group, names, min(left, MOST_OF_GROUP if limit < len(items) else left))
    words("limpet review accept ID, or reject ID; several ids are decided one by one")
    if left <= 0 and len(items) > limit:
        words(f"{limit} of {len(items)}; --all shows the rest")


def expanded(ids: Sequence[str], items: Sequence[ReviewItem]) -> list[str]:
    """Ids as given; that of a group stands for all its pairs."""
    hubs = [one for one in groups(items) if one.hub is not None]
    found: list[str] = []
    for id in ids:
        mine = [one for one in hubs if one.hub and names_id(id, one.hub.id)]
        found += [one.id for one in mine[0].items] if len(mine) == 1 else [id]
    return list(dict.fromkeys(found))


def _item(one: ReviewItem, names: dict[str, str]) -> None:
    entry(names[one.id], one.kind, one.question)
    if one.other is not None:
        detail("older", _text(one.other))
    detail("text" if one.other is None else "newer", _text(one.memory))
    detail("reason", _reason(one))


def _group(group: Group, names: dict[str, str], most: int) -> int:
    """Print a group, `most` of its pairs at most. Returns how many were shown."""
    assert group.hub is not None
    hub = group.hub
    counts = Counter(one.kind for one in group.items)
    kinds = ", ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in counts.items())
    entry(names[hub.id], kinds, "of one memory; this id decides all of them")
    detail("text", _text(hub))
    for one in group.items[:most]:
        assert one.other is not None
        newer = one.other.id == hub.id
        entry(names[one.id], one.kind, _reason(one), MARGIN)
        detail("  newer" if newer else "  older", _text(one.memory if newer else one.other))
    if len(group.items) > most:
        line(f"{MARGIN}and {len(group.items) - most} more")
    return min(most, len(group.items))


def _text(one: Memory) -> str:
    return f"{day(one.valid_from)}  {cut(in_a_line(one), MOST_CHARACTERS)}"


def _reason(one: ReviewItem) -> str:
    return printable(one.reason) + (f", likeness {one.score:.2f}" if one.score is not None else "")
