"""Candidates of a query: the memories that may be meant, and the table of features about them.

Candidates come from full text, from vectors, from the neighbours of the best of both in their sessions, and for
questions of several hops from names and links. Every signal is optional: one that cannot answer is named in `missing`,
with the reason in `notes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.dataclass import dataclass, field
from ..model.errors import EmbedderUnavailable
from ..rank import constants as C
from ..rank.arithmetic import Arithmetic, Column
from ..text.dates import asks_when, tells_when
from ..text.grams import grams, with_grams
from .features import FeatureInput, QueryMatch, compute_features
from .index import CandidateTable, SearchIndex, TextHits, VectorHits, VectorSignal
from .index_sql import SqlIndex
from .plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.memory import Memory
    from ..store import Store

# Texts taken in the order of their cosines before a filter that lets few pass is asked for all it lets pass.
WALKED = 2_000
# What a walk over names and links takes at most on a slow machine, in seconds.
GRAPH_SECONDS = 0.02
# Characters and words of a query that may be a part of a word or of a line: beside other candidates it is looked for
# as it is, in so many of the newest memories (12 ms, where all of 100,000 take 40).
FRAGMENT, FRAGMENT_WORDS, FRAGMENT_AMONG = range(4, 41), 3, 20_000
# Characters of a candidate that vectors of words compare.
COMPARED = 300
OUT_OF_TIME = "the deadline came before all words were scored"


@dataclass(slots=True)
class Candidates:
    """The candidates of one query in a fixed order, and their features: name -> a value for each."""

    arithmetic: Arithmetic = field(default_factory=Arithmetic)
    table: CandidateTable = field(default_factory=CandidateTable)
    features: dict[str, Column] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    hits: VectorHits | None = None
    stems: Mapping[str, float] = field(default_factory=dict)  # the query's words that were searched for, by their worth
    absent: float = 0.0  # what the query's words that no text has would be worth
    _read: dict[int, Memory] = field(default_factory=dict)  # by place
    _warned: dict[bytes, list[tuple[str, bytes, bytes]]] = field(default_factory=dict)  # by id

    def read(self, store: Store, places: Sequence[int]) -> None:
        """Memories that will be shown, and what is to be said of them: one wait for a server."""
        self._ask(store, places, places)

    def memories(self, store: Store, places: Sequence[int]) -> list[Memory]:
        """Those at some places, whole. Each is read once."""
        self._ask(store, places, ())
        return [self._read[i] for i in places]

    def warnings(self, store: Store, places: Sequence[int]) -> list[tuple[str, bytes, bytes]]:
        """As `edges.warnings`, of those at some places. Read once for each."""
        self._ask(store, (), places)
        return [row for i in places for row in self._warned[self.table.ids[i]]]

    def _ask(self, store: Store, whole: Sequence[int], warned: Sequence[int]) -> None:
        missing = [i for i in whole if i not in self._read]
        unknown = [id for i in warned if (id := self.table.ids[i]) not in self._warned]
        if not missing and not unknown:
            return
        several, rows = store.memories.with_warnings([self.table.rows[i] for i in missing], unknown)
        self._read.update(zip(missing, several, strict=True))
        self._warned.update((id, []) for id in unknown)
        for row in rows:
            self._warned[row[1]].append(row)

    def miss(self, signal: str, why: str) -> None:
        self.missing.append(signal)
        self.notes[signal] = why

    def spoken(self, i: int) -> bool:
        """Whether a candidate is a turn of a conversation: it has a speaker."""
        return bool(self.table.speakers[i])


def find_candidates(store: Store, vectors: VectorSignal | None, plan: Plan) -> Candidates:
    """All memories that pass the filter and may be meant, with what is known about each."""
    index = open_index(store, plan)
    arithmetic = index.arithmetic
    found = Candidates(arithmetic)
    text = _text_hits(index, plan, found)
    semantic = found.hits = _vector_hits(vectors, plan, found)
    orders, pool = [list(text.text_ids)], set(text.text_ids)
    if semantic is not None:
        passed, seen = _by_vector(index, semantic, plan)
        orders.append(passed)
        pool |= seen
    walked: dict[int, float] = {}
    held = _by_substring(store, plan, text, alone=not pool)
    literal = set(index.passing(held, plan.where)) if held else set[int]()
    if not pool:
        pool = literal
    else:
        pool |= literal
        if "neighbours" not in plan.without:
            best = best_of(orders, C.NEIGHBOURHOODS)
            pool |= set(index.neighbours(best, plan.where, reach=C.NEIGHBOUR_REACH))
        walked = _walk(store, plan, orders, found)
        if walked:
            pool |= set(index.passing(_nearest(walked), plan.where))
    text_ids = arithmetic.column(sorted(pool))
    found.table = index.table(text_ids)
    fields, words = index.words(text_ids, text.stems)
    unit, known = 1.0 / (text.weight or 1.0), sum(text.stems.values())
    whole = known + text.absent
    share = arithmetic.zeros(len(text_ids)) if text.scores is None else text.scores(text_ids) * unit
    if literal:  # what has the query as it is matches wholly
        share = arithmetic.maximum(share, arithmetic.each(lambda one: float(one in literal), text_ids))
    match = QueryMatch(
        text=share,
        fields=fields * unit,
        words=words,
        worth=[value / whole for value in text.stems.values()],
        known=known / whole if whole else 0.0,
        tells_when=_tells_when(arithmetic, store, found.table.text_ids, plan.query),
        after=plan.after,
        near=arithmetic.each(lambda one: walked.get(one, 0.0), text_ids) if walked else None,
        cosines=None
        if semantic is None or not pool
        else arithmetic.column(semantic.cosines(text_ids, exact=C.RESCORED)),
        near_words=_near_words(store, found, plan) if semantic is None else None,
    )
    given = FeatureInput(arithmetic=arithmetic, table=found.table, match=match, query=plan.query, at=plan.at)
    found.features = compute_features(given, plan.without)
    return found


def open_index(store: Store, plan: Plan) -> SearchIndex:
    """Arrays where the store holds them and they have what the filter asks for, else rows."""
    # A process that embeds nothing has no reason to load NumPy for its words.
    columns = None if plan.where.needs_rows else store.search.arrays.current(plan.deadline, build=not plan.lexical_only)
    if columns is None:
        return SqlIndex(store)
    from .index_ram import RamIndex

    return RamIndex(columns)


def best_of(orders: Sequence[Sequence[int]], count: int) -> list[int]:
    """The first `count` texts by the better of their ranks, ties by text id."""
    rank: dict[int, int] = {}
    for order in orders:
        for place, one in enumerate(order[:count]):
            rank[one] = min(rank.get(one, place), place)
    return [one for _, one in sorted(zip(rank.values(), rank, strict=True))[:count]]


def _text_hits(index: SearchIndex, plan: Plan, found: Candidates) -> TextHits:
    """The best by words."""
    if "lexical" in plan.without:
        return TextHits()
    hits = index.text_hits(with_grams(plan.query), plan.where, deadline=plan.words_until)
    found.stems, found.absent = hits.stems, hits.absent
    if not hits.complete:
        found.miss("lexical", OUT_OF_TIME)
    return hits


def _vector_hits(vectors: VectorSignal | None, plan: Plan, found: Candidates) -> VectorHits | None:
    if plan.lexical_only or "vector" in plan.without or not plan.query.strip():
        return None
    if vectors is None:
        found.miss("vector", "no embedder")
        return None
    try:
        hits = vectors.search(plan)
        if plan.unembedded != 0:
            why = plan.unembedded_why or "`limpet work` makes them"
            several = "texts" if plan.unembedded is None else f"{plan.unembedded:,} texts"
            found.miss("vector", f"{several} wait for their vectors: {why}")
        elif not hits.complete:
            found.miss("vector", "the deadline came before all vectors were compared: the oldest are left out")
        return hits
    except EmbedderUnavailable as error:
        found.miss("vector", error.message + (f" ({error.hint})" if error.hint else ""))
        return None


def _by_vector(index: SearchIndex, hits: VectorHits, plan: Plan) -> tuple[list[int], set[int]]:
    """Texts in the order of their cosines until enough of them pass the filter, and all that passed on the way."""
    wanted, walked = max(C.VECTOR_CANDIDATES, plan.k), 0
    passed: list[int] = []
    seen: set[int] = set()
    where = plan.where
    restricted = bool(where.topics or where.metadata) or where.session is not None or where.key is not None
    if restricted:
        hits.restrict(index.allowed(plan.where))
    step = wanted
    while len(passed) < wanted:
        part = hits.take(step)
        if not part:
            break
        passing = index.passing(part, plan.where)
        seen.update(passing)
        passed += passing
        walked += len(part)
        step *= 2
        if walked >= WALKED and plan.where.narrows and not restricted and len(passed) < wanted:
            hits.restrict(index.allowed(plan.where))
            restricted, passed = True, []
    return passed, seen


def _walk(store: Store, plan: Plan, orders: Sequence[Sequence[int]], found: Candidates) -> dict[int, float]:
    """How near texts are by what they name and are linked to, for a question that needs several hops."""
    if "graph" in plan.without or plan.intent != "hops":
        return {}
    if plan.remaining() < GRAPH_SECONDS:
        found.miss("graph", "the deadline leaves no time to follow names and links")
        return {}
    from .graph import spread

    return spread(store, plan, best_of(orders, C.GRAPH_SEEDS))


def _nearest(walked: Mapping[int, float]) -> list[int]:
    """Of these the best that join the candidates, ties by text id."""
    return sorted(walked, key=lambda one: (-walked[one], one))[: C.GRAPH_CANDIDATES]


def _by_substring(store: Store, plan: Plan, text: TextHits, *, alone: bool) -> list[int]:
    """Texts that hold the query as it is, where nothing else was found, or where a short one has a word that no text
    has: a part of a word, which meaning does not find. What is a part of many says nothing."""
    if "lexical" in plan.without:
        return []
    limit, search = plan.k * 3, store.search.substring
    if alone:
        return search(plan.query, plan.where, limit=limit, deadline=plan.deadline)
    query = plan.query.strip()
    short = len(query) in FRAGMENT and len(query.split()) <= FRAGMENT_WORDS and not query.endswith("?")
    if not short or not (text.absent or not text.text_ids):
        return []
    found = search(plan.query, plan.where, limit=limit, deadline=plan.deadline, newest=FRAGMENT_AMONG)
    return found if len(found) < limit else []


def _near_words(store: Store, found: Candidates, plan: Plan) -> Column | None:
    """Where no embedder answers: how near the candidates are by vectors of their words."""
    if "word_vectors" in plan.without or not found.table.text_ids:
        return None
    from ..text.excerpt import passage, words_of
    from ..vectors.word_vectors import cosines

    known = {one.text_id: one for one in store.search.candidates(found.table.text_ids, plan.where)}
    # What is written without spaces has no words that a part of it could be chosen by.
    asked = None if grams(plan.query) and not plan.query.isascii() else words_of(plan.query)

    def compared(text_id: int) -> str:
        """Of a long text the part that speaks of the question: what else it says would drown it."""
        one = known.get(text_id)
        if one is None:
            return ""
        part = one.content if asked is None else passage(one.content, asked, COMPARED)
        return " ".join(part for part in (part, one.topics, one.key) if part)

    near = cosines(plan.query, map(compared, found.table.text_ids), deadline=plan.deadline)
    if near is None:
        found.miss("word_vectors", "the deadline came before all candidates were compared")
        return None
    return found.arithmetic.column(near)


def _tells_when(arithmetic: Arithmetic, store: Store, text_ids: Sequence[int], query: str) -> Column | None:
    """For a question about when: which texts speak of a time. None for every other question."""
    if not text_ids or not asks_when(query):
        return None
    told = {num: float(tells_when(text)) for num, text, _ in store.search.texts(text_ids)}
    return arithmetic.column([told.get(one, 0.0) for one in text_ids])
