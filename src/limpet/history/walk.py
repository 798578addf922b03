"""Walks along edges, level by level, so that cycles end and limits hold: why, impact, paths, contexts, corrections.

A reason of X is what X is `caused_by`, and what `supports` X. `why` walks backward to the facts, `impact` forward to
what was built on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain as joined
from typing import Any

from ..model.dataclass import dataclass, field
from ..model.edges import TEMPORAL, Edge
from ..model.encode import INLINE, Holds, JsonForm, encode
from ..model.errors import BadInput
from ..model.ids import format_id, parse_id
from ..recall.lookup import reason_of
from .view import FALLEN, Link, Node, View, link_of, raw_id

# Memories that a search for a path looks at before it gives up: about a second.
MAX_VISITED = 50_000
# A step of a walk: (a memory, the memory that it leads to, the edge; None: a correction).
Step = tuple[bytes, bytes, Edge | None]
Steps = Callable[[View, Sequence[bytes]], list[Step]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Why(JsonForm, Holds[Node]):
    """The reasons of a memory, as a graph: `depths[id]` is the distance to it. `skipped`: id -> standing."""

    HELD = "reasons"

    SHOWN = ("memory", "reasons", "links", "facts", "skipped", "truncated")

    memory: Node
    reasons: list[Node]  # nearest first
    links: list[Link]  # between the memory and its reasons, and among them
    depths: dict[str, int]
    facts: list[str]  # ids where the walk ended: they rest on nothing else
    skipped: dict[str, str] = field(default_factory=dict)
    truncated: bool = False  # depth or limit left something out

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form; each reason has its depth."""
        return encode(self) | {"reasons": _with_depths(self.reasons, self.depths)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected(JsonForm):
    """A memory that rests on another, and what would be left of its reasons without it."""

    SHOWN = ("node", "depth", "falls", "through", "remaining")

    node: Node = field(metadata=INLINE)
    depth: int
    through: list[Link]  # by which it rests on the one above
    remaining: list[Node]  # reasons that stand without the memory
    falls: bool  # no reason would remain


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact(JsonForm, Holds[Affected]):
    """All that rests on a memory, decisions first, those that would fall before those that would not."""

    HELD = "affected"

    memory: Node
    affected: list[Affected]
    rested_before: list[Affected] = field(default_factory=list)  # what rests on what it replaced, and not on it
    skipped: dict[str, str] = field(default_factory=dict)
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPath(JsonForm, Holds[Node]):
    """The shortest way between two memories; no nodes when there is none within the depth."""

    HELD = "nodes"

    SHOWN = ("found", "nodes", "links", "truncated")

    nodes: list[Node]  # from one end to the other
    links: list[Link]  # one fewer than nodes; each may point either way
    truncated: bool = False  # the walk stopped at a limit, so that there may be a path

    @property
    def found(self) -> bool:
        return bool(self.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph(JsonForm, Holds[Node]):
    """Memories and all links among them."""

    HELD = "nodes"

    SHOWN = ("nodes", "links", "truncated")

    nodes: list[Node]  # nearest first
    links: list[Link]
    depths: dict[str, int] = field(default_factory=dict)
    truncated: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form; each node has its depth."""
        return encode(self) | {"nodes": _with_depths(self.nodes, self.depths)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain(JsonForm):
    """The corrections of a belief: those it replaced (oldest first), itself, those that replaced it (newest last)."""

    before: list[Node]
    memory: Node
    after: list[Node]
    reasons: dict[str, str] = field(default_factory=dict)  # id of a replaced memory -> why it was replaced
    truncated: bool = False
    same: list[Node] = field(default_factory=list)  # other wordings: merged into it, or read as the same
    read_as: dict[str, float] = field(default_factory=dict)  # id of one that a model read as the same -> how sure


def _with_depths(nodes: Sequence[Node], depths: dict[str, int]) -> list[dict[str, Any]]:
    return [node.as_dict() | {"depth": depths[node.id]} for node in nodes]


# -- the walk


@dataclass(slots=True)
class _Walk:
    """The memories and steps of a walk. `ends`: memories that lead to none that is seen."""

    depths: dict[bytes, int]
    came: dict[bytes, Step] = field(default_factory=dict)  # the first step to each
    steps: list[Step] = field(default_factory=list)  # between all that is in `depths`
    skipped: dict[str, str] = field(default_factory=dict)
    ends: set[bytes] = field(default_factory=set)
    full: bool = False  # the limit left something out
    deeper: bool = False  # the depth did


def _walk(
    view: View, starts: Iterable[bytes], step: Steps, *, depth: int, limit: int, everything: bool = False,
    goal: bytes | None = None,
) -> _Walk:  # fmt: skip
    """Walk until `goal` is met, `depth` levels deep or over `limit` memories, the starts included.

    One level more is looked at: it tells where the walk ended from where it was cut off, and what links the last level.
    """
    walk = _Walk(dict.fromkeys(starts, 0))
    level = list(walk.depths)
    for distance in range(1, depth + 2):
        steps = step(view, level)
        fresh = dict.fromkeys(id for _, id, _ in steps if id not in walk.depths)
        standings = view.standings(fresh)
        if not everything:
            if distance <= depth:
                walk.skipped |= {format_id(id): how for id, how in standings.items() if how in FALLEN}
            standings = {id: how for id, how in standings.items() if how not in FALLEN}
        walk.ends |= set(level) - {what for what, id, _ in steps if id in standings or id in walk.depths}
        order = [id for id in fresh if id in standings]
        if distance > depth:
            walk.deeper, level = bool(order), []
        else:
            space = max(0, limit - len(walk.depths))
            walk.full |= len(order) > space
            level = order[:space]
        walk.depths |= dict.fromkeys(level, distance)
        for edge in steps:
            if edge[1] in walk.depths:
                walk.steps.append(edge)
                walk.came.setdefault(edge[1], edge)
        if not level or goal in walk.depths:
            break
    return walk


def edges_around(view: View, ids: Sequence[bytes], types: Sequence[str]) -> list[Edge]:
    """Return edges at some memories, in both directions, derived ones too; each once."""
    stored = [type for type in types if type != TEMPORAL]
    edges = dict.fromkeys(view.edges(ids, stored) + view.edges(ids, stored, incoming=True))
    if TEMPORAL in types:
        for incoming in (False, True):
            edges |= dict.fromkeys(view.store.edges.temporal(ids, view.where(), incoming=incoming))
    return list(edges)


def _along(view: View, ids: Sequence[bytes], type: str, *, incoming: bool = False) -> list[Step]:
    """Return steps from some memories along edges of a type, heaviest first; their ends may be out of view."""
    edges = view.edges(ids, (type,), incoming=incoming)
    return [(edge.target, edge.source, edge) if incoming else (edge.source, edge.target, edge) for edge in edges]


def _around(types: Sequence[str], view: View, ids: Sequence[bytes]) -> list[Step]:
    near, edges = set(ids), edges_around(view, ids, types)
    ends = [step for edge in edges for step in ((edge.source, edge.target, edge), (edge.target, edge.source, edge))]
    return [step for step in ends if step[0] in near]


def _reasons(view: View, ids: Sequence[bytes], *, incoming: bool = False) -> list[Step]:
    """Return (dependent, its reason, the edge), or if `incoming` (reason, its dependent, the edge)."""
    return _along(view, ids, "caused_by", incoming=incoming) + _along(view, ids, "supports", incoming=not incoming)


def _replaced(view: View, ids: Sequence[bytes]) -> list[Step]:
    """Return steps to what some memories replaced: by a `supersedes` edge, or as the value of a key."""
    by_key = view.store.graph.replaced_by_key(ids, view.where())
    return [*_along(view, ids, "supersedes"), *((new, old, None) for new, old in by_key)]


def _replacing(view: View, ids: Sequence[bytes]) -> list[Step]:
    memories = view.memories(ids).items()
    by_state: list[Step] = [(id, parse_id(old.superseded_by), None) for id, old in memories if old.superseded_by]
    return _along(view, ids, "supersedes", incoming=True) + by_state


def _links(steps: Iterable[Step]) -> list[Link]:
    return [link_of(edge) for edge in dict.fromkeys(edge for _, _, edge in steps if edge is not None)]


# -- queries


def why(view: View, id: str, *, depth: int, limit: int, everything: bool) -> Why:
    """Return the reasons of a memory, back to the facts. `everything`: also superseded, retracted or purged ones.

    Raises NotFound, AmbiguousId, BadInput.
    """
    start = view.find(id)
    root = raw_id(start)
    walk = _walk(view, [root], _reasons, depth=depth, limit=limit + 1, everything=everything)
    others = [raw for raw in walk.depths if raw != root]
    return Why(
        memory=view.node(start),
        reasons=view.nodes(others),
        links=_links(walk.steps),
        depths={format_id(raw): walk.depths[raw] for raw in others},
        facts=[format_id(raw) for raw in others if raw in walk.ends],
        skipped=walk.skipped,
        truncated=walk.full or walk.deeper,
    )


def impact(view: View, id: str, *, depth: int, limit: int) -> Impact:
    """Return all that rests on a memory; for each the reasons that would remain if the memory fell.

    A thing falls when every reason it has falls; things that hold up only each other fall together.
    Raises NotFound, AmbiguousId, BadInput.
    """
    start = view.find(id)
    root = raw_id(start)
    walk = _walk(view, [root], partial(_reasons, incoming=True), depth=depth, limit=limit + 1)
    reached = [raw for raw in walk.depths if raw != root]
    steps = [(what, reason) for what, reason, _ in _reasons(view, reached) if reason != root]
    standings = view.standings(reason for _, reason in steps)
    reasons: dict[bytes, dict[bytes, None]] = {raw: {} for raw in reached}
    for what, reason in steps:
        if standings.get(reason, "purged") not in FALLEN:
            reasons[what][reason] = None
    # A memory with a reason outside of this set stands; so does what rests on that one.
    stands = {reason for causes in reasons.values() for reason in causes} - set(reached)
    fresh = stands
    while fresh:
        fresh = {raw for raw in reached if raw not in stands and not stands.isdisjoint(reasons[raw])}
        stands = stands | fresh
    left = {raw: [reason for reason in reasons[raw] if reason in stands] for raw in reached}
    nodes = {raw_id(node): node for node in view.nodes(dict.fromkeys([*reached, *joined(*left.values())]))}
    through: dict[bytes, list[Step]] = {raw: [] for raw in walk.depths}
    for step in walk.steps:
        through[step[1]].append(step)
    affected = [
        Affected(
            node=nodes[raw], depth=walk.depths[raw], through=_links(through[raw]),
            remaining=[nodes[reason] for reason in left[raw]], falls=raw not in stands,
        )
        for raw in reached
    ]  # fmt: skip
    affected.sort(
        key=lambda item: (item.node.kind != "decision", not item.falls, item.depth, -item.node.importance, item.node.id)
    )
    return Impact(memory=view.node(start), affected=affected, skipped=walk.skipped, truncated=walk.full or walk.deeper)


def rested_before(view: View, result: Impact, replaced: Sequence[Node], *, limit: int) -> list[Affected]:
    """Return what rests on the memories that another one replaced and not on that: it may have to change too."""
    known = {result.memory.id, *(item.node.id for item in result.affected)}
    before: dict[str, Affected] = {}
    for old in replaced:
        resting = impact(view, old.id, depth=1, limit=limit)
        before |= {item.node.id: item for item in resting.affected if item.node.id not in known}
    return list(before.values())


def path(view: View, a: str, b: str, *, types: Sequence[str], depth: int) -> GraphPath:
    """Return the shortest path between two memories along edges of some types, in either direction.

    Raises NotFound, AmbiguousId, BadInput.
    """
    start, goal = raw_id(view.find(a)), raw_id(view.find(b))
    if start == goal:
        return GraphPath(nodes=view.nodes([start]), links=[])
    walk = _walk(view, [start], partial(_around, types), depth=depth, limit=MAX_VISITED, goal=goal)
    if goal not in walk.depths:
        return GraphPath(nodes=[], links=[], truncated=walk.full or walk.deeper)
    way: list[Step] = []
    while goal != start:
        way.insert(0, walk.came[goal])
        goal = way[0][0]
    return GraphPath(
        nodes=view.nodes([start, *(id for _, id, _ in way)]), links=[link_of(edge) for _, _, edge in way if edge]
    )


def context(
    view: View, ids: Sequence[str], *, types: Sequence[str], depth: int, limit: int, everything: bool
) -> Subgraph:
    """Return all within `depth` steps of some memories in either direction, nearest first, and the links among them.

    Raises NotFound, AmbiguousId, BadInput.
    """
    if not ids:
        raise BadInput("no memory given", hint="context needs at least one id")
    starts = [raw_id(view.find(id)) for id in ids]
    walk = _walk(view, starts, partial(_around, types), depth=depth, limit=limit, everything=everything)
    nodes = view.nodes(walk.depths)
    return Subgraph(
        nodes=nodes, links=_links(walk.steps), depths={node.id: walk.depths[raw_id(node)] for node in nodes},
        truncated=walk.full,
    )  # fmt: skip


def chain(view: View, id: str, *, limit: int) -> Chain:
    """Return the corrections that led to a memory and those that replaced it. Cycles end. Raises NotFound, BadInput."""
    memory = view.find(id)
    start = raw_id(memory)
    walks = [
        _walk(view, [start], step, depth=limit, limit=limit + 1, everything=True) for step in (_replaced, _replacing)
    ]
    back = [id for id in walks[0].depths if id != start]
    forward = [id for id in walks[1].depths if id != start and id not in walks[0].depths]
    before, after = view.nodes(reversed(back)), view.nodes(forward)
    replaced = [node for node in (*before, view.node(memory), *after) if node.standing == "superseded"]
    reasons = {node.id: why for node in replaced if (why := reason_of(view.store, raw_id(node), view.known_at))}
    read = view.store.relations.same_as(start)
    same = view.nodes(
        map(raw_id, [*view.store.graph.merged_into([start], view.where()), *view.memories(read).values()])
    )
    return Chain(
        before=before, memory=view.node(memory), after=after, reasons=reasons, same=same,
        read_as={format_id(id): probability for id, probability in read.items()},
        truncated=len(back) >= limit or len(forward) >= limit,
    )  # fmt: skip
