"""Pieces of words (WordPiece, as BERT reads English): the vocabulary that the models in the package share."""

from __future__ import annotations

import os.path
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from math import log

# Paths as text: a cold recall by words imports no pathlib.
DATA = os.path.join(os.path.dirname(__file__), "data")  # noqa: PTH118, PTH120
VOCABULARY = os.path.join(DATA, "vocabulary.txt")  # noqa: PTH118
# A longer word has no pieces: it is a hash, a coded file, or a line without spaces in a script unknown to the models.
LONGEST_WORD = 100
# Words whose pieces a process keeps.
KEPT_WORDS = 20_000
# The vocabulary has words by how often English uses them, this one first. Of a language that the models know is a text
# whose words have places with at most this mean logarithm; a word that is no piece counts as UNLISTED. So are 97 to 100
# of 100 English notes and questions (terse technical notes 94), and 2 of 100 in nine other languages (docs/log.md).
# LOOKED_AT: characters of it; TELLING: words from which it tells.
FIRST, MEAN_PLACE, UNLISTED, LOOKED_AT, TELLING = "the", 9.6, 15.0, 1_000, 4
# Ideographs stand alone.
_HAN = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2CEAF), (0x2F800, 0x2FA1F))


class _Characters(dict[int, str]):
    """The replacement that `str.translate` puts for each character of a text in lower case and in form NFD."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if character in "\t\n\r" or category[0] == "Z":
            put = " "
        elif category in ("Mn", "Cc", "Cf", "Co") or code == 0xFFFD:  # accents and control characters
            put = ""
        elif category[0] == "P" or (code < 128 and category[0] == "S") or any(a <= code <= b for a, b in _HAN):
            put = f" {character} "
        else:
            put = character
        self[code] = put
        return put


class WordPiece:
    """Splits texts into the numbers of pieces in a vocabulary. Thread-safe."""

    def __init__(self, words: list[str]) -> None:
        self.numbers = dict(zip(words, range(len(words)), strict=True))
        self.begin, self.end, self.unknown = (self.numbers[mark] for mark in ("[CLS]", "[SEP]", "[UNK]"))
        self._characters = _Characters()
        # Returns () for a word that some part of has no piece.
        self.pieces_of: Callable[[str], tuple[int, ...]] = lru_cache(maxsize=KEPT_WORDS)(self._split)

    def words(self, text: str) -> list[str]:
        """Split a text into words in lower case without accents; punctuation and ideographs stand alone."""
        text = text.lower()
        if not text.isascii():
            text = unicodedata.normalize("NFD", text)
        return text.translate(self._characters).split()

    def ids(self, text: str, most: int) -> list[int]:
        """Number the pieces of a text with the mark before and behind it, cut to `most` in all."""
        ids = [self.begin]
        for word in self.words(text):
            ids += self.pieces_of(word) or (self.unknown,)
            if len(ids) >= most - 1:
                break
        return [*ids[: most - 1], self.end]

    def knows(self, text: str) -> bool:
        """Return whether a text's language is one that the models know. Fewer words than TELLING say nothing, and count
        as known."""
        before = self.numbers[FIRST] - 1
        places = [
            log(max(1, self.numbers[word] - before)) if word.isascii() and word in self.numbers else UNLISTED
            for word in self.words(text[:LOOKED_AT])
            if word.isalpha() and (len(word) > 1 or not word.isascii())
        ]
        return len(places) < TELLING or sum(places) <= MEAN_PLACE * len(places)

    def foreign(self, text: str) -> Callable[[str], bool] | None:
        """Return a test whether a word of a text is of a language that the models do not know: every word of a text in
        one; else a word that is no piece by itself. None if no word is."""
        known, pieces = self.knows(text), self.numbers.keys()
        if known and pieces >= {*self.words(text)}:
            return None
        return lambda word: not known or not pieces >= {*self.words(word)}

    def _split(self, word: str) -> tuple[int, ...]:
        """Take the longest piece from the left until the word is used up."""
        pieces: list[int] = []
        start = 0
        while start < len(word) <= LONGEST_WORD:
            for end in range(len(word), start, -1):
                number = self.numbers.get(("##" if start else "") + word[start:end])
                if number is not None:
                    break
            else:
                return ()
            pieces.append(number)
            start = end
        return tuple(pieces)


@cache
def wordpiece() -> WordPiece:
    with open(VOCABULARY, encoding="utf-8") as file:  # noqa: PTH123
        return WordPiece(file.read().splitlines())
