"""Whether a memory fits a message, where recall could go by meaning: a probability for each of the best results. Pure.

Recall puts memories in order; a message to an agent is seldom a question, and most need none of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from . import fit_weights as W

# Words of a message beyond which more tell nothing.
LONG_MESSAGE = 30


def features(
    scores: Sequence[float], cosines: Sequence[float], message: str, judged: Sequence[float | None] = ()
) -> list[dict[str, float]]:
    """One for each result of a recall, best first: its cosine, how far its score is behind the best, how much the best
    stands alone (its share of the softmax of all scores), how long the message is, and what the relevance judge says.

    `judged`: of each result, None of one that it did not read; () where it was not asked.
    """
    best = max(scores, default=0.0)
    alone = 1.0 / sum(math.exp(one - best) for one in scores) if scores else 0.0
    length = float(min(len(message.split()), LONG_MESSAGE))
    return [
        {"cosine": cosine, "behind": best - score, "alone": alone, "length": length}
        | ({} if said is None else {"judge": said})
        for score, cosine, said in zip(scores, cosines, judged or [None] * len(scores), strict=True)
    ]


def probability(known: Mapping[str, float]) -> float:
    """That a memory is worth its tokens with this message, 0 to 1."""
    weights = W.FITS_JUDGED if "judge" in known else W.FITS
    log_odds = weights["one"] + sum(weights.get(name, 0.0) * value for name, value in known.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, log_odds))))


def fitting(
    scores: Sequence[float], cosines: Sequence[float], message: str, judged: Sequence[float | None] = ()
) -> list[bool]:
    """Which results of a recall a message is shown. Where the judge was asked, of those that it read."""
    known = features(scores, cosines, message, judged)
    asked = any("judge" in one for one in known)
    values = [probability(one) if "judge" in one or not asked else 0.0 for one in known]
    shown_from = W.SHOWN_FROM_JUDGED if asked else W.SHOWN_FROM
    least = max(shown_from, W.SHARE_OF_BEST * max(values, default=0.0))
    return [one >= least for one in values]
