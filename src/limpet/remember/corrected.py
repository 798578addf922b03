"""A statement that was corrected and is said again: it is noted, and does not come back by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.dataclass import replace
from ..model.ids import parse_id
from ..model.memory import Memory, is_below
from .replacement import quoted

if TYPE_CHECKING:
    from .validation import ValidStatement
    from .write import Receipt, Writer

# Corrections of corrections that are followed.
MOST_CORRECTIONS = 100


def says_already(old: Memory, statement: ValidStatement) -> bool:
    """Whether a correction would replace a belief by itself; whoever is trusted more says it anew."""
    same = old.superseded_by is None and old.content == statement.content
    return same and not is_below(old.trust, statement.origin)


def correction_of(writer: Writer, old: Memory, statement: ValidStatement) -> Memory | None:
    """What holds in the place of a memory that said the same as the statement and was replaced.

    None where nothing does, where nothing of it may be told here, and for a statement of its own: one with an id or a
    time. (A value of a key is set, not repeated: it does not come here.)
    """
    if statement.id or statement.valid_from is not None or statement.valid_to is not None:
        return None
    current: Memory | None = old
    for _ in range(MOST_CORRECTIONS):
        if current is None or current.superseded_by is None:
            break
        current = writer.reads.memories.get(parse_id(current.superseded_by))
    if current is None or current.state != "active" or current.superseded_by is not None:
        return None
    if current.valid_to_us is not None and current.valid_to_us <= writer.now:
        return None
    return current if writer.scopes is None or current.scope in writer.scopes else None


def observe_corrected(writer: Writer, old: Memory, current: Memory, statement: ValidStatement) -> Receipt:
    """An observation of the belief that was corrected, with all that the statement adds to it."""
    from .restate import restate

    known = restate(writer, old, statement)
    told = corrected_to(writer, current)
    return replace(known, reason=f"{told}; {known.reason}" if known.reason else told)


def corrected_to(writer: Writer, current: Memory) -> str:
    """What holds instead, and how to say that it does no more."""
    return (
        f"corrected since: {current.id} says {quoted(writer, current)}; if the older holds again,"
        f" `limpet correct {current.id}` says so"
    )
