"""The relevance judge: how well a text answers a question, word by word, by the vectors of their words in company.

A vector of a whole text says what it is about. What tells an answer from its neighbour is often one word: a version, a
person, another service. So each word of the question looks for the nearest word of the text, in the vectors that the
embedder makes of them in their sentences (late interaction: Khattab & Zaharia, ColBERT, SIGIR 2020).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..text.overlap import SAID_ANYWAY

if TYPE_CHECKING:
    from .onnx_model import OnnxModel

# What a function word of the question is worth beside one that carries a meaning.
FUNCTION_WORD = 0.05
# Characters that two inflections of a word have in common, and from which cosine a word of the question is there.
STEM, THERE = 4, 0.5
# Tokens of a question and of a text that are read.
QUESTION_TOKENS, TEXT_TOKENS = 40, 80
_WORD = re.compile(r"\w+")


class Match(NamedTuple):
    """How near a text comes to the words of a question: cosines of each word with the nearest word of the text."""

    mean: float  # by what the words are worth
    plain: float  # all alike
    least: float  # of the word that is farthest, of those that carry a meaning
    least_two: float  # the mean of the two farthest
    far: float  # how many are not there, up to 8
    length: float  # words that carry a meaning, up to 8


def matches(model: OnnxModel, question: str, texts: Sequence[str], worth: Mapping[str, float]) -> list[Match]:
    """`worth`: of the stems of the question that the store has, see `Candidates.stems`. Raises EmbedderUnavailable."""
    asked, places = model.words(question, QUESTION_TOKENS)
    words = list(_WORD.finditer(question))
    weights = [_worth(word[0].casefold(), worth) for word in words]
    # Which tokens make a word: one may be of several pieces.
    pieces = [
        [i for i, (start, end) in enumerate(places) if start < word.end() and end > word.start()] for word in words
    ]
    known = [place for place, several in enumerate(pieces) if several]
    found = []
    for text in texts:
        there, _ = model.words(text, TEXT_TOKENS)
        if not known or not len(there):
            found.append(Match(0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
            continue
        nearest = (asked @ there.T).max(axis=1)
        found.append(_match([float(nearest[pieces[i]].mean()) for i in known], [weights[i] for i in known]))
    return found


def _match(cosines: Sequence[float], weights: Sequence[float]) -> Match:
    heavy = sorted(cosine for cosine, weight in zip(cosines, weights, strict=True) if weight > FUNCTION_WORD)
    heavy = heavy or sorted(cosines)
    return Match(
        mean=sum(cosine * weight for cosine, weight in zip(cosines, weights, strict=True)) / sum(weights),
        plain=sum(cosines) / len(cosines),
        least=heavy[0],
        least_two=sum(heavy[:2]) / len(heavy[:2]),
        far=float(min(8, sum(cosine < THERE for cosine in heavy))),
        length=float(min(8, len(heavy))),
    )


def _worth(word: str, worth: Mapping[str, float]) -> float:
    """What a word of the question is worth: by how few texts have it, of one that none has as much as of the rarest."""
    if word in SAID_ANYWAY:
        return FUNCTION_WORD
    most = max(worth.values(), default=1.0)
    return max((value for stem, value in worth.items() if stem[:STEM] == word[:STEM]), default=most)
