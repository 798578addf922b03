"""Fusion: several signals about the same candidates become one order. Pure.

`linear` is a weighted sum of calibrated signals, its weights learned on recorded benchmarks; `rrf` needs only ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .arithmetic import Arithmetic, Column
from .constants import RRF_K
from .weights import WEIGHTS

# A table of signals: name -> one value a candidate, in the candidates' order. 0 = says nothing.
Signals = Mapping[str, Column]


# The signals that rank fusion merges.
RANKED = ("lexical", "fields", "vector")


def fuse_ranks(rankings: Sequence[Sequence[int]], *, k: int = RRF_K) -> list[tuple[int, float]]:
    """Merge ranked lists by reciprocal rank: score = sum of 1 / (k + rank), rank from 1.

    `rankings`: one list per signal, best first; an id appears once per list.
    Returns (id, score) best first, ties by id. Pure, O(total ids).
    Raises ValueError if k < 1.
    Source: Cormack, Clarke & Buettcher, SIGIR 2009.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, id in enumerate(ranking, 1):
            scores[id] = scores.get(id, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def linear(arithmetic: Arithmetic, signals: Signals, count: int) -> Column:
    """Weighted sum of calibrated signals for each of `count` candidates. Unknown signals count nothing."""
    known = [name for name in signals if name in WEIGHTS]
    return arithmetic.weighted([signals[name] for name in known], [WEIGHTS[name] for name in known], count)


def rrf(signals: Signals, count: int) -> list[float]:
    """Reciprocal rank fusion of the lexical, fields and vector signals."""
    rankings = []
    for name in RANKED:
        values = signals.get(name)
        if values is not None:
            named = [i for i in range(count) if values[i] > 0]
            rankings.append(sorted(named, key=lambda i: (-values[i], i)))
    scores = [0.0] * count
    for i, score in fuse_ranks(rankings):
        scores[i] = score
    return scores


def ranks(values: Sequence[float]) -> list[int | None]:
    """Rank from 1 of each value, best first; None where the value is 0."""
    order = sorted((i for i in range(len(values)) if values[i]), key=lambda i: (-values[i], i))
    found: list[int | None] = [None] * len(values)
    for rank, i in enumerate(order, 1):
        found[i] = rank
    return found
