"""Results that say what a better one says already: folded into it, so that they take nobody's place.

What counts as the same is `recall/fit.py`'s measure, the one of token budgets and briefs: two statements that differ in
a name, a number, a date, a negation or one word in the place of another are two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..model.clock import MICROSECONDS_PER_DAY
from .fit import Wording, distinct, repeats, wording

if TYPE_CHECKING:
    from ..model.memory import Memory
    from ..store.contract import Store
    from .gather import Gathered

# How far below the best `k` it is looked for what takes the places that became free: as far again.
REACH = 2
# Where all have vectors and none are nearer than this, no two are the same: the same words with and without backticks,
# full stops and capitals have 0.85 and more by MiniLM. test_fold.py.
SAME_WORDS_COSINE = 0.8


def best_distinct(
    store: Store, found: Gathered, order: Sequence[int], k: int
) -> tuple[list[int], dict[int, list[int]]]:
    """The best `k` of `order` that say different things, and which of the others each of them stands for.

    Only where something among the best `k` says the same is anything below them read.
    """
    first = list(order[:k])
    same = _same(store, found, first)
    if same:
        first = list(order[: k * REACH])
        same = _same(store, found, first)
    chosen = [i for place, i in enumerate(first) if place not in same][:k]
    also: dict[int, list[int]] = {}
    for later, earlier in same.items():
        if first[earlier] in chosen:
            also.setdefault(first[earlier], []).append(first[later])
    return chosen, also


def _same(store: Store, found: Gathered, first: Sequence[int]) -> dict[int, int]:
    """Place in `first` of what is folded -> place of what stands for it."""
    if len(first) < 2:
        return {}
    cosines = found.hits.among([found.bodies[i] for i in first]) if found.hits is not None else {}
    known = {place for pair in cosines for place in pair}
    if len(known) == len(first) and max(cosines.values()) < SAME_WORDS_COSINE:
        return {}
    return folded([wording(one.content, about(one)) for one in store.memories([found.nums[i] for i in first])], cosines)


def folded(several: Sequence[Wording], cosines: Mapping[tuple[int, int], float] | None) -> dict[int, int]:
    """Place of each wording that repeats an earlier one -> place of the first that it repeats."""
    kept = distinct(several, cosines)
    if len(kept) == len(several):
        return {}
    known = cosines or {}
    there = set(kept)
    return {
        i: next(j for j in kept if j < i and repeats(several[j], one, known.get((j, i))))
        for i, one in enumerate(several)
        if i not in there
    }


def about(one: Memory) -> str:
    """What tells apart two memories of the same words: key, speaker, metadata, the day of an event."""
    day = one.valid_from // MICROSECONDS_PER_DAY if one.kind == "episode" else ""
    return f"{one.key or ''}/{one.speaker or ''}/{one.metadata or ''}/{day}"
