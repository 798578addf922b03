"""Lists of the texts that have a word, and what is done with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# What an occurrence counts in BM25, in halves, by column: text, topics, labels, dates, scope, pairs of characters.
_HALVES = np.array([2, 2, 1, 2, 0, 2])
# In `Posting.fields`: a date has the word, a label has it, and how many topics' words are it.
DATES, LABELS, TOPIC = 1, 2, 4
_FLAGS = np.array([0, 0, LABELS, DATES, 0, 0])


class Posting(NamedTuple):
    """The texts that have a word, in order."""

    text_ids: np.ndarray  # int32
    halves: np.ndarray  # how often, as BM25 weighs it, in halves; as narrow as it goes
    fields: np.ndarray | None  # None: in no topic, label or date at all

    def part(self, start: int, end: int) -> Posting:
        fields = None if self.fields is None else self.fields[start:end]
        if fields is not None and not fields.any():
            fields = None
        return Posting(self.text_ids[start:end], self.halves[start:end], fields)

    def and_then(self, later: Posting) -> Posting:
        """With the entries of later texts after its own."""
        fields = None
        if self.fields is not None or later.fields is not None:
            fields = np.concatenate([fields_of(self), fields_of(later)])
        return Posting(
            np.concatenate([self.text_ids, later.text_ids]), np.concatenate([self.halves, later.halves]), fields
        )


EMPTY = Posting(np.zeros(0, np.int32), np.zeros(0, np.uint8), None)


def posting_of(places: np.ndarray, words: np.ndarray | None = None) -> tuple[Posting, np.ndarray]:
    """From the places of all occurrences, as a `WordFeed` gives them.

    `words`: the number of each occurrence's word, for several words one after the other; their ends come back too.
    """
    if not len(places):
        return EMPTY, np.zeros(0, np.int64)
    text_ids, columns = places >> 3, places & 7
    new = np.concatenate(([True], text_ids[1:] != text_ids[:-1]))
    if words is not None:
        new[1:] |= words[1:] != words[:-1]
    first = np.flatnonzero(new)
    halves = np.add.reduceat(_HALVES[columns], first)
    halves = halves.astype(np.min_scalar_type(int(halves.max())))
    in_fields = bool(((columns > 0) & (columns < 4)).any())
    if in_fields:
        times = np.add.reduceat((columns == 1).astype(np.int64), first)
        fields = (np.bitwise_or.reduceat(_FLAGS[columns], first) + TOPIC * np.minimum(times, 63)).astype(np.uint8)
    else:
        fields = None
    ends = np.array([len(first)]) if words is None else np.searchsorted(words[first], np.arange(words[-1] + 1), "right")
    return Posting(text_ids[first].astype(np.int32), halves, fields), ends


def best(scores: np.ndarray, limit: int | None) -> np.ndarray:
    """Places of the highest scores, at most so many, from the highest on; ties in order."""
    if limit is None or limit >= len(scores):
        return (-scores).argsort(kind="stable")
    # Most need no order among themselves.
    best = np.flatnonzero(scores >= np.partition(scores, -limit)[-limit])
    found: np.ndarray = best[(-scores[best]).argsort(kind="stable")][:limit]
    return found


def fields_of(one: Posting) -> np.ndarray:
    return np.zeros(len(one.text_ids), dtype=np.uint8) if one.fields is None else one.fields


def positions(ordered: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where texts stand in a list, or would, and whether they do. Both are int32: else the list would be copied."""
    if not len(ordered):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    at = ordered.searchsorted(wanted)
    return at, ordered.take(at, mode="clip") == wanted


def distinct(numbers: np.ndarray) -> np.ndarray:
    """In order, each once. The array may be sorted in place. A fraction of np.unique's time for few."""
    numbers.sort()
    if len(numbers) < 2:
        return numbers
    new = np.empty(len(numbers), dtype=bool)
    new[0] = True
    np.not_equal(numbers[1:], numbers[:-1], out=new[1:])
    found: np.ndarray = numbers[new]
    return found


def among(numbers: np.ndarray, wanted: Sequence[int]) -> np.ndarray:
    """Which numbers are among a few."""
    if not wanted:
        return np.zeros(len(numbers), dtype=bool)
    mask: np.ndarray = numbers == wanted[0]
    for one in wanted[1:]:
        mask |= numbers == one
    return mask


def occurrences(words: list[str], text: list[str]) -> int:
    """How often some words stand one after the other."""
    return sum(text[i : i + len(words)] == words for i in range(len(text) - len(words) + 1))
