"""The façade and the only composition root: it names the store and the embedder, and hands each call to its room.

Read first: `remember/write.py` for writes, `recall/answer.py` for reads, `vectors/` for meaning.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from .model.clock import Clock, SystemClock
from .model.errors import BadInput, EmbedderUnavailable, NotFound
from .model.ids import format_id, parse_id
from .model.memory import STATES, Memory
from .settings import Settings, read_settings
from .store.records import Action, Filter, Page, Problem, StoreStats
from .store.sqlite import SqliteStore
from .text.describe import describe
from .verbs.base import Time
from .verbs.beliefs import Beliefs
from .verbs.brief import Briefs
from .verbs.graph import Graph
from .verbs.mirror import Mirrors
from .verbs.organize import Organize
from .verbs.transfer import Transfer
from .verbs.usefulness import Receipts
from .verbs.write import PurgeReport, Writes

if TYPE_CHECKING:
    from .history.claims import Match
    from .history.view import View
    from .recall.answer import Recall
    from .recall.meaning import Meaning
    from .recall.plan import Plan
    from .recall.rerank import Reranker
    from .recall.sessions import SessionRecall
    from .store.contract import Store
    from .vectors.embedder import Embedder
    from .work.doctor import Check
    from .work.embed import WorkReport

Progress = Callable[[int, int], None]


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
    create: bool = True,
    durable: bool | None = None,
    clock: Clock | None = None,
    embedder: Embedder | str | None = None,
) -> Limpet:
    """Open a memory store, making it when there is none; without `create` (and `read_only`) that is StoreMissing.

    `path`: a file, or ":memory:"; else LIMPET_STORE, else the platform's data folder. `scope`: where writes go; else
    LIMPET_SCOPE, else project:<name> in a git checkout, else global. `durable`: fsync at every commit (default).
    `embedder`: a name, or an object with the Embedder interface. Raises StoreError and its kind, BadInput.
    """
    settings = read_settings(path, scope, durable)
    return Limpet(settings, read_only=read_only, create=create, clock=clock, embedder=embedder)


class Limpet(Beliefs, Briefs, Graph, Organize, Mirrors, Receipts, Transfer, Writes):
    """An open memory store. Thread-safe; use it as a context manager, or `close()` it."""

    def __init__(
        self,
        settings: Settings,
        *,
        read_only: bool = False,
        create: bool = True,
        clock: Clock | None = None,
        embedder: Embedder | str | None = None,
        store: Store | None = None,
    ) -> None:
        name = embedder if isinstance(embedder, str) else settings.embedder
        given = None if isinstance(embedder, str) else embedder
        super().__init__(
            store or SqliteStore(settings.path, describe, read_only=read_only, durable=settings.durable, create=create),
            settings.scope,
            clock or SystemClock(),
            name,
            given,
        )

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
        trace: bool = False,
        explain: bool = False,
        fusion: str = "linear",
        without: Iterable[str] = (),
        rerank: str | Reranker | None = None,
    ) -> Recall:
        """The memories that matter for `query`, best first: those of this scope and `global`, held true at `as_of`
        (default: now, or the time that an event found gives: "before the migration") as the store knew them at
        `known_at` (default: now).

        `budget_tokens` limits what comes back, `deadline_ms` how long it takes: signals that would come too late are
        named in `missing`. `trace`: each item tells how its score arose; `explain`: also how the question was read and
        what was left out, which takes a second, wider search. `rerank`: a reranker, or the name of an installed one,
        which puts the first results in its own order; `missing` has "rerank" when it failed or was late. Changes
        nothing. Raises BadInput.
        """
        from .recall.answer import recall

        if rerank is not None:
            from .recall.rerank import check

            check(rerank)
        plan, meaning = self._asked(
            query,
            self._filter(kinds, topics, since, until, session, known_at=self._time(known_at)),
            self._time(as_of),
            k=k,
            deadline_ms=deadline_ms,
            budget_tokens=budget_tokens,
            lexical_only=lexical_only,
            fusion=fusion,
            without=frozenset(without),
        )
        return recall(self._store, meaning, plan, trace=trace, explain=explain, reranker=rerank)

    def recall_sessions(
        self,
        query: str,
        *,
        k: int = 5,
        evidence: int = 3,
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
    ) -> SessionRecall:
        """The sessions that hold an answer to `query`, or a part of it, best first, each with the best `evidence` of
        its memories that a recall finds. Filters and times are those of `recall`, and so is the scope.

        A session's score pools its best memory, what one sentence of it says of the question, and how near it is to the
        other sessions that are found. What belongs to no session is counted (`without_session`). Changes nothing.
        Raises BadInput.
        """
        from .recall.sessions import recall_sessions

        if isinstance(evidence, bool) or not isinstance(evidence, int) or not 1 <= evidence <= 100:
            raise BadInput(f"evidence must be from 1 to 100, not {evidence!r}")
        plan, meaning = self._asked(
            query,
            self._filter(kinds, topics, since, until, session, known_at=self._time(known_at)),
            self._time(as_of),
            k=k,
            deadline_ms=deadline_ms,
            budget_tokens=budget_tokens,
            lexical_only=lexical_only,
            fusion="linear",
            without=frozenset(),
        )
        return recall_sessions(self._store, meaning, plan, evidence=evidence, explain=explain)

    def _asked(self, query: str, where: Filter, held: int | None, **given: Any) -> tuple[Plan, Meaning | None]:
        """A request as a plan, held true at `held`, and the vector side if it takes part; of the texts that wait for
        their vectors as many get them first as there is time for."""
        from .recall.plan import make_plan

        now = self._clock.now()
        at = next((one for one in (held, where.known_at) if one is not None), now)
        timeless = all(one is None for one in (held, where.known_at, where.since, where.until))
        plan = make_plan(query, replace(where, as_of=at), now=now, timeless=timeless, **given)
        if plan.lexical_only:
            return plan, None
        meaning = self._vectors()
        waiting = meaning.waiting()
        if not waiting:
            return plan, meaning
        from .work.catch_up import catch_up

        return catch_up(self._store, meaning, plan, self._clock, waiting), meaning

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
        raw = self._store.memories.resolve(id, self._scopes)
        memory = self._store.memories.get(raw, known_at=self._time(known_at))
        if memory is None:
            raise NotFound(f"memory {format_id(raw)} was not known then")
        from .recall.sources import Sources

        return replace(self._with_confidence(memory), source_state=Sources().state(memory.metadata))

    def show(self, id: str) -> Memory:
        """`get`, and the memory counts as used."""
        memory = self.get(id)
        if not self.read_only and memory.state != "purged":
            self._store.usage.record([parse_id(memory.id)], self._clock.now())
        return memory

    def history(self, id: str) -> builtins.list[Memory]:
        """Every version of a memory, oldest first. Raises NotFound."""
        return [
            self._with_confidence(one)
            for one in self._store.memories.versions(self._store.memories.resolve(id, self._scopes))
        ]

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
        page = self._store.listings.page(where, sort=sort, limit=limit, cursor=cursor)
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
        return self._store.listings.count(self._listed(kinds, topics, since, until, session, all_states))

    def stats(self) -> StoreStats:
        """Counts and sizes of the whole store, every scope."""
        return self._store.maintenance.stats()

    def abbreviate(self, ids: Sequence[str], *, items: bool = False) -> builtins.list[str]:
        """The shortest unambiguous prefix of each id; with `items` among the items of the review list too."""
        several = [parse_id(id) for id in ids]
        return self._store.reviews.abbreviate(several) if items else self._store.memories.abbreviate(several)

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

    def _matches(self, text: str, k: int, kinds: Sequence[str], view: View) -> builtins.list[Match]:
        """Recall for the graph's queries: ids and cosines."""
        from .history.claims import Match

        found = self.recall(text, k=k, kinds=kinds, as_of=view.as_of, known_at=view.known_at, trace=True)
        vector = [one.why.signals.get("vector") if one.why else None for one in found.items]
        return [Match(one.id, v.raw if v else None) for one, v in zip(found.items, vector, strict=True)]

    # -- journal

    def note_action(self, session: str, kind: str, what: str) -> None:
        """Add a line to the journal of what was asked, done and answered. No belief, no history: a ring of lines."""
        from .text.secrets import redact

        self._store.journal.note(Action(self.scope, session, self._clock.now(), kind, redact(what)[0]))

    def actions(self, *, session: str | None = None, limit: int = 20) -> builtins.list[Action]:
        """The last lines of this scope's journal, or of one session, oldest first."""
        return self._store.journal.lines(self.scope, session=session, limit=limit)

    # -- vectors and work

    def work(
        self, *, limit: int | None = None, only_vectors: bool = False, progress: Progress | None = None
    ) -> WorkReport:
        """Drain the queue: note which things new texts name, embed them, then look for what was said twice (not if
        `only_vectors`).

        Several processes may do this at once. Raises EmbedderUnavailable when there is no embedder to do it with.
        """
        from .work import duplicates, mentions
        from .work.embed import drain

        mentions.drain(self._store, limit=limit)
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
        self._store.jobs.revive()
        after = 0
        while missing := self._store.vectors.missing(row.num, limit=5_000, after=after):
            self._store.jobs.enqueue("embed", missing, self._clock.now())
            after = missing[-1]
        return self.work(progress=progress)

    def models(self) -> builtins.list[ModelInfo]:
        """The embedders this store has vectors of, and those that are installed."""
        from .vectors.embedder import installed, load_embedder

        stored = {row.name: row for row in self._store.vectors.embedders()}
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
        self,
        target: str | os.PathLike[str] | IO[str],
        *,
        vectors: bool = False,
        force: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Write the whole store as JSONL, lossless; returns the number of lines. A file appears only when complete.

        `force`: replace a file that is there, which the store and what lies beside it never is.
        Raises BadInput, StoreError.
        """
        from .transfer.export import export_jsonl

        return export_jsonl(self._store, target, vectors=vectors, force=force, progress=progress)

    def import_jsonl(
        self, source: str | os.PathLike[str] | IO[str], *, dry_run: bool = False, progress: Progress | None = None
    ) -> ImportReport:
        """Read limpet's JSONL or plain statements, one a line. Known events are skipped, bad lines are reported."""
        from .transfer.importing import import_jsonl

        new, known, bad = import_jsonl(self, self._store, source, dry_run=dry_run, progress=progress)
        return ImportReport(new=new, known=known, rejected=bad)

    def backup(self, path: str | os.PathLike[str], *, progress: Progress | None = None) -> None:
        """Copy the live store to a new file by SQLite's backup API. Raises BadInput, StoreError."""
        self._store.maintenance.backup(os.fspath(path), progress)

    def verify(self) -> builtins.list[Problem]:
        """Check pages, index, vectors and how the tables fit together. Empty: clean."""
        return self._store.maintenance.verify()

    def rebuild(self, *, progress: Progress | None = None) -> int:
        """Make every projection anew from the ledger; returns the number of events."""
        from .work import mentions

        done = self._store.maintenance.rebuild(progress)
        mentions.drain(self._store)
        return done

    def gc(self) -> dict[str, Any]:
        """Give free space back to the file system. Deletes no memory. Returns {"before_bytes", "after_bytes"}."""
        return self._store.maintenance.compact()

    def doctor(self) -> builtins.list[Check]:
        """Is everything as it should be? Store, queue, embedder, with what to do where it is not."""
        from .work.doctor import doctor

        return doctor(self._store, self._vectors(), scope=self.scope)


__all__ = ["ImportReport", "Limpet", "ModelInfo", "PurgeReport", "open"]
