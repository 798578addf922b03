"""The events of one write, collected inside its transaction, and what the store says with them. See `decide.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ..model.dataclass import NamedTuple, dataclass, field, replace
from ..model.encode import OPTIONAL, JsonForm
from ..model.errors import BadInput, LimpetError, NotFound
from ..model.events import Event
from ..model.ids import format_id, parse_id
from ..model.memory import GLOBAL_SCOPE, Memory, is_below, least_trusted
from ..model.state import MemoryState, cancelled_by, replay
from ..text.normalise import fingerprint, same_value
from .validation import ValidStatement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..store import Store
    from ..store.records import TurnRow

# Of so many turns without a time a batch is an exchange, which comes again in a conversation as one "yes" does: it is
# known only where the session ends with it.
EXCHANGE_TURNS = 2
ALL = (1 << 63) - 1  # turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt(JsonForm):
    """What a write did.

    `status`: created, observed (known already), quarantined, proposed (it would replace what a more trusted origin
    said: on the review list), changed, unchanged, rejected. `added`: what a statement that was known already added to
    its memory. `kind`: what a decision made of it.
    """

    if TYPE_CHECKING:
        id: str  # what one verb answers is given to another; where nothing is stored most raise
    else:
        id: str | None  # None: rejected, which only a batch answers, or a session that ends without a summary
    status: str
    event: str | None = None
    reason: str | None = field(default=None, metadata=OPTIONAL)
    redacted: tuple[str, ...] = field(default=(), metadata=OPTIONAL)
    added: tuple[str, ...] = field(default=(), metadata=OPTIONAL)
    kind: str | None = field(default=None, metadata=OPTIONAL)


class Turn(NamedTuple):
    """What a turn of a conversation is known by."""

    scope: str
    session: str
    mark: int  # fingerprint: of its words and its speaker
    valid_from: int | None  # None: not said


class Writer:
    """Collects the events of one operation. Made anew each time the transaction is tried."""

    def __init__(
        self, reads: Store, make_id: Callable[[], bytes], now: int, scopes: Sequence[str] | None = None, *,
        operation: bytes | None = None, background: bool = False,
    ) -> None:  # fmt: skip
        """`scopes`: those whose memories it may name by their ids; None for all. `operation`: one that is under way.
        `background`: nobody asked for what it judges, and an undo takes it back with what it judges."""
        self.reads = reads
        self.scopes = scopes
        self.now = now
        self.events: list[Event] = []
        self._operation, self._background = operation, background
        self.make_id = make_id
        # What this operation has added but the store has not seen yet.
        self.said: dict[tuple[str, int], bytes] = {}
        self._positions: dict[tuple[str, str], int] = {}
        self._ids: set[bytes] = set()
        self._by_memory: dict[bytes, list[Event]] = {}
        # Fingerprints that are known to be new: nothing needs to be looked up.
        self._new: set[int] = set()
        self.turns: dict[Turn, list[bytes | None]] = {}  # the memory that each of them is
        self.beyond: Counter[Turn] = Counter()  # how often a file has one more than the store, so far
        self.lines: dict[str, tuple[list[Any], int]] = {}  # what lines of a file became before (`decide.seen_before`)
        self.spoken: Mapping[Turn, int] = {}  # how often a batch had each of them in its transactions before this one
        self.alone = True  # this one is all of the batch
        # Statements are lines of a file, which may come again: what is known already and adds nothing leaves no event,
        # and what is no more, or waits, does not come back.
        self.quiet = False
        # Memories that wait for a person: they end nothing.
        self.waiting: set[bytes] = set()

    # -- events

    def event(self, type: str, memory: bytes, *, origin: str, content: str | None = None, **data: Any) -> Event:
        if self._background and type in ("edited", "merged"):
            data["background"] = True
        return self._add(self.make_id(), type, memory, origin, content, data)

    def _add(
        self, id: bytes, type: str, memory: bytes, origin: str, content: str | None, data: dict[str, Any],
        mark: int | None = None,
    ) -> Event:  # fmt: skip
        operation = self._operation or (self.events[0].id if self.events else id)
        made = Event(
            id=id, type=type, memory=memory, at=self.now, operation=operation, origin=origin, content=content,
            data=data, mark=mark,
        )  # fmt: skip
        self.events.append(made)
        self._by_memory.setdefault(memory, []).append(made)
        return made

    def forget_last(self) -> None:
        """Take out the event that was added last."""
        gone = self.events.pop()
        self._by_memory[gone.memory].pop()

    def create(
        self, statement: ValidStatement, memory: bytes, mark: int, *, unused: bytes | None, causes: Sequence[Memory],
        trust: str, data: dict[str, Any],
    ) -> Event:  # fmt: skip
        """Add the event that makes a memory, and its reasons. `unused`: its id, if no event has it."""
        for name in ("valid_from", "valid_to", "session", "key", "source", "speaker", "confidence"):
            value = getattr(statement, name)
            if value is not None:
                data.setdefault(name, value)
        if statement.topics:
            data["topics"] = list(statement.topics)
        if statement.metadata:
            data["metadata"] = statement.metadata
        if statement.importance is not None and statement.importance != 0.5:
            data["importance"] = statement.importance
        if statement.pin:
            data["pinned"] = True
        if statement.session:
            slot = statement.scope, statement.session
            data["position"] = self._positions.get(slot) or self.reads.sessions.next_position(*slot)
            self._positions[slot] = data["position"] + 1
        if trust != statement.origin:
            data["trust"] = trust
        if statement.anyway:
            data["anyway"] = True
        if statement.demoted:
            data["demoted"] = statement.demoted.as_data()
        # A memory and the event that makes it share an id, so that one index finds both. A given id may be taken by an
        # event already.
        id = memory if statement.id is None or unused else self.make_id()
        made = self._add(id, "remembered", memory, statement.origin, statement.content, data, mark)
        self.said[statement.scope, mark] = memory
        self._ids.add(memory)
        for cause in causes:
            self.event("linked", memory, origin=statement.origin, edge="caused_by", target=parse_id(cause.id).hex())
        return made

    def observed(self, memory: bytes, origin: str, data: dict[str, Any], unused: bytes | None) -> Event:
        return self._add(unused or self.make_id(), "observed", memory, origin, None, data)

    def supersede(self, old: Memory, new: bytes, origin: str, start: int, **more: Any) -> None:
        """`old` ends where `new` begins; what had ended before holds no longer for that."""
        start = start if old.valid_to_us is None else min(start, old.valid_to_us)
        start = max(start, old.valid_from_us)  # what another one was true instead of all the time: never
        self.event("superseded", parse_id(old.id), origin=origin, by=new.hex(), valid_to=start, **more)

    def replace(self, old: Memory, new: bytes, origin: str, start: int, why: str | None) -> None:
        """End `old`, unless this operation has, and link both."""
        raw = parse_id(old.id)
        if not any(event.type == "superseded" for event in self._by_memory.get(raw, ())):
            self.supersede(old, new, origin, start, **({"why": why} if why else {}))
        self.event("linked", new, origin=origin, edge="supersedes", target=raw.hex())

    def revive(self, memory: bytes, by: bytes) -> None:
        """Take back that `by` replaced a memory."""
        history = list(self.reads.ledger.events(memory=memory))
        cancelled = cancelled_by(history)
        for event in history:
            if event.type == "superseded" and event.data["by"] == by.hex() and event.id not in cancelled:
                self.event("undone", memory, origin="agent", undoes=event.id.hex())

    # -- what is there

    def expect(self, statements: Sequence[ValidStatement]) -> list[int]:
        """The fingerprints of some statements, looked up together."""
        marks = [mark_of(one) for one in statements]
        asked = [*marks, *(mark_of(replace(one, key=None)) for one in statements if one.key)]
        self._new |= set(asked) - self.reads.memories.with_fingerprints(asked)
        self._expect_turns(turns_of(statements, marks))
        return marks

    def as_it_is(self, memory: bytes) -> Memory | MemoryState | None:
        """A memory as it will be after what this operation holds so far."""
        said = self._by_memory.get(memory)
        if not said:
            return self.reads.memories.get(memory)
        return replay(said if memory in self._ids else [*self.reads.ledger.events(memory=memory), *said])

    def causes(self, statement: ValidStatement) -> list[Memory]:
        """What it rests on. Raises NotFound."""
        return [need(self.reads, cause, (statement.scope, GLOBAL_SCOPE)) for cause in statement.because]

    def values(self, statement: ValidStatement) -> tuple[list[Memory], str | None]:
        """The values of its key; the key in use when a person has said that two keys name the same."""
        if statement.key is None:
            return [], None
        values = self.reads.memories.keyed(statement.scope, statement.key)
        renamed = None if values else self.reads.memories.renamed_key(statement.scope, statement.key)
        return (values, None) if renamed is None else (self.reads.memories.keyed(statement.scope, renamed), renamed)

    def taken(self, statement: ValidStatement) -> Receipt | None:
        """A given id that is there already: the same statement again is fine. Raises BadInput for another one."""
        assert statement.id is not None
        shown = format_id(statement.id)
        if statement.id in self._ids:
            raise BadInput(f"the id {shown} is given twice")
        known = self.as_it_is(statement.id)
        if known is None:
            return None
        if known.content == statement.content or (self.quiet and known.state == "purged"):
            return Receipt(id=shown, status="observed", event=None, reason="stored under this id already")
        raise BadInput(f"the id {shown} names another memory", hint="leave the id out, or use `correct`")

    def known(self, statement: ValidStatement, mark: int, values: Sequence[Memory]) -> Memory | MemoryState | None:
        """The memory that says this already, of the time that is spoken of."""
        there: Memory | MemoryState | None
        if statement.speaker and is_spoken(statement):
            there = self._same_turn(statement, mark)
            return there if there and (statement.valid_from or not _apart(there, statement, self.now)) else None
        said = self.said.get((statement.scope, mark))
        if said is not None:
            there = self.as_it_is(said)
        elif statement.key:
            start = statement.valid_from if statement.valid_from is not None else self.now
            there = held(values, start)
            if there is not None:
                is_said = mark_of(there) == mark and same_value(there.content, statement.content)
                return there if is_said else None
            there = None if values else self._without_key(statement)
        else:
            there = None if mark in self._new else self.reads.memories.stated_before(statement.scope, mark, self.now)
        return None if there is None or _apart(there, statement, self.now) else there

    def _without_key(self, statement: ValidStatement) -> Memory | None:
        """A memory that says the same and has no key yet, if this statement may give it one: its first value."""
        mark = mark_of(replace(statement, key=None))
        if mark in self._new or statement.valid_from is not None or statement.valid_to is not None:
            return None
        there = self.reads.memories.same_statement(statement.scope, mark, self.now)
        trusted = there is not None and not is_below(effective_trust(statement, self.causes(statement)), there.trust)
        return there if trusted else None

    # -- turns of a conversation
    #
    # The same words are said again in a conversation, and are another turn. So a turn is known by its time; without
    # one, when it repeats what its session ends with (a call that is made again). Of a batch or a file the n-th time
    # that words are said is the n-th that the session has: what is sent again is stored once, and what has grown grows.

    def _same_turn(self, statement: ValidStatement, mark: int) -> Memory | MemoryState | None:
        """The memory of a turn; one with an id is known by that alone."""
        if statement.id is not None:
            return None
        turn = turn_of(statement, mark)
        if not self.turns.get(turn):
            self.expect([statement])
        id = self.turns[turn].pop(0)
        return None if id is None else self.as_it_is(id)

    def _expect_turns(self, turns: Sequence[Turn]) -> None:
        """Look up the memory that each turn of the operation is, in their order."""
        sessions: dict[tuple[str, str], list[Turn]] = {}
        found: dict[Turn, list[bytes | None]] = {}
        for turn in turns:
            sessions.setdefault((turn.scope, turn.session), []).append(turn)
        for (scope, session), coming in sessions.items():
            ends = self.alone and len(coming) <= EXCHANGE_TURNS and all(turn.valid_from is None for turn in coming)
            there: list[TurnRow] = []
            if not self._new.issuperset(turn.mark for turn in coming):
                there = self.reads.sessions.turns(scope, session, limit=len(coming) if ends else ALL)
            rows = _at_the_end(there, coming) if ends else self._in_order(there, coming)
            for turn, row in zip(coming, rows, strict=True):
                found.setdefault(turn, []).append(row.id if row and row.state == "active" else None)
        self.turns |= found

    def _in_order(self, there: Sequence[TurnRow], coming: Sequence[Turn]) -> list[TurnRow | None]:
        at: dict[tuple[int, int | None], list[TurnRow]] = {}
        for row in there:
            if row.state == "active" and row.mark is not None:
                at.setdefault((row.mark, None), []).append(row)
                at.setdefault((row.mark, row.valid_from), []).append(row)
        times = Counter({turn: self.spoken.get(turn, 0) for turn in coming})
        for turn, before in times.items():
            self.beyond[turn] = max(0, before - len(at.get((turn.mark, turn.valid_from), [])))
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


def is_spoken(one: ValidStatement | Memory) -> bool:
    """Whether it is a turn: the record of what somebody said, and no statement that is more."""
    return bool(one.kind == "episode" and one.speaker and one.session and one.key is None)


def turns_of(statements: Sequence[ValidStatement], marks: Sequence[int]) -> list[Turn]:
    """Those among some statements that are known by what they say."""
    several = zip(statements, marks, strict=True)
    return [turn_of(one, mark) for one, mark in several if one.id is None and is_spoken(one)]


def turn_of(one: ValidStatement, mark: int) -> Turn:
    return Turn(one.scope, one.session or "", mark, one.valid_from)


def _apart(there: Memory | MemoryState, statement: ValidStatement, now: int) -> bool:
    """Whether it speaks of a time when the memory does not hold, or of one that is over: another statement."""
    start, end = statement.valid_from, statement.valid_to
    if start is not None and there.valid_to_us is not None and start >= there.valid_to_us:
        return True
    return end is not None and (end <= there.valid_from_us or (end <= now and not statement.key))


def held(values: Sequence[Memory], at: int) -> Memory | None:
    """The value of a key that holds at an instant."""
    for one in values:
        if one.valid_from_us <= at and (one.valid_to_us is None or at < one.valid_to_us):
            return one
    return None


def fitted(values: Sequence[Memory], start: int, end: int | None) -> dict[str, Any]:
    """{"valid_to"} of a value that begins before one that is there: it ends where that one begins."""
    later = next((one.valid_from_us for one in values if one.valid_from_us > start), None)
    return {} if later is None or (end is not None and end <= later) else {"valid_to": later}


def effective_trust(statement: ValidStatement, causes: Sequence[Memory]) -> str:
    """That of the least trusted it comes from or rests on."""
    if not causes and not statement.trust:
        return statement.origin
    return least_trusted([statement.origin, statement.trust or statement.origin, *(cause.trust for cause in causes)])


def raw_id(memory: Memory | MemoryState) -> bytes:
    return memory.id if isinstance(memory.id, bytes) else parse_id(memory.id)


def mark_of(one: ValidStatement | Memory) -> int:
    return fingerprint(one.scope, one.kind, one.speaker, one.key, one.content)


def check_live(memory: Memory) -> None:
    """Raises BadInput when a memory can no longer be changed: purged or retracted."""
    if memory.state == "purged":
        raise BadInput(f"memory {memory.id} was purged: its content is gone")
    if memory.state == "retracted":
        raise BadInput(f"memory {memory.id} is retracted", hint="`limpet restore` brings it back")


def need(reads: Store, id: str, scopes: Sequence[str] | None) -> Memory:
    """The memory of some scopes (None: all) that an id or a prefix names. Raises NotFound, AmbiguousId, BadInput."""
    found = reads.memories.get(reads.memories.resolve(id, scopes))
    if found is None:
        raise NotFound(f"no memory with the id {id}")
    return found


def rejected(error: LimpetError, id: Any = None) -> Receipt:
    """The receipt of a statement that is not valid."""
    reason = error.message if not error.hint else f"{error.message} ({error.hint})"
    shown = str(id) if id is not None else None
    return Receipt(id=shown, status="rejected", reason=reason)  # type: ignore[arg-type]
