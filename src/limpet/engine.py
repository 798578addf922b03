"""The façade and the only composition root: it names the store and the embedder, and hands each call to its room.

Read first: `remember/write.py` for writes, `recall/answer.py` for reads, `vectors/` for meaning.
"""

from __future__ import annotations

import builtins
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

from .model.clock import Clock, SystemClock, parse_time
from .model.errors import BadInput, EmbedderUnavailable, LimpetError, NotFound
from .model.events import Event
from .model.ids import IdSource, format_id, parse_id
from .model.memory import GLOBAL_SCOPE, STATES, Memory, check_kind, check_scope
from .rank.adjust import confidence
from .remember.admit import Admitted, admit, check_text, check_topics, clean_metadata
from .remember.door import Door
from .remember.write import Receipt, Writer, check_live, need, refused, rejected
from .settings import Settings, read_settings
from .store.records import Action, Filter, Page, Problem, StoreStats
from .store.sqlite import SqliteStore
from .text.describe import describe
from .text.secrets import redact
from .verbs.beliefs import Beliefs
from .verbs.brief import Briefs
from .verbs.graph import Graph
from .verbs.mirror import Mirrors
from .verbs.organize import Organize
from .verbs.transfer import Transfer
from .verbs.usefulness import Receipts

if TYPE_CHECKING:
    from .history.claims import Match
    from .history.view import View
    from .recall.answer import Recall
    from .recall.meaning import Meaning
    from .recall.rerank import Reranker
    from .store.contract import Reads, Store
    from .vectors.embedder import Embedder
    from .work.doctor import Check
    from .work.embed import WorkReport

Time = str | int | datetime | None
Progress = Callable[[int, int], None]
T = TypeVar("T")
# Items that one transaction of a batch holds: few enough that other writers wait for milliseconds.
BATCH_ITEMS = 1_000
# A recall embeds this many waiting texts first, if its deadline leaves time; about a second's worth.
SMALL_BACKLOG = 48
SECONDS_PER_TEXT = 0.03


class PurgeReport(NamedTuple):
    """What a purge erased, or would erase."""

    id: str
    versions: int
    events: int
    purged: bool

    def as_dict(self) -> dict[str, object]:
        return {"id": self.id, "versions": self.versions, "events": self.events, "purged": self.purged}


class ImportReport(NamedTuple):
    """What an import brought. `rejected`: (line number, reason)."""

    new: int
    known: int
    rejected: builtins.list[tuple[int, str]]


class ModelInfo(NamedTuple):
    """An embedder that this store or this installation knows. `state`: active, building, or installed."""

    name: str
    fingerprint: str | None
    dimensions: int | None
    state: str
    available: bool
    message: str = ""


def open(
    path: str | os.PathLike[str] | None = None,
    *,
    scope: str | None = None,
    read_only: bool = False,
    durable: bool | None = None,
    clock: Clock | None = None,
    embedder: Embedder | str | None = None,
) -> Limpet:
    """Open a memory store, making it when there is none.

    `path`: a file, or ":memory:"; else LIMPET_STORE, else the platform's data folder. `scope`: where writes go; else
    LIMPET_SCOPE, else project:<name> in a git checkout, else global. `durable`: fsync at every commit (default).
    `embedder`: a name, or an object with the Embedder interface. Raises StoreError and its kind, BadInput.
    """
    return Limpet(read_settings(path, scope, durable), read_only=read_only, clock=clock, embedder=embedder)


class Limpet(Beliefs, Briefs, Graph, Mirrors, Organize, Receipts, Transfer):
    """An open memory store. Thread-safe; use it as a context manager, or `close()` it."""

    def __init__(
        self,
        settings: Settings,
        *,
        read_only: bool = False,
        clock: Clock | None = None,
        embedder: Embedder | str | None = None,
        store: Store | None = None,
    ) -> None:
        self.scope = settings.scope
        self._clock = clock or SystemClock()
        self._ids = IdSource()
        self._store: Store = store or SqliteStore(
            settings.path, describe, read_only=read_only, durable=settings.durable
        )
        name = embedder if isinstance(embedder, str) else settings.embedder
        given = None if isinstance(embedder, str) else embedder
        self._door = Door(lambda: self._vectors().load(), lambda: self._vectors().is_loaded())
        self._owns_store = True
        self._vectors_lock = threading.Lock()
        self._vectors_made: Meaning | None = None
        self._vectors_source = (name, given)

    @property
    def path(self) -> str:
        return self._store.path

    @property
    def embedder(self) -> str:
        """The name of the embedder that is asked for; it may not be installed."""
        name, given = self._vectors_source
        return given.name if given else name

    @property
    def read_only(self) -> bool:
        return self._store.read_only

    def __enter__(self) -> Limpet:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back. Safe to call twice."""
        if self._owns_store:
            self._store.close()

    def in_scope(self, scope: str) -> Limpet:
        """The same open store, seen from another scope. It ends with this one; closing it closes nothing."""
        self._vectors()  # shared from here on
        other = copy(self)
        other.scope = check_scope(scope)
        other._owns_store = False
        return other

    # -- writes

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
        `because`: ids of what it rests on. What a rule speaks against (docs/domain-model.md) is rejected, unless a
        person (`origin="user"`) says `anyway`. Raises BadInput, NotFound (because), StoreError.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        statement = self._admit(given)
        (refusal,) = self._door.refusals([statement])
        return refused(refusal) if refusal else self._write(lambda writer: writer.state(statement))

    def remember_batch(self, items: Iterable[Mapping[str, Any]]) -> list[Receipt]:
        """Store many statements: dictionaries with the arguments of `remember` and `scope`. One receipt each.

        A bad one is rejected with its reason and stops no other. Each thousand is one transaction.
        """
        receipts: list[Receipt] = []
        part: list[tuple[int, Admitted]] = []
        keys: set[tuple[str, str]] = set()

        def flush() -> None:
            refusals = self._door.refusals([one for _, one in part])
            good = [one for one, refusal in zip(part, refusals, strict=True) if refusal is None]
            for (place, _), receipt in zip(good, self._write_batch([one for _, one in good]), strict=True):
                receipts[place] = receipt
            for (place, one), refusal in zip(part, refusals, strict=True):
                if refusal is not None:
                    receipts[place] = refused(refusal, format_id(one.id) if one.id else None)
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

    def _write_batch(self, statements: builtins.list[Admitted]) -> builtins.list[Receipt]:
        def each(writer: Writer) -> builtins.list[Receipt]:
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
        `valid_from` (default: now). Raises NotFound, BadInput.
        """
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
            return replace(statement, **{name: value for name, value in kept.items() if name not in given})

        def decide(writer: Writer) -> Receipt:
            old = need(writer.reads, id, writer.scopes)
            return writer.correct(old, full(old), why)

        (refusal,) = self._door.refusals([full(need(self._store, id, self._scopes))])
        return refused(refusal) if refusal else self._write(decide)

    def edit(self, id: str, content: str) -> Receipt:
        """Better words for the same belief: same id, same history of belief, new text. Raises NotFound, BadInput.

        Words that a rule speaks against are rejected; a person may `correct` the memory with `anyway`.
        """
        text, redacted = redact(check_text(content))
        known = need(self._store, id, self._scopes)
        (refusal,) = self._door.refusals(
            [self._admit({"content": text, "kind": known.kind, "origin": known.origin, "speaker": known.speaker})]
        )
        if refusal:
            return refused(refusal)

        def decide(writer: Writer) -> Receipt:
            old = need(writer.reads, id, writer.scopes)
            check_live(old)
            if old.content == text:
                return Receipt(id=old.id, status="unchanged")
            made = writer.event("edited", parse_id(old.id), origin="agent", content=text)
            return Receipt(id=old.id, status="changed", event=format_id(made.id), redacted=redacted)

        return self._write(decide)

    def tag(
        self,
        id: str,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        values: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """Add and remove topics, set metadata values (None removes one). Raises NotFound, BadInput."""
        more, less = check_topics(add), set(check_topics(remove))
        given, redacted = clean_metadata(values)

        def decide(writer: Writer) -> Receipt:
            old = need(writer.reads, id, writer.scopes)
            check_live(old)
            topics = check_topics([topic for topic in (*old.topics, *more) if topic not in less])
            metadata = {name: value for name, value in {**old.metadata, **given}.items() if value is not None}
            if topics == old.topics and metadata == old.metadata:
                return Receipt(id=old.id, status="unchanged")
            made = writer.event(
                "tagged", parse_id(old.id), origin="agent", topics=builtins.list(topics), metadata=metadata
            )
            return Receipt(id=old.id, status="changed", event=format_id(made.id), redacted=redacted)

        return self._write(decide)

    def pin(self, id: str) -> Receipt:
        """Exempt a memory from decay."""
        return self._change(id, "pinned", lambda old: not old.pinned)

    def unpin(self, id: str) -> Receipt:
        """Let a memory decay again."""
        return self._change(id, "unpinned", lambda old: old.pinned)

    def archive(self, id: str) -> Receipt:
        """Take a memory out of recall; it stays on disk and `restore` brings it back."""
        return self._change(id, "archived", lambda old: old.state == "active")

    def restore(self, id: str) -> Receipt:
        """Bring an archived or retracted memory back into recall."""
        return self._change(id, "restored", lambda old: old.state in ("archived", "retracted"), live=False)

    def retract(self, id: str, why: str) -> Receipt:
        """No longer believed, and nothing replaces it. `why` stays with it."""
        reason, _ = redact(check_text(why))
        return self._change(id, "retracted", lambda old: old.state != "retracted", live=False, why=reason)

    def _change(
        self, id: str, type: str, applies: Callable[[Memory], bool], *, live: bool = True, **data: Any
    ) -> Receipt:
        def decide(writer: Writer) -> Receipt:
            old = need(writer.reads, id, writer.scopes)
            if live or old.state == "purged":
                check_live(old)
            if not applies(old):
                return Receipt(id=old.id, status="unchanged")
            made = writer.event(type, parse_id(old.id), origin="agent", **data)
            return Receipt(id=old.id, status="changed", event=format_id(made.id))

        return self._write(decide)

    def purge(self, id: str, *, confirm: bool = False) -> PurgeReport:
        """Erase a memory's content from rows, index, vectors, log and ledger; a tombstone stays.

        Without `confirm` only what would go is reported. Cannot be undone. Backups made earlier keep what they hold.
        """
        memory = self._need(id)
        raw = parse_id(memory.id)
        versions, events = len(self._store.history(raw)), sum(1 for _ in self._store.events(memory=raw))
        gone = memory.state == "purged"
        if confirm and not gone:
            self._write(lambda writer: writer.event("purged", raw, origin="agent"))
        return PurgeReport(id=memory.id, versions=versions, events=events, purged=confirm or gone)

    def undo(self, event: str | None = None) -> builtins.list[Receipt]:
        """Take back a whole operation (the last one, or the one with this event). An undo can be undone.

        Of an operation over several scopes, what it did in this one and `global`.

        Raises NotFound, BadInput (a purge cannot be undone).
        """
        target = self._store.resolve_event(event) if event is not None else None

        def decide(writer: Writer) -> builtins.list[Receipt]:
            events = writer.reads.operation(target, writer.scopes)
            if not events:
                raise NotFound("nothing to undo")
            if any(one.type == "purged" for one in events):
                raise BadInput("a purge cannot be undone: the content is gone")
            receipts: dict[bytes, Receipt] = {}
            for one in events:
                made = writer.event("undone", one.memory, origin="agent", undoes=one.id.hex())
                receipts[one.memory] = Receipt(id=format_id(one.memory), status="changed", event=format_id(made.id))
            return builtins.list(receipts.values())

        return self._write(decide)

    def feedback(self, id: str, verdict: str) -> Memory:
        """Was a recalled memory useful, not_useful or wrong? Counted with its use. Raises NotFound, BadInput."""
        if verdict not in ("useful", "not_useful", "wrong"):
            raise BadInput(f"unknown verdict: {verdict!r}", hint="one of: useful, not_useful, wrong")
        memory = self._need(id)
        self._store.record_use([parse_id(memory.id)], self._clock.now(), verdict)
        return self.get(memory.id)

    def _admit(self, item: Mapping[str, Any]) -> Admitted:
        return admit(item, scope=self.scope, now=self._clock.now())

    def _write(self, decide: Callable[[Writer], T]) -> T:
        """Run a decision inside the write door. It may run again when the lock was lost: the last answer counts."""
        answer: T

        def inside(reads: Reads) -> Sequence[Event]:
            nonlocal answer
            now = self._clock.now()
            writer = Writer(reads, lambda: self._ids.make(now), now, self._scopes)
            answer = decide(writer)
            return writer.events

        self._store.commit(inside)
        return answer

    # -- reads

    def recall(
        self,
        query: str,
        *,
        k: int = 10,
        kinds: Iterable[str] = (),
        topics: Iterable[str] = (),
        since: Time = None,
        until: Time = None,
        as_of: Time = None,
        known_at: Time = None,
        session: str | None = None,
        budget_tokens: int | None = None,
        deadline_ms: float | None = None,
        lexical_only: bool = False,
        explain: bool = False,
        fusion: str = "linear",
        without: Iterable[str] = (),
        rerank: str | Reranker | None = None,
    ) -> Recall:
        """The memories that matter for `query`, best first: those of this scope and `global`, held true at `as_of`
        (default: now) as the store knew them at `known_at` (default: now).

        `budget_tokens` limits what comes back, `deadline_ms` how long it takes: signals that would come too late are
        named in `missing`. `rerank`: a reranker, or the name of an installed one, which puts the first results in its
        own order; `missing` has "rerank" when it failed or was late. Changes nothing. Raises BadInput.
        """
        from .recall.answer import recall
        from .recall.plan import make_plan

        if rerank is not None:
            from .recall.rerank import check

            check(rerank)
        now = self._clock.now()
        known = self._time(known_at)
        held = self._time(as_of)
        where = self._filter(kinds, topics, since, until, session, known_at=known)
        where = replace(where, as_of=held if held is not None else (known if known is not None else now))
        plan = make_plan(
            query,
            where,
            k=k,
            now=now,
            deadline_ms=deadline_ms,
            budget_tokens=budget_tokens,
            lexical_only=lexical_only,
            fusion=fusion,
            without=frozenset(without),
        )
        if lexical_only:
            return recall(self._store, None, plan, explain=explain, reranker=rerank)
        meaning = self._vectors()
        if not self.read_only and meaning.catch_up(plan, SMALL_BACKLOG, SECONDS_PER_TEXT):
            with suppress(EmbedderUnavailable):
                self.work(limit=SMALL_BACKLOG, only_vectors=True)
        return recall(self._store, meaning, plan, explain=explain, reranker=rerank)

    def related(self, id: str, *, k: int = 10) -> Recall:
        """What is near a memory in meaning and words, itself left out. Raises NotFound, BadInput."""
        from .recall.answer import recall
        from .recall.plan import make_plan

        memory = self._need(id)
        raw, now = parse_id(memory.id), self._clock.now()
        plan = make_plan(
            memory.content[:2_000],
            replace(self._filter((), (), None, None, None), as_of=now),
            k=k,
            now=now,
            deadline_ms=None,
            budget_tokens=None,
            lexical_only=False,
            fusion="linear",
            without=frozenset(("neighbours", "session", "date", "speaker", "shape")),
        )
        found = recall(self._store, self._vectors(), plan, skip=raw)
        # What is near answers no question: there is nothing to withhold.
        return replace(found, relevance=1.0, relevant=True)

    def get(self, id: str, *, known_at: Time = None) -> Memory:
        """One memory, whatever its state; of an indexed project also whether its source is as it was.

        Raises NotFound, AmbiguousId, BadInput.
        """
        raw = self._store.resolve(id, self._scopes)
        memory = self._store.get(raw, known_at=self._time(known_at))
        if memory is None:
            raise NotFound(f"memory {format_id(raw)} was not known then")
        from .recall.sources import Sources

        return replace(self._with_confidence(memory), source_state=Sources().state(memory.metadata))

    def show(self, id: str) -> Memory:
        """`get`, and the memory counts as used."""
        memory = self.get(id)
        if not self.read_only and memory.state != "purged":
            self._store.record_use([parse_id(memory.id)], self._clock.now())
        return memory

    def history(self, id: str) -> builtins.list[Memory]:
        """Every version of a memory, oldest first. Raises NotFound."""
        return [self._with_confidence(one) for one in self._store.history(self._store.resolve(id, self._scopes))]

    def list(
        self,
        *,
        kinds: Iterable[str] = (),
        topics: Iterable[str] = (),
        sort: str = "created",
        since: Time = None,
        until: Time = None,
        session: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        all_states: bool = False,
    ) -> Page:
        """Memories of this scope and `global`, newest (most used) first, a page at a time.

        `all_states`: also what is archived, retracted, purged or no longer true. Raises BadInput.
        """
        if isinstance(limit, bool) or not 1 <= limit <= 10_000:
            raise BadInput(f"limit must be from 1 to 10000, not {limit!r}")
        where = self._listed(kinds, topics, since, until, session, all_states)
        page = self._store.page(where, sort=sort, limit=limit, cursor=cursor)
        return page._replace(memories=[self._with_confidence(one) for one in page.memories])

    def count(
        self,
        *,
        kinds: Iterable[str] = (),
        topics: Iterable[str] = (),
        since: Time = None,
        until: Time = None,
        session: str | None = None,
        all_states: bool = False,
    ) -> int:
        """How many memories `list` would show."""
        return self._store.count(self._listed(kinds, topics, since, until, session, all_states))

    def stats(self) -> StoreStats:
        """Counts and sizes of the whole store, every scope."""
        return self._store.stats()

    def abbreviate(self, ids: Sequence[str]) -> builtins.list[str]:
        """The shortest unambiguous prefix of each id."""
        return self._store.abbreviate([parse_id(id) for id in ids])

    def _listed(
        self,
        kinds: Iterable[str],
        topics: Iterable[str],
        since: Time,
        until: Time,
        session: str | None,
        all_states: bool,
    ) -> Filter:
        where = self._filter(kinds, topics, since, until, session)
        return replace(where, states=STATES) if all_states else replace(where, as_of=self._clock.now())

    def _filter(
        self,
        kinds: Iterable[str],
        topics: Iterable[str],
        since: Time,
        until: Time,
        session: str | None,
        *,
        known_at: int | None = None,
    ) -> Filter:
        kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
        return Filter(
            scopes=self._scopes,
            kinds=tuple(check_kind(kind) for kind in kinds),
            topics=check_topics(topics),
            session=session,
            since=self._time(since),
            until=self._time(until),
            known_at=known_at,
        )

    def _need(self, id: str) -> Memory:
        return need(self._store, id, self._scopes)

    def _time(self, value: Time) -> int | None:
        return None if value is None else parse_time(value, now=self._clock.now())

    def _with_confidence(self, memory: Memory) -> Memory:
        ended = memory.state in ("retracted", "purged") or memory.superseded_by is not None
        value = confidence(
            kind=memory.kind,
            trust=memory.trust,
            observations=memory.observations,
            observed_at=memory.observed_at,
            stated=memory.stated_confidence,
            now=self._clock.now(),
        )
        return replace(memory, confidence=0.0 if ended and memory.retired_at is None else value)

    def _matches(self, text: str, k: int, kinds: Sequence[str], view: View) -> builtins.list[Match]:
        """Recall for the graph's queries: ids and cosines."""
        from .history.claims import Match

        found = self.recall(text, k=k, kinds=kinds, as_of=view.as_of, known_at=view.known_at, explain=True)
        vector = [one.why.signals.get("vector") if one.why else None for one in found.items]
        return [Match(one.id, v.raw if v else None) for one, v in zip(found.items, vector, strict=True)]

    @property
    def _scopes(self) -> tuple[str, ...]:
        """The scopes that reads see."""
        return tuple(dict.fromkeys((self.scope, GLOBAL_SCOPE)))

    # -- journal

    def note_action(self, session: str, kind: str, what: str) -> None:
        """Add a line to the journal of what was asked, done and answered. No belief, no history: a ring of lines."""
        self._store.note_action(Action(self.scope, session, self._clock.now(), kind, redact(what)[0]))

    def actions(self, *, session: str | None = None, limit: int = 20) -> builtins.list[Action]:
        """The last lines of this scope's journal, or of one session, oldest first."""
        return self._store.actions(self.scope, session=session, limit=limit)

    # -- vectors and work

    def _vectors(self) -> Meaning:
        """The vector side of recall, composed at first use; NumPy is imported only when it searches."""
        with self._vectors_lock:
            if self._vectors_made is None:
                from .recall.meaning import Meaning

                name, given = self._vectors_source
                self._vectors_made = Meaning(self._store, self._clock, name=name, embedder=given)
            return self._vectors_made

    def work(
        self, *, limit: int | None = None, only_vectors: bool = False, progress: Progress | None = None
    ) -> WorkReport:
        """Drain the queue: embed what was stored since, then look for what was said twice (not if `only_vectors`).

        Several processes may do this at once. Raises EmbedderUnavailable when there is no embedder to do it with.
        """
        from .work import duplicates
        from .work.embed import drain

        meaning = self._vectors()
        embedder, row = meaning.for_writing()
        report = drain(self._store, embedder, row, self._clock, limit=limit, progress=progress)
        meaning.settle()
        searchable = None if only_vectors else meaning.index()
        if searchable is None:
            return report
        rest = None if limit is None else limit - report.done - report.failed
        return replace(report, checked=duplicates.drain(self._store, embedder, *searchable, self._clock, limit=rest))

    def reembed(self, *, progress: Progress | None = None) -> WorkReport:
        """Give every text a vector of the current embedder; the old vectors answer until all are there.

        Also tries dead jobs again. Raises EmbedderUnavailable.
        """
        meaning = self._vectors()
        _, row = meaning.for_writing()
        self._store.revive()
        after = 0
        while missing := self._store.unembedded(row.num, limit=5_000, after=after):
            self._store.enqueue("embed", missing, self._clock.now())
            after = missing[-1]
        return self.work(progress=progress)

    def models(self) -> builtins.list[ModelInfo]:
        """The embedders this store has vectors of, and those that are installed."""
        from .vectors.embedder import installed, load_embedder

        stored = {row.name: row for row in self._store.embedders()}
        found = []
        for name in sorted({*installed(), *stored}):
            row = stored.get(name)
            try:
                loaded = load_embedder(name)
                available, message = True, ""
                facts: tuple[str | None, int | None] = (loaded.fingerprint, loaded.dimensions)
            except EmbedderUnavailable as error:
                available, message = False, error.message
                facts = (row.fingerprint, row.dimensions) if row else (None, None)
            state = row.state if row else "installed"
            found.append(
                ModelInfo(
                    name=name,
                    fingerprint=facts[0],
                    dimensions=facts[1],
                    state=state,
                    available=available,
                    message=message,
                )
            )
        return found

    # -- transfer and upkeep

    def export_jsonl(
        self, target: str | os.PathLike[str] | IO[str], *, vectors: bool = False, progress: Progress | None = None
    ) -> int:
        """Write the whole store as JSONL, lossless; returns the number of lines. A file appears only when complete."""
        from .transfer.export import export_jsonl

        return export_jsonl(self._store, target, vectors=vectors, progress=progress)

    def import_jsonl(
        self, source: str | os.PathLike[str] | IO[str], *, dry_run: bool = False, progress: Progress | None = None
    ) -> ImportReport:
        """Read limpet's JSONL or plain statements, one a line. Known events are skipped, bad lines are reported."""
        from .transfer.importing import import_jsonl

        new, known, bad = import_jsonl(self, self._store, source, dry_run=dry_run, progress=progress)
        return ImportReport(new=new, known=known, rejected=bad)

    def backup(self, path: str | os.PathLike[str], *, progress: Progress | None = None) -> None:
        """Copy the live store to a new file by SQLite's backup API. Raises BadInput, StoreError."""
        self._store.backup(os.fspath(path), progress)

    def verify(self) -> builtins.list[Problem]:
        """Check pages, index, vectors and how the tables fit together. Empty: clean."""
        return self._store.verify()

    def rebuild(self, *, progress: Progress | None = None) -> int:
        """Make every projection anew from the ledger; returns the number of events."""
        return self._store.rebuild(progress)

    def gc(self) -> dict[str, Any]:
        """Give free space back to the file system. Deletes no memory. Returns {"before_bytes", "after_bytes"}."""
        return self._store.compact()

    def doctor(self) -> builtins.list[Check]:
        """Is everything as it should be? Store, queue, embedder, with what to do where it is not."""
        from .work.doctor import doctor

        return doctor(self._store, self._vectors(), scope=self.scope)


__all__ = ["ImportReport", "Limpet", "ModelInfo", "PurgeReport", "Receipt", "open"]
