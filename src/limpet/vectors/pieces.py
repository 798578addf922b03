"""Pieces of words in several languages: a unigram model of them (Kudo, 2018), the likeliest split of each word.

It does for the reader and the tagger what `wordpiece.py` does for the English models in the package.
"""

from __future__ import annotations

import math
import os.path
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache

# A word begins with this mark instead of the space before it.
SPACE = "▁"
# A longer word has no pieces: it is a hash, a coded file, or a line without spaces.
LONGEST_WORD = 100
# How much less likely than the rarest piece a character without a piece is.
UNKNOWN_PENALTY = 10.0
KEPT_WORDS = 20_000


class Pieces:
    """Splits texts into numbers of pieces. Thread-safe."""

    def __init__(self, path: str) -> None:
        """Read lines of a piece, a tab, its log-probability; the first four are begin, padding, end, unknown."""
        self.begin, _, self.end, self.unknown = range(4)
        self._pieces: dict[str, tuple[int, float]] = {}
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            for number, line in enumerate(file):
                piece, _, score = line.rstrip("\n").rpartition("\t")
                if number > self.unknown:
                    self._pieces[piece] = (number, float(score))
        self._longest = max(map(len, self._pieces))
        self._worst = min(score for _, score in self._pieces.values()) - UNKNOWN_PENALTY
        self.of_word: Callable[[str], tuple[int, ...]] = lru_cache(maxsize=KEPT_WORDS)(self._split)

    def ids(self, text: str, most: int) -> list[int]:
        """Number the pieces of a text, without marks, cut to `most`."""
        ids: list[int] = []
        for word in unicodedata.normalize("NFKC", text).split():
            ids += self.of_word(SPACE + word)
            if len(ids) >= most:
                break
        return ids[:most]

    def is_common(self, word: str) -> bool:
        """Tell whether a word is written small more often than as it stands: no name, though it begins a sentence."""
        _, small = self._pieces.get(SPACE + word.lower(), (0, -math.inf))
        return small > self._pieces.get(SPACE + word, (0, -math.inf))[1]

    def _split(self, word: str) -> tuple[int, ...]:
        """Find the split with the highest sum of log-probabilities (Viterbi)."""
        if len(word) > LONGEST_WORD:
            return (self.unknown,)
        best = [0.0] + [-math.inf] * len(word)
        last: list[tuple[int, int]] = [(0, 0)] * (len(word) + 1)
        for start in range(len(word)):
            for end in range(start + 1, min(start + self._longest, len(word)) + 1):
                number, score = self._pieces.get(word[start:end], (self.unknown, -math.inf))
                if end == start + 1 and score == -math.inf:
                    score = self._worst
                if best[start] + score > best[end]:
                    best[end], last[end] = best[start] + score, (start, number)
        ids: list[int] = []
        end = len(word)
        while end:
            end, number = last[end]
            if not (ids and ids[-1] == number == self.unknown):  # several characters without a piece are one
                ids.append(number)
        return tuple(reversed(ids))


@cache
def pieces_in(folder: str) -> Pieces:
    """Return the pieces that the models in a folder read by."""
    return Pieces(os.path.join(folder, "reader.pieces"))  # noqa: PTH118
