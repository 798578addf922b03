"""Meaning without a model: a row for each piece of a word, one table for questions and one for memories.

A text's vector is the sum of its rows, made while a recall runs: nothing is stored for it, and neither NumPy nor a
runtime is loaded. The rows were trained with the embedder's pairs (training/train_words.py), so that words of a
question lie near words of its answer. A recall with real vectors does not ask it.
"""

from __future__ import annotations

import mmap
import re
import struct
import time
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from math import sqrt
from operator import mul
from pathlib import Path

from ..model.dataclass import NamedTuple

DATA = Path(__file__).parent / "data"
VOCABULARY, TABLES = DATA / "minilm_vocab.txt", DATA / "word_vectors.bin"
DIMENSIONS = 96
QUESTIONS, MEMORIES = 0, 1  # the tables in the file, one after the other
# A component is a byte, this much more than its value.
ZERO = 128
# Characters and pieces of a text that are read: sums of so many bytes stay within the two bytes of a lane.
READ, PIECES, LONGEST_WORD = 2_000, 200, 40
# Vectors of texts, and pieces of words and their rows, that a process keeps.
KEPT, WORDS_KEPT = 2_048, 20_000
# Texts between two looks at the clock.
STEP = 16

_HAN = "\u3400-\u9fff\uf900-\ufaff"
_WORD, _ASCII_WORD = rf"[{_HAN}]|[^\W_{_HAN}]+|[^\w\s]|_", r"[^\W_]+|[^\w\s]|_"
_LANES = struct.Struct(f"<{DIMENSIONS}H")


class Sum(NamedTuple):
    """A text's vector, and its length."""

    values: Sequence[int]
    length: float


class WordVectors:
    """The two tables, read where they lie."""

    def __init__(self) -> None:
        words = VOCABULARY.read_text(encoding="utf-8").splitlines()
        self._places = dict(zip(words, range(len(words)), strict=True))
        with TABLES.open("rb") as file:
            self._rows = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._table = len(self._rows) // 2
        self._pieces_of = lru_cache(maxsize=WORDS_KEPT)(self._split)
        self._row = lru_cache(maxsize=WORDS_KEPT)(self._wide)
        self.memory = lru_cache(maxsize=KEPT)(self._memory)

    def pieces(self, text: str) -> list[int]:
        """The places of a text's first pieces in the vocabulary; what it has no piece for is left out."""
        text = text[:READ].lower()
        if not text.isascii():
            text = "".join(one for one in unicodedata.normalize("NFD", text) if unicodedata.category(one) != "Mn")
        found: list[int] = []
        for word in _compiled(_ASCII_WORD if text.isascii() else _WORD).findall(text):
            found += self._pieces_of(word)
            if len(found) >= PIECES:
                break
        return found[:PIECES]

    def _split(self, word: str) -> tuple[int, ...]:
        """A word as the longest pieces from its left; () when some part is in none."""
        found, start = [], 0
        while start < len(word):
            for end in range(min(len(word), start + LONGEST_WORD), start, -1):
                place = self._places.get(("##" if start else "") + word[start:end])
                if place is not None:
                    break
            else:
                return ()
            found.append(place)
            start = end
        return tuple(found)

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
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when a text is first read by it: that of Han alone is a fiftieth of a cold recall."""
    return re.compile(pattern)


@cache
def word_vectors() -> WordVectors:
    return WordVectors()


def cosines(question: str, texts: Iterable[str], *, deadline: float | None) -> list[float] | None:
    """Of a question with each text, 0 for one without words. None: the deadline, on the monotonic clock, came first."""
    vectors = word_vectors()
    asked = vectors.question(question)
    found = []
    for number, text in enumerate(texts):
        if deadline is not None and number % STEP == 0 and time.monotonic() > deadline:
            return None
        one = vectors.memory(text)
        both = asked.length * one.length
        found.append(sum(map(mul, asked.values, one.values)) / both if both else 0.0)
    return found
