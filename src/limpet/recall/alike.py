"""Behind the first results of a conversation: what is most like the best of them.

A question may have several answers ("how many plants did I buy?"), and of these one is often told in other words than
the question's, but in words like the others' (Rocchio's relevance feedback, with the best results taken for relevant).
The first results stay where they are. Among notes it is not asked: there what is like an answer is its neighbour.
Where a question counts or lists, each further result of a session falls back: what is counted is spread over sessions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from .intent import asks_for_several

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .candidates import Candidates
    from .plan import Plan

# Results that stay; the best, which the others are compared with; how many others.
STAYING, BEST, OTHERS = 5, 3, 60
# What a cosine of 1 with the best is worth beside a score, and by how much lower a score halves what a result counts
# among the best, in log-odds. Chosen on the questions with several answers of training/long_chats.jsonl.
WORTH, HALVING = 5.0, 1.4
# What a result falls back for each one before it of its session. LongMemEval's development half finds as much from .15
# to .4; what was held back of the long conversations, from .2 to .4.
OF_A_SESSION = 0.25


def like_the_best(
    found: Candidates, order: list[int], scores: Sequence[float], plan: Plan
) -> tuple[list[int], list[int]]:
    """`order` (places of candidates, best first) with those like the best next to the first; and which came among the
    first `k` so."""
    best, rest = order[:BEST], order[STAYING : STAYING + OTHERS]
    if not rest or found.hits is None or plan.k <= STAYING or not all(map(found.spoken, best)):
        return order, []
    ids = found.table.text_ids
    near = found.hits.near([ids[i] for i in best], counted([scores[i] for i in best]), [ids[i] for i in rest])
    values = worth([scores[i] for i in rest], near)
    worths = dict(zip(rest, values, strict=True))
    moved = sorted(rest, key=lambda i: -worths[i])
    if asks_for_several(plan.query):
        sessions = found.table.sessions
        moved = spread(worths, moved, [int(sessions[i]) for i in order[:STAYING]], [int(sessions[i]) for i in moved])
    seats = plan.k - STAYING
    return [*order[:STAYING], *moved, *order[STAYING + OTHERS :]], [i for i in moved[:seats] if i not in rest[:seats]]


def counted(scores: Sequence[float]) -> list[float]:
    """How much each of the best counts, by its score."""
    first = max(scores)
    return [2.0 ** ((score - first) / HALVING) for score in scores]


def worth(scores: Sequence[float], near: Sequence[float | None]) -> list[float]:
    """What the others count. One whose vector is not there yet (None) is as near as they are on average."""
    known = [one for one in near if one is not None]
    mean = sum(known) / len(known) if known else 0.0
    return [score + WORTH * (mean if one is None else one) for score, one in zip(scores, near, strict=True)]


def spread(
    worths: Mapping[int, float], order: Sequence[int], before: Sequence[int], sessions: Sequence[int]
) -> list[int]:
    """`order` anew, each falling back for those of its session before it. `sessions`: of these (0: none); `before`: of
    the results that stay."""
    seen = Counter(before)
    fallen = {}
    for i, session in zip(order, sessions, strict=True):
        fallen[i] = worths[i] - (OF_A_SESSION * seen[session] if session else 0.0)
        seen[session] += 1
    return sorted(order, key=lambda i: -fallen[i])
