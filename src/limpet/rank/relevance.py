"""Whether the best of what was found answers the question at all: a logistic model over a few features. Pure.

`python -m benchmarks.tune_notes` fits the constants and says what they reach. A recall without vectors has its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from . import constants as C

Features = Mapping[str, float]


def probability(features: Features, *, vectors: bool) -> float:
    """That something found answers the question, 0 to 1. A feature without a weight counts nothing."""
    weights = C.RELEVANCE if vectors else C.RELEVANCE_BY_WORDS
    log_odds = weights["one"] + sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, log_odds))))


def is_relevant(value: float, *, vectors: bool) -> bool:
    """Whether it is worth showing to someone who did not ask to see it anyway."""
    return value >= (C.RELEVANT if vectors else C.RELEVANT_BY_WORDS)
