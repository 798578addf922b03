"""How one memory and its versions look in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.clock import format_time
from ..model.errors import counted
from ..model.memory import valued
from .output import BOLD, CYAN, RED, YELLOW, detail, encode, line, moment, paint, short_ids, state_of, wrapped
from .receipt import quoted, short

if TYPE_CHECKING:
    from ..api import Limpet
    from ..model.memory import Memory


def whole(one: Memory, memory: Limpet) -> None:
    """Everything a person wants to know of one memory, what it replaced and what replaced it."""
    state = state_of(one)
    line(f"{paint(short(one.id), YELLOW)}  {paint(one.kind, CYAN)}" + (f"  {paint(state, RED)}" if state else ""))
    facts = _facts(one)
    for text in wrapped(facts.pop("content")):
        line(text)
    facts["superseded"] = ""  # said with the words of the other below
    for name, value in (facts | {"id": one.id}).items():
        detail(name, value)
    _corrections(one, memory)


def _corrections(one: Memory, memory: Limpet) -> None:
    """What it replaced and what replaced it, with the reasons."""
    if one.state == "purged":
        return
    found = memory.graph.chain(one.id)
    for label, node, why in (
        *(("replaces", node, found.reasons.get(node.id)) for node in found.before),
        *(
            ("replaced by", node, found.reasons.get(was.id))
            for was, node in zip([found.memory, *found.after], found.after, strict=False)
        ),
    ):
        detail(label, f"{short(node.id)}  {quoted(valued(node.key, node.content), 25)}")
        if why:
            detail("because", " ".join(why.split()))


def versions(found: Sequence[Memory]) -> None:
    """Every version of a memory, oldest first: the first in full, of the others what changed."""
    before: dict[str, str] = {}
    for number, one in enumerate(found, 1):
        line("")
        until = format_time(one.retired_at) or "now"
        line(paint(f"version {number}  {format_time(one.recorded_at)} to {until}", BOLD))
        now = _facts(one) | {"state": one.state, "used": ""}
        for name, value in now.items():
            if value != before.get(name, ""):
                detail(name, short_ids(value) or "-")
        before = now


def _facts(one: Memory) -> dict[str, str]:
    """What there is to say, by name; "" for what does not apply."""
    ends = f" to {moment(one.valid_to)}" if one.valid_to is not None else ""
    return {
        "content": one.content,
        "scope": one.scope,
        "topics": " ".join("#" + topic for topic in one.topics),
        "key": one.key or "",
        "valid": f"from {moment(one.valid_from)}{ends}",
        "recorded": moment(one.created_at),
        "superseded": f"by {one.superseded_by}" if one.superseded_by else "",
        "reason": one.reason or "",
        "origin": one.origin,
        "source": (one.source or "") + (f" ({one.source_state})" if one.source_state else ""),
        "session": one.session or "",
        "speaker": one.speaker or "",
        "confidence": f"{one.confidence_word}, on {counted(one.observations, 'day')}",
        "importance": f"{one.importance:g}" + (", pinned" if one.pinned else ""),
        "used": f"{one.uses} x, last {moment(one.used_at)}" if one.uses else "",
        "metadata": encode(one.metadata) if one.metadata else "",
    }
