"""What a store does, for every engine alike. One suite, `tests/contract/`, holds every engine to it.

There is one write door: `commit(decide)`. `decide` runs inside the write transaction, sees the store as it is there,
and answers with the events to append; the store appends and projects them in that transaction. It may run more than
once (when the lock was lost), so it must not do anything but read and answer.

Needed by type checkers only: import it under `if TYPE_CHECKING`. What a store gives and takes is in `records.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from ..model.edges import STORED_TYPES, Edge
from ..model.events import Event
from ..model.memory import Memory
from ..model.settle import Placed
from ..model.state import MemoryState, SearchFields
from .records import (
    Action,
    ArrayHits,
    Candidate,
    EmbedderRow,
    Filter,
    GraphNode,
    Job,
    Lately,
    LexicalResult,
    Life,
    Mention,
    Merged,
    NewVector,
    Page,
    Piece,
    Problem,
    Proposal,
    SegmentRow,
    SessionRow,
    Source,
    StoreStats,
    Surfaced,
    UseCount,
    VectorChunk,
)

if TYPE_CHECKING:
    import numpy as np


class Columns(Protocol):
    """Current memories as arrays by body, for a process that answers many recalls. Valid within one snapshot.

    `kind` and `speaker` hold places in `names`, `life` in `lives`. A body of no current memory has `num` 0.
    """

    names: list[str | None]
    # (kind, importance, pinned, trust, observations, confidence that was stated), each that there is once.
    lives: list[tuple[str, float, bool, str, int, float | None]]
    num: np.ndarray
    kind: np.ndarray
    life: np.ndarray
    session: np.ndarray  # 0 = none
    position: np.ndarray
    speaker: np.ndarray
    valid_from: np.ndarray
    observed_at: np.ndarray
    size: np.ndarray  # characters of the content
    asked: np.ndarray  # ends with a question mark
    keyed: np.ndarray  # has a key
    id: np.ndarray  # zero bytes at the end are lost, the order is not

    def lexical(self, text: str, where: Filter, *, limit: int | None, deadline: float | None) -> ArrayHits:
        """What `Store.lexical` finds."""
        ...

    def words(self, bodies: np.ndarray, stems: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """What the query's words are worth in topics, labels and dates of some bodies (a label's counts half), and
        which of the words each body has, wherever: (bodies, stems)."""
        ...

    def passing(self, bodies: np.ndarray, where: Filter) -> np.ndarray:
        """Which of some bodies pass a filter without `known_at`."""
        ...

    def allowed(self, where: Filter) -> np.ndarray:
        """Every body that passes it, in order."""
        ...

    def near(self, bodies: np.ndarray, reach: int) -> np.ndarray:
        """Bodies up to `reach` places before or after some in their sessions, those themselves included, in order."""
        ...

    def uses(self, bodies: np.ndarray) -> dict[int, tuple[int, int]]:
        """By place in `bodies`, of those that were ever used: how often, and when last; 0 = never."""
        ...


# Given to a store when it is opened, so that stores need not know about text.
# The second argument: the fingerprint, if it is known already.
Describe = Callable[[MemoryState, int | None], SearchFields]


class Reads(Protocol):
    """What can be asked inside and outside a write."""

    def resolve(self, prefix: str, scopes: Sequence[str] | None = None) -> bytes:
        """The one memory id of some scopes (None: all) that starts so. Raises NotFound, AmbiguousId, BadInput."""
        ...

    def get(self, id: bytes, *, known_at: int | None = None) -> Memory | None:
        """A memory as the store knows it (or knew it at `known_at`), whatever its state."""
        ...

    def same_statement(self, scope: str, fingerprint: int, at: int) -> Memory | None:
        """An active memory with this fingerprint that is held true at `at`."""
        ...

    def marked(self, fingerprints: Sequence[int]) -> set[int]:
        """Those among some fingerprints that an active memory of any scope has."""
        ...

    def keyed(self, scope: str, key: str, *, known_at: int | None = None) -> list[Memory]:
        """Active memories of a key, as known now or at `known_at`, by valid_from."""
        ...

    def keys(self, scope: str) -> list[str]:
        """Every key that has an active memory in a scope, sorted."""
        ...

    def renamed_key(self, scope: str, key: str) -> str | None:
        """The key that what was once under `key` has now, when it has another; by its last change."""
        ...

    def disputed(self, scopes: Sequence[str]) -> list[tuple[bytes, int]]:
        """(id, how often) of active memories that were said to be wrong, by id."""
        ...

    def next_position(self, scope: str, session: str) -> int:
        """The place that the next memory of a session takes, from 1."""
        ...

    def proposal(self, id: bytes) -> Proposal | None: ...

    def session(self, scope: str, name: str) -> SessionRow | None: ...

    def session_memories(self, scope: str, name: str) -> list[Memory]:
        """The active memories of a session, in their order."""
        ...

    def events(
        self, *, memory: bytes | None = None, after: int = 0, ids: Sequence[bytes] | None = None
    ) -> Iterator[Event]:
        """Ledger events in order: of one memory, after a sequence number, or of given ids."""
        ...

    def operation(self, event: bytes | None, scopes: Sequence[str] | None = None) -> list[Event]:
        """All events of some scopes (None: all) that were committed together with `event`, in order.

        `event` None: the last operation that has any.
        """
        ...

    def edge(self, source: bytes, type: str, target: bytes) -> Edge | None:
        """The edge between two memories that holds now."""
        ...

    def reaches(self, type: str, start: bytes, goal: bytes) -> bool:
        """Whether edges of this type lead from `start` to `goal`, now. Any memory reaches itself."""
        ...


class GraphReads(Protocol):
    """What the queries of `history/` ask. A filter's scopes, states and `known_at` hold for every memory given back."""

    def edges(
        self,
        ids: Sequence[bytes],
        *,
        incoming: bool = False,
        types: Sequence[str] = STORED_TYPES,
        known_at: int | None = None,
    ) -> list[Edge]:
        """Stored edges that leave (or reach) some memories. Their other ends may lie in any scope: look them up."""
        ...

    def temporal(self, ids: Sequence[bytes], where: Filter, *, incoming: bool = False) -> list[Edge]:
        """`temporal_next`, derived: what follows (or precedes) some memories in their sessions."""
        ...

    def memories(self, ids: Sequence[bytes], where: Filter) -> dict[bytes, Memory]: ...

    def lives(self, ids: Sequence[bytes], where: Filter) -> dict[bytes, Life]:
        """How some memories stand: all that a walk needs to know of most of them."""
        ...

    def matching(self, ids: Sequence[bytes], where: Filter) -> set[bytes]:
        """Those of some ids that pass the filter."""
        ...

    def nodes(self, where: Filter) -> list[GraphNode]: ...

    def all_edges(self, types: Sequence[str] = STORED_TYPES, *, known_at: int | None = None) -> list[Edge]: ...

    def edges_from(self, where: Filter, types: Sequence[str]) -> list[Edge]:
        """Stored edges whose source passes the filter."""
        ...

    def changed(self, where: Filter, known: tuple[int, int], held: tuple[int, int]) -> list[bytes]:
        """Memories about which something became known in (start, end], or that began or ceased to hold then."""
        ...

    def changed_edges(self, start: int, end: int) -> list[Edge]:
        """Edges that began or ended in (start, end], in any scope."""
        ...

    def session_around(self, id: bytes, where: Filter, *, reach: int) -> list[Memory]:
        """A memory and up to `reach` places before and after it in its session, in order."""
        ...

    def key_history(self, key: str, where: Filter) -> list[Memory]:
        """Every memory of a key, along the valid time."""
        ...

    def replaced_by_key(self, ids: Sequence[bytes], where: Filter) -> list[tuple[bytes, bytes]]:
        """(new, old): which memories some values of a key replaced."""
        ...

    def merged_into(self, ids: Sequence[bytes], where: Filter) -> list[Memory]:
        """Memories for which some others speak since they were merged."""
        ...

    def pieces(self, where: Filter) -> list[Piece]:
        """In the order in which they were stored."""
        ...

    def warnings(self, ids: Sequence[bytes]) -> list[tuple[str, bytes, bytes]]:
        """(what, one of some memories, the other one), in a stable order. What: `contradicts` (a link), `replaced` (the
        other is superseded by it), `contradiction` (it waits for review). The others may lie in any scope: look them
        up."""
        ...


Decide = Callable[[Reads], Sequence[Event]]


class Store(Reads, Protocol):
    """A whole store. Thread-safe."""

    path: str
    read_only: bool

    @property
    def graph(self) -> GraphReads: ...

    def commit(self, decide: Decide) -> list[Event]:
        """The write door: append and project what `decide` answers, durably, in one transaction."""
        ...

    def close(self) -> None: ...

    def snapshot(self) -> AbstractContextManager[None]:
        """All reads inside see one state of the store."""
        ...

    def scope_numbers(self, names: Sequence[str]) -> list[int]:
        """The numbers that stand for scopes in vector chunks; unknown names are left out."""
        ...

    def resolve_event(self, prefix: str) -> bytes: ...

    # search signals
    def lexical(
        self, text: str, where: Filter, *, limit: int | None, deadline: float | None = None
    ) -> LexicalResult: ...

    def columns(self, deadline: float | None = None, *, build: bool = True) -> Columns | None:
        """Current memories as arrays, for a process that has asked before; None: ask for rows. `build`: make them if
        they are not there yet."""
        ...

    def stems(self, texts: Iterable[str]) -> dict[str, frozenset[str]]:
        """The index terms of some short texts, as they stand in `LexicalResult.stems`."""
        ...

    def substring(self, text: str, where: Filter, *, limit: int, deadline: float | None = None) -> list[int]:
        """Bodies that hold a text as it is; none when the deadline comes first."""
        ...

    def candidates(self, bodies: Iterable[int], where: Filter) -> list[Candidate]:
        """The candidates among `bodies` that pass the filter."""
        ...

    def neighbours(self, nums: Iterable[int], where: Filter, *, reach: int) -> list[Candidate]:
        """Memories up to `reach` places before or after the given rows in their sessions, some more than once."""
        ...

    def allowed(self, where: Filter) -> list[int]:
        """Every body that passes the filter."""
        ...

    def recent(self, where: Filter, *, limit: int) -> list[int]: ...

    def memories(self, nums: Sequence[int]) -> list[Memory]:
        """Whole memories by row, in the order given."""
        ...

    # listings
    def page(self, where: Filter, *, sort: str, limit: int, cursor: str | None, descending: bool = True) -> Page: ...

    def count(self, where: Filter) -> int: ...

    def sessions(self, scopes: Sequence[str], *, limit: int) -> list[SessionRow]:
        """Sessions, the one with the latest memory first."""
        ...

    def standing(self, scopes: Sequence[str], *, at: int, limit: int) -> list[tuple[str, int]]:
        """(group, row) of what stands in every brief of some scopes and holds at `at`: memories that are pinned, else
        keyed, else of kind preference or goal. Up to `limit` of a group and scope, the most important and newest first.
        """
        ...

    def lately(self, where: Filter, *, after: int, limit: int) -> list[Lately]:
        """What was recorded later than `after`, the newest first; at most `limit` of each scope."""
        ...

    def most_used(self, where: Filter, *, limit: int) -> list[int]:
        """Rows that were used, the most used first; at most `limit` of each scope."""
        ...

    def unseen(self, where: Filter, *, before: int, limit: int) -> list[int]:
        """Rows, the oldest first, that were neither stated nor used since `before`; none that is pinned."""
        ...

    def count_kinds(self, where: Filter) -> dict[str, int]:
        """How many of each kind pass the filter, the most first."""
        ...

    def history(self, id: bytes) -> list[Memory]:
        """Every version of a memory, oldest first."""
        ...

    def abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        """For each id the shortest prefix that is unambiguous in this store."""
        ...

    def stats(self) -> StoreStats: ...

    # use
    def record_use(self, ids: Sequence[bytes], at: int, verdict: str | None = None) -> None: ...

    # vectors
    def data_version(self) -> int:
        """A number that changes when anything was committed, by whichever process."""
        ...

    def embedders(self) -> list[EmbedderRow]: ...

    def register_embedder(self, fingerprint: str, name: str, dimensions: int) -> EmbedderRow: ...

    def gauge_embedder(self, num: int, gauge: tuple[float, float, float]) -> EmbedderRow:
        """Note how an embedder's cosines lie (vectors/gauge.py)."""
        ...

    def activate_embedder(self, num: int) -> None:
        """Make one embedder the active one and forget the vectors of all others."""
        ...

    def unembedded(self, embedder: int, *, limit: int, after: int = 0) -> list[int]: ...

    def bodies_of(self, ids: Sequence[bytes]) -> list[int]:
        """The bodies of the current versions of some memories."""
        ...

    def texts(self, bodies: Sequence[int]) -> list[tuple[int, str, str | None]]:
        """(body, text, key or None) of those that are there."""
        ...

    def add_vectors(
        self,
        embedder: int,
        vectors: Sequence[NewVector],
        *,
        done: Sequence[int] = (),
        then: str | None = None,
        at: int = 0,
    ) -> int:
        """Store vectors; in the same transaction the embedding jobs of the bodies `done` end, and the jobs `then`
        about them begin."""
        ...

    def vector_chunks(
        self, embedder: int, known: dict[int, int], *, most: int | None = None
    ) -> tuple[list[VectorChunk], list[int]]:
        """Chunks whose version differs from `known`, the newest first and `most` of them, and the numbers of all that
        there are, in order."""
        ...

    def exact_vectors(self, embedder: int, bodies: Sequence[int]) -> list[tuple[int, bytes]]: ...

    # things that texts name
    def note_mentions(self, things: Callable[[str], Sequence[int]]) -> int:
        """Note what the next few texts name that nobody has looked at; returns how many, 0 when none is left."""
        ...

    def named_in(self, bodies: Sequence[int]) -> list[tuple[int, int]]:
        """(body, thing) of some texts, in a stable order."""
        ...

    def naming(self, things: Sequence[int], where: Filter, *, most: int) -> list[Mention]:
        """Memories that pass the filter and name some things, in a stable order; none of a thing that more than `most`
        of them name."""
        ...

    # review
    def propose(self, proposals: Sequence[Proposal]) -> int:
        """Put proposals on the list; one about the same pair is there once, also when it was decided. Returns how many
        are new."""
        ...

    def withdraw(self, kind: str, among: Sequence[bytes]) -> int:
        """Take off the list what waits of a kind about two memories that are both among these. Returns how many."""
        ...

    def proposals(self, scopes: Sequence[str], *, limit: int, kind: str | None = None) -> list[Proposal]:
        """Those that wait (of one kind), oldest first, whose memories are both still active."""
        ...

    def proposals_from(self, prefix: str, scopes: Sequence[str]) -> list[bytes]:
        """Ids of the proposals of some scopes that start so, a dozen at most. Raises BadInput."""
        ...

    def abbreviate_items(self, ids: Sequence[bytes]) -> list[str]:
        """As `abbreviate`, of proposals and memories: a prefix that names neither another proposal nor memory."""
        ...

    # journal
    def note_action(self, action: Action) -> None:
        """Add a line. The journal keeps the last 10,000 lines of the store, and is emptied by a purge."""
        ...

    def actions(self, scope: str, *, session: str | None = None, limit: int) -> list[Action]:
        """The last lines of a scope, or of one of its sessions, oldest first."""
        ...

    # what was organized
    def source(self, scope: str, path: str) -> Source | None: ...

    def keep_source(self, source: Source) -> None:
        """Note how far a source was read; it waits no more once it has a digest."""
        ...

    def name_source(self, scope: str, path: str, at: int) -> None:
        """A source is there to read, or has grown; what was noted of it stays."""
        ...

    def named_sources(self, scope: str | None = None) -> list[Source]:
        """Those that wait, of one scope or all, the one that was named first first."""
        ...

    def note_surfaced(self, surfaced: Sequence[Surfaced], action: Action | None = None) -> None:
        """Keep what was surfaced, and the journal's line that it answers, in one transaction. The last 50,000 stay."""
        ...

    def surfaced(self, scope: str, *, session: str | None = None, limit: int) -> list[Surfaced]:
        """The last ones of a scope, or of one of its sessions, newest first."""
        ...

    def use_counts(self, scope: str) -> list[UseCount]:
        """All of a scope, counted by memory and by whether it was shown and drawn; ordered by them."""
        ...

    # work
    def enqueue(self, kind: str, subjects: Sequence[int], at: int) -> int: ...

    def lease(self, kind: str, *, limit: int, at: int, until: int, worker: str) -> list[Job]: ...

    def lease_these(self, kind: str, subjects: Sequence[int], *, at: int, until: int, worker: str) -> list[Job]:
        """Of these jobs those that could be taken now, in the order given."""
        ...

    def due(self, at: int, *, first: Sequence[int], most: int) -> list[int]:
        """Texts whose vectors could be made now, `most` of them: of `first` those that wait, in order, then the
        newest."""
        ...

    def finish(self, kind: str, subjects: Sequence[int]) -> None:
        """Jobs about these subjects are done, or no longer needed."""
        ...

    def fail(self, kind: str, subjects: Sequence[int], *, error: str, not_before: int, dead: bool) -> None: ...

    def backlog(self, kind: str, at: int, *, most: int | None = None) -> int:
        """Jobs that could be taken now, counted up to `most`."""
        ...

    def dead_jobs(self) -> list[Job]: ...

    def revive(self) -> int: ...

    # upkeep
    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> int: ...

    def verify(self) -> list[Problem]: ...

    def backup(self, path: str, progress: Callable[[int, int], None] | None = None) -> None: ...

    def compact(self) -> dict[str, Any]: ...

    def append_events(self, events: Iterable[Event], progress: Callable[[int], None] | None = None) -> int:
        """Append events that another ledger made (import): known ids are skipped. Returns how many were new."""
        ...

    def known_events(self, ids: Sequence[bytes]) -> dict[bytes, tuple[str, bytes]]:
        """Those of some event ids that the ledger has: their types and memories."""
        ...

    # sync
    def seal(self, place: str, *, renew: bool = False) -> tuple[bytes, list[SegmentRow]]:
        """Give the events since the last time their order among all devices', and put them into segments.

        `place`: where the file is; from another place it is another device, and so when it is to `renew` its identity.
        Returns the identity and all segments that are known.
        """
        ...

    def segments(self) -> tuple[bytes | None, list[SegmentRow]]:
        """The identity used last, and all segments that are known."""
        ...

    def segment_lines(self, num: int) -> list[Placed]:
        """The events of a segment as they are now: without what was purged."""
        ...

    def segment_written(self, num: int, digest: str, header: dict[str, Any]) -> None: ...

    def purged_in_segments(self) -> dict[int, set[bytes]]:
        """The purged memories that segments have events of, by segment."""
        ...

    def merge(self, segments: Sequence[SegmentRow], lines: Sequence[Placed]) -> Merged:
        """Take in others' segments after `seal`: union of the events, and what follows from their order."""
        ...

    def usage_rows(self) -> Iterator[dict[str, Any]]: ...

    def ledger_mark(self) -> str:
        """Another text after any event and any counted use; the same as long as nothing is told."""
        ...

    def next_turn(self, after: int) -> int | None:
        """When next a memory begins or ceases to hold by itself, later than `after`; None: never."""
        ...

    def restore_usage(self, rows: Iterable[dict[str, Any]]) -> None: ...
