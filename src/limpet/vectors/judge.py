"""The relevance judge: log-odds that a text answers a question, by a small cross-encoder that reads both together.

A vector of a whole text says what it is about. An answer often differs from its neighbour in one word: a version, a
person, another service. A cross-encoder (Nogueira & Cho, 2019) compares question and text word by word, in every layer.
Its files come with the package; docs/reference/judge.md says how it was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from .encoder import MAX_CHARACTERS, Encoder
from .wordpiece import DATA, wordpiece

# Tokens of a question and a text together, with the three marks around them, and how many of them a long question has.
TOKENS, QUESTION_TOKENS = 80, 40
MARKS = 3


class Judge(Encoder):
    """The cross-encoder, loaded when it is first asked. Thread-safe."""

    def __init__(self, folder: str = DATA) -> None:
        super().__init__(folder, "judge")

    def scores(self, question: str | Sequence[str], texts: Sequence[str]) -> list[float]:
        """Return the log-odds that each text answers the question, or its own question if several are given.

        Raises EmbedderUnavailable.
        """
        if not texts:
            return []
        questions = [question] * len(texts) if isinstance(question, str) else question
        ids = {text: wordpiece().ids(text[:MAX_CHARACTERS], MAX_CHARACTERS) for text in {*questions, *texts}}
        pairs = [_pair(ids[asked], ids[text]) for asked, text in zip(questions, texts, strict=True)]
        return [values[0] for values in self.logits(pairs)]


def _pair(question: list[int], text: list[int]) -> tuple[list[int], list[int]]:
    """Return the tokens of both, cut to what the judge reads, and for each token whether it is the text's."""
    begin, end = question[0], question[-1]
    most = TOKENS - MARKS
    asked, answer = question[1:-1], text[1:-1]
    asked = asked[: max(QUESTION_TOKENS, most - len(answer))]
    answer = answer[: most - len(asked)]
    return [begin, *asked, end, *answer, end], [0] * (len(asked) + 2) + [1] * (len(answer) + 1)


@lru_cache(maxsize=1)
def shared() -> Judge:
    """Return the judge of the whole process."""
    return Judge()
