"""The verdicts of the reader about two statements: the one table of relations, levels and thresholds.

A change is that the older statement holds no more: `replaces` (another value), `ends` (no value), `resolves` (a problem
or a plan is over). A level says how sure that is on real streams, where nearly no pair is a change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..model.dataclass import NamedTuple

# Languages that the reader was taught; others were not measured.
LANGUAGES = "English, German, French, Spanish, Italian, Portuguese, Dutch, Polish"
CHANGES = ("replaces", "ends", "resolves")
# Changes that are proposed to a person. What resolves a problem leaves it true.
PROPOSED = ("replaces", "ends")
SURE, LIKELY = "sure", "likely"
# Log-odds of a change from which it is likely, and sure; and of `same` from which it is sure. Chosen by hand on the
# tuning half of tests/quality/changes.jsonl and on streams (docs/log.md); the model of today is never so sure.
LIKELY_FROM, SURE_FROM, SAME_FROM = 2.1, 4.5, 4.5
# By how much `resolves` must be ahead: of what it says nobody is asked.
RESOLVES_AHEAD = 0.7
# Probability from which a change is proposed to a person, whose time is worth more than a place in a list.
ASKED_FROM = 0.93


class Verdict(NamedTuple):
    """The relation of a newer statement to an older one, and its certainty."""

    relation: str
    level: str
    probability: float


def verdict(logits: Sequence[float]) -> Verdict | None:
    """Decide about a pair by the log-odds of `vectors.reader.RELATIONS`; None where nothing follows from it."""
    from ..vectors.reader import RELATIONS

    by_name = dict(zip(RELATIONS, logits, strict=True))
    changed = change_odds(logits)
    if changed >= LIKELY_FROM:
        by_name["resolves"] -= RESOLVES_AHEAD
        relation = max(CHANGES, key=lambda name: by_name[name])
        return Verdict(relation, SURE if changed >= SURE_FROM else LIKELY, probability(changed))
    same = log_odds(logits, [RELATIONS.index("same")])
    return Verdict("same", SURE, probability(same)) if same >= SAME_FROM else None


def probability_of_same(logits: Sequence[float]) -> float:
    from ..vectors.reader import RELATIONS

    return probability(log_odds(logits, [RELATIONS.index("same")]))


def change_odds(logits: Sequence[float]) -> float:
    """Return the log-odds that the newer statement changes the older one in any way."""
    return log_odds(logits, range(len(CHANGES)))


def log_odds(logits: Sequence[float], places: Sequence[int]) -> float:
    """Return the log-odds that one of some relations holds against all others."""
    top = max(logits)
    chosen = set(places)
    inside = sum(math.exp(value - top) for i, value in enumerate(logits) if i in chosen)
    outside = sum(math.exp(value - top) for i, value in enumerate(logits) if i not in chosen)
    return math.log(max(inside, 1e-30)) - math.log(max(outside, 1e-30))


def probability(odds: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))
