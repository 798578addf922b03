"""The formulas of `signals.py` over arrays: a fifth of the time where NumPy is loaded for the vectors anyway."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..rank.note_weights import NOTE_OFFSET, NOTE_WEIGHTS
from ..rank.weights import WEIGHTS
from ..store.records import Candidate
from .signals import BEST, BRIEF, LENGTH_CAP, LONG, Said, Table, agreements, dates_asked, is_person, named, recency

if TYPE_CHECKING:
    from ..store.contract import Columns

# Places in one session that keys leave room for, neighbours of the first and last included.
_PLACES = 1 << 40


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
    brief = BRIEF / (BRIEF + traits.size)
    text, worth = said.text, np.array(said.worth, dtype=np.float64)
    covered = said.having @ worth
    signals: Table = {"lexical": text, "coverage": covered}
    if "fields" not in without:
        signals["fields"] = said.fields
    if cosines is not None:
        signals["vector"] = cosines
    if "neighbours" not in without:
        near = _places(traits)
        for name, values in (("lexical", text), ("vector", cosines)):
            if values is None:
                continue
            padded = np.append(np.maximum(values, 0.0), 0.0)
            signals[f"{name}_previous"] = padded[near[-1]] * brief
            signals[f"{name}_next"] = padded[near[1]] * brief
            signals[f"{name}_around"] = np.maximum(padded[near[-2]], padded[near[2]]) * brief
        # What the two next to it add to the words that a memory has itself.
        rows = np.concatenate([said.having, np.zeros((1, len(worth)), dtype=bool)])
        signals["coverage_around"] = ((said.having | rows[near[-1]] | rows[near[1]]) @ worth - covered) * brief
        signals["answer"] = np.append(traits.asked, 0.0)[near[-1]] * brief
    if "session" not in without:
        of, inverse = np.unique(traits.session, return_inverse=True)
        total = np.log1p(np.bincount(inverse, weights=text))
        total[of == 0] = 0.0
        signals["session"] = total[inverse]
        if cosines is not None:
            signals["session_vector"] = _sessions_meant(of, inverse, cosines)
    if "date" not in without:
        dated = dates_asked(query, at, said.after)
        signals["date"] = (
            np.array(agreements(traits.valid_from.tolist(), *dated)) if any(dated) else np.zeros(len(text))
        )
        signals["tells_when"] = np.array(said.when, dtype=np.float64) if said.when else np.zeros(len(text))
    if "recency" not in without:
        signals["recent"] = np.array(recency(traits.valid_from.tolist(), query))
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
        signals["graph"] = np.array(said.near, dtype=np.float64)
    return signals


def _sessions_meant(of: np.ndarray, inverse: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    """How near the whole session is: the mean of its candidates' best cosines. `of[inverse]`: each one's session."""
    order = np.lexsort((-cosines, inverse))
    count = np.bincount(inverse, minlength=len(of))
    first = np.repeat(np.cumsum(count) - count, count)
    best = order[np.arange(len(order)) - first < BEST]
    mean = np.bincount(inverse[best], weights=cosines[best], minlength=len(of)) / np.minimum(count, BEST).clip(1)
    mean[of == 0] = 0.0
    found: np.ndarray = mean[inverse]
    return found


def _by_speaker(traits: Traits, wanted: Callable[[str | None], bool]) -> np.ndarray:
    """1 where a speaker is wanted."""
    speakers = traits.speaker.tolist()
    known = {one: float(wanted(traits.names[one])) for one in set(speakers)}
    return np.array([known[one] for one in speakers]) if any(known.values()) else np.zeros(len(speakers))


def _places(traits: Traits) -> dict[int, np.ndarray]:
    """For each offset the index of each candidate's neighbour in its session, or that of a zero at the end."""
    count = len(traits.size)
    keys = traits.session * _PLACES + traits.position
    lonely = traits.session == 0
    keys[lonely] = np.arange(-4 * count, 0, 4)[: int(lonely.sum())] - 4 * count - _PLACES
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    found = {}
    for offset in (-2, -1, 1, 2):
        place = np.minimum(np.searchsorted(ordered, keys + offset), count - 1)
        found[offset] = np.where(ordered[place] == keys + offset, order[place], count)
    return found


def distinct(numbers: np.ndarray) -> np.ndarray:
    """In order, each once: np.unique in a fraction of its time for few. The array may be sorted in place."""
    numbers.sort()
    if len(numbers) < 2:
        return numbers
    found: np.ndarray = numbers[np.append(True, numbers[1:] != numbers[:-1])]
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
    scores = np.zeros(count)
    for name, values in signals.items():
        weight = weights.get(name, 0.0)
        if weight:
            scores += weight * values
    return scores
