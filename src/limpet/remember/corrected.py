"""A statement that was corrected and is said again: it is noted, and does not come back by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..model.ids import parse_id
from ..model.memory import Memory
from .replacement import quoted

if TYPE_CHECKING:
    from .validation import ValidStatement
    from .write import Receipt, Writer

# Corrections of corrections that are followed.
MOST_CORRECTIONS = 100


def corrected_since(writer: Writer, statement: ValidStatement, mark: int) -> tuple[Memory, Memory] | None:
    """(the memory that said the same, the one that holds in its place), if it was corrected and says nothing of when.

    A value of a key is set, not repeated; what has an id or a time of its own is a statement of its own.
    """
    if statement.key or statement.id or statement.valid_from is not None or statement.valid_to is not None:
        return None
    old = writer.reads.memories.superseded_statement(statement.scope, mark, writer.now)
    current = old
    for _ in range(MOST_CORRECTIONS):
        if current is None or current.superseded_by is None:
            break
        current = writer.reads.memories.get(parse_id(current.superseded_by))
    if old is None or current is None or current.id == old.id or current.state != "active":
        return None
    if writer.scopes is not None and current.scope not in writer.scopes:
        return None  # nothing of it may be told here
    holds = current.superseded_by is None and (current.valid_to is None or writer.now < current.valid_to)
    return (old, current) if holds else None


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
