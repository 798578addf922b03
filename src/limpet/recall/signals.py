"""What each signal says about the candidates of one query: a table, name -> a value for each candidate.

The same formulas in NumPy, for processes that have it loaded anyway, are in `arrays.py`; a test holds them to these.
"""

from __future__ import annotations

import math
import re
import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..store.records import Candidate
from ..text.dates import Mentioned, agreement, mentioned, spans
from .intent import intent

# Name -> one value a candidate; lists, or NumPy arrays from `arrays.py`.
Table = dict[str, Any]

# Characters at which a memory's neighbours count half as much as for an empty one.
BRIEF = 200
# Characters from which on a memory counts as long; beyond the second figure more length says no more.
LONG, LENGTH_CAP = 400, 2_000
# Candidates of a session by whose cosines it is judged.
BEST = 3
# How transcripts name the person that an agent talks to.
PERSON = frozenset({"user", "human"})
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What words say of the candidates, in their order: lists or NumPy arrays. Scores are shares of a perfect match."""

    text: Any
    fields: Any
    having: Any  # for each candidate, which of the query's words it has, in its text or beside it
    worth: list[float]  # of each of these words, as a share of all that was asked
    when: list[float] | None  # 1 where a time is told; None: the question is not about one
    after: int | None  # from when on is the time asked for, if an event gave it
    near: list[float] | None  # by what it names and is linked to; 0 where the walk did not come; None: it was not made


def worth_of(stems: Mapping[str, float], absent: float) -> list[float]:
    """What each of the query's words is worth as a share of all of them, those that no text has included."""
    whole = sum(stems.values()) + absent
    return [value / whole for value in stems.values()]


def measure(
    several: Sequence[Candidate],
    said: Said,
    *,
    cosines: Sequence[float] | None,
    query: str,
    at: int,
    without: frozenset[str],
) -> Table:
    """The table of signals. `cosines`: by meaning; `at`: when it is asked, for "last week"."""
    if cosines is not None or "numpy" in sys.modules:
        from .arrays import measure_arrays

        return measure_arrays(several, said, cosines, query, at, without)
    return measure_lists(several, said, None, query, at, without)


def plain(values: Any) -> list[float]:
    """A column as a list: reading an array one by one takes many times as long."""
    return values if isinstance(values, list) else list(values.tolist())


def measure_lists(
    several: Sequence[Candidate],
    said: Said,
    cosines: list[float] | None,
    query: str,
    at: int,
    without: frozenset[str],
) -> Table:
    """The formulas in plain Python: the reference, and what a process without NumPy uses."""
    text = said.text
    covered = [_sum(having, said.worth) for having in said.having]
    signals: dict[str, list[float]] = {"lexical": text, "coverage": covered}
    sizes = [len(one.content) for one in several]
    asked = [float(one.content.rstrip().endswith("?")) for one in several]
    brief = [BRIEF / (BRIEF + size) for size in sizes]
    if "fields" not in without:
        signals["fields"] = said.fields
    if cosines is not None:
        signals["vector"] = cosines
    if "neighbours" not in without:
        _neighbours(several, said, covered, cosines, asked, brief, signals)
    if "session" not in without:
        signals["session"] = _sessions(several, text)
        if cosines is not None:
            signals["session_vector"] = _sessions_meant(several, cosines)
    if "date" not in without:
        signals["date"] = dates([one.valid_from for one in several], query, at, said.after)
        signals["tells_when"] = said.when or [0.0] * len(several)
    if "recency" not in without:
        signals["recent"] = recency([one.valid_from for one in several], query)
    if "speaker" not in without:
        signals["speaker"] = _of_speakers(several, named(query))
    if "shape" not in without:
        signals["length"] = [math.log1p(min(size, LENGTH_CAP)) for size in sizes]
        signals["long"] = [max(0.0, math.log(size / LONG)) if size else 0.0 for size in sizes]
        if cosines is not None:
            signals["brief_vector"] = [value * share for value, share in zip(cosines, brief, strict=True)]
        signals["by_person"] = _of_speakers(several, is_person)
        signals["question"] = asked
        signals["keyed"] = [float(one.key is not None) for one in several]
    if "graph" not in without:
        signals["graph"] = said.near or [0.0] * len(several)
    return signals


def _neighbours(
    several: Sequence[Candidate],
    said: Said,
    covered: list[float],
    cosines: list[float] | None,
    asked: list[float],
    brief: list[float],
    signals: dict[str, list[float]],
) -> None:
    """What the memories before and after in the same session say: chat turns answer each other.

    A neighbour counts by how brief the memory itself is: a long one speaks for itself.
    """
    place: dict[tuple[int | None, int], int] = {
        (one.session, one.position): i for i, one in enumerate(several) if one.session is not None
    }
    # For each offset the index of the neighbour, or that of a zero at the end.
    nobody = len(several)
    at = {
        offset: [place.get((one.session, one.position + offset), nobody) for one in several]
        for offset in (-2, -1, 1, 2)
    }

    def near(values: list[float], *offsets: int) -> list[float]:
        padded = [*values, 0.0]
        if len(offsets) == 1:
            return [max(0.0, padded[i]) * share for i, share in zip(at[offsets[0]], brief, strict=True)]
        pairs = zip(at[offsets[0]], at[offsets[1]], brief, strict=True)
        return [max(0.0, padded[i], padded[j]) * share for i, j, share in pairs]

    text = said.text
    signals["lexical_previous"] = near(text, -1)
    signals["lexical_next"] = near(text, 1)
    signals["lexical_around"] = near(text, -2, 2)
    if cosines is not None:
        signals["vector_previous"] = near(cosines, -1)
        signals["vector_next"] = near(cosines, 1)
        signals["vector_around"] = near(cosines, -2, 2)
    # What the two next to it add to the words that a memory has itself.
    padded = [*said.having, [False] * len(said.worth)]
    signals["coverage_around"] = [
        (_sum([any(one) for one in zip(own, padded[i], padded[j], strict=True)], said.worth) - have) * share
        for own, have, i, j, share in zip(said.having, covered, at[-1], at[1], brief, strict=True)
    ]
    signals["answer"] = near(asked, -1)


def _sessions(several: Sequence[Candidate], text: list[float]) -> list[float]:
    """How much of the query a memory's whole session speaks of: the log of its candidates' summed scores."""
    total: dict[int, float] = defaultdict(float)
    for one, value in zip(several, text, strict=True):
        if one.session is not None:
            total[one.session] += value
    return [math.log1p(total[one.session]) if one.session is not None else 0.0 for one in several]


def _sessions_meant(several: Sequence[Candidate], cosines: list[float]) -> list[float]:
    """How near the whole session is: the mean of its candidates' three best cosines."""
    of: dict[int, list[float]] = defaultdict(list)
    for one, value in zip(several, cosines, strict=True):
        if one.session is not None:
            of[one.session].append(value)
    means = {session: sum(best) / len(best) for session, best in ((s, sorted(v)[-BEST:]) for s, v in of.items())}
    return [means[one.session] if one.session is not None else 0.0 for one in several]


def _sum(having: Sequence[bool], worth: Sequence[float]) -> float:
    return sum(value for there, value in zip(having, worth, strict=True) if there)


def dates(times: Sequence[int], query: str, now: int, after: int | None = None) -> list[float]:
    """The share of the date parts named in the query that a memory's time has; 1 within a stretch of time it names, and
    from `after` on."""
    return agreements(times, *dates_asked(query, now, after))


def dates_asked(query: str, now: int, after: int | None = None) -> tuple[Mentioned, list[tuple[int, int]]]:
    """Parts of dates that a query names, and stretches of time; one of these is what comes from `after` on."""
    when, stretches = mentioned(query), spans(query, now)
    if stretches:
        when = replace(when, weekdays=frozenset())  # the latest one is meant, not each
    return when, stretches if after is None else [*stretches, (after, sys.maxsize)]


def agreements(times: Sequence[int], when: Mentioned, stretches: Sequence[tuple[int, int]]) -> list[float]:
    """`dates`, of what `dates_asked` found."""
    found = [agreement(when, at) for at in times] if when else [0.0] * len(times)
    for start, end in stretches:
        found = [1.0 if start <= at < end else value for value, at in zip(found, times, strict=True)]
    return found


def recency(times: Sequence[int], query: str) -> list[float]:
    """For a question about what is latest: the share of the others' times that a memory's is not older than."""
    if len(times) < 2 or intent(query) != "recent":
        return [0.0] * len(times)
    ordered = sorted(times)
    return [(bisect_right(ordered, at) - 1) / (len(ordered) - 1) for at in times]


def named(query: str) -> Callable[[str | None], bool]:
    """Whether the query names a speaker."""
    words = {word.casefold() for word in _WORD.findall(query)}
    return lambda speaker: any(part.casefold() in words for part in _WORD.findall(speaker or ""))


def is_person(speaker: str | None) -> bool:
    """Whether a person speaks, by the names that transcripts have for one."""
    return speaker is not None and speaker.casefold() in PERSON


def _of_speakers(several: Sequence[Candidate], wanted: Callable[[str | None], bool]) -> list[float]:
    known = {speaker: float(wanted(speaker)) for speaker in {one.speaker for one in several}}
    return [known[one.speaker] for one in several]
