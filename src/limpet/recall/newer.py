"""Newer before older: of near results that answer the same question, what was said later takes the older's place.

Three cases, unless the question is about the past. A newer result gives another value of the same thing, or denies it,
in the words of the older (`text/statements.py`). Or it is a correction, by its kind, and near. Or the question asks for
what holds now, and a logistic model takes the newer one to answer it as well (`rank/newer_weights.py`). Only the first
results are compared. Asked as of a time, or about a date, all stay where they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import permutations

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.memory import FOREIGN, is_below, is_unconfirmed
from ..rank.newer_weights import NEWER, REPLACES_FROM
from ..text.dates import mentioned, spans
from ..text.describe import searchable
from .question import asks_now, asks_past

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.memory import Memory
    from ..store import Store
    from .candidates import Candidates
    from .plan import Plan
    from .score import Ranking

# Results that may change places.
LOOKED_AT = 8
# Results whose words are compared: those that are nearer to each other than this, by the cosine where there is one.
NEAR = 0.4
CORRECTION = "correction"
# How near a newer result that may say what became of an older one is to it, and the words that they have in common;
# where there are no cosines, more of these. Chosen on tests/quality/recency and injection, tuning halves.
LATER, SHARED, SHARED_BY_WORDS = 0.5, 1, 3
# Words that siblings differ in.
IN_A_PLACE = 2
_WORD = re.compile(r"\w+")


def replacements(store: Store, found: Candidates, ranking: Ranking, plan: Plan) -> list[set[tuple[int, int]]]:
    """Pairs (older, newer) of the first candidates of which the newer takes the older's place: those that are surest,
    then those that are likely."""
    first = ranking.order[:LOOKED_AT]
    times = [found.table.valid_from[i] for i in first]
    pairs = [(a, b) for b in range(1, len(first)) for a in range(b) if times[b] > times[a]]
    if not pairs or "recency" in plan.without or _of_another_time(plan):
        return []
    cosines = found.among(first)
    near = [pair for pair in pairs if found.hits is None or cosines.get(pair, 0.0) >= NEAR]
    sure = _by_words(store, found, first, near)
    likely = _corrections(found, first, pairs, cosines)
    if found.hits is not None and "vector" in found.features and asks_now(plan.query):
        several = features(found, first, ranking.ranked, pairs, cosines)
        likely |= {pair for pair, values in several.items() if probability(values) >= REPLACES_FROM}
    return [{(first[a], first[b]) for a, b in some} for some in (sure, likely)]


def later(found: Candidates, places: Sequence[int], memories: Sequence[Memory], plan: Plan) -> dict[int, str]:
    """Of results the id of the newer one among them that is nearest, if it may say what became of them. `memories`:
    theirs.

    Where it did replace the older (tests/quality/recency) that is so for 4 of 10; of what is newer out of the same
    world for one in 10 to 20.
    """
    from ..text.overlap import shared_weight

    cosines = found.among(places)
    least = SHARED_BY_WORDS if found.hits is None else SHARED
    nearest: dict[int, tuple[float, str]] = {}
    for (a, one), (b, other) in permutations(enumerate(memories), 2):
        if one.valid_from_us >= other.valid_from_us or not _may_replace(one, other):
            continue
        if _is_of_another(plan.query, one, other):
            continue
        shared = shared_weight(searchable(one.content, one.key), searchable(other.content, other.key))
        near = float(shared) if found.hits is None else cosines.get((min(a, b), max(a, b)), 0.0)
        enough = least if found.hits is None else NEAR if other.kind == CORRECTION else LATER
        if shared >= least and near >= enough:
            nearest[a] = max(nearest.get(a, (0.0, "")), (near, other.id))
    return {places[a]: id for a, (_, id) in nearest.items()}


def asks_before(memories: Sequence[Memory], plan: Plan) -> bool:
    """Whether the first is the value that a key has now, and the question asks for what was."""
    return bool(memories and memories[0].key) and plan.timeless and asks_past(plan.query)


def _may_replace(one: Memory, other: Memory) -> bool:
    """Of one scope, not of one session, where what comes next is the next turn, not the values of two keys, and not
    trusted less."""
    together = one.session is not None and one.session == other.session
    trusted = not is_unconfirmed(other.origin, other.trust) and not is_below(other.trust, one.trust)
    return trusted and one.scope == other.scope and not together and not (one.key and other.key)


def _is_of_another(question: str, one: Memory, other: Memory) -> bool:
    """Whether two memories differ in a place alone, and the question names what the older has there: "service a",
    "service b". Another value in a place is what `clash` finds."""
    older, newer = set(_WORD.findall(one.content.casefold())), set(_WORD.findall(other.content.casefold()))
    apart = older - newer
    few = len(apart) <= IN_A_PLACE and len(newer - older) <= IN_A_PLACE
    return few and not apart.isdisjoint(_WORD.findall(question.casefold()))


def _of_another_time(plan: Plan) -> bool:
    """Whether the question is about a time of its own: then what is newest says nothing."""
    if not plan.timeless or asks_past(plan.query):
        return True
    dates = mentioned(plan.query)
    return bool(dates.years or dates.months or dates.days) or (
        bool(spans(plan.query, plan.at)) and not asks_now(plan.query)
    )


def _corrections(
    found: Candidates, first: Sequence[int], pairs: Sequence[tuple[int, int]], cosines: Mapping[tuple[int, int], float]
) -> set[tuple[int, int]]:
    """Pairs of which the newer says itself, by its kind, that something turned out otherwise: what is nearest to it."""
    nearest: dict[int, tuple[float, int]] = {}
    for a, b in pairs:
        older, newer = found.table.priors[first[a]].trust, found.table.priors[first[b]].trust
        if found.table.priors[first[b]].kind == CORRECTION and not (newer in FOREIGN or is_below(newer, older)):
            nearest[b] = max(nearest.get(b, (0.0, 0)), (cosines.get((a, b), 0.0), a))
    return {(a, b) for b, (cosine, a) in nearest.items() if cosine >= NEAR}


def _by_words(
    store: Store, found: Candidates, first: Sequence[int], pairs: Sequence[tuple[int, int]]
) -> set[tuple[int, int]]:
    """Pairs of places in `first` of which the second clashes with the first: not of a series of siblings."""
    if not pairs:
        return set()
    wanted = sorted({place for pair in pairs for place in pair})
    several = found.memories(store, [first[place] for place in wanted])
    read = dict(zip(wanted, several, strict=True))
    return {(a, b) for a, b in pairs if _clashes(read[a], read[b], list(read.values()))}


def _clashes(older: Memory, newer: Memory, others: Sequence[Memory]) -> bool:
    if (older.scope, older.speaker) != (newer.scope, newer.speaker) or older.key or newer.key:
        return False
    from ..text.statements import clash, in_series  # its tables and patterns: for those that are compared

    against = clash(older.content, newer.content)
    if against is None:
        return False
    return not any(in_series(older.content, newer.content, against.frame, one.content) for one in others)


def features(
    found: Candidates,
    first: Sequence[int],
    scores: Sequence[float],
    pairs: Sequence[tuple[int, int]],
    cosines: Mapping[tuple[int, int], float],
) -> dict[tuple[int, int], dict[str, float]]:
    """What the model knows of pairs of places in `first`, the older first, which the ranking put above the newer."""
    table, vector, named = found.table, found.features["vector"], found.features.get("speaker")
    cosine = [vector[i] for i in first]
    at = [table.valid_from[i] for i in first]
    says = [0.0 if named is None else named[i] for i in first]
    return {
        (a, b): {
            "one": 1.0,
            "behind": scores[first[a]] - scores[first[b]],
            "behind_first": scores[first[0]] - scores[first[b]],
            "cosine": cosine[b],
            "cosine_behind": cosine[a] - cosine[b],
            "alike": cosines.get((a, b), 0.0),
            "speaker_behind": says[a] - says[b],
            "newer_and_nearer": float(sum(at[c] > at[b] and cosine[c] >= cosine[b] for c in range(len(first)))),
            "days": math.log1p((at[b] - at[a]) / MICROSECONDS_PER_DAY),
        }
        for a, b in pairs
    }


def probability(values: Mapping[str, float]) -> float:
    """That the newer of a pair answers the question as well, 0 to 1."""
    log_odds = sum(NEWER[name] * value for name, value in values.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, log_odds))))
