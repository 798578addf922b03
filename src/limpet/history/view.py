"""The view of a query over the graph: whose scopes, what was true when, as known when; and how a memory stands then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..model.clock import Instant, MaybeInstant
from ..model.dataclass import dataclass, field, replace
from ..model.edges import Edge
from ..model.encode import OPTIONAL, TIME, JsonForm
from ..model.errors import NotFound
from ..model.ids import format_id, parse_id
from ..model.memory import STATES, Filter, Memory
from ..rank.adjust import confidence_of, confidence_word

if TYPE_CHECKING:
    from ..store import Store

# Standings on which nothing can rest any more. An ended memory was true once: a decision may rest on it.
FALLEN = ("superseded", "retracted", "merged", "purged", "future")
# What waits for a person is not seen by any query.
SEEN = tuple(state for state in STATES if state != "quarantined")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(JsonForm):
    """A memory as graph queries show it."""

    id: str
    kind: str
    content: str
    scope: str
    standing: str  # held, ended, archived; superseded, retracted, merged, purged, future
    confidence: float  # 0 to 1; 0 for what is superseded, retracted or purged
    confidence_word: str  # stated, repeated, confirmed, doubtful
    origin: str
    valid_from_us: int = field(metadata=TIME)
    valid_to_us: int | None = field(metadata=TIME)
    recorded_at_us: int = field(metadata=TIME)
    importance: float = 0.5
    key: str | None = None
    session: str | None = None
    position: int = 0
    superseded_by: str | None = field(default=None, metadata=OPTIONAL)
    reason: str | None = field(default=None, metadata=OPTIONAL)
    valid_from = Instant("valid_from_us")
    valid_to = MaybeInstant("valid_to_us")
    recorded_at = Instant("recorded_at_us")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(JsonForm):
    """`source TYPE target`, ids in full. `event` is None for temporal_next, which is derived."""

    source: str
    type: str
    target: str
    weight: float = 1.0
    event: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One state of the store, seen from some scopes at (as_of, known_at). Microseconds UTC."""

    store: Store
    scopes: tuple[str, ...]
    as_of: int
    known_at: int | None  # None = now
    now: int

    def where(self) -> Filter:
        """Return the filter of every memory of these scopes that was known then, in any state."""
        return Filter(scopes=self.scopes, known_at=self.known_at, states=SEEN)

    def held(self) -> Filter:
        """Return the filter of what was held true: active, and within its interval."""
        return replace(self.where(), states=("active",), as_of=self.as_of)

    def memories(self, ids: Iterable[bytes]) -> dict[bytes, Memory]:
        return self.store.graph.memories(list(dict.fromkeys(ids)), self.where())

    def find(self, id: str) -> Memory:
        """Return the memory that an id or a prefix names, or that it was merged into by then, if seen from here. Raises
        NotFound, AmbiguousId, BadInput."""
        raw = self.store.memories.resolve(id, self.scopes)
        memory = self.memories([raw]).get(raw)
        if memory is not None and memory.state == "merged":
            raw = parse_id(self.store.memories.survivor(memory).id)
            memory = self.memories([raw]).get(raw)
        if memory is None:
            then = "" if self.known_at is None else " as known then"
            raise NotFound(f"no memory {format_id(raw)} in {' or '.join(self.scopes)}{then}")
        return memory

    def edges(self, ids: Sequence[bytes], types: Sequence[str], *, incoming: bool = False) -> list[Edge]:
        """Return stored edges of some memories, as known then, in a stable order: the heaviest first."""
        edges = self.store.edges.of(ids, incoming=incoming, types=types, known_at=self.known_at)
        return sorted(edges, key=lambda edge: (-edge.weight, edge.recorded_at, edge.source, edge.target, edge.type))

    def standing(self, item: Memory) -> str:
        return standing(item.state, item.superseded_by is not None, item.valid_from_us, item.valid_to_us, self.as_of)

    def standings(self, ids: Iterable[bytes]) -> dict[bytes, str]:
        """Return the standings of those memories that are seen from here."""
        known = self.store.graph.validity(list(dict.fromkeys(ids)), self.where())
        return {id: standing(*validity, self.as_of) for id, validity in known.items()}

    def node(self, item: Memory) -> Node:
        how = self.standing(item)
        confidence = 0.0 if how in FALLEN else confidence_of(item, self.now)
        return Node(
            id=item.id, kind=item.kind, content=item.content, scope=item.scope, standing=how, confidence=confidence,
            confidence_word=confidence_word(item, confidence), origin=item.origin, valid_from_us=item.valid_from_us,
            valid_to_us=item.valid_to_us, recorded_at_us=item.created_at_us, importance=item.importance, key=item.key,
            session=item.session, position=item.position, superseded_by=item.superseded_by, reason=item.reason,
        )  # fmt: skip

    def nodes(self, ids: Iterable[bytes]) -> list[Node]:
        """Return the nodes of those memories that are seen from here, in the order given."""
        wanted = list(ids)
        memories = self.memories(wanted)
        return [self.node(memories[id]) for id in wanted if id in memories]


def standing(state: str, replaced: bool, valid_from: int, valid_to: int | None, as_of: int) -> str:
    """Return a memory's standing at `as_of`. A replaced one stands as long as its interval lasts. Pure."""
    if state in ("retracted", "merged", "purged"):
        return state
    ended = valid_to is not None and valid_to <= as_of
    if replaced and (ended or valid_to is None):
        return "superseded"
    if valid_from > as_of:
        return "future"
    if state == "archived":
        return "archived"
    return "ended" if ended else "held"


def link_of(edge: Edge) -> Link:
    event = format_id(edge.event) if edge.event else None
    ends = format_id(edge.source), format_id(edge.target)
    return Link(source=ends[0], type=edge.type, target=ends[1], weight=edge.weight, event=event)


def raw_id(node: Memory | Node) -> bytes:
    return parse_id(node.id)
