"""Fusion: several signals about the same candidates become one order. Pure.

The score is a weighted sum of calibrated signals, its weights learned on recorded benchmarks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .arithmetic import Arithmetic, Column
from .weights import WEIGHTS

# A table of signals: name -> one value a candidate, in the candidates' order. 0 = says nothing.
Signals = Mapping[str, Column]


def linear(arithmetic: Arithmetic, signals: Signals, count: int) -> Column:
    """Weighted sum of calibrated signals for each of `count` candidates. Unknown signals count nothing."""
    known = [name for name in signals if name in WEIGHTS]
    return arithmetic.weighted([signals[name] for name in known], [WEIGHTS[name] for name in known], count)


def ranks(values: Sequence[float]) -> list[int | None]:
    """Rank from 1 of each value, best first; None where the value is 0."""
    order = sorted((i for i in range(len(values)) if values[i]), key=lambda i: (-values[i], i))
    found: list[int | None] = [None] * len(values)
    for rank, i in enumerate(order, 1):
        found[i] = rank
    return found
