"""Whether the best of what was found answers the question at all: a logistic model over a few features. Pure.

`python -m benchmarks.tune` fits the constants and says what they reach. A recall without vectors has its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from . import relevance_weights as W

Features = Mapping[str, float]


def probability(features: Features, *, vectors: bool) -> float:
    """That something found answers the question, 0 to 1. A feature without a weight counts nothing."""
    weights = W.RELEVANCE if vectors else W.RELEVANCE_BY_WORDS
    log_odds = weights["one"] + sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, log_odds))))


def is_relevant(value: float, *, vectors: bool) -> bool:
    """Whether it is worth showing to someone who did not ask to see it anyway."""
    return value >= (W.RELEVANT if vectors else W.RELEVANT_BY_WORDS)
