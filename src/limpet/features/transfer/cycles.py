"""Links that would close a cycle among those that make none (caused_by, supersedes, part_of). Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def edges_closing_cycle(new: Sequence[tuple[T, T]], there: Iterable[tuple[T, T]], order: dict[T, int]) -> set[int]:
    """Places in `new` that have to be left out so that `new` and `there` make no cycle together.

    Within a strongly connected component (nodes that all reach each other) the links from a later node of `order` to an
    earlier one stay, as things rest on what was there before; where links that are there already take part in a
    strongly connected component, none of the new ones within it stays. `there` makes no cycle by itself. O(nodes +
    links).
    """
    after: dict[T, list[T]] = {}
    for source, target in new:
        after.setdefault(source, []).append(target)
    known = list(there)
    for source, target in known:
        after.setdefault(source, []).append(target)
    component = _strongly_connected(after)
    old = {component[source] for source, target in known if component[source] == component[target]}
    return {
        place
        for place, (source, target) in enumerate(new)
        if source == target
        or (
            component[source] == component[target]
            and (component[source] in old or order.get(source, -1) <= order.get(target, -1))
        )
    }


def _strongly_connected(after: dict[T, list[T]]) -> dict[T, int]:
    """Node -> number of its strongly connected component (Tarjan, without recursion)."""
    number: dict[T, int] = {}
    low: dict[T, int] = {}
    component: dict[T, int] = {}
    open_nodes: list[T] = []
    for root in list(after):
        if root in number:
            continue
        work = [(root, iter(after.get(root, ())))]
        number[root] = low[root] = len(number)
        open_nodes.append(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in number:
                    number[other] = low[other] = len(number)
                    open_nodes.append(other)
                    work.append((other, iter(after.get(other, ()))))
                    break
                if other not in component:
                    low[node] = min(low[node], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    while True:
                        member = open_nodes.pop()
                        component[member] = number[node]
                        if member == node:
                            break
    return component
