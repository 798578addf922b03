"""The prior of a memory, whatever the query: use, decay, importance, confidence and feedback, a factor each. Pure."""

from __future__ import annotations

import math
from functools import lru_cache

from . import constants as C

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object

MICROSECONDS_PER_DAY = 86_400_000_000
# The word for a confidence that is to be said with every memory that has it.
DOUBTFUL = "doubtful"


class Stated(Protocol):
    """What the confidence of a memory follows from. Times in microseconds."""

    @property
    def kind(self) -> str: ...
    @property
    def trust(self) -> str: ...
    @property
    def observations(self) -> int: ...
    @property
    def observed_at_us(self) -> int: ...
    @property
    def stated_confidence(self) -> float | None: ...
    @property
    def useful(self) -> int: ...
    @property
    def wrong(self) -> int: ...


def use_boost(uses: int) -> float:
    """1 + 0.1 ln(1 + uses): 1 for a memory that was never used, 1.24 after ten uses."""
    return 1.0 + C.USE_BOOST * math.log1p(uses)


def decay(kind: str, *, uses: int, used_at: int | None, now: int, pinned: bool) -> float:
    """The share of a score that is left since the last use. Times in microseconds. Never used or pinned: 1.

    It takes back what use gave and no more: what was used is at no time worth less than what never was.
    """
    if used_at is None or pinned:
        return 1.0
    days = max(0, now - used_at) / MICROSECONDS_PER_DAY
    return max(1.0 / use_boost(uses), math.exp(-C.DECAY_PER_DAY[kind] * days))


def importance_factor(importance: float) -> float:
    """0.9 to 1.1 for 0 to 1; 1 for the usual 0.5."""
    return 1.0 + C.IMPORTANCE_SPAN * 2 * (importance - 0.5)


def faded(importance: float, kind: str, *, seen_at: int, now: int, pinned: bool) -> float:
    """What is left of an importance above the usual since the memory was last stated or used; of a pinned one all.

    The usual is the floor: what is important is at no time worth less than what is not.
    """
    if importance <= C.USUAL_IMPORTANCE or pinned:
        return importance
    days = max(0, now - seen_at) / MICROSECONDS_PER_DAY
    return C.USUAL_IMPORTANCE + (importance - C.USUAL_IMPORTANCE) * math.exp(-C.DECAY_PER_DAY[kind] * days)


def confidence_factor(confidence: float) -> float:
    """0.955 for a single statement of an agent, 0.98 for one of the user, 0.665 for an opinion nobody repeated."""
    factor = 1.0 - C.CONFIDENCE_SPAN * (1.0 - confidence)
    return factor * (1.0 - C.DOUBT_SPAN * max(0.0, 1.0 - confidence / C.OBSERVED_PER_DAY))


def feedback_factor(*, useful: int, not_useful: int, wrong: int) -> float:
    """What verdicts leave of a score: 1 when `useful` answers the others, else less, and never below a bound."""
    against = max(0, not_useful + C.VERDICT_WORTH * (wrong - useful))
    return 1.0 - C.FEEDBACK_SPAN * against / (against + C.FEEDBACK_HALF)


def objections(one: Stated) -> int:
    """How often it was said to be wrong and nobody said since that it is useful."""
    return max(0, one.wrong - one.useful)


def doubts(one: Stated) -> int:
    """Objections that count. What the user said stands until a person has decided about them in review."""
    return 0 if one.trust == "user" else objections(one)


def stage(observations: int, trust: str) -> str:
    """observation, hypothesis or verified: how far a statement has come."""
    if observations >= C.VERIFIED_DAYS or trust == "user":
        return "verified"
    return "hypothesis" if observations >= C.HYPOTHESIS_DAYS else "observation"


def confidence(*, kind: str, trust: str, observations: int, observed_at: int, stated: float | None, now: int) -> float:
    """How sure the store is of a memory, 0 to 1: the observation dialectic.

    `observations`: distinct days on which it was stated, by the store's clock. 1: an observation, 0.1 n; 2: a
    hypothesis, min(0.3 + 0.1 n, 0.6); 3 and more: verified, min(0.5 + 0.1 n, 0.95). What the user states starts as
    verified; `stated` (a caller's or an import's figure) is the least it is. An opinion loses 0.02 a day.
    Source: domain model.
    """
    lost = 0.0
    if kind == "opinion":
        lost = C.OPINION_LOSS_PER_DAY * (max(0, now - observed_at) // MICROSECONDS_PER_DAY)
    return _confidence(trust, observations, stated, lost)


def confidence_of(one: Stated, now: int) -> float:
    """`confidence` of a memory: a share of it for each time that it was said to be wrong."""
    value = confidence(
        kind=one.kind, trust=one.trust, observations=one.observations, observed_at=one.observed_at_us,
        stated=one.stated_confidence, now=now,
    )  # fmt: skip
    against = doubts(one)
    return round(value / (1 + against), 4) if against else value


def is_doubtful(one: Stated, value: float) -> bool:
    """Whether it was said to be wrong, or has less than what a single statement has: an old opinion."""
    return doubts(one) > 0 or value < C.OBSERVED_PER_DAY


def confidence_word(one: Stated, value: float) -> str:
    """A confidence for people and models: stated, repeated, confirmed or doubtful."""
    if is_doubtful(one, value):
        return DOUBTFUL
    if value >= C.CONFIRMED:
        return "confirmed"
    return "repeated" if one.observations >= C.HYPOTHESIS_DAYS else "stated"


@lru_cache(maxsize=1024)  # most memories share it
def _confidence(trust: str, n: int, stated: float | None, lost: float) -> float:
    if n >= C.VERIFIED_DAYS or trust == "user":
        value = min(C.VERIFIED_BASE + C.OBSERVED_PER_DAY * n, C.VERIFIED_CAP)
    elif n >= C.HYPOTHESIS_DAYS:
        value = min(C.HYPOTHESIS_BASE + C.OBSERVED_PER_DAY * n, C.HYPOTHESIS_CAP)
    else:
        value = C.OBSERVED_PER_DAY * n
    if stated is not None:
        value = max(value, stated) if n > 1 else stated
    return round(min(1.0, max(0.0, value - lost)), 4)
