"""Prior factors of a score, whatever the query: use, decay, importance, confidence. Pure."""

from __future__ import annotations

import math
from functools import lru_cache

from . import constants as C

MICROSECONDS_PER_DAY = 86_400_000_000


def use_boost(uses: int) -> float:
    """1 + 0.1 ln(1 + uses): 1 for a memory that was never used, 1.24 after ten uses."""
    return 1.0 + C.USE_BOOST * math.log1p(uses)


def decay(kind: str, *, uses: int, used_at: int | None, now: int, pinned: bool) -> float:
    """The share of a score that is left since the last use. Times in microseconds. Never used or pinned: 1.

    It takes back what use gave and no more: what was used is at no time worth less than what never was.
    """
    if used_at is None or pinned:
        return 1.0
    days = max(0, now - used_at) / MICROSECONDS_PER_DAY
    return max(1.0 / use_boost(uses), math.exp(-C.DECAY_PER_DAY[kind] * days))


def importance_factor(importance: float) -> float:
    """0.9 to 1.1 for 0 to 1; 1 for the usual 0.5."""
    return 1.0 + C.IMPORTANCE_SPAN * 2 * (importance - 0.5)


def confidence_factor(confidence: float) -> float:
    """0.95 to 1 for 0 to 1."""
    return 1.0 - C.CONFIDENCE_SPAN * (1.0 - confidence)


def stage(observations: int, trust: str) -> str:
    """observation, hypothesis or verified: how far a statement has come."""
    if observations >= C.VERIFIED_DAYS or trust == "user":
        return "verified"
    return "hypothesis" if observations >= C.HYPOTHESIS_DAYS else "observation"


def confidence(*, kind: str, trust: str, observations: int, observed_at: int, stated: float | None, now: int) -> float:
    """How sure the store is of a memory, 0 to 1: the observation dialectic.

    `observations`: distinct days on which it was stated, by the store's clock. 1: an observation, 0.1 n; 2: a
    hypothesis, min(0.3 + 0.1 n, 0.6); 3 and more: verified, min(0.5 + 0.1 n, 0.95). What the user states starts as
    verified; `stated` (a caller's or an import's figure) is the least it is. An opinion loses 0.02 a day.
    Source: domain model.
    """
    lost = 0.0
    if kind == "opinion":
        lost = C.OPINION_LOSS_PER_DAY * (max(0, now - observed_at) // MICROSECONDS_PER_DAY)
    return _confidence(trust, observations, stated, lost)


@lru_cache(maxsize=1024)  # most memories share it
def _confidence(trust: str, n: int, stated: float | None, lost: float) -> float:
    if n >= C.VERIFIED_DAYS or trust == "user":
        value = min(C.VERIFIED_BASE + C.OBSERVED_PER_DAY * n, C.VERIFIED_CAP)
    elif n >= C.HYPOTHESIS_DAYS:
        value = min(C.HYPOTHESIS_BASE + C.OBSERVED_PER_DAY * n, C.HYPOTHESIS_CAP)
    else:
        value = C.OBSERVED_PER_DAY * n
    if stated is not None:
        value = max(value, stated) if n > 1 else stated
    return round(min(1.0, max(0.0, value - lost)), 4)
