"""What the relevance judge (vectors/judge.py) says of the first results: log-odds that each answers the question.

It tells whether anything answers at all, and puts these few in order together with the ranking. Of a long message it
reads the part that speaks of the result: it knows questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.errors import EmbedderUnavailable
from ..rank import constants as C
from ..text.describe import searchable
from ..text.excerpt import excerpt, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.memory import Memory
    from ..store import Store
    from ..vectors.judge import Judge
    from .candidates import Candidates
    from .index import VectorSignal
    from .plan import Plan

# Its name where a caller asks for it as a reranker.
JUDGE = "judge"
# Characters of a result that it reads: the passage with most of the question's words.
PASSAGE = 240


def judged(
    store: Store, found: Candidates, order: Sequence[int], plan: Plan, vectors: VectorSignal | None,
    *, asked_for: bool = False,
) -> dict[int, float]:  # fmt: skip
    """Of each of the first of `order`; {} where the judge cannot be asked.

    `asked_for`: it is to read more of them, also where it is not asked by itself; what is in the way is noted.
    """
    judge = vectors.judge(plan, asked_for=asked_for) if vectors is not None and found.hits is not None else None
    if judge is None and asked_for:
        found.miss("rerank", "the judge reads beside limpet's own vectors, questions in Latin letters, and needs time")
    if vectors is None or judge is None or not order:
        return {}
    first = order[: max(C.JUDGED_IF_ASKED_FOR, plan.k) if asked_for else C.JUDGED]
    try:
        said = _read(judge, store, found, plan, first)
        if not asked_for and max(said.values()) < C.JUDGE_DOUBTS and vectors.judge(plan) is not None:  # in time
            said |= _read(judge, store, found, plan, order[C.JUDGED : C.JUDGED_IN_DOUBT])
    except EmbedderUnavailable as error:
        found.miss("rerank" if asked_for else "judge", error.message)
        return {}
    return said


def _read(judge: Judge, store: Store, found: Candidates, plan: Plan, several: Sequence[int]) -> dict[int, float]:
    from ..text.parts import nearest, parts

    texts, asked = passages(plan.query, found.memories(store, several)), parts(plan.query)
    return dict(zip(several, judge.scores([nearest(asked, text) for text in texts], texts), strict=True))


def in_order(order: Sequence[int], scores: Sequence[float], judged: Mapping[int, float]) -> list[int]:
    """`order` with its first, those that were judged, by both: the ranking's log-odds and a share of the judge's."""
    if not judged:
        return list(order)
    first = sorted(judged, key=lambda i: -(scores[i] + C.JUDGE_WEIGHT * judged[i]))
    return [*first, *(i for i in order if i not in judged)]


def passages(query: str, memories: Sequence[Memory]) -> list[str]:
    """Of each memory what is read: the part nearest to the question, with its key, and who said it."""
    words = words_of(query)
    parts = [searchable(excerpt(one.content, words, PASSAGE)[0], one.key) for one in memories]
    return [f"{one.speaker}: {part}" if one.speaker else part for one, part in zip(memories, parts, strict=True)]
