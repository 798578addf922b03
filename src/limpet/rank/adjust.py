"""What a memory is worth, whatever the query: use, importance, confidence and feedback, a factor each; and the prior
among memories that answer alike. Pure."""

from __future__ import annotations

import math
from functools import lru_cache

from . import constants as C

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.memory import Memory
    from ..recall.index import PriorFactors

    Stated = Memory | PriorFactors  # what a confidence follows from

MICROSECONDS_PER_DAY = 86_400_000_000
# The confidence word that is shown with every memory that has it.
DOUBTFUL = "doubtful"


@lru_cache(maxsize=1024)  # most candidates share their factors on a day: never used, stated once
def factors(prior: PriorFactors, now: int) -> dict[str, float]:
    """Return the factors by which a memory's own history changes its score, whatever the query. Times in microseconds.

    `use`: 1 + 0.1 ln(1 + uses), 1.24 after ten uses; the uses fade since the last one. `importance`: 0.9 to 1.1 for 0
    to 1; above the usual 0.5 it fades to it since the memory was last stated or used. `confidence`: 0.955 for a single
    statement of an agent, 0.98 for one of the user, 0.665 for an opinion nobody repeated. `feedback`: 1 when `useful`
    answers the other verdicts, else less, down to a bound.
    """
    importance = prior.importance
    if importance > C.USUAL_IMPORTANCE:
        left = fresh(prior, max(prior.observed_at_us, prior.used_at or 0), now)
        importance = C.USUAL_IMPORTANCE + (importance - C.USUAL_IMPORTANCE) * left
    sure = confidence_of(prior, now)
    doubted = 1.0 - C.DOUBT_SPAN * max(0.0, 1.0 - sure / C.OBSERVED_PER_DAY)
    loss = max(0, prior.not_useful + C.VERDICT_WORTH * ((0 if prior.trust == "user" else prior.wrong) - prior.useful))
    return {
        "use": 1.0 + C.USE_BOOST * math.log1p(_uses(prior, now)),
        "importance": 1.0 + C.IMPORTANCE_SPAN * 2 * (importance - 0.5),
        "confidence": (1.0 - C.CONFIDENCE_SPAN * (1.0 - sure)) * doubted,
        "feedback": 1.0 - C.FEEDBACK_SPAN * loss / (loss + C.FEEDBACK_HALF),
    }


def fresh(prior: PriorFactors, since: int, now: int) -> float:
    """Return how much is left of a memory after a time, 1 to 0; pinned ones do not fade."""
    days = 0.0 if prior.pinned else max(0, now - since) / MICROSECONDS_PER_DAY
    return math.exp(-C.DECAY_PER_DAY[prior.kind] * days)


def _uses(prior: PriorFactors, now: int) -> float:
    return 0.0 if prior.used_at is None else prior.uses * fresh(prior, prior.used_at, now)


def worth(prior: PriorFactors, stated: int, weighs: float, now: int) -> float:
    """Return the worth of a memory among others that answer as well, in log-odds: by its uses, its age since it was
    `stated` or used, what it `weighs` (0 to 1), and whether it tells an event or an opinion."""
    left = fresh(prior, max(stated, prior.used_at or 0), now)
    passing = prior.kind in ("episode", "opinion")
    return C.USED * math.log1p(_uses(prior, now)) - C.FADED * (1 - left) + C.WEIGHTY * weighs - C.PASSING * passing


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
