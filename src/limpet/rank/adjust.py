"""The prior of a memory, whatever the query: use, decay, importance, confidence and feedback, a factor each. Pure."""

from __future__ import annotations

import math
from functools import lru_cache

from . import constants as C

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.memory import Memory
    from ..recall.index import PriorFactors
    from ..store.records import GraphNode

    Stated = Memory | PriorFactors | GraphNode  # what a confidence follows from

MICROSECONDS_PER_DAY = 86_400_000_000
# The word for a confidence that is to be said with every memory that has it.
DOUBTFUL = "doubtful"


@lru_cache(maxsize=1024)  # most candidates share them: never used, stated once
def factors(one: PriorFactors, now: int) -> dict[str, float]:
    """What a memory's own history does to its score, whatever the query: one factor each. Times in microseconds.

    `use`: 1 + 0.1 ln(1 + uses), 1.24 after ten uses. `decay`: what is left of that since the last use; it takes back
    what use gave and no more. `importance`: 0.9 to 1.1 for 0 to 1; above the usual 0.5 it fades to it since the memory
    was last stated or used. `confidence`: 0.955 for a single statement of an agent, 0.98 for one of the user, 0.665 for
    an opinion nobody repeated. `feedback`: 1 when `useful` answers the other verdicts, else less, down to a bound.
    """
    rate = C.DECAY_PER_DAY[one.kind]
    use = 1.0 + C.USE_BOOST * math.log1p(one.uses)
    decay, importance = 1.0, one.importance
    if one.used_at is not None and not one.pinned:
        decay = max(1.0 / use, math.exp(-rate * max(0, now - one.used_at) / MICROSECONDS_PER_DAY))
    if importance > C.USUAL_IMPORTANCE and not one.pinned:
        days = max(0, now - max(one.observed_at_us, one.used_at or 0)) / MICROSECONDS_PER_DAY
        importance = C.USUAL_IMPORTANCE + (importance - C.USUAL_IMPORTANCE) * math.exp(-rate * days)
    sure = confidence_of(one, now)
    doubted = 1.0 - C.DOUBT_SPAN * max(0.0, 1.0 - sure / C.OBSERVED_PER_DAY)
    against = max(0, one.not_useful + C.VERDICT_WORTH * ((0 if one.trust == "user" else one.wrong) - one.useful))
    return {
        "use": use,
        "decay": decay,
        "importance": 1.0 + C.IMPORTANCE_SPAN * 2 * (importance - 0.5),
        "confidence": (1.0 - C.CONFIDENCE_SPAN * (1.0 - sure)) * doubted,
        "feedback": 1.0 - C.FEEDBACK_SPAN * against / (against + C.FEEDBACK_HALF),
    }


def doubts(one: Stated) -> int:
    """Count how often it was said to be wrong and nobody said since that it is useful. What the user said stands until
    a person has decided in review."""
    return 0 if one.trust == "user" else max(0, one.wrong - one.useful)


def stage(observations: int, trust: str) -> str:
    """observation, hypothesis or verified: how far a statement has come."""
    if observations >= C.VERIFIED_DAYS or trust == "user":
        return "verified"
    return "hypothesis" if observations >= C.HYPOTHESIS_DAYS else "observation"


def confidence_of(one: Stated, now: int) -> float:
    """How sure the store is of a memory, 0 to 1: the observation dialectic.

    `observations`: distinct days on which it was stated, by the store's clock. 1: an observation, 0.1 n; 2: a
    hypothesis, min(0.3 + 0.1 n, 0.6); 3 and more: verified, min(0.5 + 0.1 n, 0.95). What the user states starts as
    verified; `stated_confidence` (a caller's or an import's figure) is the least it is. An opinion loses 0.02 a day.
    Of all that, a share for each time that the memory was said to be wrong. Source: domain model.
    """
    days = one.observations
    if days >= C.VERIFIED_DAYS or one.trust == "user":
        value = min(C.VERIFIED_BASE + C.OBSERVED_PER_DAY * days, C.VERIFIED_CAP)
    elif days >= C.HYPOTHESIS_DAYS:
        value = min(C.HYPOTHESIS_BASE + C.OBSERVED_PER_DAY * days, C.HYPOTHESIS_CAP)
    else:
        value = C.OBSERVED_PER_DAY * days
    if one.stated_confidence is not None:
        value = max(value, one.stated_confidence) if days > 1 else one.stated_confidence
    if one.kind == "opinion":
        value -= C.OPINION_LOSS_PER_DAY * (max(0, now - one.observed_at_us) // MICROSECONDS_PER_DAY)
    value = round(min(1.0, max(0.0, value)), 4)
    against = doubts(one)
    return round(value / (1 + against), 4) if against else value


def confidence_word(one: Stated, value: float) -> str:
    """A confidence for people and models: stated, repeated, confirmed; or doubtful, where it was said to be wrong, or
    has less than what a single statement has: an old opinion."""
    if doubts(one) > 0 or value < C.OBSERVED_PER_DAY:
        return DOUBTFUL
    if value >= C.CONFIRMED:
        return "confirmed"
    return "repeated" if one.observations >= C.HYPOTHESIS_DAYS else "stated"
