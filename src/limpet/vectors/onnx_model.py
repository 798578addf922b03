"""Sessions of onnxruntime on the CPU, and the common part of embedders that run in one.

Sums are made in floating point, so a text has one vector on every processor, alone or in a batch.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..model.errors import EmbedderUnavailable
from ..store.heap import give_back

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

# Characters that 256 tokens can hold at most, roughly; more is not read.
MAX_CHARACTERS = 8_000
# Texts in one run of the model: more only adds padding (measured on two cores: 8 is the fastest).
BATCH = 8
# How long the runtime's threads spin for the next step before they sleep. By default they spin for many milliseconds,
# after each answer too: a quiet machine gains a millisecond, and a busy one loses half of the time (measured: a query
# in 9.3 ms instead of 8.3 alone, in 30 instead of 69 beside four busy processes).
SPIN_MICROSECONDS = 20
# After texts of so many tokens together, memory of the run is returned to the system: 16 of 256 tokens take 170 MB.
GIVEN_BACK_TOKENS = 1_000
# While questions come, texts are embedded two at a time, with a pause after each question, so that the next steps of
# its recall have the processor too. After so long without a question nobody is in the way.
BATCH_BESIDE, PAUSE_SECONDS, ASKED_LATELY_SECONDS = 2, 0.010, 0.5
# Texts wait no longer than this, whoever asks.
LONGEST_PAUSE_SECONDS = 0.25
REINSTALL = "pip install --force-reinstall limpet"


class _Questions:
    """Questions that any model of this process is embedding: texts make way for them."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.asking = 0
        self.asked_at = 0.0  # when the last of them had its vector, in monotonic seconds


_QUESTIONS = _Questions()


class OnnxModel:
    """An Embedder on this machine. A subclass adds `name`, `fingerprint`, `dimensions`, `load`, `_ids` and `_run`."""

    dimensions: int

    def load(self) -> None:
        """Read and check the model, once. Raises EmbedderUnavailable."""
        raise NotImplementedError

    def _ids(self, text: str) -> list[int]:
        """Number the tokens of a text."""
        raise NotImplementedError

    def _run(self, rows: list[list[int]]) -> np.ndarray:
        """Return the vectors of texts by their tokens: float32 (n, dimensions), rows of length 1."""
        raise NotImplementedError

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 (n, dimensions), rows of length 1, in the order of the texts."""
        import numpy as np

        self.load()
        rows = [self._ids(text[:MAX_CHARACTERS]) for text in texts]
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        lengths = [len(row) for row in rows]
        order = sorted(range(len(texts)), key=lengths.__getitem__)
        start = 0
        while start < len(order):
            # A caller waits for a few texts. Many are from the queue.
            size = self._turn() if len(order) > BATCH else BATCH
            part = order[start : start + size]
            vectors[part] = self._run([rows[i] for i in part])
            start += len(part)
        if sum(lengths) >= GIVEN_BACK_TOKENS:
            give_back()
        return vectors

    def embed_query(self, text: str) -> np.ndarray:
        """Return float32 (dimensions,), of length 1."""
        self.load()
        with _QUESTIONS.changed:
            _QUESTIONS.asking += 1
        try:
            vector: np.ndarray = self._run([self._ids(text[:MAX_CHARACTERS])])[0]
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


def padded(rows: Sequence[Sequence[int]], kinds: Sequence[Sequence[int]] | None = None) -> dict[str, np.ndarray]:
    """Lay the tokens of texts out as BERT-like models take them, each input int64 (texts, longest)."""
    import numpy as np

    ids, mask, types = np.zeros((3, len(rows), max(map(len, rows))), dtype=np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
        mask[place, : len(row)] = 1
        if kinds is not None:
            types[place, : len(row)] = kinds[place]
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


def session_of(path: str | Path) -> Any:
    """Open a session of any model file. Raises EmbedderUnavailable."""
    # Its wheels tell their maker about each model that is loaded, unless this is set before they are imported.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
    except ImportError as error:
        raise EmbedderUnavailable(
            f"the models need the package {error.name or 'onnxruntime'}", hint=REINSTALL
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(4, os.cpu_count() or 1)
    options.add_session_config_entry("session.intra_op.spin_duration_us", str(SPIN_MICROSECONDS))
    # The runtime's own heap never shrinks: after a few long texts it would hold 340 MB, and gain nothing.
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    try:
        # By path: the runtime would keep bytes beside its own copy.
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EmbedderUnavailable(f"onnxruntime cannot load {os.path.basename(path)}: {error}") from error  # noqa: PTH119
    give_back()
    return session
