"""Candidates of a query: the memories that may be meant, and the table of features about them.

Candidates come from full text, from vectors, and from the neighbours of the best of both in their sessions. Every
signal is optional: one that cannot answer is named in `missing`, with the reason in `notes`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from ..model.dataclass import dataclass, field, replace
from ..model.errors import EmbedderUnavailable
from ..model.ids import format_id
from ..rank import constants as C
from ..text.describe import beginning, grams, inflected, with_grams
from ..text.excerpt import LONG, PART, passage, sections, words_of
from ..vectors.wordpiece import wordpiece
from .features import QueryMatch, compute_features
from .index import CandidateTable, SqlIndex, TextHits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model.memory import Memory
    from ..store import Store
    from ..store.lexical import Forms
    from ..vectors.index import SearchScan
    from .index_ram import RamIndex
    from .plan import Plan
    from .semantic import SemanticSearch

    SearchIndex = SqlIndex | RamIndex

# After so many texts in the order of their cosines, a strict filter is asked for all texts that pass it.
WALKED = 2_000
# A query of so many characters and words may be a part of a word or of a line. Beside other candidates, it is searched
# for as it is in so many of the newest memories (12 ms; all of 100,000 would take 40).
FRAGMENT, FRAGMENT_WORDS, FRAGMENT_AMONG = range(4, 41), 3, 20_000
# The best texts by words, and by vector, that hold no longer: what replaced them is found by them too.
ENDED = 12
# Characters of a candidate that word vectors compare.
COMPARED = 300


@dataclass(slots=True)
class Candidates:
    """The candidates of one query in a fixed order, and their features: name -> a value for each."""

    table: CandidateTable = field(default_factory=CandidateTable)
    features: dict[str, list[float]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    hits: SearchScan | None = None
    stems: Mapping[str, float] = field(default_factory=dict)  # the query's words that were searched for, by their worth
    forms: Forms = field(default_factory=dict)  # in which else they were searched for
    absent: float = 0.0  # worth of the query's words that no text has
    # By place, (id, text) of memories that were merged into it and match the query.
    also_said: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    # Place -> places of those that it replaced and stands for, newest first.
    before: dict[int, list[int]] = field(default_factory=dict)
    _read: dict[int, Memory] = field(default_factory=dict)  # by place
    _warned: dict[bytes, list[tuple[str, bytes, bytes]]] = field(default_factory=dict)  # by id

    def memories(self, store: Store, places: Sequence[int]) -> list[Memory]:
        """Return the memories at some places. Each is read once, with its warnings: one wait for a server."""
        missing = [i for i in places if i not in self._read]
        if missing:
            ids = [self.table.ids[i] for i in missing]
            read, warnings = store.memories.with_warnings([self.table.rows[i] for i in missing], ids)
            self._read.update(zip(missing, read, strict=True))
            self._warned.update(zip(ids, [[] for _ in ids], strict=True))
            for row in warnings:
                self._warned[row[1]].append(row)
        return [self._read[i] for i in places]

    def warnings(self, store: Store, places: Sequence[int]) -> list[tuple[str, bytes, bytes]]:
        """Return `edges.warnings` of the memories at some places."""
        self.memories(store, places)
        rows = []
        for i in places:
            rows += self._warned[self.table.ids[i]]
        return rows

    def among(self, places: Sequence[int]) -> dict[tuple[int, int], float]:
        """Return cosines of some candidates with each other, by pairs of positions in `places`; {} without vectors."""
        return {} if self.hits is None else self.hits.among([self.table.text_ids[i] for i in places])

    def part_of(self, i: int, content: str, query: str) -> str:
        """Return the part of a candidate's long text that is nearest to the query, by words where its parts have no
        vectors; "" of other texts."""
        if len(content) <= LONG:
            return ""
        part = 0 if self.hits is None else self.hits.part_of(self.table.text_ids[i])
        nearest = sections(content)[part - 1 : part] if part else []
        return nearest[0] if nearest else passage(content, words_of(query), PART)

    def miss(self, signal: str, why: str) -> None:
        self.missing.append(signal)
        self.notes[signal] = why


def find_candidates(store: Store, semantic: SemanticSearch | None, plan: Plan, *, ended: bool = False) -> Candidates:
    """Find all memories that pass the filter and may be meant, with what is known about each. `ended`: what replaced
    a text is found by that text as well, which is then a candidate too."""
    if plan.where.states == ("active",) and plan.where.known_at is None:
        # What was merged is found by its own words, and stands for the one that speaks for it.
        plan = replace(plan, where=replace(plan.where, states=("active", "merged")))
    # A process that embeds nothing has no reason to load NumPy for its words.
    columns = None if plan.where.needs_rows else store.search.arrays.current(plan.deadline, build=not plan.lexical_only)
    index: SearchIndex = SqlIndex(store)
    if columns is not None:
        from .index_ram import RamIndex

        index = RamIndex(columns)
    candidates = Candidates()
    text = _text_hits(store, index, plan, candidates)
    hits = candidates.hits = _vector_hits(semantic, plan, candidates)
    orders, pool = [text.text_ids], set(text.text_ids)
    others = [text_id for text_id in text.scores if text_id not in pool][:ENDED]
    if hits is not None:
        passed, seen, apart = _by_vector(index, hits, plan)
        orders.append(passed)
        pool |= seen
        others += apart[:ENDED]
    held = _by_substring(store, plan, text, alone=not pool)
    literal = set(index.passing(held, plan.where)) if held else set()
    best = best_of(orders, C.NEIGHBOURHOODS)
    if pool and (newer := store.relations.newer_texts(best)):
        pool |= set(index.passing(newer, plan.where))
    if pool and "neighbours" not in plan.without:
        pool |= set(index.neighbours(best, plan.where, reach=C.NEIGHBOUR_REACH))
    replaced = _replaced(store, index, plan, others) if ended and others else []
    pool = pool.union(literal, *replaced)
    merged = store.search.merged(pool)
    speaking = index.passing([into for *_, into in merged.values() if into is not None], plan.where)
    text_ids = sorted({*pool - merged.keys(), *speaking})
    table = candidates.table = index.table(text_ids)
    if hits is not None:  # it is a part that speaks for a long text
        pairs = zip(table.sizes, hits.has_parts(text_ids), strict=True)
        table.sizes = [min(size, C.COUNTS_AS) if has_parts else size for size, has_parts in pairs]
    every, joined = _behind(candidates, merged, replaced)
    fields, words = index.words(every, text.stems, candidates.forms)
    unit, whole = 1.0 / (text.weight or 1.0), (sum(text.stems.values()) + text.absent) or 1.0
    match = QueryMatch(
        query=plan.query,
        at=plan.at,
        # A text that contains the query as it is matches fully.
        text=joined([1.0 if text_id in literal else text.scores.get(text_id, 0.0) * unit for text_id in every]),
        fields=joined([value * unit for value in fields]),
        words=joined(words, int.__or__),
        worth=[value / whole for value in text.stems.values()],
        known=sum(text.stems.values()) / whole,
        cosines=None if hits is None or not text_ids else joined(hits.cosines(every, exact=C.RESCORED)),
        near_words=_near_words(store, candidates, plan) if hits is None else None,
    )
    candidates.features = compute_features(candidates.table, match, without=plan.without)
    return candidates


def _behind(
    candidates: Candidates, merged: Mapping[int, tuple[bytes, str, int | None]], replaced: Sequence[tuple[int, int]]
) -> tuple[list[int], Callable[..., list[Any]]]:
    """Note for which texts candidates stand: those that were merged into them, and those that they replaced.

    Return the texts of the candidates with the merged ones behind, and a function from a value of each to one of each
    candidate: the best of its own and of those that it stands for.
    """
    every = list(candidates.table.text_ids)
    place = {text_id: i for i, text_id in enumerate(every)}
    pairs = [(place[older], place[newest]) for older, newest in replaced if newest in place]
    pairs.sort(key=lambda pair: -candidates.table.valid_from[pair[0]])
    for older, newest in pairs:
        candidates.before.setdefault(newest, []).append(older)
    for text_id, (id, content, into) in merged.items():
        if into is not None and into in place:
            pairs.append((len(every), place[into]))
            every.append(text_id)
            candidates.also_said.setdefault(place[into], []).append((format_id(id), content))

    def joined(values: list[Any], of: Callable[[Any, Any], Any] = max) -> list[Any]:
        own = values[: len(place)]
        for behind, i in pairs:
            own[i] = of(own[i], values[behind])
        return own

    return every, joined


def _replaced(store: Store, index: SearchIndex, plan: Plan, others: Sequence[int]) -> list[tuple[int, int]]:
    """Return (text that holds no longer, text that stands in its place) for some that do not pass the filter."""
    if not plan.timeless:
        return []
    later = store.search.standing_for(others)
    holds = set(index.passing([newer for _, newer in later], plan.where)) if later else set()
    where = replace(plan.where, as_of=None, until=plan.where.as_of)
    ended = set(index.passing([older for older, newer in later if newer in holds], where)) if holds else set()
    return [(older, newer) for older, newer in later if older in ended and newer in holds]


def best_of(orders: Sequence[Sequence[int]], count: int) -> list[int]:
    """Return the first `count` texts by the better of their ranks, ties by text id."""
    rank: dict[int, int] = {}
    for order in orders:
        for place, text_id in enumerate(order[:count]):
            rank[text_id] = min(rank.get(text_id, place), place)
    return sorted(sorted(rank), key=rank.__getitem__)[:count]


def _text_hits(store: Store, index: SearchIndex, plan: Plan, candidates: Candidates) -> TextHits:
    """Find the best texts by words."""
    if "lexical" in plan.without:
        return TextHits()
    until = None if plan.deadline is None else max(plan.deadline, time.monotonic() + plan.seconds_for_words)
    candidates.forms = other_forms(store, plan.query)
    hits = index.text_hits(with_grams(plan.query), plan.where, deadline=until, forms=candidates.forms)
    candidates.stems, candidates.absent = hits.stems, hits.absent
    if not hits.complete:
        candidates.miss("lexical", "the deadline came before all words were scored")
    return hits


def other_forms(store: Store, query: str) -> Forms:
    """Return the other forms that the index has of each word of a query in a language that the models do not know: its
    tokenizer folds those of English alone."""
    forms: dict[str, list[str]] = {}
    if (foreign := wordpiece().foreign(query)) is None:
        return forms
    tokenizer = store.search.tokenizer
    for term, word in tokenizer.terms(query).items():
        if (begin := beginning(term)) and foreign(word):
            others = [other for other in store.search.beginning_with(begin) if other != term and inflected(term, other)]
            # The tokenizer reads what is searched for once more, and must leave it as it is.
            forms[term] = [other for other in others if tokenizer.counts(other).keys() == {other}]
    return forms


def _vector_hits(semantic: SemanticSearch | None, plan: Plan, candidates: Candidates) -> SearchScan | None:
    if plan.lexical_only or "vector" in plan.without or not plan.query.strip():
        return None
    if semantic is None:
        candidates.miss("vector", "no embedder")
        return None
    try:
        hits = semantic.search(plan)
    except EmbedderUnavailable as error:
        candidates.miss("vector", error.message + (f" ({error.hint})" if error.hint else ""))
        return None
    if plan.unembedded != 0:
        what = "texts" if plan.unembedded is None else f"{plan.unembedded:,} texts"
        candidates.miss("vector", f"{what} wait for their vectors: {plan.unembedded_why or '`limpet work` makes them'}")
    elif hits is not None and not hits.complete:
        candidates.miss("vector", "the deadline came before all vectors were compared: the oldest are left out")
    return hits


def _by_vector(index: SearchIndex, hits: SearchScan, plan: Plan) -> tuple[list[int], set[int], list[int]]:
    """Return texts in the order of their cosines until enough pass the filter, all that passed on the way, and the
    first that did not."""
    wanted, walked = max(C.VECTOR_CANDIDATES, plan.k), 0
    passed: list[int] = []
    seen: set[int] = set()
    others: list[int] = []
    where = plan.where
    restricted = bool(where.topics or where.metadata) or where.session is not None or where.key is not None
    if restricted:
        hits.restrict(index.allowed(where))
    step = wanted
    while len(passed) < wanted:
        part = hits.take(step)
        if not part:
            break
        passing = index.passing(part, where)
        seen.update(passing)
        others += [text_id for text_id in part if text_id not in seen] if len(others) < ENDED else []
        passed += passing
        walked += len(part)
        step *= 2
        if walked >= WALKED and where.narrows and not restricted and len(passed) < wanted:
            hits.restrict(index.allowed(where))
            restricted, passed = True, []
    return passed, seen, others


def _by_substring(store: Store, plan: Plan, text: TextHits, *, alone: bool) -> list[int]:
    """Return texts that contain the query as it is: if nothing else was found, or if a short query has a word that no
    text has. That is a part of a word, which embeddings do not find. A part of many words says nothing."""
    if "lexical" in plan.without:
        return []
    limit, search, query = plan.k * 3, store.search.substring, plan.query.strip()
    if alone:
        return search(plan.query, plan.where, limit=limit, deadline=plan.deadline)
    short = len(query) in FRAGMENT and len(query.split()) <= FRAGMENT_WORDS and not query.endswith("?")
    if not short or not (text.absent or not text.text_ids):
        return []
    text_ids = search(plan.query, plan.where, limit=limit, deadline=plan.deadline, newest=FRAGMENT_AMONG)
    return text_ids if len(text_ids) < limit else []


def _near_words(store: Store, candidates: Candidates, plan: Plan) -> list[float] | None:
    """Compare the candidates with the query by word vectors; used when no embedder answers."""
    if "word_vectors" in plan.without or not candidates.table.text_ids:
        return None
    from ..vectors.word_vectors import cosines

    known = {row.text_id: row for row in store.search.candidates(candidates.table.text_ids, plan.where)}
    # A text without spaces has no words by which to choose a part.
    asked = None if grams(plan.query) and not plan.query.isascii() else words_of(plan.query)

    def compared(text_id: int) -> str:
        """Return the part of a long text that is about the question: the rest would drown it."""
        row = known.get(text_id)
        if row is None:
            return ""
        part = row.content if asked is None else passage(row.content, asked, COMPARED)
        return " ".join(part for part in (part, row.topics, row.key) if part)

    near = cosines(plan.query, map(compared, candidates.table.text_ids), deadline=plan.deadline)
    if near is None:
        candidates.miss("word_vectors", "the deadline came before all candidates were compared")
    return near
