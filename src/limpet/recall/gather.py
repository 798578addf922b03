"""Signals for one query: who may be meant, and what each signal says about them.

Every signal is optional. One that cannot answer is named in `missing`, with the reason in `notes`.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..model.errors import EmbedderUnavailable
from ..rank import constants as C
from ..store.contract import Candidate, LexicalHit, Store
from ..text.dates import agreement, mentioned
from .plan import Plan

# Characters at which a memory's neighbours count half as much as for an empty one.
BRIEF = 200
# How transcripts name the person that an agent talks to.
PERSON = frozenset({"user", "human"})
_WORD = re.compile(r"\w+")


class VectorHits(Protocol):
    """Approximate cosines of a query with everything, best first, and exact ones on demand."""

    def take(self, n: int) -> list[int]: ...

    def score_of(self, bodies: Sequence[int]) -> list[float | None]: ...

    def rescore(self, bodies: Sequence[int]) -> dict[int, float]: ...


class VectorSignal(Protocol):
    """The vector side of recall, kept by the engine. Raises EmbedderUnavailable with the reason."""

    def search(self, plan: Plan) -> VectorHits: ...


@dataclass(slots=True)
class Gathered:
    """Candidates in a fixed order, and a table of signals: name -> a value for each candidate."""

    candidates: list[Candidate] = field(default_factory=list)
    signals: dict[str, list[float]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    def miss(self, signal: str, why: str) -> None:
        self.missing.append(signal)
        self.notes[signal] = why


def gather(store: Store, vectors: VectorSignal | None, plan: Plan) -> Gathered:
    """All candidates that pass the filter and may be meant, with what is known about each."""
    found = Gathered()
    lexical, weight = _lexical(store, plan, found)
    hits = _vector(vectors, plan, found)
    by_body: dict[int, Candidate] = {}
    if lexical:
        by_body = {one.body: one for one in store.candidates(list(lexical)[: C.LEXICAL_CANDIDATES], plan.where)}
    if hits is not None:
        _add_vector_candidates(store, hits, plan, by_body)
    if not by_body:
        bodies = store.substring(plan.query, plan.where, limit=plan.k * 3) if "lexical" not in plan.without else []
        by_body = {one.body: one for one in store.candidates(bodies, plan.where)}
        for body in by_body:
            lexical[body] = LexicalHit(body, 1.0, 0.0)
        weight = weight or 1.0
    elif "neighbours" not in plan.without:
        best = _best_first(by_body, lexical, hits)[: C.NEIGHBOURHOODS]
        near = [by_body[body].num for body in best if by_body[body].session is not None]
        if near:
            for one in store.neighbours(near, plan.where, reach=C.NEIGHBOUR_REACH):
                by_body.setdefault(one.body, one)
    found.candidates = sorted(by_body.values(), key=lambda one: one.body)
    _measure(found, lexical, weight, hits, plan)
    return found


def _lexical(store: Store, plan: Plan, found: Gathered) -> tuple[dict[int, LexicalHit], float]:
    if "lexical" in plan.without:
        return {}, 0.0
    result = store.lexical(plan.query, plan.where, limit=C.LEXICAL_CANDIDATES * 3, deadline=plan.deadline)
    if not result.complete:
        found.miss("lexical", "the deadline came before all words were scored")
    return {hit.body: hit for hit in result.hits}, result.weight


def _vector(vectors: VectorSignal | None, plan: Plan, found: Gathered) -> VectorHits | None:
    if plan.lexical_only or "vector" in plan.without or not plan.query.strip():
        return None
    if vectors is None:
        found.miss("vector", "no embedder")
        return None
    try:
        return vectors.search(plan)
    except EmbedderUnavailable as error:
        found.miss("vector", error.message + (f" ({error.hint})" if error.hint else ""))
        return None


def _add_vector_candidates(store: Store, hits: VectorHits, plan: Plan, by_body: dict[int, Candidate]) -> None:
    """Take bodies in the order of their cosines until enough of them pass the filter."""
    wanted, passed = max(C.VECTOR_CANDIDATES, plan.k), 0
    step = wanted + wanted // 4
    while passed < wanted:
        part = hits.take(step)
        if not part:
            return
        fresh = [body for body in part if body not in by_body]
        passed += len(part) - len(fresh)
        for one in store.candidates(fresh, plan.where):
            by_body[one.body] = one
            passed += 1
        step *= 2


def _best_first(by_body: dict[int, Candidate], lexical: dict[int, LexicalHit], hits: VectorHits | None) -> list[int]:
    """Candidates by a rough first score: the better of both ranks."""
    bodies = list(by_body)
    rank: dict[int, int] = {}
    for place, body in enumerate(lexical):
        if body in by_body:
            rank[body] = place
    if hits is not None:
        cosines = hits.score_of(bodies)
        order = sorted(range(len(bodies)), key=lambda i: (-(cosines[i] or -1.0), bodies[i]))
        for place, i in enumerate(order):
            rank[bodies[i]] = min(rank.get(bodies[i], place), place)
    return sorted(bodies, key=lambda body: (rank.get(body, len(bodies)), body))


def _measure(
    found: Gathered, lexical: dict[int, LexicalHit], weight: float, hits: VectorHits | None, plan: Plan
) -> None:
    """Fill the table of signals. BM25 is divided by what a perfect match is worth, so that queries compare."""
    several = found.candidates
    signals = found.signals
    unit = 1.0 / weight if weight else 0.0
    text = [lexical[one.body].text * unit if one.body in lexical else 0.0 for one in several]
    signals["lexical"] = text
    if "fields" not in plan.without:
        signals["fields"] = [lexical[one.body].fields * unit if one.body in lexical else 0.0 for one in several]
    cosines: list[float] = []
    if hits is not None and several:
        cosines = [value or 0.0 for value in hits.score_of([one.body for one in several])]
        top = sorted(range(len(several)), key=lambda i: (-cosines[i], i))[: C.RESCORED]
        exact = hits.rescore([several[i].body for i in top])
        for i in top:
            cosines[i] = exact.get(several[i].body, cosines[i])
        signals["vector"] = cosines
    if "neighbours" not in plan.without:
        _measure_neighbours(several, text, cosines, signals)
    if "session" not in plan.without:
        signals["session"] = _sessions(several, text)
    if "date" not in plan.without:
        when = mentioned(plan.query)
        signals["date"] = [agreement(when, one.valid_from) for one in several]
    if "speaker" not in plan.without:
        words = {word.casefold() for word in _WORD.findall(plan.query)}
        signals["speaker"] = [_named(one.speaker, words) for one in several]
    if "shape" not in plan.without:
        signals["length"] = [math.log1p(min(len(one.content), 2_000)) for one in several]
        signals["long"] = [max(0.0, math.log(len(one.content) / 400)) if one.content else 0.0 for one in several]
        signals["brief_vector"] = [
            value * BRIEF / (BRIEF + len(one.content)) for value, one in zip(cosines, several, strict=False)
        ] or [0.0] * len(several)
        signals["by_person"] = [float((one.speaker or "").casefold() in PERSON) for one in several]
        signals["question"] = [float(one.content.rstrip().endswith("?")) for one in several]


def _measure_neighbours(
    several: list[Candidate], text: list[float], cosines: list[float], signals: dict[str, list[float]]
) -> None:
    """What the memories before and after in the same session say: chat turns answer each other."""
    place: dict[tuple[int | None, int], int] = {
        (one.session, one.position): i for i, one in enumerate(several) if one.session is not None
    }
    # For each offset the index of the neighbour, or that of a zero at the end.
    nobody = len(several)
    at = {
        offset: [place.get((one.session, one.position + offset), nobody) for one in several]
        for offset in (-2, -1, 1, 2)
    }
    # A neighbour counts by how brief the memory itself is: a long one speaks for itself.
    brief = [BRIEF / (BRIEF + len(one.content)) for one in several]

    def near(values: list[float], *offsets: int) -> list[float]:
        padded = [*values, 0.0]
        if len(offsets) == 1:
            return [max(0.0, padded[i]) * share for i, share in zip(at[offsets[0]], brief, strict=True)]
        pairs = zip(at[offsets[0]], at[offsets[1]], brief, strict=True)
        return [max(0.0, padded[i], padded[j]) * share for i, j, share in pairs]

    signals["lexical_previous"] = near(text, -1)
    signals["lexical_next"] = near(text, 1)
    signals["lexical_around"] = near(text, -2, 2)
    if cosines:
        signals["vector_previous"] = near(cosines, -1)
        signals["vector_next"] = near(cosines, 1)
        signals["vector_around"] = near(cosines, -2, 2)
    asked = [float(one.content.rstrip().endswith("?")) for one in several]
    signals["answer"] = near(asked, -1)


def _sessions(several: list[Candidate], text: list[float]) -> list[float]:
    """How much of the query a memory's whole session speaks of: the log of its candidates' summed scores."""
    total: dict[int, float] = defaultdict(float)
    for one, value in zip(several, text, strict=True):
        if one.session is not None:
            total[one.session] += value
    return [math.log1p(total[one.session]) if one.session is not None else 0.0 for one in several]


def _named(speaker: str | None, words: set[str]) -> float:
    if not speaker:
        return 0.0
    return float(any(part.casefold() in words for part in _WORD.findall(speaker)))
