"""The formulas of `signals.py` over arrays: a fifth of the time where NumPy is loaded for the vectors anyway."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..rank.note_weights import NOTE_OFFSET, NOTE_WEIGHTS
from ..rank.weights import WEIGHTS
from ..store.contract import Candidate
from .signals import BRIEF, LENGTH_CAP, LONG, Table, by_person, dates, named

# Places in one session that keys leave room for, neighbours of the first and last included.
_PLACES = 1 << 40


def measure_arrays(
    several: Sequence[Candidate],
    text: list[float],
    fields: list[float],
    cosines: Sequence[float] | None,
    query: str,
    without: frozenset[str],
) -> Table:
    """The same table as `measure_lists`, each column an array of float64."""
    words = np.array(text, dtype=np.float64)
    meaning = None if cosines is None else np.asarray(cosines, dtype=np.float64)
    sizes = np.array([len(one.content) for one in several], dtype=np.float64)
    asked = np.array([one.content.rstrip().endswith("?") for one in several], dtype=np.float64)
    brief = BRIEF / (BRIEF + sizes)
    sessions = np.array([-1 if one.session is None else one.session for one in several], dtype=np.int64)
    signals: Table = {"lexical": words}
    if "fields" not in without:
        signals["fields"] = np.array(fields)
    if meaning is not None:
        signals["vector"] = meaning
    if "neighbours" not in without:
        at = _places(several, sessions)
        for name, values in (("lexical", words), ("vector", meaning)):
            if values is None:
                continue
            padded = np.append(np.maximum(values, 0.0), 0.0)
            signals[f"{name}_previous"] = padded[at[-1]] * brief
            signals[f"{name}_next"] = padded[at[1]] * brief
            signals[f"{name}_around"] = np.maximum(padded[at[-2]], padded[at[2]]) * brief
        signals["answer"] = np.append(asked, 0.0)[at[-1]] * brief
    if "session" not in without:
        of, inverse = np.unique(sessions, return_inverse=True)
        total = np.log1p(np.bincount(inverse, weights=words))
        total[of == -1] = 0.0
        signals["session"] = total[inverse]
    if "date" not in without:
        signals["date"] = np.array(dates(several, query))
    if "speaker" not in without:
        signals["speaker"] = np.array(named(several, query))
    if "shape" not in without:
        signals["length"] = np.log1p(np.minimum(sizes, LENGTH_CAP))
        signals["long"] = np.log(np.maximum(sizes, LONG) / LONG)
        if meaning is not None:
            signals["brief_vector"] = meaning * brief
        signals["by_person"] = np.array(by_person(several))
        signals["question"] = asked
        signals["keyed"] = np.array([one.key is not None for one in several], dtype=np.float64)
    return signals


def _places(several: Sequence[Candidate], sessions: np.ndarray) -> dict[int, np.ndarray]:
    """For each offset the index of each candidate's neighbour in its session, or that of a zero at the end."""
    count = len(several)
    keys = sessions * _PLACES + np.array([one.position for one in several], dtype=np.int64)
    lonely = sessions < 0
    keys[lonely] = np.arange(-4 * count, 0, 4)[: int(lonely.sum())] - 4 * count - _PLACES
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    found = {}
    for offset in (-2, -1, 1, 2):
        place = np.minimum(np.searchsorted(ordered, keys + offset), count - 1)
        found[offset] = np.where(ordered[place] == keys + offset, order[place], count)
    return found


def combine(signals: Table, spoken: Sequence[bool]) -> list[float]:
    """Weighted sum of the columns, as `rank.fuse.linear`."""
    mask = np.array(spoken, dtype=bool)
    scores = np.where(mask, 0.0, NOTE_OFFSET)
    if mask.any():
        scores[mask] = _sum(signals, WEIGHTS, len(mask))[mask]
    if not mask.all():
        scores[~mask] += _sum(signals, NOTE_WEIGHTS, len(mask))[~mask]
    found: list[float] = scores.tolist()
    return found


def _sum(signals: Table, weights: dict[str, float], count: int) -> np.ndarray:
    scores = np.zeros(count)
    for name, values in signals.items():
        weight = weights.get(name, 0.0)
        if weight:
            scores += weight * values
    return scores
