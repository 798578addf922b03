"""Trusted before unconfirmed: what nobody here has vouched for stands behind what speaks of the same about as well.

Only the first results change places, so that nothing comes in or falls out: what came from outside stays recallable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.memory import FOREIGN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .candidates import Candidates
    from .plan import Plan

# What a trusted result needs to stand before what is unconfirmed: this share of its score, since a text that is made to
# be found repeats the question and scores above what answers it in words of its own; and to be about the same, by the
# cosine of the two, so that notes on other matters do not hold back what alone answers. Chosen on the tuning half of
# tests/quality/poisoning and on the project's own recall set with a tenth and half of its notes from the web.
SHARE, SAME = 0.5, 0.4
# Where there are no vectors, the score alone must say that both answer.
SHARE_BY_WORDS = 0.9


def trusted_first(found: Candidates, order: list[int], scores: Sequence[float], plan: Plan) -> list[int]:
    """`order` (places, best first) with each unconfirmed one behind the best trusted one on its matter."""
    first = order[: plan.k]
    unconfirmed = [i for i in first if found.table.prior(i).trust in FOREIGN]
    if not unconfirmed or len(unconfirmed) == len(first):
        return order
    apart = set(unconfirmed)
    cosines = {} if found.hits is None else found.hits.among([found.table.text_ids[i] for i in first])
    alike = {frozenset((first[a], first[b])): cosine for (a, b), cosine in cosines.items()}
    share = SHARE_BY_WORDS if found.hits is None else SHARE
    for i in reversed(unconfirmed):
        near = (j for j in first if j not in apart and scores[j] >= share * scores[i] > 0)
        place, behind = first.index(i), next((j for j in near if found.hits is None or _same(alike, i, j)), None)
        if behind is not None and first.index(behind) > place:
            first.insert(first.index(behind), first.pop(place))
    return [*first, *order[plan.k :]]


def _same(alike: Mapping[frozenset[int], float], i: int, j: int) -> bool:
    return alike.get(frozenset((i, j)), 0.0) >= SAME
