"""Whether the best of what was found answers the question at all: a logistic model over a few features. Pure.

`python -m benchmarks.tune` fits the constants and says what they reach. A recall without vectors has its own.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping

from . import relevance_weights as W

Features = Mapping[str, float]

# What the constants, fitted on stores of hundreds, must not deny, least of all in a store of few memories: that the
# first result has most of what the question asks for, by worth, and nothing that it names is missing; that one has the
# whole query as it is; or that the first is the only near one: no other has more than this share of its cosine. Chosen
# on the tuning half of tests/quality/small_stores.jsonl; guarded by tests/quality/test_small_stores.py.
MOST_WORDS = 0.5
NEAR, SHARE_OF_NEXT = 0.15, 0.7

# What is there only if the judge was asked. Then what nothing else competes with gets this more log-odds: the constants
# know stores of many, where an answer leads. Chosen likewise.
JUDGED = "judge"
ONLY_ONE = 0.6
# Of two to so many memories this share of the threshold: what is few is seldom alike, and whoever has just begun must
# not hear that a right first result is nothing. Chosen likewise, for 3 % of those at most.
FEW_MEMORIES, OF_FEW = 1 / 5, 0.7
# Of a question of so few words that the store has, in eighths ("why did it hang?"), the judge understands little: what
# has most of them stands out there too. So do 67 right and 11 wrong first results of the own set and written stores.
FEW_WORDS = 2 / 8

# What is about E4211 answers no question about E4299, which no memory names: at most this share of the threshold.
OF_A_SIBLING = 0.5
# "The logs are in Loki" answers no "who won the match?": of what shares common words alone, found by words alone.
OF_COMMON_WORDS = 0.5

# What a caller is told in a sentence, for what is only nearest looks like an answer; from LIKELY on it probably is one.
ANSWERED, MAY_ANSWER, LIKELY = "The first of these probably answers it.", "The first of these may answer it.", 0.5
NOW = "The first of these is the value that holds now; what it was before is in the history of its key."
BY_WORDS = "Found by words, vectors being missing: see whether one of these answers it."
IRRELEVANT, NOTHING = "Nothing here answers this well; the nearest are shown.", "Nothing was found."
# So many are shown where nothing answers the question, unless it was narrowed: then what there is was asked for.
NEAREST = 3


def probability(features: Features) -> float:
    """That something found answers the question, 0 to 1. A feature without a weight counts nothing.

    At least the threshold where the first result stands out by itself.
    """
    weights, least = _constants(features)
    most = least * OF_A_SIBLING if features.get("sibling") else 1.0
    if features.get("common_only") and not features.get("literal"):
        most = least * OF_COMMON_WORDS
    if not _stands_out(features) or most < 1.0:
        least = 0.0
    log_odds = weights["one"] + sum(weights.get(name, 0.0) * value for name, value in features.items())
    log_odds += ONLY_ONE * (JUDGED in features and features.get("share") == 1.0)
    return max(least, min(most, 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, log_odds))))))


def _constants(features: Features) -> tuple[Mapping[str, float], float]:
    """Weights and threshold of what could be asked: the judge, vectors, or words alone."""
    if JUDGED in features:
        of_few = OF_FEW if FEW_MEMORIES <= features.get("few", 0.0) < 1.0 else 1.0
        return W.RELEVANCE_JUDGED, W.RELEVANT_JUDGED * of_few
    if "cosine" in features:
        return W.RELEVANCE, W.RELEVANT
    return W.RELEVANCE_BY_WORDS, W.RELEVANT_BY_WORDS


def _stands_out(features: Features) -> bool:
    if features.get("literal"):
        return True
    has_most = features.get("coverage_first", 0.0) >= MOST_WORDS and not features.get("unnamed")
    if JUDGED in features:
        return has_most and features.get("words", 0.0) <= FEW_WORDS
    if has_most:
        return True
    first = features.get("cosine_first", 0.0)
    return first >= NEAR and features.get("cosine_next", 0.0) <= SHARE_OF_NEXT * first


def is_relevant(value: float, features: Features) -> bool:
    """Whether it is worth showing to someone who did not ask to see it anyway."""
    return value >= _constants(features)[1]


def told(value: float, relevant: bool, *, shown: object, missing: Container[str], asks_before: bool = False) -> str:
    """The sentence about what was found. `shown`: that there is anything; `asks_before`: the first is the value of a
    key, and the question asks for what was."""
    if not relevant:
        return IRRELEVANT if shown else NOTHING
    if asks_before:
        return NOW
    if "vector" in missing:
        return BY_WORDS
    return ANSWERED if value >= LIKELY else MAY_ANSWER
