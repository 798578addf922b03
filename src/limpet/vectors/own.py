"""The default embedder: limpet's own model, MiniLM tuned so that a question lies near the memory that answers it.

Its files come with the package; docs/reference/embedder.md says how it was made. `make embedder-figures` writes its
sha256, its calibration and all that depends on the file.
"""

from __future__ import annotations

import json
import os.path
import threading
import time
from typing import TYPE_CHECKING

from ..model.errors import EmbedderUnavailable
from ..store.heap import give_back
from .calibration import Calibration
from .encoder import BATCH, MAX_CHARACTERS, REINSTALL, Encoder, digest
from .wordpiece import DATA, wordpiece

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

TOKENS = 256  # of a text, the marks around it included
# After texts of so many tokens together, memory of the run is returned to the system: 16 of 256 tokens take 170 MB.
GIVEN_BACK_TOKENS = 1_000
# While questions come, texts are embedded two at a time, with a pause after each question, so that the next steps of
# its recall have the processor too. After so long without a question nobody is in the way.
BATCH_BESIDE, PAUSE_SECONDS, ASKED_LATELY_SECONDS = 2, 0.010, 0.5
# Texts wait no longer than this, whoever asks.
LONGEST_PAUSE_SECONDS = 0.25
with open(os.path.join(DATA, "limpet.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
    _figures = json.load(file)
MODEL_SHA256: str = _figures["sha256"]


class _Questions:
    """Questions that any model of this process is embedding: texts make way for them."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.asking = 0
        self.asked_at = 0.0  # when the last of them had its vector, in monotonic seconds


_QUESTIONS = _Questions()


class OwnModel(Encoder):
    """The embedder `limpet`: English, 384 dimensions, the mean over a text's tokens."""

    name = "limpet"
    dimensions = 384
    fingerprint = f"limpet:{MODEL_SHA256[:12]}"
    calibration = Calibration(*_figures["calibration"])
    latin_only = True  # its vocabulary has next to nothing of other scripts: their vectors say little
    judges = True  # the relevance judge's constants are fitted to the vectors that it makes of words
    is_local = True

    def __init__(self, folder: str = DATA) -> None:
        super().__init__(folder, "limpet")

    def calibrated(self) -> Calibration:
        return self.calibration

    def by(self, until: float) -> OwnModel:  # noqa: ARG002
        """Return itself: how long it takes is known."""
        return self

    def check(self) -> None:
        """Read the whole file of weights. Raises EmbedderUnavailable: another one lies in its place."""
        if digest(self.weights) != MODEL_SHA256:
            name = os.path.basename(self.weights)  # noqa: PTH119
            raise EmbedderUnavailable(f"{name} is not the file it should be (sha256 differs)", hint=REINSTALL)

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 (n, dimensions), rows of length 1, in the order of the texts."""
        import numpy as np

        rows = [_ids(text) for text in texts]
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        # A caller waits for a few texts. Many are from the queue.
        size = self._turn if len(texts) > BATCH else lambda: BATCH
        for part, hidden in self.in_batches(rows, size=size):
            vectors[part] = _means(hidden, [rows[i] for i in part])
        if sum(map(len, rows)) >= GIVEN_BACK_TOKENS:
            give_back()
        return vectors

    def embed_query(self, text: str) -> np.ndarray:
        """Return float32 (dimensions,), of length 1."""
        rows = [_ids(text)]
        with _QUESTIONS.changed:
            _QUESTIONS.asking += 1
        try:
            vector: np.ndarray = _means(self.run(rows), rows)[0]
            return vector
        finally:
            with _QUESTIONS.changed:
                _QUESTIONS.asking -= 1
                _QUESTIONS.asked_at = time.monotonic()
                _QUESTIONS.changed.notify_all()

    def _turn(self) -> int:
        """Wait for questions, because a recall waits for them. Return how many texts may be embedded together now."""
        until = time.monotonic() + LONGEST_PAUSE_SECONDS
        with _QUESTIONS.changed:
            while (now := time.monotonic()) < until:
                if _QUESTIONS.asking:
                    _QUESTIONS.changed.wait(until - now)
                elif now < _QUESTIONS.asked_at + PAUSE_SECONDS:
                    _QUESTIONS.changed.wait(_QUESTIONS.asked_at + PAUSE_SECONDS - now)
                else:
                    break
            return BATCH_BESIDE if _QUESTIONS.asking or now < _QUESTIONS.asked_at + ASKED_LATELY_SECONDS else BATCH


def _ids(text: str) -> list[int]:
    return wordpiece().ids(text[:MAX_CHARACTERS], TOKENS)


def _means(hidden: np.ndarray, rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the mean over each text's tokens, at length 1: float32 (n, dimensions)."""
    import numpy as np

    mask = np.zeros(hidden.shape[:2], dtype=np.float32)
    for place, row in enumerate(rows):
        mask[place, : len(row)] = 1
    # A mean over tokens and their sum point the same way.
    total = np.einsum("xyz,xy->xz", hidden, mask)
    vectors: np.ndarray = total / np.linalg.norm(total, axis=1, keepdims=True).clip(1e-12)
    return vectors
