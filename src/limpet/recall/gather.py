"""Signals for one query: who may be meant, and what each signal says about them.

Every signal is optional. One that cannot answer is named in `missing`, with the reason in `notes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..model.errors import EmbedderUnavailable
from ..rank import constants as C
from ..store.records import Candidate, LexicalHit, LexicalResult
from ..text.dates import asks_when, tells_when
from ..text.grams import grams, with_grams
from .plan import Plan
from .signals import Said, Table, measure, worth_of

if TYPE_CHECKING:
    import numpy as np

    from ..store.contract import Store

# Bodies taken in the order of their cosines before a filter that lets few pass is asked for all it lets pass.
WALKED = 2_000
# What a walk over names and links takes at most on a slow machine, in seconds.
GRAPH_SECONDS = 0.02
OUT_OF_TIME = "the deadline came before all words were scored"


class VectorHits(Protocol):
    """Approximate cosines of a query with everything, best first, and exact ones on demand."""

    @property
    def complete(self) -> bool:
        """False: the deadline came before everything was compared."""
        ...

    def take(self, n: int) -> list[int]: ...

    def restrict(self, bodies: Sequence[int]) -> None:
        """Take from these alone from now on, from the best one again."""
        ...

    def cosines(self, bodies: Sequence[int] | np.ndarray, *, exact: int) -> Any:
        """Of each body with the query, those of the best `exact` computed exactly; 0 for one without a vector."""
        ...

    def among(self, bodies: Sequence[int]) -> dict[tuple[int, int], float]:
        """Cosines of some bodies with each other, by pairs of places (earlier, later), where both have vectors."""
        ...

    def vectors(self, bodies: Sequence[int]) -> tuple[Any, Any]:
        """The places of those bodies that have a vector, and the vectors, an array (n, dimensions) of float32."""
        ...


class VectorSignal(Protocol):
    """The vector side of recall, kept by the engine. Raises EmbedderUnavailable with the reason."""

    def search(self, plan: Plan) -> VectorHits: ...


NO_WORDS = LexicalResult(hits=[], stems={}, weight=0.0)


class Merit(NamedTuple):
    """What a memory's own life says of its score."""

    kind: str
    importance: float
    pinned: bool
    trust: str
    observations: int
    stated_confidence: float | None
    uses: int
    used_at: int | None  # None = never
    observed_at: int  # of opinions; 0 for all others, to whom it does not matter

    @property
    def changes(self) -> bool:
        """Whether what it says depends on the time."""
        return self.used_at is not None or self.kind == "opinion"


@dataclass(slots=True)
class Gathered:
    """Candidates in a fixed order, and a table of signals: name -> a value for each candidate."""

    nums: list[int] = field(default_factory=list)
    ids: list[bytes] = field(default_factory=list)
    bodies: list[int] = field(default_factory=list)
    sessions: list[int | None] = field(default_factory=list)  # no session: None or 0
    positions: list[int] = field(default_factory=list)  # in the session
    lives: list[Merit] = field(default_factory=list)  # most candidates share one
    life: Sequence[int] = ()  # of each candidate, its place in `lives`
    signals: Table = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    hits: VectorHits | None = None
    spoken: list[bool] = field(default_factory=list)  # a turn of a conversation: it has a speaker
    keyed: list[bool] = field(default_factory=list)  # has a key
    stems: Mapping[str, float] = field(default_factory=dict)  # the query's words that were searched for, by their worth
    absent: float = 0.0  # what the query's words that no text has would be worth

    def merit(self, i: int) -> Merit:
        """Of one candidate."""
        return self.lives[self.life[i]]

    def miss(self, signal: str, why: str) -> None:
        self.missing.append(signal)
        self.notes[signal] = why


def gather(store: Store, vectors: VectorSignal | None, plan: Plan) -> Gathered:
    """All candidates that pass the filter and may be meant, with what is known about each."""
    columns = store.columns(plan.deadline) if plan.where.known_at is None else None
    if columns is not None:
        from .columns import gather_columns

        return gather_columns(store, columns, vectors, plan)
    found, reached = Gathered(), dict[int, float]()
    lexical, by_body = _lexical(store, plan, found)
    found.stems, found.absent = lexical.stems, lexical.absent
    scores = {hit.body: hit.score for hit in lexical.hits}
    hits = found.hits = search_vectors(vectors, plan, found)
    orders = [list(by_body)]
    if hits is not None:
        orders.append(_add_vector_candidates(store, hits, plan, by_body))
    if not by_body:
        bodies = by_letter(store, plan)
        by_body = {one.body: one for one in store.candidates(bodies, plan.where)}
        scores = dict.fromkeys(by_body, lexical.weight or 1.0)
    else:
        if "neighbours" not in plan.without:
            best = best_of(orders, C.NEIGHBOURHOODS)
            near = [by_body[body].num for body in best if by_body[body].session is not None]
            if near:
                for one in store.neighbours(near, plan.where, reach=C.NEIGHBOUR_REACH):
                    by_body.setdefault(one.body, one)
        reached = reach(store, plan, orders, found)
        fresh = [body for body in nearest(reached) if body not in by_body]
        by_body.update((one.body, one) for one in store.candidates(fresh, plan.where))
    bodies = sorted(by_body)
    several = [by_body[body] for body in bodies]
    found.nums = [one.num for one in several]
    found.ids = [one.id for one in several]
    found.bodies = bodies
    found.sessions = [one.session for one in several]
    found.positions = [one.position for one in several]
    found.spoken = [one.speaker is not None for one in several]
    found.keyed = [one.key is not None for one in several]
    known: dict[Merit, int] = {}
    found.life = [known.setdefault(merit, len(known)) for merit in map(_merit, several)]
    found.lives = list(known)
    unit = 1.0 / (lexical.weight or 1.0)
    found.signals = measure(
        several,
        Said(
            text=[scores.get(body, 0.0) * unit for body in bodies],
            fields=[value * unit for value in _fields(store, several, lexical.stems)],
            having=_having(store, several, lexical.stems),
            worth=worth_of(lexical.stems, lexical.absent),
            when=when_told(store, bodies, plan.query),
            after=plan.after,
            near=[reached.get(body, 0.0) for body in bodies] if reached else None,
        ),
        cosines=None if hits is None or not bodies else hits.cosines(bodies, exact=C.RESCORED),
        query=plan.query,
        at=plan.at,
        without=plan.without,
    )
    return found


def _merit(one: Candidate) -> Merit:
    return Merit(
        one.kind,
        one.importance,
        bool(one.pinned),
        one.trust,
        one.observations,
        one.stated_confidence,
        one.uses or 0,
        one.used_at or None,
        one.observed_at if one.kind == "opinion" else 0,
    )


def _lexical(store: Store, plan: Plan, found: Gathered) -> tuple[LexicalResult, dict[int, Candidate]]:
    """The best hits by words, and those of them that pass the filter, best first, until there are enough."""
    if "lexical" in plan.without:
        return NO_WORDS, {}
    limit: int | None = C.LEXICAL_CANDIDATES * 3
    words = with_grams(plan.query)
    while True:
        result = store.lexical(words, plan.where, limit=limit, deadline=plan.deadline)
        if not result.complete:
            found.miss("lexical", OUT_OF_TIME)
        kept = _passing(store, result.hits, plan)
        if len(kept) >= C.LEXICAL_CANDIDATES or not result.more:
            return result, kept
        limit = None  # the filter takes most of them: look at all


def _passing(store: Store, hits: Sequence[LexicalHit], plan: Plan) -> dict[int, Candidate]:
    """The best hits that pass the filter, looked at in ever larger steps until there are enough."""
    kept: dict[int, Candidate] = {}
    start, step = 0, C.LEXICAL_CANDIDATES
    while start < len(hits) and len(kept) < C.LEXICAL_CANDIDATES:
        part = [hit.body for hit in hits[start : start + step]]
        passing = {one.body: one for one in store.candidates(part, plan.where)}
        for body in part:
            if body in passing and len(kept) < C.LEXICAL_CANDIDATES:
                kept[body] = passing[body]
        start += step
        step *= 2
    return kept


def search_vectors(vectors: VectorSignal | None, plan: Plan, found: Gathered) -> VectorHits | None:
    if plan.lexical_only or "vector" in plan.without or not plan.query.strip():
        return None
    if vectors is None:
        found.miss("vector", "no embedder")
        return None
    try:
        hits = vectors.search(plan)
        if plan.unembedded:
            found.miss("vector", f"{plan.unembedded:,} texts wait for their vectors: `limpet work` makes them")
        elif not hits.complete:
            found.miss("vector", "the deadline came before all vectors were compared: the oldest are left out")
        return hits
    except EmbedderUnavailable as error:
        found.miss("vector", error.message + (f" ({error.hint})" if error.hint else ""))
        return None


def _add_vector_candidates(store: Store, hits: VectorHits, plan: Plan, by_body: dict[int, Candidate]) -> list[int]:
    """Take bodies in the order of their cosines until enough of them pass the filter. Returns those, best first."""
    wanted, walked = max(C.VECTOR_CANDIDATES, plan.k), 0
    passed: list[int] = []
    restricted = bool(plan.where.topics) or plan.where.session is not None
    if restricted:
        hits.restrict(store.allowed(plan.where))
    step = wanted
    while len(passed) < wanted:
        part = hits.take(step)
        if not part:
            break
        by_body.update((one.body, one) for one in store.candidates([b for b in part if b not in by_body], plan.where))
        passed += [body for body in part if body in by_body]
        walked += len(part)
        step *= 2
        if walked >= WALKED and plan.where.narrows and not restricted and len(passed) < wanted:
            hits.restrict(store.allowed(plan.where))
            restricted, passed = True, []
    return passed


def best_of(orders: Sequence[Sequence[int]], count: int) -> list[int]:
    """The first `count` bodies by the better of their ranks, ties by body."""
    rank: dict[int, int] = {}
    for order in orders:
        for place, body in enumerate(order[:count]):
            rank[body] = min(rank.get(body, place), place)
    return sorted(rank, key=lambda body: (rank[body], body))[:count]


def reach(store: Store, plan: Plan, orders: Sequence[Sequence[int]], found: Gathered) -> dict[int, float]:
    """How near bodies are by what they name and are linked to, for a question that needs several hops."""
    if "graph" in plan.without or plan.intent != "hops":
        return {}
    if plan.remaining() < GRAPH_SECONDS:
        found.miss("graph", "the deadline leaves no time to follow names and links")
        return {}
    from .graph import spread

    return spread(store, plan, best_of(orders, C.GRAPH_SEEDS))


def nearest(reached: Mapping[int, float]) -> list[int]:
    """Of these the best that join the candidates, ties by body."""
    return sorted(reached, key=lambda body: (-reached[body], body))[: C.GRAPH_CANDIDATES]


def by_letter(store: Store, plan: Plan) -> list[int]:
    """Bodies that hold the query as it is, when nothing else was found."""
    if "lexical" in plan.without:
        return []
    return store.substring(plan.query, plan.where, limit=plan.k * 3, deadline=plan.deadline)


def when_told(store: Store, bodies: Sequence[int], query: str) -> list[float] | None:
    """For a question about when: which texts speak of a time. None for every other question."""
    if not bodies or not asks_when(query):
        return None
    told = {num: float(tells_when(text)) for num, text, _ in store.texts(bodies)}
    return [told.get(body, 0.0) for body in bodies]


def _having(store: Store, several: Sequence[Candidate], stems: Mapping[str, float]) -> list[list[bool]]:
    """Which of the query's words each candidate has, in its text or beside it."""
    if not stems:
        return [[] for _ in several]
    texts = [
        " ".join(part for part in (one.content, one.topics, one.labels, one.dates) if part)
        + " "
        + grams(f"{one.content} {one.topics or ''}")
        for one in several
    ]
    words = store.stems(set(texts))
    return [[stem in words[text] for stem in stems] for text in texts]


def _fields(store: Store, several: Sequence[Candidate], stems: Mapping[str, float]) -> list[float]:
    """What the query's words are worth that stand in topics, metadata, speaker and date; a label's counts half."""
    if not stems:
        return [0.0] * len(several)
    texts = {text for one in several for text in (one.topics, one.labels, one.dates) if text}
    worth: dict[str | None, float] = {None: 0.0, "": 0.0}
    for text, words in store.stems(texts).items():
        worth[text] = sum(value for stem, value in stems.items() if stem in words)
    return [worth[one.topics] + 0.5 * worth[one.labels] + worth[one.dates] for one in several]
