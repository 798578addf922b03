"""The reader: one small model that reads two statements, the older and the newer, and says how they relate; and what
one statement is.

It is asked in the background when something is stored, never in a recall, so it runs in NumPy out of the mapped file:
no session of a runtime holds its weights in memory.
"""

from __future__ import annotations

import json
import math
import os.path
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache

from .encoder import Encoder
from .pieces import Pieces, pieces_in
from .wordpiece import DATA

RELATIONS = ("replaces", "ends", "resolves", "same", "adds", "sibling", "unrelated")
# What is said of one text, alone or behind what stands before it: head -> its answers, in the order of the outputs
# behind those of RELATIONS.
HEADS: dict[str, tuple[str, ...]] = {
    "manner": ("literal", "joke", "hearsay", "hypothetical", "question", "instruction"),
    "rule": (
        "fine", "passing emotion", "joke or hyperbole", "guess about a mind", "inferred status", "personality label",
    ),
    "worth": ("none", "episode", "fact", "preference", "decision", "lesson", "skill", "goal"),
    "weight": ("1", "2", "3"),
    "kept": ("no", "fact", "preference", "decision", "correction", "lesson", "goal"),
}  # fmt: skip
# Tokens of both texts with the marks around them, characters of each that are looked at, pairs that are read at once.
TOKENS, CHARACTERS, BATCH = 112, 2_000, 16
MARKS = 4
NAME = "reader"
# Of texts in the languages it was taught, at most .04 of the pieces are unknown; of Turkish, Czech, Vietnamese or
# another alphabet .13 to .5. A language with the letters of those it knows is not told from them.
MOST_UNKNOWN = 0.09


class Reader(Encoder):
    """The model, loaded when it is first asked. Thread-safe."""

    def __init__(self, folder: str = DATA) -> None:
        super().__init__(folder, NAME, session=False)
        self._folder = folder

    @cached_property
    def fingerprint(self) -> str:
        """The name of this version of the model."""
        with open(os.path.join(DATA, f"{NAME}.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
            digest: str = json.load(file)["sha256"]
        return f"{NAME} {digest[:12]}"

    def reads(self, text: str) -> bool:
        """Tell whether a text is in letters and words that the model was taught. Raises EmbedderUnavailable."""
        pieces = self._load()
        ids = pieces.ids(text[:CHARACTERS], TOKENS)
        return ids.count(pieces.unknown) <= MOST_UNKNOWN * len(ids)

    def shared(self, text: str, other: str) -> float:
        """Return what two texts share of their word pieces, 0 to 1. Raises EmbedderUnavailable."""
        pieces = self._load()
        first, second = (Counter(pieces.ids(each[:CHARACTERS], TOKENS)) for each in (text, other))
        return (first & second).total() / max(1, (first | second).total())

    def is_common(self, word: str) -> bool:
        """Tell whether a word is no name, though it is capital. Raises EmbedderUnavailable."""
        return self._load().is_common(word)

    def _load(self) -> Pieces:
        self.load()
        return pieces_in(self._folder)

    def relations(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Log-odds of each of RELATIONS for pairs (older, newer), in their order. Raises EmbedderUnavailable."""
        return [values[: len(RELATIONS)] for values in self._outputs(pairs)]

    def answers(self, head: str, texts: Sequence[tuple[str, str]]) -> list[dict[str, float]]:
        """Return the probability of each answer of a head, as in `heads`. Raises EmbedderUnavailable."""
        return [shares[head] for shares in self.heads(texts)]

    def heads(self, texts: Sequence[tuple[str, str]]) -> list[dict[str, dict[str, float]]]:
        """Return the probabilities of each head's answers for texts in order, each behind what stands before it, or "".

        Raises EmbedderUnavailable.
        """
        read = []
        for values in self._outputs(texts):
            start, shares = len(RELATIONS), {}
            for head, names in HEADS.items():
                odds = values[start : start + len(names)]
                weights = [math.exp(value - max(odds)) for value in odds]
                shares[head] = {name: weight / sum(weights) for name, weight in zip(names, weights, strict=True)}
                start += len(names)
            read.append(shares)
        return read

    def _outputs(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Return all log-odds of pairs, in their order."""
        if not pairs:
            return []
        pieces = self._load()
        texts = {text: pieces.ids(text[:CHARACTERS], TOKENS) for pair in pairs for text in pair}
        return self.logits([_pair(texts[older], texts[newer], pieces) for older, newer in pairs], BATCH)


def _pair(older: list[int], newer: list[int], pieces: Pieces) -> tuple[list[int], list[int]]:
    """The tokens of both, the longer cut first, and for each token whether it is the newer's."""
    space = TOKENS - MARKS
    first = max(space - len(newer), space // 2)
    older = older[:first]
    newer = newer[: space - len(older)]
    return (
        [pieces.begin, *older, pieces.end, pieces.end, *newer, pieces.end],
        [0] * (len(older) + 2) + [1] * (len(newer) + 2),
    )


@lru_cache(maxsize=1)
def shared() -> Reader:
    """One for the whole process."""
    return Reader()
