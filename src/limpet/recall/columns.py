"""`gather.py` over a store's columns: the same candidates and signals, without fetching a row for any.

A test holds the two to the same answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..rank import constants as C
from ..store.records import ArrayHits
from ..text.grams import with_grams
from .arrays import distinct, measure_traits, traits_of
from .gather import (
    OUT_OF_TIME,
    WALKED,
    Gathered,
    Merit,
    VectorHits,
    VectorSignal,
    best_of,
    by_letter,
    nearest,
    reach,
    search_vectors,
    when_told,
)
from .plan import Plan
from .signals import Said, worth_of

if TYPE_CHECKING:
    from ..store.contract import Columns, Store

_NOBODY = np.zeros(0, dtype=np.int64)


def gather_columns(store: Store, columns: Columns, vectors: VectorSignal | None, plan: Plan) -> Gathered:
    """All candidates that pass the filter and may be meant, with what is known about each."""
    found, reached = Gathered(), dict[int, float]()
    hits, kept = _lexical(columns, plan, found)
    meant = found.hits = search_vectors(vectors, plan, found)
    pool, orders = [kept], [kept.tolist()]
    if meant is not None:
        passed, near = _vector_candidates(columns, meant, plan)
        pool.append(near)
        orders.append(passed)
    bodies = distinct(np.concatenate(pool))
    if not len(bodies):
        several = by_letter(store, plan)
        bodies = np.unique(np.array(several, dtype=np.int64))
        hits = hits._replace(bodies=bodies, scores=np.full(len(bodies), hits.weight or 1.0))
    else:
        if "neighbours" not in plan.without:
            around = columns.near(np.array(best_of(orders, C.NEIGHBOURHOODS)), C.NEIGHBOUR_REACH)
            bodies = distinct(np.concatenate([bodies, around[columns.passing(around, plan.where)]]))
        reached = reach(store, plan, orders, found)
        if reached:
            bodies = distinct(np.concatenate([bodies, np.array(nearest(reached), dtype=np.int64)]))
    _describe(columns, bodies, found)
    unit = 1.0 / (hits.weight or 1.0)
    fields, having = columns.words(bodies, hits.stems)
    found.signals = measure_traits(
        traits_of(columns, bodies),
        Said(
            text=_scores_of(hits, bodies) * unit,
            fields=fields * unit,
            having=having,
            worth=worth_of(hits.stems, hits.absent),
            when=when_told(store, found.bodies, plan.query),
            after=plan.after,
            near=[reached.get(body, 0.0) for body in found.bodies] if reached else None,
        ),
        None if meant is None or not len(bodies) else np.asarray(meant.cosines(bodies, exact=C.RESCORED)),
        plan.query,
        plan.at,
        plan.without,
    )
    return found


def _lexical(columns: Columns, plan: Plan, found: Gathered) -> tuple[ArrayHits, np.ndarray]:
    """The best hits by words, and those of them that pass the filter, best first, until there are enough."""
    if "lexical" in plan.without:
        return ArrayHits.none(), _NOBODY
    hits = columns.lexical(with_grams(plan.query), plan.where, deadline=plan.deadline)
    found.stems, found.absent = hits.stems, hits.absent
    if not hits.complete:
        found.miss("lexical", OUT_OF_TIME)
    # As many as are asked of a store without columns at first, so that both give scores to the same ones.
    first = C.LEXICAL_CANDIDATES * 3
    kept = hits.bodies[:first][columns.passing(hits.bodies[:first], plan.where)]
    if len(kept) >= C.LEXICAL_CANDIDATES or len(hits.bodies) < first:
        hits = hits._replace(bodies=hits.bodies[:first], scores=hits.scores[:first])
    else:
        kept = hits.bodies[columns.passing(hits.bodies, plan.where)]
    return hits, kept[: C.LEXICAL_CANDIDATES]


def _vector_candidates(columns: Columns, meant: VectorHits, plan: Plan) -> tuple[list[int], np.ndarray]:
    """Bodies in the order of their cosines until enough of them pass the filter, and all that passed on the way."""
    wanted, walked = max(C.VECTOR_CANDIDATES, plan.k), 0
    passed: list[int] = []
    pool = [_NOBODY]
    restricted = bool(plan.where.topics) or plan.where.session is not None
    if restricted:
        meant.restrict(columns.allowed(plan.where).tolist())
    step = wanted
    while len(passed) < wanted:
        part = np.array(meant.take(step), dtype=np.int64)
        if not len(part):
            break
        passing = part[columns.passing(part, plan.where)]
        pool.append(passing)
        passed += passing.tolist()
        walked += len(part)
        step *= 2
        if walked >= WALKED and plan.where.narrows and not restricted and len(passed) < wanted:
            meant.restrict(columns.allowed(plan.where).tolist())
            restricted, passed = True, []
    return passed, np.concatenate(pool)


def _describe(columns: Columns, bodies: np.ndarray, found: Gathered) -> None:
    """What an answer needs of each candidate beside its signals."""
    found.nums = columns.num[bodies].tolist()
    found.ids = columns.id[bodies].tolist()
    found.bodies = bodies.tolist()
    found.spoken = (columns.speaker[bodies] > 0).tolist()  # the first of the names is that of nobody
    found.sessions = columns.session[bodies].tolist()
    found.positions = columns.position[bodies].tolist()
    found.keyed = columns.keyed[bodies].tolist()
    found.lives, found.life = _lives(columns, bodies)


def _lives(columns: Columns, bodies: np.ndarray) -> tuple[list[Merit], list[int]]:
    """What the lives of the candidates say of their scores, each put into words once, and which is whose."""
    numbers = columns.life[bodies].tolist()
    place: dict[int, int] = {}
    life = [place.setdefault(number, len(place)) for number in numbers]
    lives = [Merit._make((*columns.lives[number], 0, None, 0)) for number in place]
    own: dict[int, Merit] = {}
    if any(one.kind == "opinion" for one in lives):
        times = columns.observed_at[bodies].tolist()
        own = {i: lives[at]._replace(observed_at=times[i]) for i, at in enumerate(life) if lives[at].kind == "opinion"}
    for i, (uses, used_at) in columns.uses(bodies).items():
        own[i] = own.get(i, lives[life[i]])._replace(uses=uses, used_at=used_at or None)
    for i, merit in own.items():
        life[i] = len(lives)
        lives.append(merit)
    return lives, life


def _scores_of(hits: ArrayHits, bodies: np.ndarray) -> np.ndarray:
    """The score by words of each body, which are in order; 0 where there is none."""
    found = np.zeros(len(bodies))
    if len(bodies):
        at = bodies.searchsorted(hits.bodies)
        there = bodies.take(at, mode="clip") == hits.bodies
        found[at[there]] = hits.scores[there]
    return found
