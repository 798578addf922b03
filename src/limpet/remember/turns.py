"""Turns of a conversation: which of those that arrive are there already.

The same words are said again in a conversation, and are another turn. So a turn is known by its time; without one,
when it repeats what its session ends with (a call that is made again). Of a batch or a file the n-th time that words
are said is the n-th that the session has: what is sent again is stored once, and what has grown meanwhile grows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.dataclass import NamedTuple
from ..model.memory import Memory

if TYPE_CHECKING:
    from ..model.state import MemoryState
    from ..store.records import TurnRow
    from .validation import ValidStatement
    from .write import Writer

# Of so many turns without a time a batch is an exchange, which comes again in a conversation as one "yes" does: it is
# known only where the session ends with it.
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
    turn = turn_of(statement, mark)
    if not writer.turns.get(turn):
        writer.expect([statement])
    id = writer.turns[turn].pop(0)
    return None if id is None else writer.as_it_is(id)


def known_turns(
    writer: Writer, statements: Sequence[ValidStatement], marks: Sequence[int], new: set[int]
) -> dict[Turn, list[bytes | None]]:
    """The memory that each turn of an operation is, in their order; None: another one. `new`: marks that none has."""
    sessions: dict[tuple[str, str], list[Turn]] = {}
    for turn in turns_of(statements, marks):
        sessions.setdefault((turn.scope, turn.session), []).append(turn)
    found: dict[Turn, list[bytes | None]] = {}
    for (scope, session), coming in sessions.items():
        ends = writer.alone and len(coming) <= EXCHANGE_TURNS and all(turn.valid_from is None for turn in coming)
        there: list[TurnRow] = []
        if not new.issuperset(turn.mark for turn in coming):
            there = writer.reads.sessions.turns(scope, session, limit=len(coming) if ends else ALL)
        rows = _at_the_end(there, coming) if ends else _in_turn(there, coming, writer)
        for turn, row in zip(coming, rows, strict=True):
            found.setdefault(turn, []).append(row.id if row and row.state == "active" else None)
    return found


def turns_of(statements: Sequence[ValidStatement], marks: Sequence[int]) -> list[Turn]:
    """Those among some statements that are known by what they say."""
    several = zip(statements, marks, strict=True)
    return [turn_of(one, mark) for one, mark in several if one.id is None and is_spoken(one)]


def turn_of(one: ValidStatement, mark: int) -> Turn:
    return Turn(one.scope, one.session or "", mark, one.valid_from)


def _in_turn(there: Sequence[TurnRow], coming: Sequence[Turn], writer: Writer) -> list[TurnRow | None]:
    at: dict[tuple[int, int | None], list[TurnRow]] = {}
    for row in there:
        if row.state == "active" and row.mark is not None:
            at.setdefault((row.mark, None), []).append(row)
            at.setdefault((row.mark, row.valid_from), []).append(row)
    times = Counter({turn: writer.spoken.get(turn, 0) for turn in coming})
    for turn, before in times.items():
        writer.beyond[turn] = max(0, before - len(at.get((turn.mark, turn.valid_from), [])))
    found: list[TurnRow | None] = []
    for turn in coming:
        rows = at.get((turn.mark, turn.valid_from), [])
        found.append(rows[times[turn]] if times[turn] < len(rows) else None)
        times[turn] += 1
    return found


def _at_the_end(there: Sequence[TurnRow], coming: Sequence[Turn]) -> list[TurnRow | None]:
    """Of the last turns of a session: those that arrive, if all of them, or the first of them, are its end."""
    for start in range(len(there)):
        rest = there[start:]
        if all(row.mark == turn.mark for row, turn in zip(rest, coming, strict=False)):
            return [rest[i] if i < len(rest) else None for i in range(len(coming))]
    return [None] * len(coming)
