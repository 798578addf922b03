"""What a `ChangeFeed` gives, and what is found in arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class ArrayHits(NamedTuple):
    """A `LexicalResult` as arrays."""

    text_ids: np.ndarray
    scores: np.ndarray
    stems: dict[str, float]
    weight: float
    complete: bool = True
    absent: float = 0.0

    @classmethod
    def none(cls) -> ArrayHits:
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0), {}, 0.0)


class Changes(NamedTuple):
    """What changed in a store since a revision of it."""

    revision: object  # to ask with the next time
    last: int  # the highest text id there is
    anew: bool  # what was read before says nothing any more
    text_ids: Sequence[int]  # of memories that changed; new ones may be left out
    used: bool  # whether any memory was ever used


class TextColumns(NamedTuple):
    """Some texts with the current memory of each, a column a field. Of a text that no memory has, `row` is None and so
    are all fields of the memory."""

    text_id: Sequence[int]
    row: Sequence[int | None]
    scope: Sequence[int]
    state: Sequence[str | None]
    kind: Sequence[str | None]
    trust: Sequence[str | None]
    pinned: Sequence[bool | None]
    session: Sequence[int | None]
    position: Sequence[int | None]
    speaker: Sequence[str | None]
    valid_from: Sequence[int | None]
    valid_to: Sequence[int | None]
    importance: Sequence[float | None]
    observations: Sequence[int | None]
    observed_at: Sequence[int | None]
    stated_confidence: Sequence[float | None]
    content: Sequence[str]
    topics: Sequence[str | None]
    labels: Sequence[str | None]
    dates: Sequence[str | None]
    id: Sequence[bytes | None]
    key: Sequence[str | None]
    words: Sequence[int]  # how many words of it the full-text index has, in all columns


class WordLists(NamedTuple):
    """Where some words are that follow each other in the index."""

    words: list[str]
    sizes: list[int]  # how many places each has
    places: np.ndarray  # all of them, one word's after the other's; int64
    more: bool  # whether other words follow


class IndexedText(NamedTuple):
    """A text as the full-text index has it, a column a field."""

    text_id: int
    content: str
    topics: str | None
    labels: str | None
    dates: str | None
    scope: str | None  # a word that no text can have
    pairs: str | None  # of characters, of what is written without spaces
