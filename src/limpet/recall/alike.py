"""Behind the first results of a conversation: what is most like the best of them.

A question may have several answers ("how many plants did I buy?"), and of these one is often told in other words than
the question's, but in words like the others' (Rocchio's relevance feedback, with the best results taken for relevant).
The first results stay where they are. Among notes it is not asked: there what is like an answer is its neighbour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .candidates import Candidates
    from .plan import Plan

# Results that stay; the best, which the others are compared with; how many others.
STAYING, BEST, COMPARED = 5, 3, 60
# What a cosine of 1 with the best is worth beside a score, and by how much lower a score halves what a result counts
# among the best, in log-odds. Chosen on training/long_chats.jsonl, whose questions nothing else was fitted on.
WORTH, HALVING = 4.0, 1.4


def like_the_best(
    found: Candidates, order: list[int], scores: Sequence[float], plan: Plan
) -> tuple[list[int], list[int]]:
    """`order` (places of candidates, best first) with those like the best next to the first; and these, of the `k`."""
    best, rest = order[:BEST], order[STAYING : STAYING + COMPARED]
    if found.hits is None or plan.k <= STAYING or not rest or not all(found.spoken(i) for i in best):
        return order, []
    cosines = _cosines(found, best, rest, [scores[i] for i in best])
    moved = sorted(rest, key=lambda i: -(scores[i] + WORTH * cosines.get(i, 0.0)))
    seats = plan.k - STAYING
    came = [i for i in moved[:seats] if i not in rest[:seats]]
    return [*order[:STAYING], *moved, *order[STAYING + COMPARED :]], came


def _cosines(found: Candidates, best: list[int], rest: list[int], scores: Sequence[float]) -> dict[int, float]:
    """Of each of the rest that has a vector with the mean of the best's, each by its score."""
    assert found.hits is not None
    several = [*best, *rest]
    places, vectors = found.hits.vectors([found.table.text_ids[i] for i in several])
    rows = dict(zip(places.tolist(), vectors, strict=True))
    weights = [2.0 ** ((score - max(scores)) / HALVING) for score in scores]
    known = [(weight, rows[number]) for number, weight in enumerate(weights) if number in rows]
    if not known:
        return {}
    mean = sum(weight * row for weight, row in known)
    length = math.sqrt(float(mean @ mean)) or 1.0
    return {i: float(rows[n] @ mean) / length for n, i in enumerate(several) if n >= len(best) and n in rows}
