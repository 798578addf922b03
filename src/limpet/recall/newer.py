"""Newer before older: a newer statement ranks above the one that it replaces.

There are three cases. A model read both when the newer one was stored, and found a change (`relate/`). Or the newer one
is near and a correction, by its kind. Or the question asks for what holds now, and a logistic model says that the newer
one answers it as well (`rank/newer_weights.py`). Only the first results are looked at. For a question about the past
the older one ranks above; nothing changes for a date or a given time.

Also the warnings about memories that are shown: what contradicts, corrects or replaces them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..model.clock import MICROSECONDS_PER_DAY, format_time
from ..model.dataclass import replace
from ..model.encode import OPTIONAL
from ..model.ids import format_id, parse_id
from ..model.memory import FOREIGN, Memory, is_below, is_unconfirmed
from ..rank.newer_weights import NEWER, REPLACES_FROM
from ..relate import verdicts
from ..text.dates import mentioned, spans, stretch
from .lookup import reason_of
from .plan import READ, Plan, asks_before, asks_now, asks_past

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store
    from .candidates import Candidates
    from .score import Ranking

# Results that may change places.
LOOKED_AT = 8
# The cosine that a memory of kind correction needs with the memory that it corrects.
NEAR = 0.4
# What `edges.warnings` says of a memory that a newer one changed.
CHANGES = frozenset(
    f"{relation} {level}" for relation in verdicts.CHANGES for level in (verdicts.SURE, verdicts.LIKELY)
)
SAME, SOLVES = f"same {verdicts.SURE}", f"{verdicts.SOLVES} {verdicts.LIKELY}"
CORRECTION = "correction"
# A memory as it is told with another: id, text, and maybe why it was replaced.
Told = tuple[str, ...]
# The solution that is told with a problem: id, text and day; and its JSON.
Solution = tuple[str, str, str]
SOLUTION = OPTIONAL | {"form": lambda told: dict(zip(("id", "content", "date"), told, strict=True))}


def replacements(store: Store, candidates: Candidates, ranking: Ranking, plan: Plan) -> list[tuple[int, int, str]]:
    """Return (older, newer, what) of candidates where the newer takes the older's place: first pairs that a model has
    read together (`replaces sure`), then pairs that are likely by their vectors (`asked`)."""
    first, end = ranking.order[:LOOKED_AT], past_end(plan)
    if "recency" in plan.without or (end is None and of_another_time(plan)):
        return []
    rows = [row for row in candidates.warnings(store, first) if row[0] in CHANGES and end is None]
    changed = _read_as_changes(store, candidates, rows) if rows else []
    corrected = end is None and CORRECTION in [candidates.table.priors[i].kind for i in first]
    asked = candidates.hits is not None and "vector" in candidates.features and (end or asks_now(plan.query))
    if not corrected and not asked:
        return changed
    # For a question about the past time runs backwards: the older one takes the place of what began after its end.
    times = [candidates.table.valid_from[i] * (1 if end is None else -1) for i in first]
    pairs = [(a, b) for b in range(1, len(first)) for a in range(b) if times[b] > times[a]]
    pairs = [(a, b) for a, b in pairs if end in (None, math.inf) or times[a] <= -end < times[b]]
    cosines = candidates.among(first)
    likely = _corrections(candidates, first, pairs, cosines) if corrected else set()
    if asked:
        by_pair = features(candidates, first, times, ranking.ranked, pairs, cosines)
        likely |= {pair for pair, values in by_pair.items() if probability(values) >= REPLACES_FROM}
    return changed + [(first[a], first[b], "asked") for b in range(len(first)) for a in range(b) if (a, b) in likely]


def _read_as_changes(
    store: Store, candidates: Candidates, rows: Sequence[tuple[str, bytes, bytes]]
) -> list[tuple[int, int, str]]:
    """Return (older, newer, "replaces sure") of candidates that a model has read as changes. If the older was said
    again after the newer, it takes the newer's place."""
    place = {id: i for i, id in enumerate(candidates.table.ids)}
    changed = []
    for what, older, newer in rows:
        if newer not in place:
            continue
        a, b = place[older], place[newer]
        if stands(*candidates.memories(store, [a, b])):
            changed.append((a, b, what))
        elif what.startswith("replaces"):
            changed.append((b, a, what))
    return changed


def past_end(plan: Plan) -> float | None:
    """Return the end of the past time that a question names, in microseconds; infinity if it asks for what was before
    now. None: it does not ask for the past."""
    if not plan.timeless or asks_now(plan.query):
        return None
    if asks_before(plan.query):
        return math.inf
    asked = plan.query[:READ]
    if mentioned(asked).weekdays and not spans(asked, plan.at):
        return None  # "on Friday" may be the next
    named = stretch(asked, plan.at)
    return named[1] if named and named[1] <= plan.at else None


def asked_for(candidates: Candidates, newest: int, end: float) -> int:
    """Return which of a memory and those that it replaced held before a past time ended (`past_end`)."""
    earlier = candidates.before[newest] if end == math.inf else [newest, *candidates.before[newest]]
    return next((i for i in earlier if candidates.table.valid_from[i] < end), newest)


def ended(store: Store, candidates: Candidates, places: Sequence[int]) -> list[Told]:
    """Return some candidates, and why each was replaced, where somebody said so."""
    rows = list[Told]()
    for memory in candidates.memories(store, places):
        why = reason_of(store, parse_id(memory.id)) if memory.superseded_by else None
        rows.append((memory.id, memory.content, *([why] if why else ())))
    return rows


def stands(older: Memory, newer: Memory) -> bool:
    """Return whether a newer memory still changes an older one: the older was not said again after it."""
    return older.observed_at_us <= newer.observed_at_us


def of_another_time(plan: Plan) -> bool:
    """Return whether the question names a time of its own: then the newest is not better."""
    if not plan.timeless or asks_past(plan.query):
        return True
    dates = mentioned(plan.query)
    return bool(dates.years or dates.months or dates.days) or (
        bool(spans(plan.query, plan.at)) and not asks_now(plan.query)
    )


def _corrections(
    candidates: Candidates, first: Sequence[int], pairs: Sequence[tuple[int, int]],
    cosines: Mapping[tuple[int, int], float],
) -> set[tuple[int, int]]:  # fmt: skip
    """Return pairs whose newer memory corrects something, by its kind, each with the older memory nearest to it."""
    nearest: dict[int, tuple[float, int]] = {}
    for a, b in pairs:
        older, newer = candidates.table.priors[first[a]].trust, candidates.table.priors[first[b]].trust
        if candidates.table.priors[first[b]].kind == CORRECTION and not (newer in FOREIGN or is_below(newer, older)):
            nearest[b] = max(nearest.get(b, (0.0, 0)), (cosines.get((a, b), 0.0), a))
    return {(a, b) for b, (cosine, a) in nearest.items() if cosine >= NEAR}


def features(
    candidates: Candidates, first: Sequence[int], at: Sequence[int], scores: Sequence[float],
    pairs: Sequence[tuple[int, int]], cosines: Mapping[tuple[int, int], float],
) -> dict[tuple[int, int], dict[str, float]]:  # fmt: skip
    """Return the features of pairs of places in `first`, the older first, which the ranking put above the newer. `at`:
    their times."""
    vector, named = candidates.features["vector"], candidates.features.get("speaker")
    cosine = [vector[i] for i in first]
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
    """Return the probability that the newer of a pair answers the question as well."""
    log_odds = sum(NEWER[name] * value for name, value in values.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, log_odds))))


# Two memories contradict each other: by a link, or as a check proposes.
DISPUTES = ("contradicts", "contradiction")
# For each id (what, other id): one of DISPUTES, `replaced`, or what a model read of it and a newer one: `ends sure`.
Warned = dict[str, list[tuple[str, str]]]


def warnings(
    store: Store, plan: Plan, memories: Sequence[Memory], rows: Sequence[tuple[str, bytes, bytes]] | None = None
) -> tuple[Warned, dict[str, Memory]]:
    """Return (what, other id) for each id, and the others that may be shown: held, and seen from here. `rows`: their
    `edges.warnings`, where known."""
    if rows is None:
        rows = store.edges.warnings([parse_id(memory.id) for memory in memories])
    if not rows:
        return {}, {}
    held = store.graph.memories([other for what, _, other in rows if what != "replaced"], plan.where)
    seen = store.graph.validity(
        [other for what, _, other in rows if what == "replaced"], replace(plan.where, as_of=None)
    )
    warned: Warned = {}
    others: dict[str, Memory] = {}
    by_raw = {parse_id(memory.id): memory for memory in memories}
    for what, raw, other in rows:
        memory = by_raw[raw]
        if what == "replaced":
            if other in seen:
                warned.setdefault(memory.id, []).append((what, format_id(other)))
        elif other in held and (what in DISPUTES or stands(memory, held[other])):
            others[held[other].id] = held[other]
            warned.setdefault(memory.id, []).append((what, held[other].id))
    return warned, others


def solution(memory: Memory, text: str) -> Solution:
    """Return what solved a problem as it is told with it. `text`: of the memory, or a part of it."""
    return memory.id, text, (format_time(memory.valid_from_us) or "")[:10]


def solutions(store: Store, plan: Plan, rows: Sequence[tuple[str, bytes, bytes]]) -> dict[bytes, Memory]:
    """Return by the id of each problem the likeliest memory that says what solved it, if it is seen from here. `rows`:
    as for `warnings`."""
    problems = {older for what, older, _ in rows if what == SOLVES}
    if not problems:
        return {}
    links = [link for link in store.relations.of([*problems]) if link.relation == verdicts.SOLVES]
    held = store.graph.memories([link.newer for link in links], plan.where)
    solved = {}
    for link in sorted(links, key=lambda link: (link.probability, link.newer)):
        memory = held.get(link.newer)
        if memory is not None and link.older in problems and not is_unconfirmed(memory.origin, memory.trust):
            solved[link.older] = memory
    return solved


def disputes(
    store: Store, plan: Plan, memories: Sequence[Memory], rows: Sequence[tuple[str, bytes, bytes]]
) -> dict[str, tuple[str, ...]]:
    """Return for each id those that contradict it, if held and seen from here. `rows`: as for `warnings`."""
    warned, _ = warnings(store, plan, memories, rows)
    by_id = {id: tuple(dict.fromkeys(other for what, other in rows if what in DISPUTES)) for id, rows in warned.items()}
    return {id: others for id, others in by_id.items() if others}
