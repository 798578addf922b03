"""The graph signal: memories near the question by what they name and link to. Personalised PageRank.

A question may be answered by a memory that has none of its words: it names a thing that another memory names, which
names what the question asks about. The walk starts at what the question names and at the best candidates, and goes
from a memory to the things it names and to the memories it is linked to, and from a thing to the memories that name it.
It runs only for questions that need several hops. Nothing it passes is out of the filter, not even on the way.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ..model.edges import STORED_TYPES
from ..rank import constants as C
from ..text.entities import asked_for
from .plan import Plan

if TYPE_CHECKING:
    from ..store import Store

# Edges that join what belongs together; what replaces or speaks against something leads nowhere new.
_JOINS = tuple(type for type in STORED_TYPES if type not in ("supersedes", "contradicts"))
Node = tuple[str, int]  # ("memory", text id) or ("thing", number)


def spread(store: Store, plan: Plan, seeds: Sequence[int]) -> dict[int, float]:
    """How near each text is, the nearest 1, to what the query names and to `seeds`: the best candidates, best first."""
    asked = asked_for(plan.query)
    known = store.mentions.naming(list(asked), plan.where, most=C.GRAPH_HUB)
    several = {one.text_id: one.id for one in store.search.candidates(seeds[: C.GRAPH_SEEDS], plan.where)}
    named: dict[int, list[int]] = defaultdict(list)
    for one in known:
        named[one.thing].append(one.text_id)
    graph = _grow(store, plan, several | {one.text_id: one.id for one in known}, named)
    # What few memories name tells more of what is meant; so does a better candidate, where the question names nothing.
    things = {thing: 1.0 / len(text_ids) for thing, text_ids in named.items()}
    best = {text_id: 1.0 / place for place, text_id in enumerate(seeds[: C.GRAPH_SEEDS], 1) if text_id in several}
    start: dict[Node, float] = {("thing", one): value for one, value in things.items()}
    start = start or {("memory", one): value for one, value in best.items()}
    found = walk(graph, start)
    # What a candidate has itself is in its other signals already: here counts what came to it from elsewhere.
    own = {node: (1.0 - C.GRAPH_DAMPING) * value for node, value in start.items()}
    whole = sum(start.values())
    came = {one: value - own.get((kind, one), 0.0) / whole for (kind, one), value in found.items() if kind == "memory"}
    most = max(came.values(), default=0.0)
    return {text_id: value / most for text_id, value in came.items() if value > 1e-9} if most > 1e-9 else {}


def _grow(
    store: Store, plan: Plan, text_ids: Mapping[int, bytes], asked: Collection[int]
) -> dict[Node, dict[Node, float]]:
    """The graph around some texts: what they name and are linked to, and once more from there. `asked`: the things
    that the question names."""
    graph: dict[Node, dict[Node, float]] = defaultdict(dict)
    ids = dict(text_ids)
    text_of = {id: text_id for text_id, id in ids.items()}
    fresh = sorted(ids)
    seen: set[int] = set()
    for _ in range(C.GRAPH_HOPS):
        if not fresh or len(ids) >= C.GRAPH_MEMORIES:
            break
        reached: dict[int, bytes] = {}
        things = sorted({thing for _, thing in store.mentions.named_in(fresh)} - seen)
        seen.update(things)
        for one in store.mentions.naming(things, plan.where, most=C.GRAPH_HUB):
            reached.setdefault(one.text_id, one.id)
        links = _links(store, plan, [ids[text_id] for text_id in fresh])
        ends = sorted({end for pair in links for end in pair if end not in text_of})
        for end in store.search.candidates(store.search.texts_of(ends), plan.where) if ends else ():
            reached.setdefault(end.text_id, end.id)
        space = C.GRAPH_MEMORIES - len(ids)
        fresh = sorted(text_id for text_id in reached if text_id not in ids)[-space:]
        ids.update((text_id, reached[text_id]) for text_id in fresh)
        text_of.update((reached[text_id], text_id) for text_id in fresh)
        for source, target in links:
            if source in text_of and target in text_of:
                _join(graph, ("memory", text_of[source]), ("memory", text_of[target]), 1.0)
    # What is named by one memory alone leads nowhere, and what many name tells none of them from the others.
    naming: dict[int, list[int]] = defaultdict(list)
    for text_id, thing in store.mentions.named_in(sorted(ids)):
        naming[thing].append(text_id)
    for thing, several in naming.items():
        if len(several) <= C.GRAPH_HUB and (len(several) > 1 or thing in asked):
            for text_id in several:
                _join(graph, ("memory", text_id), ("thing", thing), 1.0 / math.log2(1 + len(several)))
    return graph


def _links(store: Store, plan: Plan, ids: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """Both ends of the links of some memories, in a stable order."""
    found = {
        (edge.source, edge.target)
        for incoming in (False, True)
        for edge in store.edges.of(ids, incoming=incoming, types=_JOINS, known_at=plan.where.known_at)
    }
    return sorted(found)


def _join(graph: dict[Node, dict[Node, float]], one: Node, other: Node, weight: float) -> None:
    graph[one][other] = graph[other][one] = weight


def walk(graph: Mapping[Node, Mapping[Node, float]], start: Mapping[Node, float]) -> dict[Node, float]:
    """Personalised PageRank: where a walk is found that begins at `start` and returns there again and again.

    Plain Python over a graph of a few hundred nodes, so that a recall by words needs no NumPy. Pure.
    Source: Haveliwala, "Topic-sensitive PageRank", WWW 2002; how often it returns: Gutierrez et al., HippoRAG, 2024.
    """
    whole = sum(start.values())
    if not whole:
        return {}
    begin = {node: value / whole for node, value in start.items()}
    sums = {node: sum(edges.values()) for node, edges in graph.items()}
    at = dict(begin)
    for _ in range(C.GRAPH_STEPS):
        after: dict[Node, float] = defaultdict(float)
        for node, value in begin.items():
            after[node] = (1.0 - C.GRAPH_DAMPING) * value
        lost = 0.0
        for node, value in at.items():
            edges = graph.get(node)
            if not edges:
                lost += value
                continue
            share = C.GRAPH_DAMPING * value / sums[node]
            for other, weight in edges.items():
                after[other] += share * weight
        for node, value in begin.items() if lost else ():
            after[node] += C.GRAPH_DAMPING * lost * value  # a dead end: back to the beginning
        at = dict(after)
    return at
