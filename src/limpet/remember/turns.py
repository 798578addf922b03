"""Turns of a conversation: which of those that arrive are there already.

The same words are said again in a conversation, and are another turn. So a turn is known by its time; without one,
when it repeats what its session ends with (a call that is made again), or a batch what the session holds in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..model.memory import Memory

if TYPE_CHECKING:
    from ..model.state import MemoryState
    from ..store.contract import Store
    from ..store.records import TurnRow
    from .validation import ValidStatement
    from .write import Writer

# Of so many turns a batch is an exchange, which comes again in a conversation as one "yes" does: it is known only where
# the session ends with it. A longer run of the same turns is the conversation sent again.
EXCHANGE_TURNS = 2
ALL = (1 << 63) - 1  # turns


class Turn(NamedTuple):
    """What a turn is known by."""

    scope: str
    session: str
    mark: int  # fingerprint: of its words and its speaker
    valid_from: int | None  # None: not said


def is_spoken(one: ValidStatement | Memory) -> bool:
    """Whether it is a turn: the record of what somebody said, and no statement that is more."""
    return bool(one.kind == "episode" and one.speaker and one.session and one.key is None)


def same_turn(writer: Writer, statement: ValidStatement, mark: int) -> Memory | MemoryState | None:
    """What a turn is known as; one with an id is known by that alone."""
    if statement.id is not None:
        return None
    turn = _turn_of(statement, mark)
    if not writer.turns.get(turn):
        writer.expect([statement])
    id = writer.turns[turn].pop(0)
    return None if id is None else writer.as_it_is(id)


def known_turns(
    reads: Store, statements: Sequence[ValidStatement], marks: Sequence[int], new: set[int]
) -> dict[Turn, list[bytes | None]]:
    """The memory that each turn of an operation is, in their order; None: another one. `new`: marks that none has."""
    sessions: dict[tuple[str, str], list[Turn]] = {}
    for one, mark in zip(statements, marks, strict=True):
        if one.id is None and is_spoken(one):
            turn = _turn_of(one, mark)
            sessions.setdefault((turn.scope, turn.session), []).append(turn)
    found: dict[Turn, list[bytes | None]] = {}
    for (scope, session), coming in sessions.items():
        there = []
        if not new.issuperset(turn.mark for turn in coming):
            last = len(coming) == 1 and coming[0].valid_from is None
            there = reads.sessions.turns(scope, session, limit=1 if last else ALL)
        for turn, row in zip(coming, _matched(there, coming), strict=True):
            found.setdefault(turn, []).append(row.id if row and row.state == "active" else None)
    return found


def _turn_of(one: ValidStatement, mark: int) -> Turn:
    return Turn(one.scope, one.session or "", mark, one.valid_from)


def _matched(there: Sequence[TurnRow], coming: Sequence[Turn]) -> list[TurnRow | None]:
    start = _begins(there, coming) if any(turn.valid_from is None for turn in coming) else None
    if start is not None:
        ahead = list(there[start:])
        return [ahead[i] if i < len(ahead) else None for i in range(len(coming))]
    at: dict[tuple[int | None, int | None], list[TurnRow]] = {}
    for row in reversed(there):
        at.setdefault((row.mark, row.valid_from), []).append(row)
    left = [at.get((turn.mark, turn.valid_from)) for turn in coming]
    return [rows.pop() if rows else None for rows in left]


def _begins(there: Sequence[TurnRow], coming: Sequence[Turn]) -> int | None:
    """Where in a session the turns that arrive stand already: all of them, or the first up to the session's end."""
    ends = len(there) - len(coming)
    for start in range(0 if len(coming) > EXCHANGE_TURNS else max(0, ends), len(there)):
        together = min(len(coming), len(there) - start)
        if all(_same(there[start + i], coming[i]) for i in range(together)):
            return start
    return None


def _same(row: TurnRow, turn: Turn) -> bool:
    return row.mark == turn.mark and turn.valid_from in (None, row.valid_from)
