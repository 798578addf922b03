"""The pairs of memories that the reader compares, and the text it gets of each."""

from __future__ import annotations

from ..model.clock import format_time
from ..model.memory import Memory, is_below, is_unconfirmed

TURN = "episode"
SHORTEST = 3  # words: "Thank you" states nothing


def statement(memory: Memory) -> str:
    """Return a memory as the reader gets it: its date, its speaker, its key and topics, its text."""
    parts = [(format_time(memory.valid_from_us) or "")[:10]]
    if memory.speaker:
        parts.append(f"{memory.speaker}:")
    if memory.key:
        parts.append(f"[{memory.key}]")
    if memory.topics:
        parts.append(" ".join(f"#{topic}" for topic in memory.topics))
    return " ".join([*parts, memory.content])


def in_order(first: Memory, other: Memory) -> tuple[Memory, Memory]:
    """Return two memories in the order in which they began to hold."""
    return (first, other) if first.valid_from_us <= other.valid_from_us else (other, first)


def may_relate(older: Memory, newer: Memory) -> bool:
    """Return whether a newer statement can say anything of an older one.

    Both must share scope and heading, and the speaker where both name one. Not related: statements of one instant (the
    lines of a batch), two values of keys (compared by key), events, texts of one or two words, and a newer statement
    that is trusted less.
    """
    speakers = {name for name in (older.speaker, newer.speaker) if name}
    headings = {str(memory.metadata.get("heading") or "") for memory in (older, newer)}
    return (
        older.valid_from_us < newer.valid_from_us
        and older.scope == newer.scope
        and len(speakers) < 2
        and len(headings) == 1
        and not (older.key and newer.key)
        and TURN not in (older.kind, newer.kind)
        and all(memory.key or len(memory.content.split()) >= SHORTEST for memory in (older, newer))
        and not is_unconfirmed(newer.origin, newer.trust)
        and not is_below(newer.trust, older.trust)
    )
