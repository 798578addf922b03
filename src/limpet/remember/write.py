"""Which events a statement, a correction or a change of state becomes. Decided inside the write transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ..model.clock import format_time
from ..model.dataclass import dataclass, field, replace
from ..model.encode import OPTIONAL, JsonForm
from ..model.errors import BadInput, LimpetError, NotFound
from ..model.events import Event
from ..model.ids import format_id, parse_id
from ..model.memory import GLOBAL_SCOPE, Memory, is_below, least_trusted
from ..model.state import MemoryState, replay
from ..text.normalise import fingerprint, same_value
from ..text.secrets import redact
from .replacement import fitted, held, kept_for_review, named_alike, says_otherwise, waiting_as_data, was_replaced
from .validation import ValidStatement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..store import Store
    from .turns import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt(JsonForm):
    """What a write did.

    `status`: created, observed (known already), quarantined, proposed (it would replace what a more trusted origin
    said: on the review list), changed, unchanged, rejected. `added`: what a statement that was known already added to
    its memory. `kind`, `rule`: of what is kept as an episode because that rule speaks against it.
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
    rule: str | None = field(default=None, metadata=OPTIONAL)


class Writer:
    """Collects the events of one operation. Made anew each time the transaction is tried."""

    def __init__(
        self, reads: Store, make_id: Callable[[], bytes], now: int, scopes: Sequence[str] | None = None, *,
        operation: bytes | None = None,
    ) -> None:  # fmt: skip
        """`scopes`: those whose memories it may name by their ids; None for all. `operation`: one that is under way."""
        self.reads = reads
        self.scopes = scopes
        self.now = now
        self.events: list[Event] = []
        self._operation = operation
        self.make_id = make_id
        # What this operation has added but the store has not seen yet.
        self._said: dict[tuple[str, int], bytes] = {}
        self._positions: dict[tuple[str, str], int] = {}
        self._ids: set[bytes] = set()
        # Fingerprints that are known to be new: nothing needs to be looked up.
        self._new: set[int] = set()
        self.turns: dict[Turn, list[bytes | None]] = {}  # the memory that each of them is
        self.beyond: Counter[Turn] = Counter()  # how often a file has one more than the store, so far
        self.lines: dict[str, tuple[list[Any], int]] = {}  # what lines of a file became before (`seen_before`)
        self.spoken: Mapping[Turn, int] = {}  # how often a batch had each of them in its transactions before this one
        self.alone = True  # this one is all of the batch
        self._by_memory: dict[bytes, list[Event]] = {}
        # Statements are lines of a file, which may come again: what is known already and adds nothing leaves no event,
        # and what is no more, or waits, does not come back.
        self.quiet = False
        # Memories that wait for a person: they end nothing.
        self.waiting: set[bytes] = set()

    def expect(self, statements: Sequence[ValidStatement]) -> list[int]:
        """The fingerprints of some statements, looked up together."""
        marks = [_mark(one) for one in statements]
        asked = [*marks, *(_mark(replace(one, key=None)) for one in statements if one.key)]
        self._new |= set(asked) - self.reads.memories.with_fingerprints(asked)
        if any(one.speaker and one.session for one in statements):
            from .turns import known_turns

            self.turns |= known_turns(self, statements, marks, self._new)
        return marks

    def event(self, type: str, memory: bytes, *, origin: str, content: str | None = None, **data: Any) -> Event:
        return self._add(self.make_id(), type, memory, origin, content, data)

    def _add(
        self,
        id: bytes,
        type: str,
        memory: bytes,
        origin: str,
        content: str | None,
        data: dict[str, Any],
        mark: int | None = None,
    ) -> Event:
        made = Event(
            id=id,
            type=type,
            memory=memory,
            at=self.now,
            operation=self._operation or (self.events[0].id if self.events else id),
            origin=origin,
            content=content,
            data=data,
            mark=mark,
        )
        self.events.append(made)
        self._by_memory.setdefault(memory, []).append(made)
        return made

    def forget_last(self) -> None:
        """The event that was added last is none after all."""
        gone = self.events.pop()
        self._by_memory[gone.memory].pop()

    def as_it_is(self, memory: bytes) -> Memory | MemoryState | None:
        """A memory as it will be after what this operation holds so far."""
        said = self._by_memory.get(memory)
        if not said:
            return self.reads.memories.get(memory)
        return replay(said if memory in self._ids else [*self.reads.ledger.events(memory=memory), *said])

    def state(
        self,
        statement: ValidStatement,
        *,
        fresh: bool = False,
        mark: int | None = None,
        unused: bytes | None = None,
        again: ValidStatement | None = None,
    ) -> Receipt:
        """A statement arrives: known already (an observation) or new. `fresh`: new in any case.

        A value of a key that would end one that is trusted more is kept for review instead. `mark`: its fingerprint,
        if it is known. `unused`: the id to give it, or its observation, which the caller knows to be no event's.
        `again`: what it says when it is known already, if that is less. Raises NotFound for a `because` that is not
        there.
        """
        return _told(self._state(statement, fresh=fresh, mark=mark, unused=unused, again=again), statement)

    def _state(
        self,
        statement: ValidStatement,
        *,
        fresh: bool,
        mark: int | None = None,
        unused: bytes | None = None,
        again: ValidStatement | None = None,
        corrects: Memory | None = None,
        why: str | None = None,
    ) -> Receipt:
        values, renamed = self.values(statement)
        if renamed is not None:
            statement, mark = replace(statement, key=renamed), None
        if mark is None:
            mark = _mark(statement)
        if statement.id is not None and unused is None:
            taken = self._taken(statement)
            if taken:
                return taken
        revives: Memory | None = None
        if not fresh:
            known = self._known(statement, mark, values)
            # What a key had at a time that is spoken of, it had, whatever came after.
            then = statement.key is not None and statement.valid_from is not None
            if isinstance(known, Memory) and was_replaced(known, self.now) and not then:
                from .corrected import correction_of, observe_corrected

                current = correction_of(self, known, statement)
                if current is not None and statement.origin != "user":
                    return observe_corrected(self, known, current, statement)
                known, revives = None, current
            if known is not None:
                from .restate import restate

                if statement.quarantine:  # what stands beside the words may be what reads like an instruction
                    again = replace(statement, topics=(), metadata={}, source=None, session=None, pin=False)
                self._said[statement.scope, mark] = raw_id(known)
                return restate(self, known, again or statement, unused=unused)
        return self._create(
            statement, mark, values, unused=unused, corrects=corrects, why=why, renamed=renamed, revives=revives
        )

    def _create(
        self, statement: ValidStatement, mark: int, values: list[Memory], *, unused: bytes | None,
        corrects: Memory | None, why: str | None, renamed: str | None, revives: Memory | None,
    ) -> Receipt:  # fmt: skip
        """A new memory, unless it would replace what is trusted more and a person decided that before.

        `revives`: what replaced the same statement earlier: a person is asked whether it holds again.
        """
        causes = self.causes(statement)
        start = statement.valid_from if statement.valid_from is not None else self.now
        trust = effective_trust(statement, causes)
        ended = held(values, start)
        stronger = revives or next((one for one in (ended, corrects) if one and is_below(trust, one.trust)), None)
        corrects = corrects or revives
        memory = unused or statement.id
        if memory is None and (stronger is not None or self.quiet):
            memory, before = named_alike(self, statement, mark, stronger)
            if before is not None:
                return before
        new_id = memory or self.make_id()
        data = self._data(statement, trust)
        waits = statement.quarantine or (stronger and says_otherwise(stronger, again=revives is not None))
        if waits:
            self.waiting.add(new_id)
            data |= waiting_as_data(waits, stronger, corrects, why)
        end = fitted(values, start, statement.valid_to) if not waits else {}
        data |= end
        # A memory and the event that makes it share an id, so that one index finds both. A given id may be taken by an
        # event already.
        id = self.make_id() if statement.id is not None and not unused else new_id
        made = self._add(id, "remembered", new_id, statement.origin, statement.content, data, mark)
        self._said[statement.scope, mark] = new_id
        self._ids.add(new_id)
        if ended is not None and not waits:
            told = {"why": why} if why and corrects is not None and corrects.id == ended.id else {}
            self.supersede(ended, new_id, statement.origin, start, **told)
        for cause in causes:
            self.event("linked", new_id, origin=statement.origin, edge="caused_by", target=parse_id(cause.id).hex())
        status, reason = self._outcome(
            statement, stronger, renamed, revives,
            cut=end.get("valid_to"), first=statement.key is not None and not values,
        )  # fmt: skip
        return Receipt(
            id=format_id(new_id), status=status, event=format_id(made.id), reason=reason, redacted=statement.redacted
        )

    def _outcome(
        self, statement: ValidStatement, stronger: Memory | None, renamed: str | None, revives: Memory | None, *,
        cut: int | None, first: bool,
    ) -> tuple[str, str | None]:  # fmt: skip
        """(status, reason) of a new memory. `cut`: when another value of its key ends it. `first`: of its key."""
        if statement.quarantine:
            return "quarantined", f"it {statement.quarantine}; `limpet review` shows what waits"
        if revives is not None:
            from .corrected import corrected_to

            return "proposed", f"kept for review: {corrected_to(self, revives)}"
        if stronger is not None:
            return "proposed", kept_for_review(self, stronger)
        if cut is not None:
            kept = "not kept: valid_to; " if statement.valid_to is not None else ""
            return "created", f"{kept}it holds until {format_time(cut)}: another value of the key begins then"
        return "created", f"its key is {renamed}" if renamed else self._near(statement) if first else None

    def _near(self, statement: ValidStatement) -> str | None:
        """What to say of a key that is new: keys in use that may be meant."""
        from .keys import near_keys

        near = near_keys(statement.key or "", self.reads.memories.keys(statement.scope))
        return f"a new key; in use: {', '.join(near)}" if near else None

    def causes(self, statement: ValidStatement) -> list[Memory]:
        """What it rests on. Raises NotFound."""
        return [need(self.reads, cause, (statement.scope, GLOBAL_SCOPE)) for cause in statement.because]

    def _data(self, statement: ValidStatement, trust: str) -> dict[str, Any]:
        """What a `remembered` event holds beside its text; what is as usual is left out."""
        data: dict[str, Any] = {"scope": statement.scope, "kind": statement.kind}
        if statement.valid_from is not None:
            data["valid_from"] = statement.valid_from
        if statement.valid_to is not None:
            data["valid_to"] = statement.valid_to
        if statement.topics:
            data["topics"] = list(statement.topics)
        if statement.importance is not None and statement.importance != 0.5:
            data["importance"] = statement.importance
        if statement.pin:
            data["pinned"] = True
        if statement.session:
            data["session"] = statement.session
            data["position"] = self._position(statement.scope, statement.session)
        if trust != statement.origin:
            data["trust"] = trust
        if statement.anyway:
            data["anyway"] = True
        if statement.demoted:
            data["demoted"] = statement.demoted.as_data()
        for name in ("key", "metadata", "source", "speaker", "confidence"):
            value = getattr(statement, name)
            if value is not None and value != {}:
                data[name] = value
        return data

    def values(self, statement: ValidStatement) -> tuple[list[Memory], str | None]:
        """The values of its key; the key in use when a person has said that two keys name the same."""
        if statement.key is None:
            return [], None
        values = self.reads.memories.keyed(statement.scope, statement.key)
        renamed = None if values else self.reads.memories.renamed_key(statement.scope, statement.key)
        return (values, None) if renamed is None else (self.reads.memories.keyed(statement.scope, renamed), renamed)

    def _taken(self, statement: ValidStatement) -> Receipt | None:
        """A given id that is there already: the same statement again is fine, another one is not."""
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

    def _known(self, statement: ValidStatement, mark: int, values: Sequence[Memory]) -> Memory | MemoryState | None:
        """The memory that says this already, of the time that is spoken of."""
        there: Memory | MemoryState | None
        if statement.speaker and statement.session:
            from .turns import is_spoken, same_turn

            if is_spoken(statement):
                there = same_turn(self, statement, mark)
                return there if there and (statement.valid_from or not self._apart(there, statement)) else None
        said = self._said.get((statement.scope, mark))
        if said is not None:
            there = self.as_it_is(said)
        elif statement.key:
            start = statement.valid_from if statement.valid_from is not None else self.now
            there = held(values, start)
            if there is not None:
                is_said = _mark(there) == mark and same_value(there.content, statement.content)
                return there if is_said else None
            there = None if values else self._without_key(statement)
        else:
            there = None if mark in self._new else self.reads.memories.stated_before(statement.scope, mark, self.now)
        return None if there is None or self._apart(there, statement) else there

    def _without_key(self, statement: ValidStatement) -> Memory | None:
        """A memory that says the same and has no key yet, if this statement may give it one: its first value."""
        mark = _mark(replace(statement, key=None))
        if mark in self._new or statement.valid_from is not None or statement.valid_to is not None:
            return None
        there = self.reads.memories.same_statement(statement.scope, mark, self.now)
        trusted = there is not None and not is_below(effective_trust(statement, self.causes(statement)), there.trust)
        return there if trusted else None

    def _apart(self, there: Memory | MemoryState, statement: ValidStatement) -> bool:
        """Whether it speaks of a time when the memory does not hold, or of one that is over: another statement."""
        start, end = statement.valid_from, statement.valid_to
        if start is not None and there.valid_to_us is not None and start >= there.valid_to_us:
            return True
        return end is not None and (end <= there.valid_from_us or (end <= self.now and not statement.key))

    def observe(self, memory: bytes, statement: ValidStatement, *, unused: bytes | None = None) -> Receipt:
        """A memory was stated again. `unused`: the id to give the event, which the caller knows to be no other's."""
        from .restate import restate

        there = self.as_it_is(memory)
        if there is None:
            raise NotFound(f"no memory with the id {format_id(memory)}")
        return restate(self, there, statement, unused=unused)

    def observed(self, memory: bytes, origin: str, data: dict[str, Any], unused: bytes | None) -> Event:
        return self._add(unused or self.make_id(), "observed", memory, origin, None, data)

    def _position(self, scope: str, session: str) -> int:
        place = self._positions.get((scope, session)) or self.reads.sessions.next_position(scope, session)
        self._positions[scope, session] = place + 1
        return place

    def supersede(self, old: Memory, new: bytes, origin: str, start: int, **more: Any) -> None:
        """`old` ends where `new` begins; what had ended before holds no longer for that."""
        start = start if old.valid_to_us is None else min(start, old.valid_to_us)
        start = max(start, old.valid_from_us)  # what another one was true instead of all the time: never
        self.event("superseded", parse_id(old.id), origin=origin, by=new.hex(), valid_to=start, **more)

    def correct(self, old: Memory, statement: ValidStatement, why: str | None, *, derived: bool = False) -> Receipt:
        """A newer memory replaces `old`; both stay, linked. `old` ends where the new one begins to hold.

        What is trusted less than `old` waits for review instead, unless both are `derived` from others.
        Raises BadInput when `old` is not believed any more.
        """
        check_live(old)
        if old.superseded_by is not None and (old.valid_to_us is not None and old.valid_to_us <= self.now):
            raise BadInput(f"memory {old.id} was superseded by {old.superseded_by} already", hint="correct that one")
        if why:
            why, found = redact(why)
            statement = replace(statement, redacted=tuple(dict.fromkeys((*statement.redacted, *found))))
        receipt = self._state(statement, fresh=True, corrects=None if derived else old, why=why)
        new = parse_id(receipt.id)
        if new not in self.waiting:
            start = statement.valid_from if statement.valid_from is not None else self.now
            self.replace(old, new, statement.origin, start, why)
        return _told(receipt, statement)

    def replace(self, old: Memory, new: bytes, origin: str, start: int, why: str | None) -> None:
        raw = parse_id(old.id)
        if not any(event.type == "superseded" for event in self._by_memory.get(raw, ())):
            self.supersede(old, new, origin, start, **({"why": why} if why else {}))
        self.event("linked", new, origin=origin, edge="supersedes", target=raw.hex())


def effective_trust(statement: ValidStatement, causes: Sequence[Memory]) -> str:
    """That of the least trusted it comes from or rests on."""
    if not causes and not statement.trust:
        return statement.origin
    return least_trusted([statement.origin, statement.trust or statement.origin, *(cause.trust for cause in causes)])


def _told(receipt: Receipt, statement: ValidStatement) -> Receipt:
    why = statement.demoted
    if why is None:
        return receipt
    reason = f"{why}; {receipt.reason}" if receipt.reason else str(why)
    return replace(receipt, kind=statement.kind, rule=why.rule, reason=reason)


def raw_id(memory: Memory | MemoryState) -> bytes:
    return memory.id if isinstance(memory.id, bytes) else parse_id(memory.id)


def _mark(one: ValidStatement | Memory) -> int:
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
