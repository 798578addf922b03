"""What rests on what: `why` walks backward to the facts, `impact` forward to what was built on them.

A reason of X is what X is `caused_by`, and what `supports` X. Level by level, so that cycles end and limits hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from ..model.dataclass import dataclass, field
from ..model.edges import Edge
from ..model.encode import INLINE, JsonForm, encode
from ..model.ids import format_id
from ..model.sequence import Holds
from .view import FALLEN, Link, Node, View, link_of, raw_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Why(JsonForm, Holds[Node]):
    """What a memory rests on, as a graph: `depths[id]` is how far from it. `skipped`: id -> standing."""

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
        """The JSON form; each reason has its depth."""
        reasons = [one.as_dict() | {"depth": self.depths[one.id]} for one in self.reasons]
        return encode(self) | {"reasons": reasons}


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


def reasons_of(view: View, ids: Sequence[bytes]) -> list[tuple[bytes, bytes, Edge]]:
    """(what rests, its reason, the edge) for some memories, heaviest first; reasons may be out of view."""
    found = [(one.source, one.target, one) for one in view.edges(ids, ("caused_by",))]
    found += [(one.target, one.source, one) for one in view.edges(ids, ("supports",), incoming=True)]
    return found


def dependents_of(view: View, ids: Sequence[bytes]) -> list[tuple[bytes, bytes, Edge]]:
    """(reason, what rests on it, the edge) for some memories."""
    found = [(one.target, one.source, one) for one in view.edges(ids, ("caused_by",), incoming=True)]
    found += [(one.source, one.target, one) for one in view.edges(ids, ("supports",))]
    return found


@dataclass(slots=True)
class _Walk:
    """What a level-by-level walk has met."""

    depths: dict[bytes, int]
    edges: list[tuple[bytes, bytes, Edge]]
    skipped: dict[str, str]
    ends: set[bytes]
    truncated: bool = False


def _walk(view: View, root: bytes, *, forward: bool, depth: int, limit: int, everything: bool) -> _Walk:
    """From `root`, one level more than `depth`: what the last level rests on tells facts from what was cut off."""
    step = dependents_of if forward else reasons_of
    walk = _Walk({root: 0}, [], {}, set())
    level = [root]
    for distance in range(1, depth + 2):
        edges = step(view, level)
        fresh = dict.fromkeys(id for _, id, _ in edges if id not in walk.depths)
        standings = view.standings(fresh)
        if not everything:
            if distance <= depth:
                walk.skipped |= {format_id(id): how for id, how in standings.items() if how in FALLEN}
            standings = {id: how for id, how in standings.items() if how not in FALLEN}
        walk.ends |= set(level) - {what for what, id, _ in edges if id in standings or id in walk.depths}
        order = [id for id in fresh if id in standings]
        space = 0 if distance > depth else limit + 1 - len(walk.depths)
        walk.truncated |= len(order) > space
        level = order[:space]
        walk.depths |= dict.fromkeys(level, distance)
        walk.edges += [edge for edge in edges if edge[1] in walk.depths]
        if not level:
            break
    return walk


def why(view: View, id: str, *, depth: int, limit: int, everything: bool) -> Why:
    """What a memory rests on, back to the facts. `everything`: also what was superseded, retracted or purged.

    Raises NotFound, AmbiguousId, BadInput.
    """
    start = view.find(id)
    root = raw_id(start)
    walk = _walk(view, root, forward=False, depth=depth, limit=limit, everything=everything)
    others = [one for one in walk.depths if one != root]
    return Why(
        memory=view.node(start),
        reasons=view.nodes(others),
        links=[link_of(edge) for _, _, edge in walk.edges],
        depths={format_id(one): walk.depths[one] for one in others},
        facts=[format_id(one) for one in others if one in walk.ends],
        skipped=walk.skipped,
        truncated=walk.truncated,
    )


def impact(view: View, id: str, *, depth: int, limit: int, everything: bool) -> Impact:
    """What rests on a memory, transitively; for each the reasons that would remain if the memory fell.

    A thing falls when every reason it has falls; things that hold up only each other fall together.
    Raises NotFound, AmbiguousId, BadInput.
    """
    start = view.find(id)
    root = raw_id(start)
    walk = _walk(view, root, forward=True, depth=depth, limit=limit, everything=everything)
    reached = [one for one in walk.depths if one != root]
    reasons: dict[bytes, dict[bytes, None]] = {one: {} for one in reached}
    for what, reason, _ in reasons_of(view, reached):
        if reason != root:
            reasons[what][reason] = None
    others = view.standings(reason for found in reasons.values() for reason in found)
    standing = {id for id, how in others.items() if how not in FALLEN}
    stands = _supported(reached, reasons, standing)
    left = {
        one: [reason for reason in reasons[one] if reason in standing and (reason not in reasons or reason in stands)]
        for one in reached
    }
    nodes = {raw_id(node): node for node in view.nodes(dict.fromkeys([*reached, *chain(*left.values())]))}
    through: dict[bytes, list[Link]] = {one: [] for one in reached}
    for _, what, edge in walk.edges:
        if what != root:
            through[what].append(link_of(edge))
    affected = [
        Affected(
            node=nodes[one],
            depth=walk.depths[one],
            through=through[one],
            remaining=[nodes[reason] for reason in left[one]],
            falls=one not in stands,
        )
        for one in reached
    ]
    affected.sort(
        key=lambda one: (one.node.kind != "decision", not one.falls, one.depth, -one.node.importance, one.node.id)
    )
    return Impact(memory=view.node(start), affected=affected, skipped=walk.skipped, truncated=walk.truncated)


def rested_before(view: View, found: Impact, replaced: Sequence[Node], *, limit: int) -> list[Affected]:
    """What rests on what a memory replaced, and so may have to change with it, but does not rest on the memory."""
    there = {found.memory.id, *(one.node.id for one in found.affected)}
    before: dict[str, Affected] = {}
    for old in replaced:
        resting = impact(view, old.id, depth=1, limit=limit, everything=False)
        before |= {one.node.id: one for one in resting.affected if one.node.id not in there}
    return list(before.values())


def _supported(reached: Iterable[bytes], reasons: dict[bytes, dict[bytes, None]], standing: set[bytes]) -> set[bytes]:
    """Those of `reached` that stand without the root: they have a reason outside, or one that stands."""
    rests: dict[bytes, list[bytes]] = {}
    stands: set[bytes] = set()
    left = []
    for one in reached:
        for reason in reasons[one]:
            if reason not in standing:
                continue
            if reason in reasons:
                rests.setdefault(reason, []).append(one)
            elif one not in stands:
                stands.add(one)
                left.append(one)
    while left:
        for one in rests.get(left.pop(), ()):
            if one not in stands:
                stands.add(one)
                left.append(one)
    return stands
