"""Batches of statements, and those among them that may arrive again: turns of a conversation, lines of a file.

In a conversation the same words may be said again, as another turn. So a turn is recognised by its time; without one,
by repeating the end of its session (a call that is made again). In a batch or a file, the n-th turn of the same words
is the n-th of its session: what is sent again is stored once, and a file that has grown adds its new turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..model.dataclass import NamedTuple, replace
from ..model.errors import BadInput, LimpetError, NotFound
from ..model.ids import format_id, is_line_id, line_end, line_id
from ..model.memory import caseless
from ..text.normalise import value_form
from .decide import state
from .write import Receipt, Writer, is_spoken, mark_of, raw_id, rejected

if TYPE_CHECKING:
    from ..context import Context
    from ..model.memory import Memory
    from ..model.state import MemoryState
    from ..store.records import TurnRow
    from .validation import ValidStatement

# A batch of at most so many turns without a time is an exchange. It may be said again in a conversation, as one "yes"
# may, so it is recognised only at the end of its session.
EXCHANGE_TURNS = 2
ALL = (1 << 63) - 1  # turns
# Items in one transaction of a batch: few enough that other writers wait for milliseconds.
BATCH_ITEMS = 1_000


class Turn(NamedTuple):
    """The identity of a turn of a conversation."""

    scope: str
    session: str
    mark: int  # fingerprint: of its words and its speaker
    valid_from: int | None  # None: not said


class Batch:
    """The stored memories and turns for the statements of one transaction, looked up together."""

    def __init__(self, writer: Writer, *, spoken: Mapping[Turn, int] | None = None, alone: bool = True) -> None:
        """Set up a batch. `spoken`: the count of each turn in the batch's earlier transactions. `alone`: this one is
        all of the batch."""
        self._writer, self._reads = writer, writer.reads
        self._spoken, self._alone = spoken or {}, alone
        self._turns: dict[Turn, list[bytes | None]] = {}  # turn -> the memories that it may be
        self._beyond: Counter[Turn] = Counter()  # turns that a file has beyond those of the store, so far
        self._lines: dict[str, tuple[list[Any], int]] = {}  # what became of lines of a file before

    def expect(self, statements: Sequence[ValidStatement]) -> list[int]:
        """Look up together the fingerprints of some statements, and the memories of their turns, in order."""
        marks = [mark_of(statement) for statement in statements]
        asked = [*marks, *(mark_of(replace(statement, key=None)) for statement in statements if statement.key)]
        self._writer.new |= set(asked) - self._reads.memories.with_fingerprints(asked)
        sessions: dict[tuple[str, str], list[Turn]] = {}
        by_turn: dict[Turn, list[bytes | None]] = {}
        for turn in self.turns_of(statements, marks):
            sessions.setdefault((turn.scope, turn.session), []).append(turn)
        for (scope, session), coming in sessions.items():
            ends = self._alone and len(coming) <= EXCHANGE_TURNS and all(turn.valid_from is None for turn in coming)
            there: list[TurnRow] = []
            if not self._writer.new.issuperset(turn.mark for turn in coming):
                there = self._reads.sessions.turns(scope, session, limit=len(coming) if ends else ALL)
            rows = _at_the_end(there, coming) if ends else self._in_order(there, coming)
            for turn, row in zip(coming, rows, strict=True):
                by_turn.setdefault(turn, []).append(row.id if row and row.state == "active" else None)
        self._turns |= by_turn
        return marks

    @staticmethod
    def turns_of(statements: Sequence[ValidStatement], marks: Sequence[int]) -> list[Turn]:
        """Return the turns among some statements. A statement with an id is recognised by that."""
        pairs = zip(statements, marks, strict=True)
        return [_turn(statement, mark) for statement, mark in pairs if statement.id is None and is_spoken(statement)]

    def same_turn(self, statement: ValidStatement, mark: int) -> Memory | MemoryState | None:
        """Return the memory of a turn; one with an id is known by that alone."""
        if statement.id is not None:
            return None
        turn = _turn(statement, mark)
        if not self._turns.get(turn):
            self.expect([statement])
        id = self._turns[turn].pop(0)
        return None if id is None else self._writer.as_it_is(id)

    def _in_order(self, there: Sequence[TurnRow], coming: Sequence[Turn]) -> list[TurnRow | None]:
        at: dict[tuple[int, int | None], list[TurnRow]] = {}
        for row in there:
            if row.state == "active" and row.mark is not None:
                at.setdefault((row.mark, None), []).append(row)
                at.setdefault((row.mark, row.valid_from), []).append(row)
        times = Counter({turn: self._spoken.get(turn, 0) for turn in coming})
        for turn, before in times.items():
            self._beyond[turn] = max(0, before - len(at.get((turn.mark, turn.valid_from), [])))
        ordered: list[TurnRow | None] = []
        for turn in coming:
            rows = at.get((turn.mark, turn.valid_from), [])
            ordered.append(rows[times[turn]] if times[turn] < len(rows) else None)
            times[turn] += 1
        return ordered

    def line(self, statement: ValidStatement, mark: int) -> tuple[bytes, Receipt | None]:
        """Return the id of a line of a file, and a receipt if it was decided before: its memory was purged, retracted
        or archived here, was merged or waits, and that stays so."""
        turn = _turn(statement, mark) if is_spoken(statement) else None
        # A line is known by its exact value and its time too, a turn also by its session.
        session = statement.session if turn else ""
        name = f"{mark}\0{session}\0{statement.valid_from}\0{value_form(statement.content)}"
        if name not in self._lines:
            self._lines[name] = self._seen_before(name)
        gone, count = self._lines[name]
        place = 0
        if turn:  # the n-th turn beyond those in the store is the n-th of those that are gone
            place = self._beyond[turn]
            self._beyond[turn] += 1
        if place < len(gone):
            id = raw_id(gone[place])
            why = f"it was imported before, and is {gone[place].state}"
            return id, Receipt(id=format_id(id), status="unchanged", reason=why)
        self._lines[name] = gone, count + 1
        return line_id(self._writer.make_id(), f"{name}\0{count}"), None

    def _seen_before(self, name: str) -> tuple[list[Memory | MemoryState], int]:
        """Return the memories of a line that are gone or wait, and how many it had. A line that an `undo` removed may
        come again."""
        gone: list[Memory | MemoryState] = []
        count = 0
        while True:
            line = f"{name}\0{count}"
            ids = [id for id in self._reads.memories.ending(line_end(line)) if is_line_id(id, line)]
            # Two, when two devices took in the same file.
            there = [memory for memory in map(self._writer.as_it_is, ids) if memory is not None]
            if not there:
                return gone, count
            if all(memory.state != "active" and memory.reason != "undone" for memory in there):
                gone.append(there[0])
            count += 1


def _at_the_end(there: Sequence[TurnRow], coming: Sequence[Turn]) -> list[TurnRow | None]:
    """Return the stored turns for the coming ones, if these, or the first of them, are the session's end."""
    for start in range(len(there)):
        rest = there[start:]
        if all(row.mark == turn.mark for row, turn in zip(rest, coming, strict=False)):
            return [rest[i] if i < len(rest) else None for i in range(len(coming))]
    return [None] * len(coming)


def _turn(statement: ValidStatement, mark: int) -> Turn:
    return Turn(statement.scope, statement.session or "", mark, statement.valid_from)


def remember_batch(
    context: Context, items: Iterable[Mapping[str, Any] | str], *, quiet: bool = False,
    spoken: Counter[Turn] | None = None, trust: str | None = None,
) -> list[Receipt]:  # fmt: skip
    """Take in many statements, a thousand in a transaction. Returns a receipt for each, in their order.

    `quiet`: they are lines of a file: one that is known and adds nothing is no observation, and one that reads like an
    instruction waits for a person. `spoken`: how often each turn was in the earlier batches of the same file; it is
    updated. `trust`: the most that they are trusted.
    """
    alone, spoken = spoken is None, Counter() if spoken is None else spoken
    receipts: list[Receipt] = []
    part: list[tuple[int, ValidStatement]] = []
    keys: set[tuple[str, str]] = set()
    named = False  # an item has an id of its own, on which a later one can build

    def flush(*, last: bool = False) -> None:
        written = _write_batch(context, [stated for _, stated in part], quiet, spoken, alone and last and not spoken)
        for (place, _), receipt in zip(part, written, strict=True):
            receipts[place] = receipt
        part.clear()
        keys.clear()

    for given in items:
        item = {"content": given} if isinstance(given, str) else given
        try:
            if not isinstance(item, Mapping):
                raise BadInput(f"an item must be a text or an object, not {type(item).__name__}")
            statement = replace(context.validate(item), trust=trust)
        except LimpetError as error:
            receipts.append(rejected(error, item.get("id") if isinstance(item, Mapping) else None))
            continue
        # What builds on an earlier item of the batch must see it in the store.
        slot = (statement.scope, caseless(statement.key or ""))
        if len(part) >= BATCH_ITEMS or (statement.because and named) or (statement.key and slot in keys):
            flush()
        named = named or bool(statement.id)
        keys.add(slot)
        receipts.append(Receipt(id=None, status="rejected"))  # type: ignore[arg-type]
        part.append((len(receipts) - 1, statement))
    flush(last=True)
    return receipts


def _write_batch(
    context: Context, statements: list[ValidStatement], quiet: bool, spoken: Counter[Turn], alone: bool
) -> list[Receipt]:
    from ..text.instructions import any_reads_like_instruction

    if not statements:
        return []
    turns: list[Turn] = []

    def each(writer: Writer) -> list[Receipt]:
        writer.quiet, writer.batch = quiet, Batch(writer, spoken=spoken, alone=alone)
        receipts = []
        marks = writer.batch.expect(statements)
        turns[:] = writer.batch.turns_of(statements, marks)
        for statement, mark in zip(statements, marks, strict=True):
            reads = None
            if quiet:  # a file may state any origin; of known words only what stands beside them is new
                words = (statement.content, statement.key) if mark in writer.new else ()
                reads = any_reads_like_instruction(
                    *words, statement.topics, statement.speaker, statement.source, statement.session, statement.metadata
                )
            try:
                receipts.append(state(writer, replace(statement, quarantine=reads) if reads else statement, mark=mark))
            except (BadInput, NotFound) as error:
                receipts.append(rejected(error, format_id(statement.id) if statement.id else None))
        return receipts

    receipts = context.write(each)
    spoken.update(turns)
    return receipts
