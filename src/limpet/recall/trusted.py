"""Trusted before unconfirmed: what nobody here has vouched for stands behind what answers the question about as well.

Only the first results change places, so that nothing comes in or falls out: what came from outside stays recallable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.memory import FOREIGN

if TYPE_CHECKING:
    from .candidates import Candidates
    from .plan import Plan

# The share of the score of what is unconfirmed that a trusted result needs to stand before it. A text that is made to
# be found repeats the question, and so scores above what answers it in words of its own. Chosen on the tuning half of
# tests/quality/poisoning.
SHARE = 0.5


def trusted_first(found: Candidates, order: list[int], scores: Sequence[float], plan: Plan) -> list[int]:
    """`order` (places of candidates, best first) with each unconfirmed one behind the trusted ones that are near."""
    first = order[: plan.k]
    unconfirmed = [i for i in first if found.table.prior(i).trust in FOREIGN]
    if not unconfirmed or len(unconfirmed) == len(first):
        return order
    apart = set(unconfirmed)
    for i in reversed(unconfirmed):
        near = [place for place, j in enumerate(first) if j not in apart and scores[j] >= SHARE * scores[i] > 0]
        place = first.index(i)
        if near and near[-1] > place:
            first.insert(near[-1], first.pop(place))
    return [*first, *order[plan.k :]]
