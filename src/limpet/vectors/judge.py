"""The relevance judge: log-odds that a text answers a question, by a small cross-encoder that reads both together.

A vector of a whole text says what it is about. What tells an answer from its neighbour is often one word: a version, a
person, another service. A cross-encoder (Nogueira & Cho, 2019) compares question and text word by word, in every layer.
Its file comes with the package; docs/reference/judge.md says what it was made of.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from ..model.errors import EmbedderUnavailable
from ..model.forks import abandon, renew_in_child
from .onnx_model import DATA, MAX_CHARACTERS, session_of, wordpiece

MODEL = DATA / "judge.onnx"
FIGURES = DATA / "judge.json"
# Tokens of a question and a text together, with the three marks around them, and how many of them a long question has.
TOKENS, QUESTION_TOKENS = 80, 40
MARKS = 3


class Judge:
    """The cross-encoder as int8 ONNX under onnxruntime, loaded when it is first asked. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: Any = None
        self._tokenizer: Any = None
        renew_in_child(self)

    def renew(self) -> None:
        """The threads of the runtime's session are the parent's."""
        self._lock = threading.Lock()
        if self._session is not None:
            abandon(self._session)
            self._session = None

    def is_loaded(self) -> bool:
        return self._session is not None

    def load(self) -> None:
        """Read and check the model, once. Raises EmbedderUnavailable."""
        with self._lock:
            if self._session is None:
                self._tokenizer = wordpiece()
                self._session = session_of(MODEL, str(json.loads(FIGURES.read_text(encoding="utf-8"))["sha256"]))

    def scores(self, question: str | Sequence[str], texts: Sequence[str]) -> list[float]:
        """Log-odds that each text answers the question, or its own of several, in the order of the texts. Raises
        EmbedderUnavailable.

        Each is read alone: activations have one scale for all that is read together, so that a text would have other
        log-odds in other company, and it takes no longer.
        """
        if not texts:
            return []
        self.load()
        questions = [question] * len(texts) if isinstance(question, str) else question
        ids = {one: self._ids(one) for one in set(questions)}
        return [self._log_odds(*_pair(ids[one], self._ids(text))) for one, text in zip(questions, texts, strict=True)]

    def _log_odds(self, ids: list[int], first: int) -> float:
        """Of the tokens of a question and a text, which begins at the place `first`."""
        import numpy as np

        mask = np.ones((1, len(ids)), dtype=np.int64)
        kinds = mask.copy()
        kinds[:, :first] = 0
        feed = {"input_ids": np.array([ids], dtype=np.int64), "attention_mask": mask, "token_type_ids": kinds}
        return float(self._session.run(None, feed)[0][0, 0])

    def _ids(self, text: str) -> list[int]:
        """With the mark before and behind it."""
        ids: list[int] = self._tokenizer.encode(text[:MAX_CHARACTERS]).ids
        return ids


def _pair(question: list[int], text: list[int]) -> tuple[list[int], int]:
    """The tokens of both, cut to what the judge reads, and where the text begins."""
    begin, end = question[0], question[-1]
    most = TOKENS - MARKS
    asked, said = question[1:-1], text[1:-1]
    asked = asked[: max(QUESTION_TOKENS, most - len(said))]
    said = said[: most - len(asked)]
    return [begin, *asked, end, *said, end], len(asked) + 2


@lru_cache(maxsize=1)
def shared() -> Judge:
    """One for the whole process."""
    return Judge()


def load_beside() -> None:
    """Load it in a thread of its own. What is wrong with it is told to whoever asks it."""
    if not shared().is_loaded():
        threading.Thread(target=_load, name="limpet-judge").start()


def _load() -> None:
    with suppress(EmbedderUnavailable):
        shared().load()
