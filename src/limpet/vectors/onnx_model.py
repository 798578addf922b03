"""What our built-in models share: a BERT as int8 ONNX under onnxruntime on the CPU, 384 dimensions, English WordPiece.

Tokens are cut at 256, vectors are the mean over them, of length 1. A subclass says which file; nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.errors import EmbedderUnavailable
from ..model.forks import abandon, renew_in_child
from ..store.heap import give_back

if TYPE_CHECKING:
    import numpy as np

DATA = Path(__file__).parent / "data"
VOCABULARY = DATA / "minilm_vocab.txt"
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


class _Questions:
    """Questions that are being embedded, by any model of this process: texts make way for them."""

    def __init__(self) -> None:
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        self.changed = threading.Condition()
        self.asking = 0
        self.asked_at = 0.0  # when the last of them had its vector, in monotonic seconds


_QUESTIONS = _Questions()


class OnnxModel:
    """An Embedder by one ONNX file. A subclass adds `name`, `fingerprint` and `calibration`."""

    dimensions = 384
    latin_only = True  # its vocabulary has next to nothing of other scripts: their vectors say little

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

    def file(self) -> tuple[Path, str]:
        """The model file and its sha256. Raises EmbedderUnavailable."""
        raise NotImplementedError

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
        with _QUESTIONS.changed:
            _QUESTIONS.asking += 1
        try:
            return self._vector_of(self._tokenizer.encode(text[:MAX_CHARACTERS]).ids)
        finally:
            with _QUESTIONS.changed:
                _QUESTIONS.asking -= 1
                _QUESTIONS.asked_at = time.monotonic()
                _QUESTIONS.changed.notify_all()

    def _turn(self) -> int:
        """How many texts may be embedded together now. Waits for questions: a recall waits for these."""
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

    def _run(self, rows: list[list[int]]) -> np.ndarray:
        """One text a run: activations get one scale for all that runs together, and a text is to have one vector."""
        import numpy as np

        return np.stack([self._vector_of(row) for row in rows])

    def _vector_of(self, row: list[int]) -> np.ndarray:
        """The vector of a text, of length 1: the mean of those of its tokens."""
        import numpy as np

        ids = np.array([row], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = self._session.run(None, feed)[0][0].mean(axis=0, keepdims=True)
        vector: np.ndarray = (mean / np.linalg.norm(mean, axis=1, keepdims=True).clip(1e-12))[0]
        return vector

    def load(self) -> None:
        """Read and check the model and its vocabulary, once. Raises EmbedderUnavailable."""
        with self._lock:
            if self._session is None:
                self._tokenizer, self._session = wordpiece(), session_of(*self.file())
                give_back()


@lru_cache(maxsize=1)
def wordpiece() -> Any:
    """The tokenizer of the vocabulary that our models share, of MAX_TOKENS at most. Raises EmbedderUnavailable."""
    from_package = tokenizers_package()
    words = _checked(VOCABULARY, VOCABULARY_SHA256).decode("utf-8")
    vocabulary = {word: i for i, word in enumerate(words.splitlines())}
    models, normalizers = from_package.models, from_package.normalizers
    tokenizer = from_package.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = from_package.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = from_package.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def session_of(path: Path, sha256: str) -> Any:
    """The runtime's session of a model file that is the one we know. Raises EmbedderUnavailable."""
    return runtime_session(path, _checked(path, sha256))


def runtime_session(path: Path, model: bytes | None = None) -> Any:
    """The same of any model file: its bytes if they were read already. Raises EmbedderUnavailable."""
    tokenizers_package()
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(4, os.cpu_count() or 1)
    options.add_session_config_entry("session.intra_op.spin_duration_us", str(SPIN_MICROSECONDS))
    # The runtime's own heap never shrinks: after a few long texts it would hold 340 MB, and gain nothing.
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(model or str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EmbedderUnavailable(f"onnxruntime cannot load {path.name}: {error}") from error


def tokenizers_package() -> Any:
    """The package `tokenizers`, with onnxruntime known to be there. Raises EmbedderUnavailable."""
    # Its wheels tell their maker about each model that is loaded, unless this is set before they are imported.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime  # noqa: F401
        import tokenizers
    except ImportError as error:
        raise EmbedderUnavailable(
            f"the embedding model needs the package {error.name or 'numpy'}",
            hint="pip install --force-reinstall limpet",
        ) from error
    return tokenizers


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
