"""Whether a memory fits a message, where recall could go by meaning: a probability for each of the best results. Pure.

Recall puts memories in order; a message to an agent is seldom a question, and most need none of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from . import fit_weights as W

# Words of a message beyond which more tell nothing.
LONG_MESSAGE = 30


def features(scores: Sequence[float], cosines: Sequence[float], message: str) -> list[dict[str, float]]:
    """One for each result of a recall, best first: its cosine, how far it is behind the first, how much the first stands
    alone (its share of the softmax of all scores), and how long the message is.
    """
    alone = 1.0 / sum(math.exp(min(30.0, one - scores[0])) for one in scores) if scores else 0.0
    length = float(min(len(message.split()), LONG_MESSAGE))
    return [
        {"cosine": cosine, "behind": scores[0] - score, "alone": alone, "length": length}
        for score, cosine in zip(scores, cosines, strict=True)
    ]


def probability(known: Mapping[str, float]) -> float:
    """That a memory is worth its tokens with this message, 0 to 1."""
    log_odds = W.FITS["one"] + sum(W.FITS[name] * value for name, value in known.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, log_odds))))


def fitting(scores: Sequence[float], cosines: Sequence[float], message: str) -> list[bool]:
    """Which results of a recall a message is shown."""
    values = [probability(one) for one in features(scores, cosines, message)]
    least = max(W.SHOWN_FROM, W.SHARE_OF_BEST * max(values, default=0.0))
    return [one >= least for one in values]
