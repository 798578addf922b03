"""Every public verb: `open()` and the class `Limpet`. A verb hands its arguments to the service that does the work.

The only composition root: it names the store and the embedder.
"""

from __future__ import annotations

import builtins
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import IO, TYPE_CHECKING, Any

from .context import Context, Time
from .mirror import service as mirror_service
from .model import old_names
from .model.clock import Clock, SystemClock
from .organize import service as organize_service
from .recall import lookup as recall_lookup
from .recall import service as recall_service
from .remember import beliefs
from .remember import service as remember_service
from .remember.service import PurgeReport
from .settings import Settings, read_settings
from .store.sqlite import SqliteStore
from .text.describe import describe
from .transfer import service as transfer_service
from .transfer.service import ImportReport
from .usefulness import service as usefulness_service
from .work import service as work_service
from .work.service import ModelInfo

if TYPE_CHECKING:
    from .history.audit import Audit
    from .history.claims import Match
    from .history.diff import Diff
    from .history.gaps import Gaps
    from .history.names import EntityCount, Topic
    from .history.queries import History
    from .history.reasons import Impact, Why
    from .history.threads import Thread
    from .history.timeline import Timeline
    from .history.usefulness import Exposure, Usefulness
    from .history.view import View
    from .history.walk import GraphPath
    from .history.whole import Contradictions
    from .jobs.embed import WorkReport
    from .mirror.report import MirrorReport
    from .model.memory import Memory
    from .organize.report import OrganizeReport
    from .recall.answer import Recall
    from .recall.brief import Brief
    from .recall.facts import Fact
    from .recall.rerank import Reranker
    from .recall.sessions import SessionRecall
    from .remember.operations import Operation
    from .remember.retention import Retention
    from .remember.review import ReviewItem
    from .remember.sweep import Swept
    from .remember.write import Receipt
    from .store.contract import Store
    from .store.records import Action, Filter, Page, Problem, SessionRow, StoreStats
    from .transfer.records import TransferReport
    from .transfer.segments import SegmentReport
    from .usefulness.adherence import Adherence
    from .vectors.embedder import Embedder
    from .work.doctor import Check

Progress = Callable[[int, int], None]


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


class Limpet:
    """An open memory store, seen from a scope. Thread-safe; use it as a context manager, or `close()` it."""

    def __init__(
        self, settings: Settings, *, read_only: bool = False, create: bool = True, clock: Clock | None = None,
        embedder: Embedder | str | None = None, store: Store | None = None,
    ) -> None:  # fmt: skip
        name = embedder if isinstance(embedder, str) else settings.embedder
        given = None if isinstance(embedder, str) else embedder
        self._context = Context(
            store or SqliteStore(settings.path, describe, read_only=read_only, durable=settings.durable, create=create),
            settings.scope,
            clock or SystemClock(),
            name,
            given,
        )
        self._owns_store = True

    @property
    def path(self) -> str:
        return self._context.store.path

    @property
    def scope(self) -> str:
        """Where writes go."""
        return self._context.scope

    @property
    def embedder(self) -> str:
        """The name of the embedder that is asked for; it may not be installed."""
        name, given = self._context.embedder
        return given.name if given else name

    @property
    def read_only(self) -> bool:
        return self._context.store.read_only

    def in_scope(self, scope: str) -> Limpet:
        """The same open store, seen from another scope. It ends with this one; closing it closes nothing."""
        other = copy(self)
        other._context = self._context.in_scope(scope)
        other._owns_store = False
        return other

    if not TYPE_CHECKING:  # which shows that a name is old

        def __getattr__(self, name: str) -> Any:
            """A verb by a name that it had before."""
            if name in old_names.METHODS:
                return getattr(self, old_names.METHODS[name])
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __enter__(self) -> Limpet:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back. Safe to call twice."""
        if self._owns_store:
            self._context.store.close()

    def recall(
        self, query: str, *, k: int = 10, kinds: Iterable[str] = (), topics: Iterable[str] = (), since: Time = None,
        until: Time = None, as_of: Time = None, known_at: Time = None, session: str | None = None,
        budget_tokens: int | None = None, deadline_ms: float | None = None, lexical_only: bool = False,
        trace: bool = False, explain: bool = False, fusion: str = "linear", without: Iterable[str] = (),
        rerank: str | Reranker | None = None,
    ) -> Recall:  # fmt: skip
        """The memories that matter for `query`, best first: those of this scope and `global`, held true at `as_of`
        (default: now, or the time that an event found gives: "before the migration") as the store knew them at
        `known_at` (default: now).

        `budget_tokens` limits what comes back, `deadline_ms` how long it takes: signals that would come too late are
        named in `missing`. `trace`: each item tells how its score arose; `explain`: also how the question was read and
        what was left out, which takes a second, wider search. `rerank`: a reranker, or the name of an installed one,
        which puts the first results in its own order; `missing` has "rerank" when it failed or was late. Changes
        nothing, but takes in first what people edited in a mirror. Raises BadInput.
        """
        self._look_at_mirrors()
        where = self._filter(kinds, topics, since, until, session, known_at)
        return recall_service.recall(
            self._context, query, where, k=k, as_of=as_of, budget_tokens=budget_tokens, deadline_ms=deadline_ms,
            lexical_only=lexical_only, trace=trace, explain=explain, fusion=fusion, without=without, rerank=rerank,
        )  # fmt: skip

    def recall_sessions(
        self, query: str, *, k: int = 5, evidence: int = 3, kinds: Iterable[str] = (), topics: Iterable[str] = (),
        since: Time = None, until: Time = None, as_of: Time = None, known_at: Time = None, session: str | None = None,
        budget_tokens: int | None = None, deadline_ms: float | None = None, lexical_only: bool = False,
        explain: bool = False,
    ) -> SessionRecall:  # fmt: skip
        """The sessions that hold an answer to `query`, or a part of it, best first, each with the best `evidence` of
        its memories that a recall finds. Filters and times are those of `recall`, and so is the scope.

        A session's score pools its best memory, what one sentence of it says of the question, and how near it is to the
        other sessions that are found. What belongs to no session is counted (`without_session`). Changes nothing.
        Raises BadInput.
        """
        self._look_at_mirrors()
        where = self._filter(kinds, topics, since, until, session, known_at)
        return recall_service.recall_sessions(
            self._context, query, where, k=k, as_of=as_of, evidence=evidence, budget_tokens=budget_tokens,
            deadline_ms=deadline_ms, lexical_only=lexical_only, explain=explain,
        )  # fmt: skip

    def related(self, id: str, *, k: int = 10) -> Recall:
        """What is near a memory in meaning and words, itself left out. Raises NotFound, BadInput."""
        return recall_service.related(self._context, id, k=k)

    def get(self, id: str, *, known_at: Time = None) -> Memory:
        """One memory, whatever its state; of an indexed project also whether its source is as it was.

        Raises NotFound, AmbiguousId, BadInput.
        """
        return recall_lookup.get(self._context, id, known_at=known_at)

    def show(self, id: str) -> Memory:
        """`get`, and the memory counts as used."""
        return recall_lookup.show(self._context, id)

    def history(self, id: str) -> builtins.list[Memory]:
        """Every version of a memory, oldest first. Raises NotFound."""
        return recall_lookup.history(self._context, id)

    def list(
        self, *, kinds: Iterable[str] = (), topics: Iterable[str] = (), sort: str = "created", since: Time = None,
        until: Time = None, session: str | None = None, limit: int = 50, cursor: str | None = None,
        all_states: bool = False,
    ) -> Page:  # fmt: skip
        """Memories of this scope and `global`, newest (most used) first, a page at a time.

        `all_states`: also what is archived, retracted, purged or no longer true. Raises BadInput.
        """
        where = self._filter(kinds, topics, since, until, session)
        return recall_lookup.list(self._context, where, sort=sort, limit=limit, cursor=cursor, all_states=all_states)

    def count(
        self, *, kinds: Iterable[str] = (), topics: Iterable[str] = (), since: Time = None, until: Time = None,
        session: str | None = None, all_states: bool = False,
    ) -> int:  # fmt: skip
        """How many memories `list` would show."""
        where = self._filter(kinds, topics, since, until, session)
        return recall_lookup.count(self._context, where, all_states=all_states)

    def matching(self, words: str, *, all_states: bool = False) -> builtins.list[Memory]:
        """What is held in whose text these words stand as they are said, or if there is none, each somewhere: a word or
        the beginning of one, whatever its case. Reads every text.

        `all_states`: as in `list`. Raises BadInput.
        """
        return recall_lookup.matching(self._context, words, all_states=all_states)

    def topics(self, *, limit: int = 200) -> builtins.list[Topic]:
        """The topics of what is held in this scope and `global`, the most used first. Raises BadInput."""
        return self.graph.topics(limit=limit)

    def entities(self, *, limit: int = 200) -> builtins.list[EntityCount]:
        """The things that what is held names (files, symbols, tickets, people), the most named first: reads every text.

        Raises BadInput.
        """
        return self.graph.entities(limit=limit)

    def threads(self, *, limit: int = 200) -> builtins.list[Thread]:
        """Topics that two sessions or more worked on: since when, until when, open goals. The latest first.

        Raises BadInput.
        """
        return self.graph.threads(limit=limit)

    def abbreviate(self, ids: Sequence[str], *, items: bool = False) -> builtins.list[str]:
        """The short id of each memory, which every verb reads; with `items` also of items of the review list."""
        return recall_lookup.abbreviate(self._context, ids, items=items)

    def note_action(self, session: str, kind: str, what: str) -> None:
        """Add a line to the journal of what was asked, done and answered. No belief, no history: a ring of lines."""
        usefulness_service.note_action(self._context, session, kind, what)

    def actions(self, *, session: str | None = None, limit: int = 20) -> builtins.list[Action]:
        """The last lines of this scope's journal, or of one session, oldest first."""
        return usefulness_service.actions(self._context, session=session, limit=limit)

    def adherence(self, session: str) -> builtins.list[Adherence]:
        """Which rules (preferences, lessons, decisions, corrections) a session kept or broke, by the commands and edits
        of its journal; unknown where these do not say. Asked again later, it says what is known by then.
        """
        return usefulness_service.adherence(self._context, session)

    def work(
        self, *, limit: int | None = None, only_vectors: bool = False, progress: Progress | None = None
    ) -> WorkReport:
        """Drain the queue: note which things new texts name, embed them, then look for what was said twice (not if
        `only_vectors`).

        Several processes may do this at once. Raises EmbedderUnavailable when there is no embedder to do it with.
        """
        return work_service.work(self._context, limit=limit, only_vectors=only_vectors, progress=progress)

    def reembed(self, *, progress: Progress | None = None) -> WorkReport:
        """Give every text a vector of the current embedder; the old vectors answer until all are there.

        Also tries dead jobs again. Raises EmbedderUnavailable.
        """
        return work_service.reembed(self._context, progress=progress)

    def models(self) -> builtins.list[ModelInfo]:
        """The embedders this store has vectors of, and those that are installed."""
        return work_service.models(self._context)

    def export_jsonl(
        self, target: str | os.PathLike[str] | IO[str], *, vectors: bool = False, force: bool = False,
        progress: Progress | None = None,
    ) -> int:  # fmt: skip
        """Write the whole store as JSONL, lossless; returns the number of lines. A file appears only when complete.

        `force`: replace a file that is there, which the store and what lies beside it never is.
        Raises BadInput, StoreError.
        """
        return transfer_service.export_jsonl(self._context, target, vectors=vectors, force=force, progress=progress)

    def import_jsonl(
        self, source: str | os.PathLike[str] | IO[str], *, dry_run: bool = False, progress: Progress | None = None
    ) -> ImportReport:
        """Read limpet's JSONL or plain statements, one a line. Known events are skipped, bad lines are reported."""
        return transfer_service.import_jsonl(self._context, source, dry_run=dry_run, progress=progress)

    def rebuild(self, *, progress: Progress | None = None) -> int:
        """Make every projection anew from the ledger; returns the number of events."""
        return work_service.rebuild(self._context, progress=progress)

    def doctor(self) -> builtins.list[Check]:
        """Is everything as it should be? Store, queue, embedder, with what to do where it is not."""
        return work_service.doctor(self._context)

    def remember(
        self, content: str, *, kind: str | None = None, topics: Iterable[str] = (), key: str | None = None,
        importance: float | None = None, pin: bool = False, valid_from: Time = None, valid_to: Time = None,
        source: str | None = None, origin: str = "agent", session: str | None = None, speaker: str | None = None,
        because: Iterable[str] = (), metadata: Mapping[str, Any] | None = None, id: str | None = None,
        confidence: float | None = None, anyway: bool = False,
    ) -> Receipt:  # fmt: skip
        """Store one statement, durably, and return at once; its vector is made later by `work`.

        A statement that is known already (same scope, kind, speaker and text) is counted as an observation of it.
        What it adds to that memory is kept and in the receipt's `added`. `kind`: an episode where a speaker is named
        and no key, else a fact. `because`: ids of what it rests on. What a
        rule speaks against (docs/domain-model.md) is kept as an episode, unless a person (`origin="user"`) says
        `anyway`. Raises BadInput, NotFound (because), StoreError.
        """
        return remember_service.remember(
            self._context,
            {
                "content": content, "kind": kind, "topics": topics, "key": key, "importance": importance, "pin": pin,
                "valid_from": valid_from, "valid_to": valid_to, "source": source, "origin": origin, "session": session,
                "speaker": speaker, "because": because, "metadata": metadata, "id": id, "confidence": confidence,
                "anyway": anyway,
            },
        )  # fmt: skip

    def remember_batch(self, items: Iterable[Mapping[str, Any]]) -> builtins.list[Receipt]:
        """Store many statements: dictionaries with the arguments of `remember` and `scope`. One receipt each.

        A bad one is rejected with its reason and stops no other. Each thousand is one transaction.
        """
        return remember_service.remember_batch(self._context, items)

    def correct(
        self, id: str, content: str, *, why: str | None = None, valid_from: Time = None, **given: Any
    ) -> Receipt:
        """Replace what a memory says by a new memory; the old one stays, superseded, and readable as of then.

        What is not given (kind, scope, topics, key, importance, metadata) is taken over. The old one holds until
        `valid_from` (default: now). What is trusted less than the old one waits for review (`proposed`).
        Raises NotFound, BadInput.
        """
        return remember_service.correct(self._context, id, content, why=why, valid_from=valid_from, **given)

    def edit(self, id: str, content: str) -> Receipt:
        """Better words for the same belief: same id, same history of belief, new text. Raises NotFound, BadInput.

        With words that a rule speaks against the memory becomes an episode; `undo` takes that back.
        """
        return remember_service.edit(self._context, id, content)

    def tag(
        self, id: str, add: Iterable[str] = (), remove: Iterable[str] = (), values: Mapping[str, Any] | None = None,
    ) -> Receipt:  # fmt: skip
        """Add and remove topics, set metadata values (None removes one). Raises NotFound, BadInput."""
        return remember_service.tag(self._context, id, add, remove, values)

    def pin(self, id: str) -> Receipt:
        """Exempt a memory from decay."""
        return remember_service.pin(self._context, id)

    def unpin(self, id: str) -> Receipt:
        """Let a memory decay again."""
        return remember_service.unpin(self._context, id)

    def archive(self, id: str, *, origin: str | None = None) -> Receipt:
        """Take a memory out of recall; it stays on disk and `restore` brings it back. `origin`: as in `retract`."""
        return remember_service.archive(self._context, id, origin=origin)

    def restore(self, id: str) -> Receipt:
        """Bring an archived or retracted memory back into recall."""
        return remember_service.restore(self._context, id)

    def reach(self, id: str, *, origin: str | None = None) -> Receipt:
        """A goal is reached: it holds until now, leaves the open goals, and says so. `undo` opens it again.

        `origin`: as in `retract`. Raises NotFound, BadInput (it is no goal).
        """
        return remember_service.reach(self._context, id, origin=origin)

    def promote(self, id: str) -> Receipt:
        """Make what a rule kept as an episode a belief, of the kind and key it was stated with: a person's decision.

        Raises NotFound, BadInput (no rule spoke against it).
        """
        return remember_service.promote(self._context, id)

    def retract(self, id: str, why: str, *, origin: str | None = None) -> Receipt:
        """No longer believed, and nothing replaces it. `why` stays with it.

        `origin`: who says so; what is trusted more is not retracted but comes up for review (`proposed`). None: the
        owner of the store.
        """
        return remember_service.retract(self._context, id, why, origin=origin)

    def purge(self, id: str, *, confirm: bool = False) -> PurgeReport:
        """Erase a memory's content from rows, index, vectors, log and ledger; a tombstone stays.

        Without `confirm` only what would go is reported. Cannot be undone. Backups made earlier keep what they hold;
        so do other memories that quote it, which the report names, and a mirror until its next sync.
        """
        return remember_service.purge(self._context, id, confirm=confirm)

    def undo(self, event: str | None = None) -> builtins.list[Receipt]:
        """Take back an operation: the last that holds, so that each undo goes one further back, or that of an event.

        One that others build on is not taken back before them. Of an operation over several scopes, what it did in this
        one and `global`. `undo` of an undo is a redo. Raises NotFound, BadInput (a purge, or others build on it).
        """
        return remember_service.undo(self._context, event)

    def redo(self) -> builtins.list[Receipt]:
        """Do again what was undone last, as long as nothing else was done since. Raises NotFound."""
        return remember_service.redo(self._context)

    def log(self, *, limit: int = 20, event: str | None = None) -> builtins.list[Operation]:
        """What was done in this scope and `global`, the newest operation first; with `event` only the one that has it.

        `undo` takes the `id` of each. Raises NotFound, BadInput.
        """
        return remember_service.log(self._context, limit=limit, event=event)

    def feedback(self, id: str, verdict: str) -> Memory:
        """Was a recalled memory useful, not_useful or wrong? Counted with its use. Raises NotFound, BadInput."""
        return remember_service.feedback(self._context, id, verdict)

    def set_fact(self, key: str, value: str, **given: Any) -> Receipt:
        """Set the value of SUBJECT.ATTRIBUTE from `valid_from` (default: now) on; the value before it ends there.

        `given`: the keyword arguments of `remember`. The same value again counts as an observation; one that would end
        what a more trusted origin said waits for review (`proposed`). Raises BadInput.
        """
        return beliefs.set_fact(self._context, key, value, **given)

    def fact(self, key: str, *, as_of: Time = None, known_at: Time = None) -> Fact:
        """The value that holds at `as_of` as the store knew it at `known_at` (default: now): that of this scope, else
        the global one. Raises NotFound."""
        return beliefs.fact(self._context, key, as_of=as_of, known_at=known_at)

    def fact_history(self, key: str, *, known_at: Time = None) -> builtins.list[Fact]:
        """Every value of a key along the time in which it held, oldest first. Raises NotFound when there is none."""
        return beliefs.fact_history(self._context, key, known_at=known_at)

    def end_fact(self, key: str, *, at: Time = None, why: str | None = None, origin: str | None = None) -> Receipt:
        """The value holds no more, from `at` (default: now) on, and nothing replaces it. `origin`: as in `retract`.

        Raises NotFound, BadInput.
        """
        return beliefs.end_fact(self._context, key, at=at, why=why, origin=origin)

    def session_start(self, name: str | None = None, *, title: str | None = None) -> SessionRow:
        """Begin a session, or go on with one of this name. Without a name it gets a new one. Raises BadInput."""
        return beliefs.session_start(self._context, name, title=title)

    def session_end(self, name: str, *, summary: str | None = None, origin: str = "agent") -> Receipt:
        """The session is over; a `summary` becomes its episode. Raises NotFound, BadInput."""
        return beliefs.session_end(self._context, name, summary=summary, origin=origin)

    def session(self, name: str) -> SessionRow:
        """One session of this scope. Raises NotFound."""
        return beliefs.session(self._context, name)

    def sessions(self, *, limit: int = 20) -> builtins.list[SessionRow]:
        """Sessions of this scope, the one with the latest memory first."""
        return beliefs.sessions(self._context, limit=limit)

    def session_memories(self, name: str) -> builtins.list[Memory]:
        """What was stored in a session and is still active, in its order. Raises NotFound."""
        return beliefs.session_memories(self._context, name)

    def compress(self, name: str, *, summary: str | None = None) -> Receipt:
        """Sum a session up in an episode, with a `part_of` edge from every memory of it.

        Without a `summary` its weightiest statements are quoted. Again, after more was said: a new episode supersedes
        the old one. Raises NotFound, BadInput.
        """
        return beliefs.compress(self._context, name, summary=summary)

    def review(self, *, limit: int = 50) -> builtins.list[ReviewItem]:
        """What waits for a person in this scope and `global`: quarantine, pairs, what to confirm or see again."""
        return beliefs.review(self._context, limit=limit)

    def accept(self, id: str) -> Receipt:
        """Say yes to an item of the review list. Raises NotFound, AmbiguousId, BadInput (it was rejected already)."""
        return beliefs.accept(self._context, id)

    def reject(self, id: str) -> Receipt:
        """Say no to an item of the review list. Raises NotFound, AmbiguousId, BadInput (it was accepted already)."""
        return beliefs.reject(self._context, id)

    def sweep(self, *, apply: bool = False, progress: Callable[[int, int], None] | None = None) -> builtins.list[Swept]:
        """Memories of this scope that would not be stored so today: by a rule, for a secret, or as an instruction.

        `apply`: what a rule speaks against becomes an episode, the rest is quarantined and waits for review; undo
        brings them back. Raises EmbedderUnavailable.
        """
        return beliefs.sweep(self._context, apply=apply, progress=progress)

    def retention(
        self, *, days: float = 365, kinds: Sequence[str] = ("episode",), fold: bool = True, apply: bool = False
    ) -> Retention:
        """What of this scope was neither stated nor used for `days`: says it, and archives it with `apply`.

        `fold`: sessions that lose three or more are summed up first. Never what is pinned, keyed, a summary, or the
        reason of something held. `undo` brings all back. Raises BadInput.
        """
        return beliefs.retention(self._context, days=days, kinds=kinds, fold=fold, apply=apply)

    def prepare(
        self, message: str = "", *, budget: int | None = None, full: bool = False, session: str | None = None,
        deadline_ms: float | None = None, lexical_only: bool | None = None,
    ) -> Brief:  # fmt: skip
        """What an agent should know before it answers `message`: standing context, facts, what matches (lessons first),
        open goals, the last day, active threads, and what to beware of; each memory once, within `budget` tokens.

        `full` adds the newest, the most used, what was not seen for long, and counts. `session`: the caller's own run,
        whose news it knows. Meaning is asked when its model is loaded already; `lexical_only` True or False decides it.
        Changes nothing. Raises BadInput.
        """
        self._look_at_mirrors()
        return recall_service.prepare(
            self._context, message, budget=budget, full=full, session=session, deadline_ms=deadline_ms,
            lexical_only=lexical_only,
        )  # fmt: skip

    def link(self, a: str, type: str, b: str, weight: float | None = None) -> Receipt:
        """Say `a TYPE b` (any edge type but temporal_next). Linked already: unchanged. Raises NotFound, BadInput.

        That `a supersedes` what is trusted more waits for review (`proposed`).
        """
        return remember_service.link(self._context, a, type, b, weight)

    def unlink(self, a: str, type: str, b: str) -> Receipt:
        """End the link `a TYPE b`; that it held stays on record. Raises NotFound, BadInput."""
        return remember_service.unlink(self._context, a, type, b)

    def mirror_init(
        self, path: str | os.PathLike[str], *, author: str = "user", index_bytes: int | None = None,
        with_global: bool = False,
    ) -> MirrorReport:  # fmt: skip
        """Make a folder the mirror of this scope, and sync it. What is in it becomes memory, and nothing of it is lost.

        `author`: the origin of what files say, unless a file names its own. `index_bytes`: the cap of MEMORY.md.
        `with_global`: mirror the scope `global` too. Again: other settings. Raises BadInput, StoreError.
        """
        return mirror_service.mirror_init(
            self._context, path, author=author, index_bytes=index_bytes, with_global=with_global
        )

    def mirror_sync(
        self, path: str | os.PathLike[str], *, dry_run: bool = False, forget: bool = False, full: bool = False
    ) -> MirrorReport:
        """Bring a mirror and the store together: changes of either side reach the other, conflicts go to review.

        `dry_run`: only say what would be done. `forget`: also archive when most entries are gone from the folder.
        `full`: read every file and compare everything; else what has its old time stamps is taken to be unchanged.
        Raises BadInput (no mirror, or of another store), StoreBusy, StoreError.
        """
        return mirror_service.mirror_sync(self._context, path, dry_run=dry_run, forget=forget, full=full)

    def take_in_edits(self) -> None:
        """Bring in what people changed in the folders of this scope's mirrors, if anything did, as `mirror_sync` would.

        A recall and a brief do so by themselves, of folders of up to 200 files. What cannot be taken in now waits;
        `mirror_sync` says why.
        """
        mirror_service.take_in_edits(self._context)

    def _look_at_mirrors(self) -> None:
        mirror_service.take_in_edits(self._context, most=mirror_service.SEEN_BY_RECALLS)

    def mirror_watch(
        self, path: str | os.PathLike[str], *, stop: threading.Event | None = None
    ) -> Iterator[MirrorReport]:
        """Sync now, and again whenever the folder or the store changes, until `stop` is set. A report each time.

        A sync that finds the store or the folder busy is tried again at the next change. Raises BadInput.
        """
        yield from mirror_service.mirror_watch(self._context, path, stop=stop)

    def read_topic(self, topic: str) -> str:
        """What this scope and `global` hold about a topic, as the Markdown of a mirror. Raises NotFound."""
        return mirror_service.read_topic(self._context, topic)

    def mirrors(self) -> builtins.list[str]:
        """The folders that mirror this scope, and are there."""
        return mirror_service.mirrors(self._context)

    def note_transcript(self, path: str | os.PathLike[str]) -> None:
        """A session has ended whose transcript lies there: the next `organize` reads it into this scope."""
        organize_service.note_transcript(self._context, path)

    def organize(
        self, paths: Iterable[str | os.PathLike[str]] = (), *, clients: Sequence[str] = (), by_folder: bool = False,
        dry_run: bool = False, summaries: bool = True, models: Sequence[str] = (),
        budget_tokens: int = organize_service.BUDGET_TOKENS, budget_usd: float | None = None,
        progress: Progress | None = None,
    ) -> OrganizeReport:  # fmt: skip
        """Take what is worth remembering from transcripts and notes: by rules, and with `models` by these too.

        `paths`: files and folders; `clients`: also what these keep in their own folders. Without either, what hooks
        named since. `by_folder`: into the scope of the folder where an agent worked instead of this one. Twice is once.
        A model is a text such as `gemini:NAME`; the first that answers counts. Mirrors of the scopes that got something
        are synced at the end. Raises BadInput, StoreError.
        """
        return organize_service.organize(
            self._context, paths, clients=clients, by_folder=by_folder, dry_run=dry_run, summaries=summaries,
            models=models, budget_tokens=budget_tokens, budget_usd=budget_usd, progress=progress,
        )  # fmt: skip

    def import_from(
        self, format: str, path: str | os.PathLike[str], *, dry_run: bool = False, progress: Progress | None = None
    ) -> TransferReport:
        """Read another program's memories into this scope; the source is never written. Twice is once.

        `code` and `docs` index a project: again, they bring what changed there. The report says what was not
        understood, and where. Formats: `transfer/formats.py`. Raises BadInput, StoreError.
        """
        return transfer_service.import_from(self._context, format, path, dry_run=dry_run, progress=progress)

    def export_to(
        self, format: str, path: str | os.PathLike[str], *, vectors: bool = False, all_scopes: bool = False,
        force: bool = False, progress: Progress | None = None,
    ) -> TransferReport:  # fmt: skip
        """Write the memories of this scope and `global` in another program's format; `new` counts them.

        The report says what the format cannot hold. `vectors`: where it can hold them. `force`: replace a file that is
        there, which the store and what lies beside it never is. Raises BadInput, StoreError.
        """
        return transfer_service.export_to(
            self._context, format, path, vectors=vectors, all_scopes=all_scopes, force=force, progress=progress
        )

    def export_segments(self, folder: str | os.PathLike[str], *, progress: Progress | None = None) -> SegmentReport:
        """Write what is new in this store into its own folder below a shared one; other devices import it there.

        Every scope. Raises BadInput, StoreError.
        """
        return transfer_service.export_segments(self._context, folder, progress=progress)

    def import_segments(
        self, folder: str | os.PathLike[str], *, dry_run: bool = False, progress: Progress | None = None
    ) -> SegmentReport:
        """Take in what other devices exported there. Stores that have taken in the same segments hold the same.

        Raises BadInput, StoreError.
        """
        return transfer_service.import_segments(self._context, folder, dry_run=dry_run, progress=progress)

    def note_exposures(
        self, items: Iterable[tuple[str, int]], *, session: str = "", client: str, via: str,
        withheld: Iterable[str] = (), drawn: Iterable[str] = (), asked: str = "",
    ) -> None:  # fmt: skip
        """Keep what was put before an agent. `items`: ids and tokens; `withheld`: ids that were held out; `drawn`:
        those that were randomized and shown; `asked`: the message that it answers, as a line of the journal.
        """
        usefulness_service.note_exposures(
            self._context, items, session=session, client=client, via=via, withheld=withheld, drawn=drawn, asked=asked
        )

    def exposures(self, *, session: str | None = None, limit: int = 20) -> Sequence[Exposure]:
        """What was put before agents in this scope, or in one session, newest first. Raises BadInput."""
        return usefulness_service.exposures(self._context, session=session, limit=limit)

    def usefulness(self, *, limit: int = 10) -> Usefulness:
        """What was surfaced in this scope, at what cost, how much of it showed up in the work, and what showing it
        changed; shares with their 95 % interval. Raises BadInput.
        """
        return usefulness_service.usefulness(self._context, limit=limit)

    def stats(self) -> StoreStats:
        """Counts and sizes of the whole store, every scope."""
        return self._context.store.maintenance.stats()

    def backup(self, path: str | os.PathLike[str], *, progress: Progress | None = None) -> None:
        """Copy the live store to a new file by SQLite's backup API. Raises BadInput, StoreError."""
        self._context.store.maintenance.backup(os.fspath(path), progress)

    def verify(self) -> builtins.list[Problem]:
        """Check pages, index, vectors and how the tables fit together. Empty: clean."""
        return self._context.store.maintenance.verify()

    def gc(self) -> dict[str, Any]:
        """Give free space back to the file system. Deletes no memory. Returns {"before_bytes", "after_bytes"}."""
        return self._context.store.maintenance.compact()

    @property
    def graph(self) -> History:
        """Every query over the typed graph, from this scope and `global`: `graph.why(id)`, `graph.gaps()`."""
        from .history.queries import History

        return History(self._context, self._matches)

    def why(self, id: str, **given: Any) -> Why:
        """What a memory rests on, back to the facts: `History.why`."""
        return self.graph.why(id, **given)

    def impact(self, id: str, **given: Any) -> Impact:
        """What rests on a memory, decisions first: `History.impact`."""
        return self.graph.impact(id, **given)

    def path_between(self, a: str, b: str, **given: Any) -> GraphPath:
        """The shortest way between two memories: `History.path`."""
        return self.graph.path(a, b, **given)

    def audit(self, about: str, **given: Any) -> Audit:
        """What is believed about an id, a key or a text, with sources, conflicts and history: `History.audit`."""
        return self.graph.audit(about, **given)

    def timeline(self, what: str | None = None, **given: Any) -> Timeline:
        """Memories along time, by id, key or text: `History.timeline`."""
        return self.graph.timeline(what, **given)

    def contradictions(self, **given: Any) -> Contradictions:
        """Pairs that cannot both hold: `History.contradictions`."""
        return self.graph.contradictions(**given)

    def gaps(self, **given: Any) -> Gaps:
        """Weak places among what is believed: `History.gaps`."""
        return self.graph.gaps(**given)

    def diff(self, start: str | int, end: str | int | None = None, **given: Any) -> Diff:
        """What the store came to believe and stopped believing between two moments: `History.diff`."""
        return self.graph.diff(start, end, **given)

    def _filter(
        self, kinds: Iterable[str], topics: Iterable[str], since: Time, until: Time, session: str | None,
        known_at: Time = None,
    ) -> Filter:  # fmt: skip
        context = self._context
        return context.filter(kinds, topics, since, until, session, known_at=context.time(known_at))

    def _matches(self, text: str, k: int, kinds: Sequence[str], view: View) -> builtins.list[Match]:
        """Recall for the graph's queries: ids and cosines."""
        from .history.claims import Match

        found = self.recall(text, k=k, kinds=kinds, as_of=view.as_of, known_at=view.known_at, trace=True)
        vector = [one.why.signals.get("vector") if one.why else None for one in found.items]
        return [Match(one.id, v.raw if v else None) for one, v in zip(found.items, vector, strict=True)]


__all__ = ["ImportReport", "Limpet", "ModelInfo", "PurgeReport", "open"]
