"""The formulas of `signals.py` over arrays: a fifth of the time where NumPy is loaded for the vectors anyway."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..rank.note_weights import NOTE_OFFSET, NOTE_WEIGHTS
from ..rank.weights import WEIGHTS
from ..store.records import Candidate
from .intent import intent
from .signals import BEST, BRIEF, LENGTH_CAP, LONG, Said, Table, agreements, dates_asked, is_person, named, recency

if TYPE_CHECKING:
    from ..store.contract import Columns

# Places in one session that keys leave room for, neighbours of the first and last included.
_PLACES = 1 << 40
_OFFSETS = np.array([[-2], [-1], [1], [2]])


class Traits(NamedTuple):
    """What the formulas read of some memories; `speaker` holds places in `names`, `session` 0 is none."""

    size: np.ndarray
    asked: np.ndarray
    keyed: np.ndarray
    session: np.ndarray
    position: np.ndarray
    valid_from: np.ndarray
    speaker: np.ndarray
    names: Sequence[str | None]


def traits_of(columns: Columns, bodies: np.ndarray) -> Traits:
    """What a store's columns say of some bodies."""
    return Traits(
        size=columns.size[bodies].astype(np.float64),
        asked=columns.asked[bodies].astype(np.float64),
        keyed=columns.keyed[bodies].astype(np.float64),
        session=columns.session[bodies].astype(np.int64),
        position=columns.position[bodies],
        valid_from=columns.valid_from[bodies],
        speaker=columns.speaker[bodies],
        names=columns.names,
    )


def measure_arrays(
    several: Sequence[Candidate],
    said: Said,
    cosines: Sequence[float] | None,
    query: str,
    at: int,
    without: frozenset[str],
) -> Table:
    """`measure_traits` of candidates that came as rows."""
    names = list({one.speaker: None for one in several})
    traits = Traits(
        size=np.array([len(one.content) for one in several], dtype=np.float64),
        asked=np.array([one.content.rstrip().endswith("?") for one in several], dtype=np.float64),
        keyed=np.array([one.key is not None for one in several], dtype=np.float64),
        session=np.array([one.session or 0 for one in several], dtype=np.int64),
        position=np.array([one.position for one in several], dtype=np.int64),
        valid_from=np.array([one.valid_from for one in several], dtype=np.int64),
        speaker=np.array([names.index(one.speaker) for one in several], dtype=np.int64),
        names=names,
    )
    meaning = None if cosines is None else np.asarray(cosines, dtype=np.float64)
    arrays = Said(
        text=np.array(said.text, dtype=np.float64),
        fields=np.array(said.fields, dtype=np.float64),
        having=np.array(said.having, dtype=bool).reshape(len(several), len(said.worth)),
        worth=said.worth,
        when=said.when,
        after=said.after,
        near=said.near,
    )
    return measure_traits(traits, arrays, meaning, query, at, without)


def measure_traits(
    traits: Traits,
    said: Said,
    cosines: np.ndarray | None,
    query: str,
    at: int,
    without: frozenset[str],
) -> Table:
    """The same table as `measure_lists`, each column an array of float64."""
    nothing = np.zeros(len(traits.size))
    brief = BRIEF / (BRIEF + traits.size)
    text, worth = said.text, np.array(said.worth, dtype=np.float64)
    covered = said.having @ worth
    signals: Table = {"lexical": text, "coverage": covered}
    seats = _seats(traits) if {"neighbours", "session"} - without else None
    if "fields" not in without:
        signals["fields"] = said.fields
    if cosines is not None:
        signals["vector"] = cosines
    if seats is not None and "neighbours" not in without:
        said_beside, answers = _neighbours(seats, text, cosines, traits.asked, brief)
        signals |= said_beside
        # What the two next to it add to the words that a memory has itself.
        rows = np.concatenate([said.having, np.zeros((1, len(worth)), dtype=bool)])
        around = said.having | rows[seats.near[1]] | rows[seats.near[2]]
        signals["coverage_around"] = (around @ worth - covered) * brief
        signals["answer"] = answers
    if seats is not None and "session" not in without:
        signals["session"] = seats.of_all(np.log1p(np.bincount(seats.group, weights=text)))
        if cosines is not None:
            signals["session_vector"] = _sessions_meant(seats, cosines)
    if "date" not in without:
        dated = dates_asked(query, at, said.after)
        signals["date"] = np.array(agreements(traits.valid_from.tolist(), *dated)) if any(dated) else nothing
        signals["tells_when"] = np.array(said.when, dtype=np.float64) if said.when else nothing
    if "recency" not in without:
        latest = intent(query) == "recent"
        signals["recent"] = np.array(recency(traits.valid_from.tolist(), query)) if latest else nothing
    if "speaker" not in without:
        signals["speaker"] = _by_speaker(traits, named(query))
    if "shape" not in without:
        signals["length"] = np.log1p(np.minimum(traits.size, LENGTH_CAP))
        signals["long"] = np.log(np.maximum(traits.size, LONG) / LONG)
        if cosines is not None:
            signals["brief_vector"] = cosines * brief
        signals["by_person"] = _by_speaker(traits, is_person)
        signals["question"] = traits.asked
        signals["keyed"] = traits.keyed
    if "graph" not in without:
        signals["graph"] = nothing if said.near is None else np.array(said.near, dtype=np.float64)
    return signals


class _Seats(NamedTuple):
    """Where some memories sit in their sessions."""

    near: np.ndarray  # (4, n): for each offset of `_OFFSETS` the place of the neighbour there, n for nobody
    group: np.ndarray  # (n,): which session, in their order; no session comes first
    lonely: bool  # there are some without a session

    def of_all(self, values: np.ndarray) -> np.ndarray:
        """A value of each session as one of each of its memories; 0 without a session. The values are changed."""
        if self.lonely:
            values[0] = 0.0
        found: np.ndarray = values[self.group]
        return found


def _seats(traits: Traits) -> _Seats:
    count = len(traits.size)
    if not count:
        return _Seats(np.zeros((4, 0), dtype=np.int64), np.zeros(0, dtype=np.int64), False)
    keys = traits.session * _PLACES + traits.position
    lonely = np.flatnonzero(traits.session == 0)
    keys[lonely] = np.arange(len(lonely)) * 4 - (8 * count + _PLACES)  # nobody is next to these
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    wanted = keys + _OFFSETS
    place = np.minimum(ordered.searchsorted(wanted), count - 1)
    near = np.where(ordered[place] == wanted, order[place], count)
    sessions = traits.session[order]
    group = np.zeros(count, dtype=np.int64)
    group[order[1:]] = np.cumsum(sessions[1:] != sessions[:-1])
    return _Seats(near, group, bool(len(lonely)))


def _neighbours(
    seats: _Seats, text: np.ndarray, cosines: np.ndarray | None, asked: np.ndarray, brief: np.ndarray
) -> tuple[Table, np.ndarray]:
    """What the memories beside each one say, and whether the one before asks; all read from one table at once."""
    said = [asked, text] if cosines is None else [asked, text, cosines]
    values = np.zeros((len(said), len(text) + 1))
    np.maximum(said, 0.0, out=values[:, :-1])
    beside = values[:, seats.near]
    previous, following = beside[:, 1] * brief, beside[:, 2] * brief
    around = np.maximum(beside[:, 0], beside[:, 3]) * brief
    found: Table = {}
    for row, name in enumerate(("lexical", "vector")[: len(said) - 1], 1):
        found[f"{name}_previous"], found[f"{name}_next"] = previous[row], following[row]
        found[f"{name}_around"] = around[row]
    return found, previous[0]


def _sessions_meant(seats: _Seats, cosines: np.ndarray) -> np.ndarray:
    """How near the whole session is: the mean of its candidates' best cosines."""
    if not len(cosines):
        return cosines
    order = np.lexsort((-cosines, seats.group))
    count = np.bincount(seats.group)
    first = np.repeat(np.cumsum(count) - count, count)
    best = order[np.arange(len(order)) - first < BEST]
    return seats.of_all(np.bincount(seats.group[best], weights=cosines[best]) / np.minimum(count, BEST))


def _by_speaker(traits: Traits, wanted: Callable[[str | None], bool]) -> np.ndarray:
    """1 where a speaker is wanted."""
    found = np.zeros(len(traits.speaker))
    for one in set(traits.speaker.tolist()):
        if wanted(traits.names[one]):
            found[traits.speaker == one] = 1.0
    return found


def distinct(numbers: np.ndarray) -> np.ndarray:
    """In order, each once: np.unique in a fraction of its time for few. The array may be sorted in place."""
    numbers.sort()
    if len(numbers) < 2:
        return numbers
    new = np.empty(len(numbers), dtype=bool)
    new[0] = True
    np.not_equal(numbers[1:], numbers[:-1], out=new[1:])
    found: np.ndarray = numbers[new]
    return found


def combine(signals: Table, spoken: Sequence[bool], factors: Sequence[float]) -> np.ndarray:
    """Weighted sum of the columns, as `rank.fuse.linear`, times what each memory's life does to it."""
    mask = np.array(spoken, dtype=bool)
    spoken_of = int(np.count_nonzero(mask))
    if spoken_of == len(mask):
        scores = _sum(signals, WEIGHTS, len(mask))
    else:
        scores = NOTE_OFFSET + _sum(signals, NOTE_WEIGHTS, len(mask))
        if spoken_of:
            scores[mask] = _sum(signals, WEIGHTS, len(mask))[mask]
    life = np.array(factors, dtype=np.float64)
    return np.where(scores > 0, scores * life, scores / life)


def in_order(scores: np.ndarray, ids: Sequence[bytes]) -> list[int]:
    """Places best first, ties by id."""
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    if (ordered[1:] == ordered[:-1]).any():
        order = np.lexsort((np.array(ids), -scores))
    found: list[int] = order.tolist()
    return found


def _sum(signals: Table, weights: dict[str, float], count: int) -> np.ndarray:
    """One after the other: a dot product would round each column in its own way, and part candidates that are equal."""
    scores = np.zeros(count)
    for name, values in signals.items():
        weight = weights.get(name, 0.0)
        if weight:
            scores += weight * values
    return scores
