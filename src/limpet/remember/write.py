"""The events of one write, collected inside its transaction, and what the store says with them. See `decide.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from ..model.dataclass import dataclass, field, replace
from ..model.encode import OPTIONAL, JsonForm
from ..model.errors import BadInput, LimpetError, NotFound
from ..model.events import Event
from ..model.ids import format_id, parse_id
from ..model.memory import GLOBAL_SCOPE, Memory, is_below, least_trusted
from ..model.state import MemoryState, cancelled_by, replay
from ..text.normalise import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..store import Store
    from .batch import Batch
    from .validation import ValidStatement


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt(JsonForm):
    """The receipt of a write.

    `status`: created, observed (known already), quarantined, proposed (it would replace what a more trusted origin
    said: on the review list), changed, unchanged, rejected. `added`: what a statement that was known already added to
    its memory. `kind`: what a decision made of it.
    """

    if TYPE_CHECKING:
        id: str  # None is rare, and most callers pass the id on to another verb
    else:
        id: str | None  # None: rejected, which only a batch answers, or a session that ends without a summary
    status: str
    event: str | None = None
    reason: str | None = field(default=None, metadata=OPTIONAL)
    redacted: tuple[str, ...] = field(default=(), metadata=OPTIONAL)
    added: tuple[str, ...] = field(default=(), metadata=OPTIONAL)
    kind: str | None = field(default=None, metadata=OPTIONAL)

    def with_reason(self, why: str) -> Receipt:
        """Return the same receipt with another reason before its own."""
        return replace(self, reason="; ".join(filter(None, (why, self.reason)))) if why else self


def rejected(error: LimpetError, id: Any = None) -> Receipt:
    """Return the receipt of a statement that is not valid."""
    reason = error.message if not error.hint else f"{error.message} ({error.hint})"
    shown = str(id) if id is not None else None
    return Receipt(id=shown, status="rejected", reason=reason)  # type: ignore[arg-type]


def changed(made: Event, *, status: str = "changed", **more: Any) -> Receipt:
    """Return the receipt of an event that made or changed a memory."""
    return Receipt(id=format_id(made.memory), status=status, event=format_id(made.id), **more)


class Writer:
    """The events of one operation, collected anew each time the transaction is tried."""

    def __init__(
        self, reads: Store, make_id: Callable[[], bytes], now: int, scopes: Sequence[str] | None = None, *,
        operation: bytes | None = None, background: bool = False,
    ) -> None:  # fmt: skip
        """Set up a writer. `scopes`: those whose memories it may name by id; None for all. `operation`: one under way.
        `background`: nobody asked for its judgements; an undo takes them back with what they judge."""
        self.reads, self.make_id, self.now, self.scopes = reads, make_id, now, scopes
        self._operation, self._background = operation, background
        self.events: list[Event] = []
        # What this operation has added but the store has not seen yet.
        self.stated: dict[tuple[str, int], bytes] = {}
        self._positions: dict[tuple[str, str], int] = {}
        self._ids: set[bytes] = set()
        self._by_memory: dict[bytes, list[Event]] = {}
        self.new: set[int] = set()  # fingerprints that no memory has: nothing needs to be looked up
        # Statements are lines of a file, which may come again: a known line that adds nothing leaves no event, and a
        # line that is gone or waits does not come back.
        self.quiet = False
        self.batch: Batch | None = None  # looked up together for several statements, or for a turn
        self.waiting: set[bytes] = set()  # memories that wait for a person: they end nothing
        self.notes: list[str] = []  # what the receipt says beside its own reason

    # -- events

    def event(self, type: str, memory: bytes, *, origin: str, content: str | None = None, **data: Any) -> Event:
        """Add an event, with a new id."""
        if self._background and type in ("edited", "merged"):
            data["background"] = True
        return self.add(self.make_id(), type, memory, origin, content, data)

    def add(
        self, id: bytes, type: str, memory: bytes, origin: str, content: str | None, data: dict[str, Any],
        mark: int | None = None,
    ) -> Event:  # fmt: skip
        """Add an event whose id no event has yet. `mark`: the fingerprint of what is remembered."""
        made = Event(
            id=id, type=type, memory=memory, at=self.now, origin=origin, content=content, data=data, mark=mark,
            operation=self._operation or (self.events[0].id if self.events else id),
        )  # fmt: skip
        self.events.append(made)
        self._by_memory.setdefault(memory, []).append(made)
        return made

    def touched(self) -> set[str]:
        """Return the scopes that the events change: of their memories and sessions, and those they name or named."""
        undone = [bytes.fromhex(event.data["undoes"]) for event in self.events if event.type == "undone"]
        named = [event.data for event in (*self.events, *self.reads.ledger.events(ids=undone))]
        there = filter(None, map(self.reads.memories.get, self._by_memory.keys() - self._ids))
        scopes = {data[name] for data in named for name in ("scope", "was") if name in data}
        return scopes | {memory.scope for memory in there}

    def forget_last(self) -> None:
        """Take out the event that was added last."""
        self._by_memory[self.events.pop().memory].pop()

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
        if statement.code:
            data["code"] = statement.code
        if statement.demoted and statement.kind == "episode":
            data["demoted"] = statement.demoted
        # A memory and the event that makes it share an id, so that one index finds both. A given id may be taken by an
        # event already.
        id = memory if statement.id is None or unused else self.make_id()
        made = self.add(id, "remembered", memory, statement.origin, statement.content, data, mark)
        self.stated[statement.scope, mark] = memory
        self._ids.add(memory)
        for cause in causes:
            self.event("linked", memory, origin=statement.origin, edge="caused_by", target=parse_id(cause.id).hex())
        return made

    def supersede(self, old: Memory, new: bytes, origin: str, start: int, **more: Any) -> None:
        """End `old` where `new` begins, or before if it had ended by then."""
        start = start if old.valid_to_us is None else min(start, old.valid_to_us)
        start = max(start, old.valid_from_us)  # it never held if another one was true all the time
        self.event("superseded", parse_id(old.id), origin=origin, by=new.hex(), valid_to=start, **more)

    def replace(self, old: Memory, new: bytes, origin: str, start: int, why: str | None) -> None:
        """End `old`, unless this operation has, and link both."""
        raw = parse_id(old.id)
        if not any(event.type == "superseded" for event in self._by_memory.get(raw, ())):
            self.supersede(old, new, origin, start, **({"why": why} if why else {}))
        self.event("linked", new, origin=origin, edge="supersedes", target=raw.hex())

    def order_values(self, values: Sequence[Memory]) -> None:
        """Order values of a key so that at each instant one holds: the one that began last."""
        values = sorted(values, key=lambda value: (value.valid_from_us, value.created_at_us, value.id))
        for value, following in pairwise(values):
            if value.valid_to_us is None or value.valid_to_us > following.valid_from_us:
                by, until = parse_id(following.id).hex(), following.valid_from_us
                self.event("superseded", parse_id(value.id), origin="user", by=by, valid_to=until)

    def revive(self, memory: bytes, by: bytes) -> None:
        """Take back that `by` replaced a memory."""
        history = list(self.reads.ledger.events(memory=memory))
        cancelled = cancelled_by(history)
        for event in history:
            if event.type == "superseded" and event.data["by"] == by.hex() and event.id not in cancelled:
                self.event("undone", memory, origin="agent", undoes=event.id.hex())

    # -- what is there

    def memory(self, id: str) -> Memory:
        """Return the memory of these scopes that an id or a prefix names, or the one that it was merged into. Raises
        NotFound, AmbiguousId, BadInput."""
        named = need(self.reads, id, self.scopes)
        memory = self.reads.memories.survivor(named)
        if memory.id == named.id or not (self.scopes is None or memory.scope in self.scopes):
            return named
        self.notes.append(f"{named.id} was merged into {memory.id}")
        return memory

    def live(self, id: str) -> Memory:
        """Return such a memory if it can still be changed. Raises NotFound, AmbiguousId, BadInput."""
        memory = self.memory(id)
        check_live(memory)
        return memory

    def wordings(self, memory: Memory) -> list[Memory]:
        """Return the other memories that are believed and say the same in other words, as a model has read them."""
        held = memory.state == "active" and memory.superseded_by is None
        ids = self.reads.relations.same_as(parse_id(memory.id)) if held else ()
        others = [other for id in ids if (other := self.reads.memories.get(id)) is not None]
        alike = [other for other in others if (other.scope, other.key) == (memory.scope, memory.key)]
        return [other for other in alike if other.state == "active" and other.superseded_by is None]

    def with_wordings(self, memory: Memory, origin: str | None) -> list[Memory]:
        """Return a memory and those that end with it: its other wordings, but what is trusted more than `origin`."""
        ending = [other for other in self.wordings(memory) if not (origin and is_below(origin, other.trust))]
        self.notes += [f"{other.id} says the same, and ends with it" for other in ending]
        return [memory, *ending]

    def as_it_is(self, memory: bytes) -> Memory | MemoryState | None:
        """Return a memory as it will be after the events of this operation so far."""
        made = self._by_memory.get(memory)
        if not made:
            return self.reads.memories.get(memory)
        return replay(made if memory in self._ids else [*self.reads.ledger.events(memory=memory), *made])

    def causes(self, statement: ValidStatement) -> list[Memory]:
        """Return the memories that a statement rests on. Raises NotFound."""
        return [need(self.reads, cause, (statement.scope, GLOBAL_SCOPE)) for cause in statement.because]

    def taken(self, statement: ValidStatement) -> Receipt | None:
        """Return the receipt of an id that already has this statement, else None. Raises BadInput for another one."""
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


def values_of(reads: Store, scope: str, key: str, known_at: int | None = None) -> tuple[list[Memory], str | None]:
    """Return the values of a key; and the key in use, when that differs in case alone."""
    values = reads.memories.keyed(scope, key, known_at=known_at)
    in_use = None if values else reads.memories.key_in_other_case(scope, key)
    return (values, None) if in_use is None else (reads.memories.keyed(scope, in_use, known_at=known_at), in_use)


def held(values: Sequence[Memory], at: int) -> Memory | None:
    """Return the value of a key that holds at an instant."""
    for value in values:
        if value.valid_from_us <= at and (value.valid_to_us is None or at < value.valid_to_us):
            return value
    return None


def fitted(values: Sequence[Memory], start: int, end: int | None) -> dict[str, Any]:
    """Return {"valid_to"} of a value that begins before a present one: it ends where that one begins."""
    later = next((value.valid_from_us for value in values if value.valid_from_us > start), None)
    return {} if later is None or (end is not None and end <= later) else {"valid_to": later}


def effective_trust(statement: ValidStatement, causes: Sequence[Memory]) -> str:
    """Return the lowest trust among its origins and the memories it rests on."""
    return least_trusted([statement.origin, statement.trust or statement.origin, *(cause.trust for cause in causes)])


def is_spoken(statement: ValidStatement | Memory) -> bool:
    """Return whether it is a turn: the record of what somebody said, and nothing more."""
    return statement.kind == "episode" and bool(statement.speaker and statement.session) and statement.key is None


def raw_id(memory: Memory | MemoryState) -> bytes:
    return memory.id if isinstance(memory.id, bytes) else parse_id(memory.id)


def mark_of(statement: ValidStatement | Memory) -> int:
    """Return the fingerprint of a statement: equal for the same statement."""
    return fingerprint(statement.scope, statement.kind, statement.speaker, statement.key, statement.content)


def check_live(memory: Memory) -> None:
    """Check that a memory can still be changed. Raises BadInput for a purged or retracted one."""
    if memory.state == "purged":
        raise BadInput(f"memory {memory.id} was purged: its content is gone")
    if memory.state == "retracted":
        raise BadInput(f"memory {memory.id} is retracted", hint="`limpet restore` brings it back")


def need(reads: Store, id: str, scopes: Sequence[str] | None) -> Memory:
    """Return the memory of some scopes (None: all) by its id or a prefix. Raises NotFound, AmbiguousId, BadInput."""
    memory = reads.memories.get(reads.memories.resolve(id, scopes))
    if memory is None:
        raise NotFound(f"no memory with the id {id}")
    return memory
