"""The ranking features: what each signal says of the candidates of one query. The only place where a formula stands.

A feature is one function from the candidates and the query to a number for each candidate, in plain Python: about 150
candidates a query cost no more so than as NumPy arrays (docs/adr/0022). `FEATURES` lists them in the order in which
`rank/scoring.py` adds them up; a new one is a function there and a weight in `rank/weights.py`.
"""

from __future__ import annotations

import math
import re
import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from ..text.dates import Mentioned, agreement, mentioned, spans
from .index import CandidateTable
from .intent import intent

Column = list[float]  # a value for each candidate, in their order

# Characters at which a memory's neighbours count half as much as for an empty one.
BRIEF_CHARACTERS = 200
# Characters from which on a memory counts as long; beyond the second figure more length says no more.
LONG_CHARACTERS, LENGTH_CAP_CHARACTERS = 400, 2_000
# Candidates of a session by whose cosines it is judged.
BEST_OF_SESSION = 3
# How transcripts name the person that an agent talks to.
PERSON = frozenset({"user", "human"})
# Places before (-) and after (+) a memory in its session that its neighbours have.
OFFSETS = (-2, -1, 1, 2)
# Positions in one session that a seat leaves room for.
_POSITION_BITS = 40
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMatch:
    """What the query's words and its time say of the candidates, in their order. Scores: shares of a perfect match."""

    text: Column  # BM25
    fields: Column  # the query's words in topics, metadata, speaker and date
    words: Sequence[int]  # of each candidate which of the query's words it has anywhere: bit j for the j-th of `worth`
    worth: Sequence[float]  # of each of these words, as a share of all that was asked
    tells_when: Column | None  # 1 where a time is told; None: the question is not about one
    after: int | None  # from when on is the time asked for, if an event gave it
    near: Column | None  # by what it names and is linked to; None: there was no walk
    cosines: Column | None  # by meaning; None: no vectors take part


@dataclass(slots=True, kw_only=True)
class FeatureInput:
    """What the feature functions read. What several of them need is computed once."""

    table: CandidateTable
    match: QueryMatch
    query: str
    at: int  # when it is asked, for "last week"; microseconds
    brevity: Column = field(init=False)  # 1 for an empty text, 1/2 for one of BRIEF_CHARACTERS
    covered: Column = field(init=False)  # what the query's words that each has are worth, as a share of all asked
    neighbours: Mapping[int, Sequence[int]] = field(init=False)  # by offset: the place of the neighbour, n = none
    _worths: list[list[float]] = field(init=False)  # for each eight of the query's words what any set of them is worth

    def __post_init__(self) -> None:
        table = self.table
        self.brevity = [BRIEF_CHARACTERS / (BRIEF_CHARACTERS + size) for size in table.sizes]
        nobody = len(table.sizes)
        # One number for a place in a session is found faster than a pair; a candidate of no session has no neighbours.
        alone = -max(OFFSETS) - 1
        seats = [
            session << _POSITION_BITS | position if session else alone
            for session, position in zip(table.sessions, table.positions, strict=True)
        ]
        place = dict(zip(seats, range(nobody), strict=True))
        place.pop(alone, None)
        find = place.get
        self.neighbours = {offset: [find(seat + offset, nobody) for seat in seats] for offset in OFFSETS}
        worth = self.match.worth
        self._worths = [_sums_of_sets(worth[start : start + 8]) for start in range(0, max(1, len(worth)), 8)]
        self.covered = self.worth(self.match.words)

    def worth(self, sets: Sequence[int]) -> Column:
        """What some sets of the query's words are worth, as a share of all that was asked."""
        (first, *rest) = self._worths
        if not rest:
            return list(map(first.__getitem__, sets))
        found = [first[words & 255] for words in sets]
        for place, sums in enumerate(rest, 1):
            shift = 8 * place
            found = [value + sums[words >> shift & 255] for value, words in zip(found, sets, strict=True)]
        return found

    def beside(self, values: Column, *offsets: int) -> Column:
        """The best value above 0 of the neighbours at some offsets, by how brief the memory itself is: a long one
        speaks for itself."""
        padded = [value if value > 0.0 else 0.0 for value in values]
        padded.append(0.0)
        if len(offsets) == 1:
            return [padded[i] * share for i, share in zip(self.neighbours[offsets[0]], self.brevity, strict=True)]
        pairs = zip(self.neighbours[offsets[0]], self.neighbours[offsets[1]], self.brevity, strict=True)
        return [(padded[i] if padded[i] > padded[j] else padded[j]) * share for i, j, share in pairs]

    def by_speaker(self, wanted: Callable[[str | None], bool]) -> Column:
        """1 where the speaker is wanted."""
        known = {speaker: float(wanted(speaker)) for speaker in set(self.table.speakers)}
        return [known[speaker] for speaker in self.table.speakers]


class Feature(NamedTuple):
    """One column of the ranking. `signal`: the group that `without` switches off."""

    name: str
    signal: str
    unit: str
    compute: Callable[[FeatureInput], Column]
    from_vectors: bool = False  # there only where vectors take part


def compute_features(given: FeatureInput, without: frozenset[str]) -> dict[str, Column]:
    """Every feature that takes part, by name, in the order of `FEATURES`."""
    vectors = given.match.cosines is not None
    return {
        one.name: one.compute(given)
        for one in FEATURES
        if one.signal not in without and (vectors or not one.from_vectors)
    }


# -- words


def _lexical(given: FeatureInput) -> Column:
    """BM25 of the memory's own words, as a share of a perfect match."""
    return given.match.text


def _coverage(given: FeatureInput) -> Column:
    """What the query's words that it has are worth, in its text or beside it."""
    return given.covered


def _fields(given: FeatureInput) -> Column:
    """What the query's words in its topics, metadata, speaker and date are worth; a label's counts half."""
    return given.match.fields


# -- meaning


def _cosines(given: FeatureInput) -> Column:
    """Cosine with the query."""
    assert given.match.cosines is not None
    return given.match.cosines


def _brief_vector(given: FeatureInput) -> Column:
    """The cosine of a short text: there it says less than that of a long one."""
    return [value * share for value, share in zip(_cosines(given), given.brevity, strict=True)]


# -- neighbours in the session: chat turns answer each other


def _coverage_around(given: FeatureInput) -> Column:
    """What the two next to it add to the words that a memory has itself."""
    words = given.match.words
    padded = [*words, 0]
    seats = zip(words, given.neighbours[-1], given.neighbours[1], strict=True)
    around = given.worth([own | padded[i] | padded[j] for own, i, j in seats])
    rows = zip(around, given.covered, given.brevity, strict=True)
    return [(with_them - alone) * share for with_them, alone, share in rows]


def _answer(given: FeatureInput) -> Column:
    """Whether the turn before asks something."""
    return given.beside(given.table.asked, -1)


# -- the session as a whole


def _session(given: FeatureInput) -> Column:
    """How much of the query the whole session speaks of: the log of its candidates' summed scores."""
    total: dict[int, float] = defaultdict(float)
    for session, value in zip(given.table.sessions, given.match.text, strict=True):
        total[session] += value
    logs = {session: math.log1p(value) if session else 0.0 for session, value in total.items()}
    return [logs[session] for session in given.table.sessions]


def _session_vector(given: FeatureInput) -> Column:
    """How near the whole session is: the mean of its candidates' best cosines."""
    of: dict[int, Column] = defaultdict(list)
    for session, value in zip(given.table.sessions, _cosines(given), strict=True):
        of[session].append(value)
    of.pop(0, None)
    means = {0: 0.0}
    for session, values in of.items():
        if len(values) > 1:
            values.sort()
        best = values[-BEST_OF_SESSION:]
        means[session] = sum(best) / len(best)
    return [means[session] for session in given.table.sessions]


# -- time


def _date(given: FeatureInput) -> Column:
    """The share of the date parts named in the query that a memory's time has; 1 within a stretch of time it names, and
    from the time on that an event gave."""
    return date_agreement(given.table.valid_from, given.query, given.at, given.match.after)


def _tells_when(given: FeatureInput) -> Column:
    """For a question about when: whether the text speaks of a time."""
    return given.match.tells_when or [0.0] * len(given.table.rows)


def _recent(given: FeatureInput) -> Column:
    """For a question about what is latest: the share of the others' times that a memory's is not older than."""
    return recency(given.table.valid_from, given.query)


# -- who speaks


def _speaker(given: FeatureInput) -> Column:
    """Whether the query names who said it."""
    asked = {word.casefold() for word in _WORD.findall(given.query)}
    return given.by_speaker(lambda speaker: not asked.isdisjoint(_name_parts(speaker)))


@lru_cache(maxsize=1024)  # the same few persons speak again and again
def _name_parts(speaker: str | None) -> frozenset[str]:
    return frozenset(part.casefold() for part in _WORD.findall(speaker or ""))


def _by_person(given: FeatureInput) -> Column:
    """Whether a person speaks, by the names that transcripts have for one."""
    return given.by_speaker(lambda speaker: speaker is not None and speaker.casefold() in PERSON)


# -- the shape of the text


def _length(given: FeatureInput) -> Column:
    """Log of its length, up to a cap: a turn of one word says little."""
    log1p = math.log1p
    return [log1p(size if size < LENGTH_CAP_CHARACTERS else LENGTH_CAP_CHARACTERS) for size in given.table.sizes]


def _long(given: FeatureInput) -> Column:
    """Log of how much longer than LONG_CHARACTERS it is."""
    return [math.log(size / LONG_CHARACTERS) if size > LONG_CHARACTERS else 0.0 for size in given.table.sizes]


def _question(given: FeatureInput) -> Column:
    """Whether it ends with a question mark."""
    return given.table.asked


def _keyed(given: FeatureInput) -> Column:
    """Whether it is the value of a key."""
    return [float(keyed) for keyed in given.table.keyed]


def _graph(given: FeatureInput) -> Column:
    """How near it is by what it names and is linked to, for a question of several hops; 0: the walk did not come."""
    return given.match.near or [0.0] * len(given.table.rows)


# Without these signals the columns are there and say nothing: other code reads them.
ALWAYS = ""
SHARE, COSINE, LOG, FLAG = "share of the query", "cosine", "natural logarithm", "0 or 1"
FEATURES: tuple[Feature, ...] = (
    Feature("lexical", ALWAYS, SHARE, _lexical),
    Feature("coverage", ALWAYS, SHARE, _coverage),
    Feature("fields", "fields", SHARE, _fields),
    Feature("vector", ALWAYS, COSINE, _cosines, True),
    Feature("lexical_previous", "neighbours", SHARE, lambda given: given.beside(given.match.text, -1)),
    Feature("lexical_next", "neighbours", SHARE, lambda given: given.beside(given.match.text, 1)),
    Feature("lexical_around", "neighbours", SHARE, lambda given: given.beside(given.match.text, -2, 2)),
    Feature("vector_previous", "neighbours", COSINE, lambda given: given.beside(_cosines(given), -1), True),
    Feature("vector_next", "neighbours", COSINE, lambda given: given.beside(_cosines(given), 1), True),
    Feature("vector_around", "neighbours", COSINE, lambda given: given.beside(_cosines(given), -2, 2), True),
    Feature("coverage_around", "neighbours", SHARE, _coverage_around),
    Feature("answer", "neighbours", "0 to 1", _answer),
    Feature("session", "session", LOG, _session),
    Feature("session_vector", "session", COSINE, _session_vector, True),
    Feature("date", "date", "share of the date", _date),
    Feature("tells_when", "date", FLAG, _tells_when),
    Feature("recent", "recency", "share of the candidates", _recent),
    Feature("speaker", "speaker", FLAG, _speaker),
    Feature("length", "shape", LOG, _length),
    Feature("long", "shape", LOG, _long),
    Feature("brief_vector", "shape", COSINE, _brief_vector, True),
    Feature("by_person", "shape", FLAG, _by_person),
    Feature("question", "shape", FLAG, _question),
    Feature("keyed", "shape", FLAG, _keyed),
    Feature("graph", "graph", "share of the nearest", _graph),
)


def _sums_of_sets(worth: Sequence[float]) -> list[float]:
    """The sum of every set of up to eight numbers, by its bits."""
    sums = [0.0]
    for one in worth:
        sums += [value + one for value in sums]
    return sums


def date_agreement(times: Sequence[int], query: str, now: int, after: int | None = None) -> Column:
    """How far each of some times (microseconds) agrees with what a query says of time; 0 for a query that says
    nothing. `after`: from there on is what is asked for."""
    when, stretches = _dates_asked(query, now, after)
    found = [agreement(when, at) for at in times] if when else [0.0] * len(times)
    for start, end in stretches:
        found = [1.0 if start <= at < end else value for value, at in zip(found, times, strict=True)]
    return found


def _dates_asked(query: str, now: int, after: int | None) -> tuple[Mentioned, list[tuple[int, int]]]:
    """Parts of dates that a query names, and stretches of time; one of these is what comes from `after` on."""
    when, stretches = mentioned(query), spans(query, now)
    if stretches:
        when = replace(when, weekdays=frozenset())  # the latest one is meant, not each
    return when, stretches if after is None else [*stretches, (after, sys.maxsize)]


def recency(times: Sequence[int], query: str) -> Column:
    """For a question about what is latest: the share of the others' times that a memory's is not older than; else 0."""
    if len(times) < 2 or intent(query) != "recent":
        return [0.0] * len(times)
    ordered = sorted(times)
    return [(bisect_right(ordered, at) - 1) / (len(ordered) - 1) for at in times]
