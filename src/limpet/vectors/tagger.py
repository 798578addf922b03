"""The tagger: a model that tells which parts of a text are a secret, by all that stands around them.

Its layers are trained from those of the reader, whose word table it reads by. It runs in NumPy when something is
stored whose words make a secret likely, never in a recall.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .encoder import Encoder
from .pieces import SPACE, Pieces, pieces_in
from .reader import NAME as READER
from .wordpiece import DATA

NAME = "tagger"
# Pieces that are read at once with the two marks around them; so many of them again with those that follow.
TOKENS, SHARED = 112, 36
# Letters and digits of one alphabet, or one other character: what is tagged.
PART = re.compile(r"[0-9A-Za-zÀ-ɏ]+|[^\W_0-9A-Za-zÀ-ɏ]+|[^\w\s]|_")

Tagged = list[tuple[int, int, float]]


class Tagger(Encoder):
    """The model, loaded when it is first asked. Thread-safe."""

    def __init__(self, folder: str = DATA) -> None:
        super().__init__(folder, NAME, session=False, words=READER)
        self._folder = folder

    def odds(self, text: str) -> Tagged:
        """Return for each part its start, its end and the log-odds that it is a secret. Raises EmbedderUnavailable."""
        self.load()
        pieces = pieces_in(self._folder)
        parts, ids = split(text, pieces)
        best: dict[int, list[float]] = {}
        for start, end in windows(len(ids)):
            row = [pieces.begin, *(number for number, _ in ids[start:end]), pieces.end]
            values = self.tags([row])[0, 1:-1].tolist()
            for (_, part), value in zip(ids[start:end], values, strict=True):
                best.setdefault(part, []).append(value)
        return [(*span, max(best[part])) for part, span in enumerate(parts) if part in best]


def split(text: str, pieces: Pieces) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the spans of the parts of a text, and for each piece its number and the part it belongs to."""
    parts: list[tuple[int, int]] = []
    ids: list[tuple[int, int]] = []
    end = -1
    for match in PART.finditer(text):
        begins = match.start() != end
        start, end = match.span()
        word = unicodedata.normalize("NFKC", match[0])
        ids += [(number, len(parts)) for number in pieces.of_word(SPACE + word if begins else word)]
        parts.append((start, end))
    return parts, ids


def windows(count: int) -> list[tuple[int, int]]:
    """Return the spans of pieces that are read together."""
    most = TOKENS - 2
    starts = range(0, max(1, count - SHARED), most - SHARED)
    return [(start, min(start + most, count)) for start in starts] if count else []


@lru_cache(maxsize=1)
def shared() -> Tagger:
    """One for the whole process."""
    return Tagger()
