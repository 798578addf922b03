"""What the relevance judge (vectors/judge.py) sees in the best results: how near each comes to the question's words.

It changes no order; it tells whether anything answers at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.errors import EmbedderUnavailable
from ..text.excerpt import excerpt, words_of
from .relevance import BEST

if TYPE_CHECKING:
    from ..model.memory import Memory
    from ..store.contract import Store
    from ..vectors.judge import Match
    from .candidates import Candidates
    from .index import VectorSignal
    from .plan import Plan

# Characters of a result that it reads: the passage with most of the question's words.
PASSAGE = 240


def judged(
    store: Store, found: Candidates, order: Sequence[int], plan: Plan, vectors: VectorSignal | None
) -> list[Match]:
    """One for each of the first of `order`; [] where it cannot be asked."""
    model = vectors.judge(plan) if vectors is not None and found.hits is not None else None
    if model is None or not order:
        return []
    from ..vectors.judge import matches

    texts = passages(plan.query, store.memories.by_rows([found.table.rows[i] for i in order[:BEST]]))
    try:
        return matches(model, plan.query, texts, found.stems)
    except EmbedderUnavailable as error:
        found.miss("judge", str(error))
        return []


def passages(query: str, memories: Sequence[Memory]) -> list[str]:
    """Of each memory what is read: the part nearest to the question, with who said it."""
    words = words_of(query)
    parts = [excerpt(one.content, words, PASSAGE)[0] for one in memories]
    return [f"{one.speaker}: {part}" if one.speaker else part for one, part in zip(memories, parts, strict=True)]
