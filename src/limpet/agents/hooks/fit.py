"""The fit of memories to a message: a probability for each of the best results of a recall. Pure.

Recall puts memories in order; a message to an agent is seldom a question, and most need none of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ...text.describe import LATIN, grams, latin_share
from ...text.excerpt import nearest, parts, shared_weight
from . import fit_weights as W

# Caps of features: words in common, and by words log-odds behind the best.
MANY_SHARED, FAR_BEHIND = 6, 10.0
# Each result may be a wrong one, so in a small store the judge is believed sooner: by so many log-odds, the fewer were
# read. Of 420 messages to stores of one to five memories that no model has seen, the right one is shown with 80 instead
# of 58 %, and nothing with 96 instead of 98 % of 1,260 that nothing fits.
READ, FEWER = 12, 0.7
# A sure hit by words: so many in common with a message, at most so far behind the best. Below these log-odds the judge
# refuses it all the same. Neither right nor empty answers change by it on the tuning half of tests/quality/injection.
SURE_SHARED, CLOSE_BEHIND, REFUSED_BELOW = 3, 0.5, -2.0
# In other letters than the models know, words alone decide: this weight, of pairs of characters SURE_SHARED. Of 158
# questions in Japanese and Korean 95 get what answers them, and 39 something else when that is not stored; by cosines
# 125 and 152, and every small talk too.
SHARED = 2


def features(
    scores: Sequence[float], signals: Sequence[Mapping[str, float]], texts: Sequence[str], message: str, read: int = 0
) -> list[dict[str, float]]:
    """Return the features of each result of a recall, best first. By meaning: its cosine, its distance in score from
    the best, and the relevance judge's score, if asked. By words alone: the cosine of its word vectors, its distance in
    score from the best, and the meaningful words it shares with a part of the message. The message's length is not
    used: it told fitting messages from others only in texts written for training.

    `signals`: what each signal said of it; `texts`: with topics and keys; `read`: how many results there were, if these
    are not all.
    """
    best, few = max(scores, default=0.0), math.log(max(1.0, READ / max(1, read, len(scores))))
    is_semantic = any("vector" in values for values in signals)
    message_parts = [] if is_semantic else parts(message)
    return [
        {"cosine": values.get("vector", 0.0), "behind": best - score}
        | ({"judge": values["judge"], "few": few} if "judge" in values else {})
        if is_semantic
        else {
            "word_vectors": values.get("word_vectors", 0.0), "behind": min(best - score, FAR_BEHIND),
            "shared": float(min(shared_weight(nearest(message_parts, text), text), MANY_SHARED)),
        }
        for score, values, text in zip(scores, signals, texts, strict=True)
    ]  # fmt: skip


def probability(known: Mapping[str, float]) -> float:
    """Return the probability that a memory is worth its tokens with this message, 0 to 1."""
    weights = W.FITS_JUDGED if "judge" in known else W.FITS_BY_WORDS if "word_vectors" in known else W.FITS
    log_odds = weights["one"] + sum(weights.get(name, 0.0) * value for name, value in known.items())
    log_odds += FEWER * known.get("few", 0.0)
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, log_odds))))


def fitting(
    scores: Sequence[float], signals: Sequence[Mapping[str, float]], texts: Sequence[str], message: str, read: int = 0
) -> list[bool]:
    """Return which results of a recall a message is shown; arguments as for `features`. If the judge was asked, only
    results that it read, and the leading one if its text has many words of a part of the message and the judge does not
    clearly refuse it.
    """
    known = features(scores, signals, texts, message, read)
    judged = any("judge" in row for row in known)
    by_words = any("word_vectors" in row for row in known)
    unknown = by_words and latin_share(message) < LATIN
    message_parts = parts(message) if judged or unknown else []
    least_shared = SHARED if unknown and not grams(message) else SURE_SHARED
    probabilities = [probability(row) if "judge" in row or not (judged or unknown) else 0.0 for row in known]
    shown_from = W.SHOWN_FROM_JUDGED if judged else W.SHOWN_FROM_BY_WORDS if by_words else W.SHOWN_FROM
    least = max(shown_from, W.SHARE_OF_BEST * max(probabilities, default=0.0))

    def leads(row: Mapping[str, float], text: str) -> bool:
        is_near = row["behind"] <= CLOSE_BEHIND and (unknown or row.get("judge", -math.inf) >= REFUSED_BELOW)
        return is_near and shared_weight(nearest(message_parts, text), text) >= least_shared

    return [value >= least or leads(row, text) for value, row, text in zip(probabilities, known, texts, strict=True)]
