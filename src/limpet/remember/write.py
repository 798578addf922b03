"""Which events a statement, a correction or a change of state becomes. Decided inside the write transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..model.errors import BadInput, LimpetError, NotFound
from ..model.events import Event
from ..model.ids import format_id, parse_id
from ..model.memory import GLOBAL_SCOPE, Memory, least_trusted
from ..text.normalise import fingerprint
from ..text.secrets import redact
from .admit import Admitted

if TYPE_CHECKING:
    from ..store.contract import Reads
    from .rules import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a write did. `status`: created, observed (known already), quarantined, changed, unchanged, rejected."""

    id: str | None
    status: str
    event: str | None = None
    reason: str | None = None
    redacted: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """{"id", "status", "event", "reason"?, "redacted"?}."""
        shown: dict[str, object] = {"id": self.id, "status": self.status, "event": self.event}
        if self.reason:
            shown["reason"] = self.reason
        if self.redacted:
            shown["redacted"] = list(self.redacted)
        return shown


class Writer:
    """Collects the events of one operation. Made anew each time the transaction is tried."""

    def __init__(
        self, reads: Reads, make_id: Callable[[], bytes], now: int, scopes: Sequence[str] | None = None
    ) -> None:
        """`scopes`: those whose memories it may name by their ids; None for all."""
        self.reads = reads
        self.scopes = scopes
        self.now = now
        self.events: list[Event] = []
        self._make_id = make_id
        # What this operation has added but the store has not seen yet.
        self._said: dict[tuple[str, int], bytes] = {}
        self._positions: dict[tuple[str, str], int] = {}
        self._ids: set[bytes] = set()
        # Fingerprints that are known to be new: nothing needs to be looked up.
        self._new: set[int] = set()

    def expect(self, statements: Sequence[Admitted]) -> list[int]:
        """The fingerprints of a batch, looked up together."""
        marks = [_mark(one) for one in statements]
        self._new = set(marks) - self.reads.marked(marks)
        return marks

    def event(self, type: str, memory: bytes, *, origin: str, content: str | None = None, **data: Any) -> Event:
        return self._add(self._make_id(), type, memory, origin, content, data)

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
            operation=self.events[0].id if self.events else id,
            origin=origin,
            content=content,
            data=data,
            mark=mark,
        )
        self.events.append(made)
        return made

    def state(
        self, statement: Admitted, *, fresh: bool = False, mark: int | None = None, unused: bytes | None = None
    ) -> Receipt:
        """A statement arrives: known already (an observation) or new. `fresh`: new in any case (a correction).

        `mark`: its fingerprint, if it is known. `unused`: the id to give it, or its
        observation, which the caller knows to be no event's.
        Raises NotFound for a `because` that is not there.
        """
        renamed = self._renamed(statement)
        if renamed is not None:
            statement, mark = replace(statement, key=renamed), None
        if mark is None:
            mark = _mark(statement)
        if statement.id is not None and unused is None:
            taken = self._taken(statement)
            if taken:
                return taken
        if not fresh:
            known = self._known(statement, mark, unused)
            if known is not None:
                return known
        causes = [need(self.reads, cause, (statement.scope, GLOBAL_SCOPE)) for cause in statement.because]
        memory = unused or statement.id or self._make_id()
        start, end = self._interval(statement)
        data = self._data(statement, start, end, causes)
        # A memory and the event that makes it share an id, so that one index finds both. A given id may be taken by an
        # event already.
        id = memory if statement.id is None or unused else self._make_id()
        made = self._add(id, "remembered", memory, statement.origin, statement.content, data, mark)
        self._said[statement.scope, mark] = memory
        self._ids.add(memory)
        if statement.key and not statement.quarantine:
            self._close_key(statement, memory, start if start is not None else self.now)
        for cause in causes:
            self.event("linked", memory, origin=statement.origin, edge="caused_by", target=parse_id(cause.id).hex())
        return Receipt(
            id=format_id(memory),
            status="quarantined" if statement.quarantine else "created",
            event=format_id(made.id),
            reason=f"it {statement.quarantine}; `limpet review` shows what waits"
            if statement.quarantine
            else f"its key is {renamed}"
            if renamed
            else None,
            redacted=statement.redacted,
        )

    def _data(
        self, statement: Admitted, start: int | None, end: int | None, causes: Sequence[Memory]
    ) -> dict[str, Any]:
        """What a `remembered` event holds beside its text; what is as usual is left out."""
        data: dict[str, Any] = {"scope": statement.scope, "kind": statement.kind}
        if start is not None:
            data["valid_from"] = start
        if end is not None:
            data["valid_to"] = end
        if statement.topics:
            data["topics"] = list(statement.topics)
        if statement.importance != 0.5:
            data["importance"] = statement.importance
        if statement.pin:
            data["pinned"] = True
        if statement.session:
            data["session"] = statement.session
            data["position"] = self._position(statement.scope, statement.session)
        trust = statement.origin
        if causes or statement.trust:
            trust = least_trusted([trust, statement.trust or trust, *(cause.trust for cause in causes)])
        if trust != statement.origin:
            data["trust"] = trust
        if statement.anyway:
            data["anyway"] = True
        if statement.quarantine:
            data["quarantine"] = statement.quarantine
        for name in ("key", "metadata", "source", "speaker", "confidence"):
            value = getattr(statement, name)
            if value is not None and value != {}:
                data[name] = value
        return data

    def _renamed(self, statement: Admitted) -> str | None:
        """The key in use when a person has said that two keys name the same."""
        if statement.key is None or self.reads.keyed(statement.scope, statement.key):
            return None
        return self.reads.renamed_key(statement.scope, statement.key)

    def _taken(self, statement: Admitted) -> Receipt | None:
        """A given id that is there already: the same statement again is fine, another one is not."""
        assert statement.id is not None
        shown = format_id(statement.id)
        if statement.id in self._ids:
            raise BadInput(f"the id {shown} is given twice")
        known = self.reads.get(statement.id)
        if known is None:
            return None
        if known.content == statement.content:
            return Receipt(id=shown, status="observed", event=None, reason="stored under this id already")
        raise BadInput(f"the id {shown} names another memory", hint="leave the id out, or use `correct`")

    def _known(self, statement: Admitted, mark: int, unused: bytes | None) -> Receipt | None:
        said = self._said.get((statement.scope, mark))
        if said is None:
            if mark in self._new:
                return None
            there = self.reads.same_statement(statement.scope, mark, self.now)
            if there is None:
                return None
            said = parse_id(there.id)
        return self.observe(said, statement, unused=unused)

    def observe(self, memory: bytes, statement: Admitted, *, unused: bytes | None = None) -> Receipt:
        """A memory was stated again. `unused`: the id to give the event, which the caller knows to be no other's."""
        extra = {name: getattr(statement, name) for name in ("session", "source") if getattr(statement, name)}
        made = self._add(unused or self._make_id(), "observed", memory, statement.origin, None, extra)
        return Receipt(id=format_id(memory), status="observed", event=format_id(made.id), redacted=statement.redacted)

    def _position(self, scope: str, session: str) -> int:
        place = self._positions.get((scope, session)) or self.reads.next_position(scope, session)
        self._positions[scope, session] = place + 1
        return place

    def _interval(self, statement: Admitted) -> tuple[int | None, int | None]:
        """A keyed value that is older than one we have ends where that one begins."""
        start, end = statement.valid_from, statement.valid_to
        if statement.key:
            begins = start if start is not None else self.now
            later = [
                one.valid_from for one in self.reads.keyed(statement.scope, statement.key) if one.valid_from > begins
            ]
            if later and (end is None or end > later[0]):
                end = later[0]
        return start, end

    def _close_key(self, statement: Admitted, memory: bytes, start: int) -> None:
        """At most one value holds for a key at any instant: the one that held ends where the new one begins."""
        assert statement.key is not None
        for one in self.reads.keyed(statement.scope, statement.key):
            if one.valid_from <= start and (one.valid_to is None or start < one.valid_to):
                self.event("superseded", parse_id(one.id), origin=statement.origin, by=memory.hex(), valid_to=start)

    def correct(self, old: Memory, statement: Admitted, why: str | None) -> Receipt:
        """A newer memory replaces `old`; both stay, linked. `old` ends where the new one begins to hold.

        Raises BadInput when `old` is not believed any more.
        """
        check_live(old)
        if old.superseded_by is not None and (old.valid_to is not None and old.valid_to <= self.now):
            raise BadInput(f"memory {old.id} was superseded by {old.superseded_by} already", hint="correct that one")
        receipt = self.state(statement, fresh=True)
        assert receipt.id is not None
        new = parse_id(receipt.id)
        start = statement.valid_from if statement.valid_from is not None else self.now
        if not any(event.type == "superseded" and event.memory == parse_id(old.id) for event in self.events):
            data: dict[str, Any] = {"by": new.hex(), "valid_to": start}
            if why:
                data["why"] = redact(why)[0]
            self.event("superseded", parse_id(old.id), origin=statement.origin, **data)
        self.event("linked", new, origin=statement.origin, edge="supersedes", target=parse_id(old.id).hex())
        return receipt


def _mark(statement: Admitted) -> int:
    return fingerprint(statement.scope, statement.kind, statement.speaker, statement.key, statement.content)


def check_live(memory: Memory) -> None:
    """Raises BadInput when a memory can no longer be changed: purged or retracted."""
    if memory.state == "purged":
        raise BadInput(f"memory {memory.id} was purged: its content is gone")
    if memory.state == "retracted":
        raise BadInput(f"memory {memory.id} is retracted", hint="`limpet restore` brings it back")


def need(reads: Reads, id: str, scopes: Sequence[str] | None) -> Memory:
    """The memory of some scopes (None: all) that an id or a prefix names. Raises NotFound, AmbiguousId, BadInput."""
    found = reads.get(reads.resolve(id, scopes))
    if found is None:
        raise NotFound(f"no memory with the id {id}")
    return found


def refused(refusal: Refusal, id: Any = None) -> Receipt:
    """The receipt of a statement that a rule speaks against."""
    return Receipt(
        id=str(id) if id is not None else None,
        status="rejected",
        reason=f"{refusal.rule}: {refusal.reason} (a person may store it anyway)",
    )


def rejected(error: LimpetError, id: Any = None) -> Receipt:
    """The receipt of a statement that was not admitted."""
    reason = error.message if not error.hint else f"{error.message} ({error.hint})"
    return Receipt(id=str(id) if id is not None else None, status="rejected", reason=reason)
