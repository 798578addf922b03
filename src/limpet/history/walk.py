"""Walks along any edges: the shortest path, the neighbourhood of some memories, edges by pattern."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model.dataclass import dataclass, field
from ..model.edges import TEMPORAL, Edge
from ..model.encode import JsonForm, encode
from ..model.errors import BadInput
from ..model.sequence import Holds
from .view import FALLEN, Link, Node, View, link_of, raw_id

# Memories that a search for a path looks at before it gives up: about a second.
MAX_VISITED = 50_000


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
        """The JSON form; each node that the walk counted has its depth."""
        depths = self.depths
        nodes = [one.as_dict() | ({"depth": depths[one.id]} if one.id in depths else {}) for one in self.nodes]
        return encode(self) | {"nodes": nodes}


def edges_around(view: View, ids: Sequence[bytes], types: Sequence[str]) -> list[Edge]:
    """Edges at some memories, both ways, derived ones too; each once."""
    stored = [type for type in types if type != TEMPORAL]
    found = dict.fromkeys(view.edges(ids, stored) + view.edges(ids, stored, incoming=True))
    if TEMPORAL in types:
        where = view.where()
        found |= dict.fromkeys(
            view.store.edges.temporal(ids, where) + view.store.edges.temporal(ids, where, incoming=True)
        )
    return list(found)


def _seen(view: View, ids: list[bytes], everything: bool) -> set[bytes]:
    """Those of some ids that may be walked through."""
    if everything:
        return view.store.graph.matching(ids, view.where())
    return {id for id, standing in view.standings(ids).items() if standing not in FALLEN}


def path(view: View, a: str, b: str, *, types: Sequence[str], depth: int, everything: bool) -> GraphPath:
    """The shortest path between two memories along edges of some types, either way. From both ends at once.

    Raises NotFound, AmbiguousId, BadInput.
    """
    ends = (raw_id(view.find(a)), raw_id(view.find(b)))
    if ends[0] == ends[1]:
        return GraphPath(nodes=view.nodes(ends[:1]), links=[])
    came: tuple[dict[bytes, tuple[bytes, Edge] | None], ...] = ({ends[0]: None}, {ends[1]: None})
    levels = [[ends[0]], [ends[1]]]
    for _ in range(depth):
        side = 0 if len(levels[0]) <= len(levels[1]) else 1
        met, levels[side] = _step(view, levels[side], came[side], came[1 - side], types, everything)
        if met is not None:
            return _joined(view, met, came)
        if not levels[side]:
            return GraphPath(nodes=[], links=[])
        if len(came[0]) + len(came[1]) > MAX_VISITED:
            break
    return GraphPath(nodes=[], links=[], truncated=True)


def _step(
    view: View,
    level: list[bytes],
    own: dict[bytes, tuple[bytes, Edge] | None],
    other: dict[bytes, tuple[bytes, Edge] | None],
    types: Sequence[str],
    everything: bool,
) -> tuple[bytes | None, list[bytes]]:
    """One level further on one side: where the sides met (the least id, to be the same every time), and the level."""
    there = set(level)
    ways: dict[bytes, tuple[bytes, Edge]] = {}
    for edge in edges_around(view, level, types):
        for here, far in ((edge.source, edge.target), (edge.target, edge.source)):
            if here in there and far not in own:
                ways.setdefault(far, (here, edge))
    seen = _seen(view, [id for id in ways if id not in other], everything)
    fresh = [id for id in ways if id in seen or id in other]
    own |= {id: ways[id] for id in fresh}
    return min((id for id in fresh if id in other), default=None), fresh


def _joined(view: View, met: bytes, came: Sequence[dict[bytes, tuple[bytes, Edge] | None]]) -> GraphPath:
    halves: list[tuple[list[bytes], list[Edge]]] = []
    for side in came:
        ids, edges = [met], []
        while (back := side[ids[-1]]) is not None:
            ids.append(back[0])
            edges.append(back[1])
        halves.append((ids, edges))
    ids = halves[0][0][::-1] + halves[1][0][1:]
    edges = halves[0][1][::-1] + halves[1][1]
    return GraphPath(nodes=view.nodes(ids), links=[link_of(edge) for edge in edges])


def context(
    view: View, ids: Sequence[str], *, types: Sequence[str], depth: int, limit: int, everything: bool
) -> Subgraph:
    """What surrounds some memories: all within `depth` steps either way, nearest first, and the links among them.

    Raises NotFound, AmbiguousId, BadInput.
    """
    if not ids:
        raise BadInput("no memory given", hint="context needs at least one id")
    depths = dict.fromkeys((raw_id(view.find(id)) for id in ids), 0)
    level, edges, truncated = list(depths), dict[Edge, None](), False
    for distance in range(1, depth + 1):
        around = edges_around(view, level, types)
        edges |= dict.fromkeys(around)
        ends = dict.fromkeys(end for edge in around for end in (edge.source, edge.target) if end not in depths)
        seen = _seen(view, list(ends), everything)
        fresh = [id for id in ends if id in seen]
        space = max(0, limit - len(depths))
        truncated |= len(fresh) > space
        level = fresh[:space]
        depths |= dict.fromkeys(level, distance)
        if not level:
            break
    if level:
        edges |= dict.fromkeys(edges_around(view, level, types))
    nodes = view.nodes(depths)
    return Subgraph(
        nodes=nodes,
        links=[link_of(edge) for edge in edges if edge.source in depths and edge.target in depths],
        depths={node.id: depths[raw_id(node)] for node in nodes},
        truncated=truncated,
    )
