"""Meaning without a model: a row for each piece of a word, one table for questions and one for memories.

A text's vector is the sum of its rows, made while a recall runs: nothing is stored for it, and neither NumPy nor a
runtime is loaded. The rows were trained with the embedder's pairs (training/train_words.py), so that words of a
question lie near words of its answer. A recall with real vectors does not use it.
"""

from __future__ import annotations

import mmap
import os.path
import struct
import time
from array import array
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from math import sqrt
from operator import mul

from ..model.dataclass import NamedTuple
from .wordpiece import DATA, wordpiece

TABLES = os.path.join(DATA, "word_vectors.bin")  # noqa: PTH118
DIMENSIONS = 96
QUESTIONS, MEMORIES = 0, 1  # the tables in the file, one after the other
# A component is stored as a byte, with this added.
ZERO = 128
# Characters and pieces of a text that are read: sums of so many bytes stay within the two bytes of a lane.
READ, PIECES = 2_000, 200
# Vectors of texts, and rows of pieces, that a process keeps.
KEPT, ROWS_KEPT = 2_048, 20_000
# Texts between two looks at the clock.
STEP = 16

_LANES = struct.Struct(f"<{DIMENSIONS}H")


class Sum(NamedTuple):
    """A text's vector, and its length."""

    values: Sequence[int]
    length: float


class WordVectors:
    """The two tables, read from the mapped file."""

    def __init__(self) -> None:
        self._pieces = wordpiece()
        with open(TABLES, "rb") as file:  # noqa: PTH123
            self._rows = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._table = len(self._rows) // 2
        self._row = lru_cache(maxsize=ROWS_KEPT)(self._wide)
        self.memory = lru_cache(maxsize=KEPT)(self._memory)

    def pieces(self, text: str) -> list[int]:
        """Number a text's first pieces in the vocabulary; leave out a word without pieces."""
        pieces: list[int] = []
        for word in self._pieces.words(text[:READ]):
            pieces += self._pieces.pieces_of(word)
            if len(pieces) >= PIECES:
                break
        return pieces[:PIECES]

    def question(self, text: str) -> Sum:
        return self._sum(text, QUESTIONS)

    def _memory(self, text: str) -> Sum:
        return self._sum(text, MEMORIES)

    def _sum(self, text: str, table: int) -> Sum:
        # Rows are added as whole numbers of two bytes a component: one addition a row.
        places = self.pieces(text)
        first = table * self._table // DIMENSIONS
        total = sum(map(self._row, [first + place for place in places]))
        zero = ZERO * len(places)
        values = array("i", [lane - zero for lane in _LANES.unpack(total.to_bytes(2 * DIMENSIONS, "little"))])
        return Sum(values, sqrt(sum(map(mul, values, values))))

    def _wide(self, place: int) -> int:
        wide = bytearray(2 * DIMENSIONS)
        wide[::2] = self._rows[place * DIMENSIONS : (place + 1) * DIMENSIONS]
        return int.from_bytes(wide, "little")


@cache
def word_vectors() -> WordVectors:
    return WordVectors()


def cosines(question: str, texts: Iterable[str], *, deadline: float | None) -> list[float] | None:
    """Return a question's cosine with each text, 0 for one without words; None if the deadline (monotonic) came."""
    vectors = word_vectors()
    asked = vectors.question(question)
    result = []
    for number, text in enumerate(texts):
        if deadline is not None and number % STEP == 0 and time.monotonic() > deadline:
            return None
        memory = vectors.memory(text)
        both = asked.length * memory.length
        result.append(sum(map(mul, asked.values, memory.values)) / both if both else 0.0)
    return result
