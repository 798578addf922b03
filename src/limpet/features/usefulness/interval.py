"""Confidence intervals of shares that were counted: intervals that hold for few cases too."""

from __future__ import annotations

import math

from ...model.dataclass import NamedTuple

# Two-sided 95 %: the 0.975 quantile of the normal distribution.
Z = 1.959964


class Interval(NamedTuple):
    """A value, and where it lies with 95 %."""

    value: float
    low: float
    high: float


def share(hits: int, cases: int) -> Interval | None:
    """hits / cases with Wilson's score interval; None without a case.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927.
    """
    if cases <= 0:
        return None
    rate, z2 = hits / cases, Z * Z
    middle = (rate + z2 / (2 * cases)) / (1 + z2 / cases)
    width = Z / (1 + z2 / cases) * math.sqrt(rate * (1 - rate) / cases + z2 / (4 * cases * cases))
    return Interval(rate, max(0.0, middle - width), min(1.0, middle + width))


def difference(one: Interval | None, other: Interval | None) -> Interval | None:
    """one - other, of two shares of separate cases, with Newcombe's interval; None where a share is missing.

    Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions", Statistics in
    Medicine 17, 1998, method 10.
    """
    if one is None or other is None:
        return None
    value = one.value - other.value
    low = value - math.hypot(one.value - one.low, other.high - other.value)
    high = value + math.hypot(one.high - one.value, other.value - other.low)
    return Interval(value, max(-1.0, low), min(1.0, high))
