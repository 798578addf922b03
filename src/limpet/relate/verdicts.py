"""The verdicts of the reader about two statements: the one table of relations, levels and thresholds.

A change is that the older statement holds no more: `replaces` (another value), `ends` (no value), `resolves` (a problem
or a plan is over). A level says how sure that is on real streams, where nearly no pair is a change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..model.dataclass import NamedTuple
from ..settings import same_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..vectors.reader import Reader

# Languages that the reader was taught; others were not measured.
LANGUAGES = "English, German, French, Spanish, Italian, Portuguese, Dutch, Polish"
RESOLVES = "resolves"
CHANGES = ("replaces", "ends", RESOLVES)
# Changes that are proposed to a person. What resolves a problem leaves it true.
PROPOSED = ("replaces", "ends")
SURE, LIKELY = "sure", "likely"
# The later of two turns of a session says what solved the problem that the earlier one tells (`solve` of job.py).
SOLVES = "solves"
# What a memory weighs, as a relation to itself: what answers this question outranks a passing opinion. It weighs one
# half at these log-odds. Chosen on the open half of tests/quality/priors.
WEIGHS, WEIGHTY, WEIGHTY_FROM = "weighs", "What is important for somebody's health or safety?", -3.5
# Log-odds of a change from which it is likely, and sure. Chosen by hand on the tuning half of
# tests/quality/changes.jsonl and on streams (docs/log.md); the model of today is never so sure.
LIKELY_FROM, SURE_FROM = 1.9, 6.0
# Log-odds that two statements say the same: of the reader's `same`, the mean of both ways round; of the cosine of both,
# up to CLOSE; of what they share of their word pieces beyond SHARED. Where a single word differs, the reader does not
# see which ("below 80 %", "above 80 %"), and elsewhere what it takes for the same is often far apart in meaning. Chosen
# on held-back training sets, streams and tests/quality/rewordings.jsonl (docs/log.md).
READ, NEAR, BEYOND, OFFSET = 0.58, 4.0, -20.0, -3.6
CLOSE, SHARED = 0.8, 0.45
# Log-odds of `same` from which a pair is read the other way round too.
BACK_FROM = -1.5
# By how much `resolves` must be ahead: of what it says nobody is asked.
RESOLVES_AHEAD = 0.7
# Probability from which a change is proposed to a person, whose time is worth more than a place in a list.
ASKED_FROM = 0.93


class Verdict(NamedTuple):
    """The relation of a newer statement to an older one, and its certainty."""

    relation: str
    level: str
    probability: float


def verdicts(
    reader: Reader, pairs: Sequence[tuple[str, str]], cosines: Sequence[float], shared: Sequence[float]
) -> list[Verdict | None]:
    """Read pairs (older, newer). `cosines`: of the texts of each; `shared`: what they share of their word pieces.

    Raises EmbedderUnavailable.
    """
    forth, least = reader.relations(pairs), same_from()
    likely = [i for i, logits in enumerate(forth) if least < 1 and same_odds(logits) >= BACK_FROM]
    back = dict(zip(likely, reader.relations([pairs[i][::-1] for i in likely]), strict=True))
    read_as = [verdict(logits) for logits in forth]
    for i, logits in back.items():
        read = (same_odds(forth[i]) + same_odds(logits)) / 2
        near, beyond = min(cosines[i], CLOSE), max(0.0, shared[i] - SHARED)
        same = probability(READ * read + NEAR * near + BEYOND * beyond + OFFSET)
        if read_as[i] is None and same >= least:
            read_as[i] = Verdict("same", SURE, same)
    return read_as


def verdict(logits: Sequence[float]) -> Verdict | None:
    """Return the change that a pair is by the log-odds of `vectors.reader.RELATIONS`; None where nothing changed."""
    from ..vectors.reader import RELATIONS

    by_name = dict(zip(RELATIONS, logits, strict=True))
    changed = change_odds(logits)
    if changed < LIKELY_FROM:
        return None
    by_name["resolves"] -= RESOLVES_AHEAD
    relation = max(CHANGES, key=lambda name: by_name[name])
    return Verdict(relation, SURE if changed >= SURE_FROM else LIKELY, probability(changed))


def weight(odds: float) -> float:
    """Return what a text weighs, 0 to 1, by the relevance judge's log-odds that it answers `WEIGHTY`."""
    return round(probability(2 * (odds - WEIGHTY_FROM)), 4)


def same_odds(logits: Sequence[float]) -> float:
    """Return the log-odds that the reader takes two statements for the same."""
    from ..vectors.reader import RELATIONS

    return log_odds(logits, [RELATIONS.index("same")])


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
