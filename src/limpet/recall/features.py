"""The ranking features: the value of each signal for the candidates of one query. All formulas are here.

A feature is one number a candidate. `FEATURES` lists them in the order in which the score adds them up; a new one is a
line there, a formula in `compute_features` (what it needs is gathered in `candidates.py`, in `QueryMatch`), and a
weight in `rank/weights.py`, which is fitted unless `benchmarks/tune_weights.py` names it as chosen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from math import fsum, isnan, log, log1p

from ..model.dataclass import NamedTuple, dataclass
from ..rank.constants import RELATED_COSINE, UNRELATED_COSINE
from ..text.dates import agreement, mentioned, spans
from ..text.describe import WORD
from .index import CandidateTable
from .plan import asks_of_agent

# Characters at which a memory's neighbours count half as much as for an empty one.
BRIEF_CHARACTERS = 200
# Characters from which a memory counts as long, and from which more length makes no difference.
LONG_CHARACTERS, LENGTH_CAP_CHARACTERS = 400, 2_000
# Length counts fully if texts have this share of the question's words. With fewer, the question is in another language
# than the memories, where cosines differ less than lengths do.
KNOWN = 0.2
# Candidates of a session whose cosines count.
BEST_OF_SESSION = 3
# How transcripts name the person that an agent talks to.
PERSON = frozenset({"user", "human"})

# A column of this signal is always there: of zeros where its signal is switched off or missing.
ALWAYS = ""
SHARE, COSINE, LOG, FLAG = "share of the query", "cosine", "natural logarithm", "0 or 1"


class Feature(NamedTuple):
    """One column of the ranking. `signal`: the group that `without` switches off."""

    signal: str
    unit: str
    from_vectors: bool | None = None  # True: only with vectors; False: only without


FEATURES: dict[str, Feature] = {
    "lexical": Feature(ALWAYS, SHARE),
    "coverage": Feature(ALWAYS, SHARE),
    "fields": Feature("fields", SHARE),
    "vector": Feature(ALWAYS, COSINE, True),
    "lexical_previous": Feature("neighbours", SHARE),
    "lexical_next": Feature("neighbours", SHARE),
    "lexical_around": Feature("neighbours", SHARE),
    "vector_previous": Feature("neighbours", COSINE, True),
    "vector_next": Feature("neighbours", COSINE, True),
    "vector_around": Feature("neighbours", COSINE, True),
    "coverage_around": Feature("neighbours", SHARE),
    "session": Feature("session", LOG),
    "session_vector": Feature("session", COSINE, True),
    "date": Feature("date", "share of the date"),
    "speaker": Feature("speaker", FLAG),
    "length": Feature("shape", LOG),
    "long": Feature("shape", LOG),
    "brief_vector": Feature("shape", COSINE, True),
    "by_person": Feature("shape", FLAG),
    "asked_of_agent": Feature("shape", FLAG),
    "question": Feature("shape", FLAG),
    "keyed": Feature("shape", FLAG),
    "word_vectors": Feature("word_vectors", COSINE, False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMatch:
    """The candidates' match with the query's words, meaning and time, in their order. Scores: shares of a perfect
    match."""

    query: str
    at: int  # when it is asked, for "last week"; microseconds
    text: list[float]  # BM25
    fields: list[float]  # the query's words in topics, metadata, speaker and date
    words: list[int]  # which of the query's words each candidate has: bit j for the j-th of `worth`
    worth: Sequence[float]  # of each of these words, as a share of all that was asked
    known: float  # worth of the words that any text has, as a share of all that was asked
    cosines: list[float] | None  # by meaning, NaN for a text without a vector; None: no vectors take part
    near_words: list[float] | None = None  # by word vectors, if no others take part


def compute_features(table: CandidateTable, match: QueryMatch, *, without: frozenset[str]) -> dict[str, list[float]]:
    """Compute every feature that takes part, by name, in the order of `FEATURES`."""
    nothing = [0.0] * len(table.rows)
    brevity = [BRIEF_CHARACTERS / (BRIEF_CHARACTERS + size) for size in table.sizes]  # 1 for an empty text
    covered = [worth_of(words, match.worth) for words in match.words]
    # A text that waits for its vector counts as near as its words say: from unrelated to an answer.
    cosines = match.cosines and [
        UNRELATED_COSINE + (RELATED_COSINE - UNRELATED_COSINE) * own if isnan(cosine) else cosine
        for cosine, own in zip(match.cosines, covered, strict=True)
    ]
    values = {"lexical": match.text, "coverage": covered, "fields": match.fields}
    values |= _neighbours(table, match, covered, brevity, cosines or nothing) | _sessions(
        table, match, cosines or nothing
    )
    if cosines:
        values["vector"] = cosines
        values["brief_vector"] = [cosine * brief for cosine, brief in zip(cosines, brevity, strict=True)]
    values["date"] = _dates(table.valid_from, match)
    # Who speaks: someone the query names; a person, by the names that transcripts have for one.
    asked = set(map(str.casefold, WORD.findall(match.query)))
    values["speaker"] = [float(name is not None and not asked.isdisjoint(_parts(name))) for name in table.speakers]
    values["by_person"] = [float(name is not None and name.casefold() in PERSON) for name in table.speakers]
    of_agent = any(values["by_person"]) and asks_of_agent(match.query)
    values["asked_of_agent"] = values["by_person"] if of_agent else nothing
    # The shape of the text: a turn of one word says little. Its length fades where words say nothing.
    fading = min(1.0, match.known / KNOWN)
    values["length"] = [log1p(min(size, LENGTH_CAP_CHARACTERS)) * fading for size in table.sizes]
    values["long"] = [log(max(size, LONG_CHARACTERS) / LONG_CHARACTERS) for size in table.sizes]
    values["question"], values["keyed"] = table.asked, table.keyed
    values["word_vectors"] = match.near_words or nothing
    columns, vectors = {}, match.cosines is not None
    for name, feature in FEATURES.items():
        if feature.signal not in without and feature.from_vectors in (None, vectors):
            columns[name] = values.get(name, nothing)
    return columns


def worth_of(words: int, worth: Sequence[float]) -> float:
    """Add up what a set of the query's words is worth: bit j for the j-th."""
    total = 0.0
    for value in worth:
        if words & 1:
            total += value
        words >>= 1
    return total


def _neighbours(
    table: CandidateTable, match: QueryMatch, covered: Sequence[float], brevity: Sequence[float],
    cosines: Sequence[float],
) -> dict[str, list[float]]:  # fmt: skip
    """Return what a memory's neighbours in its session say, for chat turns answer each other; less for a long memory,
    which speaks for itself."""
    seats = {}
    for i, (session, position) in enumerate(zip(table.sessions, table.positions, strict=True)):
        if session:
            seats[session, position] = i
    if not seats:
        return {}
    # The places of the neighbours at each offset; -1 for none: the index of the extra last value.
    beside = {
        offset: [
            seats.get((session, position + offset), -1)
            for session, position in zip(table.sessions, table.positions, strict=True)
        ]
        for offset in (-2, -1, 1, 2)
    }

    def best(values: Sequence[float], first: int, second: int) -> list[float]:
        """Return the better value above 0 of the neighbours at two offsets."""
        known = [*values, 0.0]
        return [
            max(0.0, known[a], known[b]) * brief
            for a, b, brief in zip(beside[first], beside[second], brevity, strict=True)
        ]

    masks = [*match.words, 0]
    around = [
        words | masks[before] | masks[after]
        for words, before, after in zip(match.words, beside[-1], beside[1], strict=True)
    ]
    result = {
        "coverage_around": [
            (worth_of(words, match.worth) - own) * brief
            for words, own, brief in zip(around, covered, brevity, strict=True)
        ],
    }
    for name, values in (("lexical", match.text), ("vector", cosines)):
        result[f"{name}_previous"] = best(values, -1, -1)
        result[f"{name}_next"] = best(values, 1, 1)
        result[f"{name}_around"] = best(values, -2, 2)
    return result


def _sessions(table: CandidateTable, match: QueryMatch, cosines: Sequence[float]) -> dict[str, list[float]]:
    """Return how much of the query the whole session of a memory speaks of, and how near it is: the log of its
    candidates' summed scores, and the mean of their best cosines. A memory without a session is one of its own."""
    members = defaultdict(list)
    for i, session in enumerate(table.sessions):
        members[session or -1 - i].append(i)
    spoken, near = [0.0] * len(table.sessions), [0.0] * len(table.sessions)
    for places in members.values():
        total = log1p(fsum(map(match.text.__getitem__, places)))
        best = sorted(map(cosines.__getitem__, places))[-BEST_OF_SESSION:]
        mean = fsum(best) / len(best)
        for i in places:
            spoken[i], near[i] = total, mean
    return {"session": spoken, "session_vector": near}


def _dates(times: Sequence[int], match: QueryMatch) -> list[float]:
    """Return the share of the date parts in the query that a memory's time has; 1 within a stretch of time it names."""
    when, stretches = mentioned(match.query), spans(match.query, match.at)
    if stretches:
        when = when._replace(weekdays=frozenset())  # the latest one is meant, not each
    if not any(when) and not stretches:
        return [0.0] * len(times)
    return [1.0 if any(start <= at < end for start, end in stretches) else agreement(when, at) for at in times]


@lru_cache(maxsize=1024)  # the same few persons speak again and again
def _parts(name: str) -> frozenset[str]:
    return frozenset(part.casefold() for part in WORD.findall(name))
