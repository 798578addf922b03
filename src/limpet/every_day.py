"""The verbs of every day: an open store to recall from and to remember in. `api.py` adds all others.

A process that needs no other, such as `limpet remember`, loads these alone. The only composition root: it opens the
store (`store/__init__.py` chooses) and names the embedder.
"""

from __future__ import annotations

import builtins
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property

from . import registry
from .context import Context, Time
from .folders import beside
from .model.clock import Clock, SystemClock
from .model.errors import BadInput
from .model.memory import check_list, check_several
from .settings import Settings
from .store import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from .checkout import Checkout
    from .history.queries import History
    from .history.view import View
    from .model.memory import Memory
    from .model.state import MemoryState, SearchFields
    from .recall import lookup as recall_lookup
    from .recall import service as recall_service
    from .recall.answer import Recall
    from .recall.brief import Brief
    from .recall.sessions import SessionRecall
    from .remember.write import Receipt
    from .store import Store
    from .store.sql.listings import Page
    from .vectors.embedder import Embedder
else:
    # The service behind a verb is imported when it is first called.
    recall_lookup, recall_service = registry.Part("recall.lookup"), registry.Part("recall.service")

# Attributes that an embedder object must have (vectors/embedder.py).
EMBEDDER_HAS = ("name", "fingerprint", "dimensions", "embed_passages", "embed_query")


def _describe(state: MemoryState, mark: int | None = None) -> SearchFields:
    from .text.describe import describe

    return describe(state, mark)


class EveryDay:
    """An open store with the verbs that a process needs to recall, list and remember."""

    def __init__(
        self, settings: Settings, *, read_only: bool = False, create: bool = True, clock: Clock | None = None,
        embedder: Embedder | str | None = None, judge: bool | None = None, store: Store | None = None,
        late: bool = False,
    ) -> None:  # fmt: skip
        name = embedder if isinstance(embedder, str) else settings.embedder
        given = None if isinstance(embedder, str) else embedder
        lacks = given and [attr for attr in EMBEDDER_HAS if not hasattr(type(given), attr) and not hasattr(given, attr)]
        if lacks:
            raise BadInput(f"the embedder {given!r:.60} has no {lacks[0]}", hint="docs/how-to/embedders.md shows one")
        if clock is not None and not callable(getattr(clock, "now", None)):
            raise BadInput(f"the clock {clock!r:.60} has no now()", hint="limpet.FixedClock is one")
        store = store or open_store(
            settings.path, _describe, read_only=read_only, durable=settings.durable, create=create, late=late
        )
        checkout = settings.checkout
        scope, *around = (settings.scope,) if checkout is None else store.checkouts.scopes_of(checkout)
        self._context = Context(
            store, scope, clock or SystemClock(), name, given, checkout, judge=judge, around=tuple(around)
        )
        self._owns_store = True
        self._closed = threading.Event()  # of the store, for every view of it

    @property
    def path(self) -> str:
        return self._context.store.path

    @property
    def scope(self) -> str:
        """The scope that writes go to."""
        return self._context.scope

    @property
    def embedder(self) -> str:
        """The name of the embedder that is asked for; it may not be installed."""
        name, given = self._context.embedder
        return given.name if given else name

    @property
    def read_only(self) -> bool:
        return self._context.store.read_only

    @property
    def encrypted(self) -> bool:
        """True if the file is encrypted. Its backups are too; exports and mirrors are not.

        >>> memory.encrypted
        False
        """
        return self._context.store.maintenance.encryption()[0]

    def in_scope(self, scope: str) -> Self:
        """Return the same open store, seen from another scope. It ends with this one; closing it closes nothing.

        >>> memory.in_scope("project:api").remember("The API listens on port 8080").status
        'created'
        >>> memory.count()  # here there is nothing
        0
        """
        return self._seen_from(self._context.in_scope(scope))

    def in_all_scopes(self) -> Self:
        """Return the same open store for its owner to read: recall, list and count see every scope.

        >>> _ = memory.in_scope("project:other").remember("Deploys go out on Tuesdays")
        >>> memory.count(), memory.in_all_scopes().count()
        (0, 1)
        """
        return self._seen_from(self._context.in_all_scopes())

    def _in_project(self, checkout: Checkout) -> Self:
        """Return the same open store, seen from a project, whose superproject's memories are seen too."""
        scopes = self._context.store.checkouts.scopes_of(checkout)
        return self._seen_from(self._context.in_scope(*scopes, project=checkout))

    def _seen_from(self, context: Context) -> Self:
        other = copy(self)
        other._context = context
        other._owns_store = False
        return other

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        closed = ", closed" if self._closed.is_set() else ""
        return f"<Limpet {self.path} in {self.scope}{closed}>"

    def close(self) -> None:
        """Give the file back. Safe to call twice.

        >>> memory.close()
        """
        if self._owns_store:
            self._closed.set()
            self._context.store.close()

    def recall(
        self, query: str, *, k: int | None = None, kind: str | Iterable[str] = (), topics: Iterable[str] = (),
        since: Time = None, until: Time = None, clock: str = "valid", session: str | None = None,
        speaker: str | None = None, key: str | None = None, metadata: Mapping[str, Any] | None = None,
        scope: str | None = None, as_of: Time = None, known_at: Time = None, budget_tokens: int | None = None,
        deadline_ms: float | None = None, lexical_only: bool = False, trace: bool = False, explain: bool = False,
        without: Iterable[str] = (), thorough: bool = False,
    ) -> Recall:  # fmt: skip
        """Return the memories that matter for `query`, best first: those of this scope and `global`, held true at
        `as_of` (default: now) as the store knew them at `known_at` (default: now). `kind`: one or several; `topics` and
        `metadata`: all of them, and a value None asks for memories without that name; `since` and `until` limit
        `valid_from`. `scope`: another one than this. `k`: how many at most; by default 10, and 20 for a question that
        asks for all, or how many. One that asks what is remembered at all gets an `overview`, one for what happened in
        a time the memories of it first.

        `budget_tokens` limits what comes back, `deadline_ms` how long it takes: signals that would come too late are
        named in `missing`. `trace`: each item tells how its score arose; `explain`: also how the question was read and
        what was left out, which takes a second, wider search. `thorough`: the judge reads all that is shown. Changes
        nothing, but takes in first what people edited in a mirror. Raises BadInput.

        >>> _ = memory.remember("Deploys go out on Tuesdays", topics=["deploy"], metadata={"ticket": 7})
        >>> results = memory.recall("when do we deploy?", k=3)
        >>> [item.content for item in results]
        ['Deploys go out on Tuesdays']
        >>> len(memory.recall("when do we deploy?", metadata={"ticket": 8}))
        0
        """
        self._look_at_mirrors()
        here = self._in(scope)
        where = here.filter(
            kind, topics, since, until, clock=clock, session=session, speaker=speaker, key=key, metadata=metadata,
            known_at=self._context.time(known_at),
        )  # fmt: skip
        return recall_service.recall(
            here, query, where, k=k, as_of=as_of, budget_tokens=budget_tokens, deadline_ms=deadline_ms,
            lexical_only=lexical_only, trace=trace, explain=explain,
            without=check_list("without", without), thorough=thorough,
        )  # fmt: skip

    def recall_sessions(
        self, query: str, *, k: int = 5, evidence: int = 3, kind: str | Iterable[str] = (), topics: Iterable[str] = (),
        since: Time = None, until: Time = None, clock: str = "valid", session: str | None = None,
        speaker: str | None = None, key: str | None = None, metadata: Mapping[str, Any] | None = None,
        scope: str | None = None, as_of: Time = None, known_at: Time = None, budget_tokens: int | None = None,
        deadline_ms: float | None = None, lexical_only: bool = False, explain: bool = False,
    ) -> SessionRecall:  # fmt: skip
        """Return the sessions that hold an answer to `query` or a part of it, best first, each with the best `evidence`
        of its memories that a recall finds. Filters, times and scope are those of `recall`.

        A session's score pools its best memory, how much one sentence of it says about the question, and how near it is
        to the other sessions that are found. Memories of no session are counted (`without_session`). Changes nothing.
        Raises BadInput.

        >>> _ = memory.remember("I would like to move to Lisbon", speaker="Ana", session="monday")
        >>> [session.name for session in memory.recall_sessions("who wants to move?")]
        ['monday']
        """
        self._look_at_mirrors()
        here = self._in(scope)
        where = here.filter(
            kind, topics, since, until, clock=clock, session=session, speaker=speaker, key=key, metadata=metadata,
            known_at=self._context.time(known_at),
        )  # fmt: skip
        return recall_service.recall_sessions(
            here, query, where, k=k, as_of=as_of, evidence=evidence, budget_tokens=budget_tokens,
            deadline_ms=deadline_ms, lexical_only=lexical_only, explain=explain,
        )  # fmt: skip

    def related(self, id: str, *, k: int = 10) -> Recall:
        """Return memories near a memory in meaning and words, without itself. Raises NotFound, BadInput.

        >>> id = memory.remember("Deploys go out on Tuesdays").id
        >>> _ = memory.remember("Nobody deploys on a Friday")
        >>> [item.content for item in memory.related(id)]
        ['Nobody deploys on a Friday']
        """
        return recall_service.related(self._context, id, k=k)

    def get(self, id: str, *, known_at: Time = None) -> Memory:
        """Return a memory, whatever its state; one of an indexed project also says whether its source is unchanged.

        Raises NotFound, AmbiguousId, BadInput.

        >>> id = memory.remember("Deploys go out on Tuesdays").id
        >>> memory.get(id).state
        'active'
        >>> memory.get(id).created_at.tzinfo
        datetime.timezone.utc
        """
        return recall_lookup.get(self._context, id, known_at=known_at)

    def show(self, id: str) -> Memory:
        """Return a memory as `get` does, and count it as used. One without topics has some `suggested`.

        >>> id = memory.remember("Deploys go out on Tuesdays").id
        >>> _ = memory.show(id)
        >>> memory.get(id).uses
        1
        """
        return recall_lookup.show(self._context, id)

    def history(self, id: str) -> builtins.list[Memory]:
        """Return every version of a memory, oldest first. Raises NotFound.

        >>> id = memory.remember("Deploys go out on Tuesday").id
        >>> _ = memory.edit(id, "Deploys go out on Tuesdays")
        >>> [version.content for version in memory.history(id)]
        ['Deploys go out on Tuesday', 'Deploys go out on Tuesdays']
        """
        return recall_lookup.history(self._context, id)

    def list(
        self, *, kind: str | Iterable[str] = (), topics: Iterable[str] = (),
        since: Time = None, until: Time = None, clock: str = "valid", session: str | None = None,
        speaker: str | None = None, key: str | None = None, metadata: Mapping[str, Any] | None = None,
        scope: str | None = None, sort: str = "created", limit: int = 50, cursor: str | None = None,
        all_states: bool = False, ascending: bool = False,
    ) -> Page:  # fmt: skip
        """Return memories of this scope and `global`, newest (most used) first, a page at a time; `ascending`: last.

        Filters: as in `recall`. `clock`: `since` and `until` limit the time from which it holds (valid), or when it was
        stored. `all_states`: also what is archived, retracted, purged or no longer true. Raises BadInput.

        >>> _ = memory.remember("We chose Postgres", kind="decision")
        >>> [item.content for item in memory.list(kind="decision")]
        ['We chose Postgres']
        """
        here = self._in(scope)
        where = here.filter(
            kind, topics, since, until, clock=clock, session=session, speaker=speaker, key=key, metadata=metadata,
        )  # fmt: skip
        return recall_lookup.list(
            here, where, sort=sort, limit=limit, cursor=cursor, all_states=all_states, ascending=ascending
        )

    def count(
        self, *, kind: str | Iterable[str] = (), topics: Iterable[str] = (),
        since: Time = None, until: Time = None, clock: str = "valid", session: str | None = None,
        speaker: str | None = None, key: str | None = None, metadata: Mapping[str, Any] | None = None,
        scope: str | None = None, all_states: bool = False,
    ) -> int:  # fmt: skip
        """Count the memories that `list` would show.

        >>> _ = memory.remember("We chose Postgres", kind="decision")
        >>> memory.count(kind="decision"), memory.count(kind=["goal", "lesson"])
        (1, 0)
        """
        here = self._in(scope)
        where = here.filter(
            kind, topics, since, until, clock=clock, session=session, speaker=speaker, key=key, metadata=metadata,
        )  # fmt: skip
        return recall_lookup.count(here, where, all_states=all_states)

    def count_by(
        self, *by: str, kind: str | Iterable[str] = (), topics: Iterable[str] = (),
        since: Time = None, until: Time = None, clock: str = "valid", session: str | None = None,
        speaker: str | None = None, key: str | None = None, metadata: Mapping[str, Any] | None = None,
        scope: str | None = None, all_states: bool = False,
    ) -> dict[tuple[str, ...], int]:  # fmt: skip
        """Count the memories that `list` would show, by one or several of: kind, state, origin, scope, topic, day (when
        the store first knew it, UTC). The most first. Several topics count for each. Raises BadInput.

        >>> _ = memory.remember("We chose Postgres", kind="decision", topics=["db"])
        >>> memory.count_by("kind", "topic")
        {('decision', 'db'): 1}
        """
        here = self._in(scope)
        where = here.filter(
            kind, topics, since, until, clock=clock, session=session, speaker=speaker, key=key, metadata=metadata,
        )  # fmt: skip
        return recall_lookup.count_by(here, where, by, all_states=all_states)

    def abbreviate(self, ids: Sequence[str], *, items: bool = False) -> builtins.list[str]:
        """Return the short id of each memory, which every verb reads; with `items` also of items of the review list.

        >>> id = memory.remember("Deploys go out on Tuesdays").id
        >>> memory.get(memory.abbreviate([id])[0]).id == id
        True
        """
        return recall_lookup.abbreviate(self._context, check_list("ids", ids), items=items)

    def remember(
        self, content: str, *, kind: str | None = None, topics: Iterable[str] = (), key: str | None = None,
        importance: float | None = None, pin: bool = False, valid_from: Time = None, valid_to: Time = None,
        source: str | None = None, origin: str = "agent", session: str | None = None, speaker: str | None = None,
        because: Iterable[str] = (), metadata: Mapping[str, Any] | None = None, id: str | None = None,
        confidence: float | None = None, scope: str | None = None, anyway: bool = False,
    ) -> Receipt:  # fmt: skip
        """Store one statement, durably, and return at once; its vector is made later by `work`.

        A statement that is known already (same scope, kind, speaker and text) is counted as an observation of it.
        What it adds to that memory is kept and in the receipt's `added`. A turn (an episode with speaker and session)
        is another one each time, but for one of the same `valid_from` or, without, the session's last. `kind`: an
        episode where a speaker is named and no key, else a fact. `because`: ids of what it rests on. What a rule
        speaks against (docs/domain-model.md) is made one by `work`, unless a person (`origin="user"`) says `anyway`.
        Raises BadInput, NotFound (because), StoreError.

        >>> receipt = memory.remember("Deploys go out on Tuesdays", topics=["deploy"], metadata={"ticket": 7})
        >>> receipt.status
        'created'
        >>> memory.get(receipt.id).metadata
        {'ticket': 7}
        """
        from .remember.decide import state

        statement = self._context.validate(
            {
                "content": content, "kind": kind, "topics": topics, "key": key, "importance": importance, "pin": pin,
                "valid_from": valid_from, "valid_to": valid_to, "source": source, "origin": origin, "session": session,
                "speaker": speaker, "because": because, "metadata": metadata, "id": id, "confidence": confidence,
                "scope": scope, "anyway": anyway,
            }
        )  # fmt: skip
        return self._context.write(lambda writer: state(writer, statement))

    def remember_batch(self, items: Iterable[Mapping[str, Any] | str]) -> builtins.list[Receipt]:
        """Store many statements: texts, or dictionaries with the arguments of `remember` and `scope`. One receipt each.

        A bad one is rejected with its reason and stops no other. Each thousand is one transaction.

        >>> lines = [{"content": "Where are we?", "speaker": "Ana", "session": "s1"}, {"content": ""}]
        >>> [receipt.status for receipt in memory.remember_batch(lines)]
        ['created', 'rejected']
        """
        from .remember.batch import remember_batch

        return remember_batch(self._context, check_several("items", items))

    def prepare(
        self, message: str = "", *, budget_tokens: int | None = None, full: bool = False, session: str | None = None,
        deadline_ms: float | None = None, lexical_only: bool | None = None,
    ) -> Brief:  # fmt: skip
        """Return what an agent should know before it answers `message`: standing context, facts, matches (lessons
        first), goals, the last day, active threads, what to beware of; each memory once, within `budget_tokens`.

        `full` adds the newest, the most used, what was not seen for long, and counts. `session`: the caller's own run,
        which knows its news. Vectors are used if their model is loaded already; `lexical_only` True or False decides
        it. Changes nothing. Raises BadInput.

        >>> _ = memory.remember("Deploys go out on Tuesdays", origin="user")
        >>> brief = memory.prepare("can we deploy today?", budget_tokens=300)
        >>> [item.content for item in brief]
        ['Deploys go out on Tuesdays']
        """
        self._look_at_mirrors()
        return recall_service.prepare(
            self._context, message, budget=budget_tokens, full=full, session=session, deadline_ms=deadline_ms,
            lexical_only=lexical_only,
        )  # fmt: skip

    @cached_property
    def _mirrors(self) -> str:
        """The file that says which folders are mirrors of this store."""
        return beside(self.path) + ".mirrors"

    def _look_at_mirrors(self) -> None:
        if os.path.exists(self._mirrors):  # noqa: PTH110  by each recall: a Path takes longer
            registry.call("before_recall", self._context)

    @property
    def graph(self) -> History:
        """Every query over the typed graph, from this scope and `global`: `graph.why(id)`, `graph.gaps()`.

        >>> memory.graph.centrality()
        []
        """
        from .history.queries import History

        return History(self._context, self._matches)

    def _in(self, scope: str | None) -> Context:
        """Return the context of another scope; None: of this one."""
        return self._context if scope is None else self._context.in_scope(scope)

    def _matches(self, text: str, k: int, view: View) -> builtins.list[tuple[str, float | None]]:
        """Recall for the graph's queries; return ids and cosines."""
        where = self._context.filter(known_at=view.known_at)
        items = recall_service.recall(
            self._context, text, where, k=k, as_of=view.as_of, budget_tokens=None, deadline_ms=None,
            lexical_only=False, trace=True, explain=False, without=(), thorough=False, shape="one",
        ).items  # fmt: skip
        vectors = [item.why.signals.get("vector") if item.why else None for item in items]
        return [(item.id, vector.raw if vector else None) for item, vector in zip(items, vectors, strict=True)]
