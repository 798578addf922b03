"""Drawings of the page as numbers for SVG: links around memories."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...text.turns import cut

if TYPE_CHECKING:
    from ...history.view import Node
    from ...history.walk import Subgraph

# Above so many points, only central ones have labels.
MOST_LABELS, LABEL_CHARACTERS = 60, 34


class Point(NamedTuple):
    """A memory of a drawing. `label`: "" where there is no room for one."""

    node: Node
    name: str  # the short id
    x: float
    y: float
    size: float
    label: str
    anchor: str  # of the label, as SVG calls it: away from the middle, and over what is there
    at: tuple[float, float]  # where it stands
    seed: bool


class Drawing(NamedTuple):
    points: list[Point]
    lines: dict[str, str]  # type of link -> the path of all of that type
    wide: float
    high: float


def radial(
    subgraph: Subgraph, seeds: Sequence[str], abbreviate: Callable[[list[str]], list[str]], *, wide: float, high: float
) -> Drawing:
    """Place memories on rings by their distance from `seeds`, each near the one it was reached from. Deterministic, in
    time linear in links. `wide`, `high`: of the drawing."""
    nodes = {node.id: node for node in subgraph.nodes}
    names = dict(zip(nodes, abbreviate(list(nodes)), strict=True))
    near: dict[str, list[str]] = {id: [] for id in nodes}
    for link in subgraph.links:
        near[link.source].append(link.target)
        near[link.target].append(link.source)
    roots = [id for id in dict.fromkeys(seeds) if id in nodes]
    below, depth = _tree(roots, near)
    places = _angles(roots, below)
    rings = max(depth.values(), default=0) or 1
    first = 0 if len(roots) == 1 else 1
    points, xy = [], {}
    few = len(nodes) <= MOST_LABELS
    for id in depth:
        share = (depth[id] + first) / (rings + first)
        angle = places[id]
        x = wide / 2 + math.cos(angle) * share * (wide / 2 - (220 if few else 16))
        y = high / 2 + math.sin(angle) * share * (high / 2 - 18)
        xy[id] = (x, y)
        label = " ".join(nodes[id].content.split()) if few or depth[id] == 0 or len(near[id]) > 8 else ""
        size = min(4 + 1.6 * math.sqrt(len(near[id])), 14)
        label = cut(label, LABEL_CHARACTERS)
        seed = depth[id] == 0
        anchor, at = "start", (x + size + 4, y + 4)
        if seed and len(roots) == 1:
            anchor, at = "middle", (x, y - size - 6)
        elif x < wide / 2 - 1:
            anchor, at = "end", (x - size - 4, y + 4)
        points.append(Point(nodes[id], names[id], x, y, size, label, anchor, at, seed))
    lines: dict[str, list[str]] = {}
    for edge in subgraph.links:
        if edge.source != edge.target:
            (x1, y1), (x2, y2) = xy[edge.source], xy[edge.target]
            lines.setdefault(edge.type, []).append(f"M{x1:.0f} {y1:.0f}L{x2:.0f} {y2:.0f}")
    return Drawing(points, {type: "".join(paths) for type, paths in lines.items()}, wide, high)


def _tree(roots: list[str], near: dict[str, list[str]]) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Return the children and the depth of each node in a breadth-first tree below `roots`."""
    below: dict[str, list[str]] = {id: [] for id in near}
    depth = dict.fromkeys(roots, 0)
    left = deque(roots)
    while left:
        id = left.popleft()
        for other in near[id]:
            if other not in depth:
                depth[other] = depth[id] + 1
                below[id].append(other)
                left.append(other)
    return below, depth


def _angles(roots: list[str], below: dict[str, list[str]]) -> dict[str, float]:
    """Return the angle of each node: its subtree has a share of 2 pi in proportion to its leaves."""
    leaves: dict[str, int] = {}
    angles: dict[str, float] = {}

    def count(id: str) -> int:
        leaves[id] = sum(map(count, below[id])) or 1
        return leaves[id]

    def spread(ids: list[str], start: float) -> None:
        for id in ids:
            angles[id] = start + leaf * leaves[id] / 2
            spread(below[id], start)
            start += leaf * leaves[id]

    leaf = 2 * math.pi / (sum(map(count, roots)) or 1)  # the angle of a leaf
    # The first ones lie to the right, where there is room for what they say.
    first = roots[0] if len(roots) > 1 else next(iter(below[roots[0]]), roots[0]) if roots else ""
    spread(roots, -leaf * leaves.get(first, 0) / 2)
    return angles
