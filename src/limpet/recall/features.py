"""The ranking features: what each signal says of the candidates of one query. The only place where a formula stands.

A feature is one function from the candidates and the query to a number for each candidate, written in the column
arithmetic of `rank/arithmetic.py`: on lists or on arrays, as the index has them (docs/adr/0022). `FEATURES` lists them
in the order in which `rank/fuse.py` adds them up; a new one is a function there and a weight in `rank/weights.py`.
"""

from __future__ import annotations

import math
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache

from ..model.dataclass import NamedTuple, dataclass, field, replace
from ..rank.arithmetic import Arithmetic, Column
from ..text.dates import Mentioned, agreement, mentioned, spans
from .index import CandidateTable
from .intent import asks_of_agent, intent

# Characters at which a memory's neighbours count half as much as for an empty one.
BRIEF_CHARACTERS = 200
# Characters from which on a memory counts as long; beyond the second figure more length says no more.
LONG_CHARACTERS, LENGTH_CAP_CHARACTERS = 400, 2_000
# The share of a question's words that some text has from which on length counts wholly: with fewer it is asked in
# another language than what is stored, where cosines lie nearer to each other than lengths do.
KNOWN = 0.2
# Candidates of a session by whose cosines it is judged.
BEST_OF_SESSION = 3
# How transcripts name the person that an agent talks to.
PERSON = frozenset({"user", "human"})
# Places before (-) and after (+) a memory in its session that its neighbours have.
OFFSETS = (-2, -1, 1, 2)
# Positions in one session that a seat leaves room for; the seat of what is in none.
SESSION_PLACES, ALONE = 1 << 40, -3
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMatch:
    """What the query's words and its time say of the candidates, in their order. Scores: shares of a perfect match."""

    text: Column  # BM25
    fields: Column  # the query's words in topics, metadata, speaker and date
    words: Column  # of each candidate which of the query's words it has anywhere: bit j for the j-th of `worth`
    worth: Sequence[float]  # of each of these words, as a share of all that was asked
    known: float  # what those that any text has are worth, as a share of all that was asked
    tells_when: Column | None  # 1 where a time is told; None: the question is not about one
    after: int | None  # from when on is the time asked for, if an event gave it
    near: Column | None  # by what it names and is linked to; None: there was no walk
    cosines: Column | None  # by meaning; None: no vectors take part
    near_words: Column | None = None  # by the vectors of their words, where no others take part


@dataclass(slots=True, kw_only=True)
class FeatureInput:
    """What the feature functions read. What several of them need is computed once."""

    arithmetic: Arithmetic
    table: CandidateTable
    match: QueryMatch
    query: str
    at: int  # when it is asked, for "last week"; microseconds
    brevity: Column = field(init=False)  # 1 for an empty text, 1/2 for one of BRIEF_CHARACTERS
    covered: Column = field(init=False)  # what the query's words that each has are worth, as a share of all asked
    in_session: Column = field(init=False)  # whether a candidate is in one
    neighbours: dict[int, Column] = field(init=False)  # by offset: the place of the neighbour, n = none
    sessions: tuple[Column, int] = field(init=False)  # the number of each one's session here, and how many there are
    _worths: list[Column] = field(init=False)  # for each eight of the query's words what any set of them is worth

    def __post_init__(self) -> None:
        table, arithmetic = self.table, self.arithmetic
        self.brevity = BRIEF_CHARACTERS / (BRIEF_CHARACTERS + table.sizes)
        worth = self.match.worth
        parts = (worth[start : start + 8] for start in range(0, max(1, len(worth)), 8))
        self._worths = [arithmetic.column(_sums_of_sets(part)) for part in parts]
        self.covered = self.worth(self.match.words)
        self.in_session = table.sessions > 0
        # One number for a place in a session. A candidate of no session has no neighbours: nothing is beside ALONE.
        seats = table.sessions * SESSION_PLACES + table.positions
        seats = arithmetic.where(self.in_session, seats, ALONE)
        self.neighbours = dict(zip(OFFSETS, arithmetic.neighbours(seats, OFFSETS), strict=True))
        self.sessions = arithmetic.groups(table.sessions)

    def worth(self, sets: Column) -> Column:
        """What some sets of the query's words are worth, as a share of all that was asked."""
        found: Column = 0.0
        for place, worths in enumerate(self._worths):
            found = self.arithmetic.at(sets >> 8 * place & 255, worths) + found
        return found

    def beside(self, values: Column, *offsets: int) -> Column:
        """The best value above 0 of the neighbours at some offsets, by how brief the memory itself is: a long one
        speaks for itself."""
        best: Column = 0.0
        for offset in offsets:
            best = self.arithmetic.maximum(self.arithmetic.at(self.neighbours[offset], values), best)
        return best * self.brevity

    def of_session(self, values: Column, alone: Column) -> Column:
        """A value of each session as one of each of its candidates. What is in none is one of its own: `alone`."""
        return self.arithmetic.where(self.in_session, self.arithmetic.at(self.sessions[0], values), alone)

    def by_speaker(self, wanted: Callable[[str], bool]) -> Column:
        """1 where the speaker is wanted."""
        names = self.table.speaker_names.items()
        found = {number: float(name is not None and wanted(name)) for number, name in names}
        return self.arithmetic.look_up(self.table.speakers, found)

    def nothing(self) -> Column:
        """0 for each."""
        return self.arithmetic.zeros(len(self.table.rows))


class Feature(NamedTuple):
    """One column of the ranking. `signal`: the group that `without` switches off."""

    name: str
    signal: str
    unit: str
    compute: Callable[[FeatureInput], Column]
    from_vectors: bool | None = None  # there only where vectors take part, or only where none do


def compute_features(given: FeatureInput, without: frozenset[str]) -> dict[str, Column]:
    """Every feature that takes part, by name, in the order of `FEATURES`."""
    vectors = given.match.cosines is not None
    return {
        one.name: one.compute(given)
        for one in FEATURES
        if one.signal not in without and one.from_vectors in (None, vectors)
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
    return _cosines(given) * given.brevity


def _word_vectors(given: FeatureInput) -> Column:
    """Cosine of the words' vectors with the query's."""
    return given.nothing() if given.match.near_words is None else given.match.near_words


# -- neighbours in the session: chat turns answer each other


def _coverage_around(given: FeatureInput) -> Column:
    """What the two next to it add to the words that a memory has itself."""
    words, at = given.match.words, given.arithmetic.at
    around = given.worth(words | at(given.neighbours[-1], words) | at(given.neighbours[1], words))
    return (around - given.covered) * given.brevity


def _answer(given: FeatureInput) -> Column:
    """Whether the turn before asks something."""
    return given.beside(given.table.asked, -1)


# -- the session as a whole


def _session(given: FeatureInput) -> Column:
    """How much of the query the whole session speaks of: the log of its candidates' summed scores."""
    arithmetic, text = given.arithmetic, given.match.text
    sums = arithmetic.each(math.log1p, arithmetic.sums(given.sessions, text))
    return given.of_session(sums, arithmetic.each(math.log1p, text))


def _session_vector(given: FeatureInput) -> Column:
    """How near the whole session is: the mean of its candidates' best cosines."""
    cosines = _cosines(given)
    return given.of_session(given.arithmetic.means_of_best(given.sessions, cosines, BEST_OF_SESSION), cosines)


# -- time


def _date(given: FeatureInput) -> Column:
    """The share of the date parts named in the query that a memory's time has; 1 within a stretch of time it names, and
    from the time on that an event gave."""
    when, stretches = _dates_asked(given.query, given.at, given.match.after)
    if not when and not stretches:
        return given.nothing()

    def agrees(at: int) -> float:
        return 1.0 if any(start <= at < end for start, end in stretches) else agreement(when, at)

    return given.arithmetic.each(agrees, given.table.valid_from)


def _dates_asked(query: str, now: int, after: int | None) -> tuple[Mentioned, list[tuple[int, int]]]:
    """Parts of dates that a query names, and stretches of time; one of these is what comes from `after` on."""
    when, stretches = mentioned(query), spans(query, now)
    if stretches:
        when = replace(when, weekdays=frozenset())  # the latest one is meant, not each
    return when, stretches if after is None else [*stretches, (after, sys.maxsize)]


def _tells_when(given: FeatureInput) -> Column:
    """For a question about when: whether the text speaks of a time."""
    return given.nothing() if given.match.tells_when is None else given.match.tells_when


def _recent(given: FeatureInput) -> Column:
    """For a question about what is latest: the share of the others' times that a memory's is not older than."""
    if len(given.table.rows) < 2 or intent(given.query) != "recent":
        return given.nothing()
    times = sorted(given.table.valid_from.tolist())
    return given.arithmetic.each(lambda at: (bisect_right(times, at) - 1) / (len(times) - 1), given.table.valid_from)


# -- who speaks


def _speaker(given: FeatureInput) -> Column:
    """Whether the query names who said it."""
    asked = {word.casefold() for word in _WORD.findall(given.query)}
    return given.by_speaker(lambda name: not asked.isdisjoint(_name_parts(name)))


@lru_cache(maxsize=1024)  # the same few persons speak again and again
def _name_parts(name: str) -> frozenset[str]:
    return frozenset(part.casefold() for part in _WORD.findall(name))


def _by_person(given: FeatureInput) -> Column:
    """Whether a person speaks, by the names that transcripts have for one."""
    return given.by_speaker(_is_person)


def _is_person(name: str) -> bool:
    return name.casefold() in PERSON


def _asked_of_agent(given: FeatureInput) -> Column:
    """Whether a person speaks, for a question of what an agent said."""
    # Where nobody does, as in most stores, the question is not read: its pattern takes a millisecond to compile.
    speaks = any(name is not None and _is_person(name) for name in given.table.speaker_names.values())
    return _by_person(given) if speaks and asks_of_agent(given.query) else given.nothing()


# -- the shape of the text


def _length(given: FeatureInput) -> Column:
    """Log of its length, up to a cap: a turn of one word says little. Fades where words say nothing."""
    return given.arithmetic.each_size(_log_of_length, given.table.sizes) * min(1.0, given.match.known / KNOWN)


def _log_of_length(size: int) -> float:
    return math.log1p(size if size < LENGTH_CAP_CHARACTERS else LENGTH_CAP_CHARACTERS)


def _long(given: FeatureInput) -> Column:
    """Log of how much longer than LONG_CHARACTERS it is."""
    return given.arithmetic.each_size(_log_beyond_long, given.table.sizes)


def _log_beyond_long(size: int) -> float:
    return math.log(size / LONG_CHARACTERS) if size > LONG_CHARACTERS else 0.0


def _question(given: FeatureInput) -> Column:
    """Whether it ends with a question mark."""
    return given.table.asked


def _keyed(given: FeatureInput) -> Column:
    """Whether it is the value of a key."""
    return given.table.keyed


def _graph(given: FeatureInput) -> Column:
    """How near it is by what it names and is linked to, for a question of several hops; 0: the walk did not come."""
    return given.nothing() if given.match.near is None else given.match.near


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
    Feature("asked_of_agent", "shape", FLAG, _asked_of_agent),
    Feature("question", "shape", FLAG, _question),
    Feature("keyed", "shape", FLAG, _keyed),
    Feature("word_vectors", "word_vectors", COSINE, _word_vectors, False),
    Feature("graph", "graph", "share of the nearest", _graph),
)


def _sums_of_sets(worth: Sequence[float]) -> list[float]:
    """The sum of every set of up to eight numbers, by its bits."""
    sums = [0.0]
    for one in worth:
        sums += [value + one for value in sums]
    return sums
