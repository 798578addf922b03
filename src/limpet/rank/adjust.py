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
# The confidence word that is shown with every memory that has it.
DOUBTFUL = "doubtful"


@lru_cache(maxsize=1024)  # most candidates share their factors: never used, stated once
def factors(prior: PriorFactors, now: int) -> dict[str, float]:
    """Return the factors by which a memory's own history changes its score, whatever the query. Times in microseconds.

    `use`: 1 + 0.1 ln(1 + uses), 1.24 after ten uses. `decay`: what is left of that since the last use; it takes back
    what use gave and no more. `importance`: 0.9 to 1.1 for 0 to 1; above the usual 0.5 it fades to it since the memory
    was last stated or used. `confidence`: 0.955 for a single statement of an agent, 0.98 for one of the user, 0.665 for
    an opinion nobody repeated. `feedback`: 1 when `useful` answers the other verdicts, else less, down to a bound.
    """
    rate = C.DECAY_PER_DAY[prior.kind]
    use = 1.0 + C.USE_BOOST * math.log1p(prior.uses)
    decay, importance = 1.0, prior.importance
    if prior.used_at is not None and not prior.pinned:
        decay = max(1.0 / use, math.exp(-rate * max(0, now - prior.used_at) / MICROSECONDS_PER_DAY))
    if importance > C.USUAL_IMPORTANCE and not prior.pinned:
        days = max(0, now - max(prior.observed_at_us, prior.used_at or 0)) / MICROSECONDS_PER_DAY
        importance = C.USUAL_IMPORTANCE + (importance - C.USUAL_IMPORTANCE) * math.exp(-rate * days)
    sure = confidence_of(prior, now)
    doubted = 1.0 - C.DOUBT_SPAN * max(0.0, 1.0 - sure / C.OBSERVED_PER_DAY)
    loss = max(0, prior.not_useful + C.VERDICT_WORTH * ((0 if prior.trust == "user" else prior.wrong) - prior.useful))
    return {
        "use": use,
        "decay": decay,
        "importance": 1.0 + C.IMPORTANCE_SPAN * 2 * (importance - 0.5),
        "confidence": (1.0 - C.CONFIDENCE_SPAN * (1.0 - sure)) * doubted,
        "feedback": 1.0 - C.FEEDBACK_SPAN * loss / (loss + C.FEEDBACK_HALF),
    }


def doubts(memory: Stated) -> int:
    """Count the verdicts `wrong` that no verdict `useful` has answered. What the user said stands until a person has
    decided in review."""
    return 0 if memory.trust == "user" else max(0, memory.wrong - memory.useful)


def stage(observations: int, trust: str) -> str:
    """Return how far a statement has come: observation, hypothesis or verified."""
    if observations >= C.VERIFIED_DAYS or trust == "user":
        return "verified"
    return "hypothesis" if observations >= C.HYPOTHESIS_DAYS else "observation"


def confidence_of(memory: Stated, now: int) -> float:
    """Return how sure the store is of a memory, 0 to 1: the observation dialectic.

    `observations`: distinct days on which it was stated, by the store's clock. 1: an observation, 0.1 n; 2: a
    hypothesis, min(0.3 + 0.1 n, 0.6); 3 and more: verified, min(0.5 + 0.1 n, 0.95). What the user states starts as
    verified; `stated_confidence` (a caller's or an import's figure) is the least it is. An opinion loses 0.02 a day.
    After that, d doubts divide it by 1 + d. Source: domain model.
    """
    days = memory.observations
    if days >= C.VERIFIED_DAYS or memory.trust == "user":
        value = min(C.VERIFIED_BASE + C.OBSERVED_PER_DAY * days, C.VERIFIED_CAP)
    elif days >= C.HYPOTHESIS_DAYS:
        value = min(C.HYPOTHESIS_BASE + C.OBSERVED_PER_DAY * days, C.HYPOTHESIS_CAP)
    else:
        value = C.OBSERVED_PER_DAY * days
    if memory.stated_confidence is not None:
        value = max(value, memory.stated_confidence) if days > 1 else memory.stated_confidence
    if memory.kind == "opinion":
        value -= C.OPINION_LOSS_PER_DAY * (max(0, now - memory.observed_at_us) // MICROSECONDS_PER_DAY)
    value = round(min(1.0, max(0.0, value)), 4)
    against = doubts(memory)
    return round(value / (1 + against), 4) if against else value


def confidence_word(memory: Stated, value: float) -> str:
    """Name a confidence for people and models: stated, repeated, confirmed; or doubtful, if it was said to be wrong or
    is below that of a single statement (an old opinion)."""
    if doubts(memory) > 0 or value < C.OBSERVED_PER_DAY:
        return DOUBTFUL
    if value >= C.CONFIRMED:
        return "confirmed"
    return "repeated" if memory.observations >= C.HYPOTHESIS_DAYS else "stated"
