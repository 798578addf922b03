"""How facts, audits, the review list and sessions look in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.errors import counted
from ..model.memory import valued
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
    moment,
    paint,
    printable,
    words,
    wrapped,
)
from .receipt import short

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Sequence

    from ..api import Limpet
    from ..features.usefulness.rules_kept import Adherence
    from ..history.claims import Audit, Belief
    from ..history.view import Node
    from ..model.memory import Memory
    from ..recall.facts import Fact
    from ..remember.review import ReviewItem


def facts(found: Sequence[Fact]) -> None:
    """A line for each value, oldest first; an open end means that it still holds. With the times of day where one
    held for less than a day."""
    for one in found:
        tell = moment if day(one.valid_from) == day(one.valid_to) else day
        until = tell(one.valid_to) if one.valid_to is not None else "now"
        line(f"{tell(one.valid_from)} to {until:<10}  {printable(one.value)}  {paint(f'({one.origin})', DIM)}")


def audit(found: Audit, memory: Limpet, args: Namespace) -> None:
    """One belief after the other, what was asked about first."""
    if not found.beliefs:
        words("nothing is believed about that")
        return
    then = f" as known {moment(found.known_at)}" if found.known_at is not None else ""
    # What words find is near, and need not be about that.
    near = "nearest to" if found.by == "text" else "about"
    line(f"{paint(counted(len(found.beliefs), 'belief'), BOLD)} {near} {printable(found.about)}{then}")
    for one in found.beliefs:
        line("")
        _belief(one)


def _belief(one: Belief) -> None:
    node = one.node
    state = "" if node.standing == "held" else f"[{node.standing}]"
    entry(short(node.id), node.kind, state)
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
        _nodes(label, nodes, one.corrections)
    for affected in one.rests_on_it:
        _nodes("rests on it", [affected.node], {}, "  would fall" * affected.falls)
    _nodes("to look at", [affected.node for affected in one.rested_before], {}, "  rested on what it replaced")


def rules(judged: Sequence[Adherence]) -> None:
    """The rules that a session kept or broke, with what says so."""
    for one in judged:
        line(f"{paint(one.verdict, RED if one.verdict == 'broken' else GREEN)}  {in_a_line(one.memory)}")
        for evidence in one.evidence:
            line(MARGIN + paint(printable(evidence), DIM))


def _nodes(label: str, nodes: Iterable[Node], why: dict[str, str], mark: str = "") -> None:
    for node in nodes:
        state = f"[{node.standing}] " if node.standing not in ("held", "superseded") else ""
        reason = f"  ({printable(why[node.id])})" if node.id in why else ""
        detail(label, f"{short(node.id)}  {state}{in_a_line(node)}{reason}{mark}")


# -- the review list

# Characters of a text that are shown at most.
MOST_CHARACTERS = 400


def review(items: Sequence[ReviewItem], memory: Limpet, args: Namespace) -> None:
    """Each item with its texts."""
    if not items:
        words("nothing waits for review")
        return
    for number, one in enumerate(items):
        if number:
            line("")
        entry(short(one.id), one.kind, one.question)
        if one.other is not None:
            detail("older", _text(one.other))
        detail("text" if one.other is None else "newer", _text(one.memory))
        detail("reason", printable(one.reason) + (f", likeness {one.score:.2f}" if one.score is not None else ""))
    words("limpet review accept ID, or reject ID; several ids are decided one by one")
    if not args.all and len(items) == args.limit:
        words("there may be more; --all shows the rest")


def _text(one: Memory) -> str:
    return f"{day(one.valid_from)}  {cut(in_a_line(one), MOST_CHARACTERS)}"
