"""What changes beliefs: remember, correct, retract and the rest. The write path is loaded at the first write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..model.errors import BadInput, LimpetError, NotFound
from ..model.ids import format_id, parse_id
from ..model.memory import STATES, Memory
from ..store.records import Filter
from .base import Base, Time

if TYPE_CHECKING:
    from ..remember.admit import Admitted
    from ..remember.write import Receipt, Writer

# Items that one transaction of a batch holds: few enough that other writers wait for milliseconds.
BATCH_ITEMS = 1_000
# A purge names memories that hold the longest line of what goes: lines shorter than this say nothing of their own, and
# episodes quote about as much as the other.
LEAST_QUOTED, MOST_QUOTED = 16, 120


class PurgeReport(NamedTuple):
    """What a purge erased, or would erase."""

    id: str
    versions: int
    events: int
    purged: bool
    quoted: tuple[str, ...] = ()  # other memories that hold its words as they are: episodes, copies

    def as_dict(self) -> dict[str, object]:
        shown: dict[str, object] = {
            "id": self.id, "versions": self.versions, "events": self.events, "purged": self.purged
        }  # fmt: skip
        return shown | ({"quoted": list(self.quoted)} if self.quoted else {})


class Writes(Base):
    """Verbs that write beliefs."""

    if TYPE_CHECKING:

        def get(self, id: str) -> Memory: ...

    def remember(
        self,
        content: str,
        *,
        kind: str = "fact",
        topics: Iterable[str] = (),
        key: str | None = None,
        importance: float | None = None,
        pin: bool = False,
        valid_from: Time = None,
        valid_to: Time = None,
        source: str | None = None,
        origin: str = "agent",
        session: str | None = None,
        speaker: str | None = None,
        because: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
        id: str | None = None,
        confidence: float | None = None,
        anyway: bool = False,
    ) -> Receipt:
        """Store one statement, durably, and return at once; its vector is made later by `work`.

        A statement that is known already (same scope, kind, speaker and text) is counted as an observation of it.
        What it adds to that memory is kept and in the receipt's `added`. `because`: ids of what it rests on. What a
        rule speaks against (docs/domain-model.md) is kept as an episode, unless a person (`origin="user"`) says
        `anyway`. Raises BadInput, NotFound (because), StoreError.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        (statement,) = self._door.judged([self._admit(given)])
        return self._write(lambda writer: writer.state(statement))

    def remember_batch(self, items: Iterable[Mapping[str, Any]]) -> list[Receipt]:
        """Store many statements: dictionaries with the arguments of `remember` and `scope`. One receipt each.

        A bad one is rejected with its reason and stops no other. Each thousand is one transaction.
        """
        from ..remember.write import Receipt, rejected

        receipts: list[Receipt] = []
        part: list[tuple[int, Admitted]] = []
        keys: set[tuple[str, str]] = set()

        def flush() -> None:
            statements = self._door.judged([one for _, one in part])
            for (place, _), receipt in zip(part, self._write_batch(statements), strict=True):
                receipts[place] = receipt
            part.clear()
            keys.clear()

        for item in items:
            place = len(receipts)
            try:
                if not isinstance(item, Mapping):
                    raise BadInput(f"an item must be an object, not {type(item).__name__}")
                statement = self._admit(item)
            except LimpetError as error:
                receipts.append(rejected(error, item.get("id") if isinstance(item, Mapping) else None))
                continue
            # What builds on an earlier item of the batch must see it in the store.
            slot = (statement.scope, statement.key or "")
            if len(part) >= BATCH_ITEMS or statement.because or (statement.key and slot in keys):
                flush()
            keys.add(slot)
            receipts.append(Receipt(id=None, status="rejected"))
            part.append((place, statement))
        flush()
        return receipts

    def _write_batch(self, statements: list[Admitted]) -> list[Receipt]:
        from ..remember.write import rejected

        def each(writer: Writer) -> list[Receipt]:
            receipts = []
            for statement, mark in zip(statements, writer.expect(statements), strict=True):
                try:
                    receipts.append(writer.state(statement, mark=mark))
                except (BadInput, NotFound) as error:
                    receipts.append(rejected(error, format_id(statement.id) if statement.id else None))
            return receipts

        return self._write(each) if statements else []

    def correct(
        self, id: str, content: str, *, why: str | None = None, valid_from: Time = None, **given: Any
    ) -> Receipt:
        """Replace what a memory says by a new memory; the old one stays, superseded, and readable as of then.

        What is not given (kind, scope, topics, key, importance, metadata) is taken over. The old one holds until
        `valid_from` (default: now). What is trusted less than the old one waits for review (`proposed`).
        Raises NotFound, BadInput.
        """
        from ..remember.admit import as_episode, clean_text
        from ..remember.write import need

        statement = self._admit({"content": content, "valid_from": valid_from, **given})

        def full(old: Memory) -> Admitted:
            kept: dict[str, Any] = {
                "scope": old.scope,
                "kind": old.kind,
                "topics": old.topics,
                "key": old.key,
                "importance": old.importance,
                "metadata": old.metadata,
                "speaker": old.speaker,
                "pin": old.pinned,
            }
            kept = {name: value for name, value in kept.items() if name not in given}
            if "key" in kept:  # what the value of this key is, is said by its name
                text, found = clean_text(old.key, statement.content)
                kept |= {"content": text, "redacted": tuple(dict.fromkeys((*statement.redacted, *found)))}
            return replace(statement, **kept)

        def decide(writer: Writer) -> Receipt:
            old = need(writer.reads, id, writer.scopes)
            return writer.correct(old, full(old) if demoted is None else as_episode(full(old), demoted), why)

        (judged,) = self._door.judged([full(need(self._store, id, self._scopes))])
        demoted = judged.demoted
        return self._write(decide)

    def edit(self, id: str, content: str) -> Receipt:
        """Better words for the same belief: same id, same history of belief, new text. Raises NotFound, BadInput.

        With words that a rule speaks against the memory becomes an episode; `undo` takes that back.
        """
        from ..remember.admit import clean_text
        from ..remember.write import Receipt, check_live, need

        known = need(self._store, id, self._scopes)
        text, redacted = clean_text(known.key, content)
        said = {"content": text, "kind": known.kind, "key": known.key}
        (judged,) = self._door.judged([self._admit({**said, "origin": known.origin, "speaker": known.speaker})])
        why = judged.demoted

        def decide(writer: Writer) -> Receipt:
            old = need(writer.reads, id, writer.scopes)
            check_live(old)
            if old.content == text:
                return Receipt(id=old.id, status="unchanged")
            more = {"kind": judged.kind, "demoted": why.as_data()} if why else {}
            made = writer.event("edited", parse_id(old.id), origin="agent", content=text, **more)
            receipt = Receipt(id=old.id, status="changed", event=format_id(made.id), redacted=redacted)
            return replace(receipt, kind=judged.kind, rule=why.rule, reason=str(why)) if why else receipt

        return self._write(decide)

    def tag(
        self,
        id: str,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        values: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """Add and remove topics, set metadata values (None removes one). Raises NotFound, BadInput."""
        from ..remember.admit import check_topics, clean_metadata
        from ..remember.write import Receipt, check_live, need

        more, less = check_topics(add), set(check_topics(remove))
        given, redacted = clean_metadata(values)

        def decide(writer: Writer) -> Receipt:
            old = need(writer.reads, id, writer.scopes)
            check_live(old)
            topics = check_topics([topic for topic in (*old.topics, *more) if topic not in less])
            metadata = {name: value for name, value in {**old.metadata, **given}.items() if value is not None}
            if topics == old.topics and metadata == old.metadata:
                return Receipt(id=old.id, status="unchanged")
            made = writer.event("tagged", parse_id(old.id), origin="agent", topics=list(topics), metadata=metadata)
            return Receipt(id=old.id, status="changed", event=format_id(made.id), redacted=redacted)

        return self._write(decide)

    def pin(self, id: str) -> Receipt:
        """Exempt a memory from decay."""
        return self._change(id, "pinned", lambda old: not old.pinned)

    def unpin(self, id: str) -> Receipt:
        """Let a memory decay again."""
        return self._change(id, "unpinned", lambda old: old.pinned)

    def archive(self, id: str, *, origin: str | None = None) -> Receipt:
        """Take a memory out of recall; it stays on disk and `restore` brings it back. `origin`: as in `retract`."""
        return self._change(id, "archived", lambda old: old.state == "active", origin=origin)

    def restore(self, id: str) -> Receipt:
        """Bring an archived or retracted memory back into recall."""
        return self._change(id, "restored", lambda old: old.state in ("archived", "retracted"), live=False)

    def retract(self, id: str, why: str, *, origin: str | None = None) -> Receipt:
        """No longer believed, and nothing replaces it. `why` stays with it.

        `origin`: who says so; what is trusted more is not retracted but comes up for review (`proposed`). None: the
        owner of the store.
        """
        from ..remember.admit import check_text
        from ..text.secrets import redact

        reason, _ = redact(check_text(why))
        return self._change(
            id, "retracted", lambda old: old.state != "retracted", live=False, origin=origin, why=reason
        )

    def _change(
        self,
        id: str,
        type: str,
        applies: Callable[[Memory], bool],
        *,
        live: bool = True,
        origin: str | None = None,
        **data: Any,
    ) -> Receipt:
        from ..remember.replacement import proposed, take_key
        from ..remember.write import Receipt, check_live, need

        def decide(writer: Writer) -> Receipt:
            old = need(writer.reads, id, writer.scopes)
            if live or old.state == "purged":
                check_live(old)
            if not applies(old):
                return Receipt(id=old.id, status="unchanged")
            waits = proposed(writer, old, origin)
            if waits is not None:
                return waits
            made = writer.event(type, parse_id(old.id), origin=origin or "agent", **data)
            if type == "restored":
                take_key(writer, old, origin="agent")
            return Receipt(id=old.id, status="changed", event=format_id(made.id))

        return self._marked_wrong(self._write(decide))

    def purge(self, id: str, *, confirm: bool = False) -> PurgeReport:
        """Erase a memory's content from rows, index, vectors, log and ledger; a tombstone stays.

        Without `confirm` only what would go is reported. Cannot be undone. Backups made earlier keep what they hold;
        so do other memories that quote it, which the report names, and a mirror until its next sync.
        """
        memory = self._need(id)
        raw = parse_id(memory.id)
        versions, events = (
            len(self._store.memories.versions(raw)),
            sum(1 for _ in self._store.ledger.events(memory=raw)),
        )
        gone = memory.state == "purged"
        quoted = () if gone else self._quoting(memory)
        if confirm and not gone:
            self._write(lambda writer: writer.event("purged", raw, origin="agent"))
        return PurgeReport(id=memory.id, versions=versions, events=events, purged=confirm or gone, quoted=quoted)

    def _quoting(self, memory: Memory) -> tuple[str, ...]:
        """Other memories of these scopes that hold the longest line of it, as far as an episode quotes."""
        line = max((" ".join(one.split()) for one in memory.content.splitlines()), key=len, default="")
        if len(line) < LEAST_QUOTED:
            return ()
        where = Filter(scopes=tuple({memory.scope, *self._scopes}), states=STATES)
        found = self._store.search.candidates(self._store.search.substring(line[:MOST_QUOTED], where, limit=100), where)
        return tuple(sorted({format_id(one.id) for one in found} - {memory.id}))

    def undo(self, event: str | None = None) -> list[Receipt]:
        """Take back a whole operation (the last one, or the one with this event). An undo can be undone.

        Of an operation over several scopes, what it did in this one and `global`.

        Raises NotFound, BadInput (a purge cannot be undone).
        """
        from ..remember.write import Receipt

        target = self._store.ledger.resolve(event) if event is not None else None

        def decide(writer: Writer) -> list[Receipt]:
            events = writer.reads.ledger.operation(target, writer.scopes)
            if not events:
                raise NotFound("nothing to undo")
            if any(one.type == "purged" for one in events):
                raise BadInput("a purge cannot be undone: the content is gone")
            receipts: dict[bytes, Receipt] = {}
            for one in events:
                made = writer.event("undone", one.memory, origin="agent", undoes=one.id.hex())
                receipts[one.memory] = Receipt(id=format_id(one.memory), status="changed", event=format_id(made.id))
            return list(receipts.values())

        return self._write(decide)

    def feedback(self, id: str, verdict: str) -> Memory:
        """Was a recalled memory useful, not_useful or wrong? Counted with its use. Raises NotFound, BadInput."""
        if verdict not in ("useful", "not_useful", "wrong"):
            raise BadInput(f"unknown verdict: {verdict!r}", hint="one of: useful, not_useful, wrong")
        memory = self._need(id)
        self._store.usage.record([parse_id(memory.id)], self._clock.now(), verdict)
        return self.get(memory.id)
