"""A BERT encoder of the package: the first texts of a process by NumPy, all others by onnxruntime.

Opening a session of onnxruntime takes as long as reading thirty texts by NumPy, and three times the memory of the file.
A command that reads one question and ends never opens one. Both give the same values to five decimals
(tests/unit/test_same_everywhere.py): sums are made in floating point, so a text has one vector on every processor,
alone or in a batch. training/graph.py writes the two files: `NAME.onnx`, the operators, and
`NAME.safetensors`, the weights, which both map into memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..model.errors import EmbedderUnavailable
from ..model.forks import note_use, refuse_child
from ..store.heap import give_back

if TYPE_CHECKING:
    import numpy as np

    Tensors = dict[str, np.ndarray]

# Characters that 256 tokens can hold at most, roughly; more is not read.
MAX_CHARACTERS = 8_000
# Texts in one run of the model: more only adds padding (measured on two cores: 8 is the fastest).
BATCH = 8
# How long the runtime's threads spin for the next step before they sleep. By default they spin for many milliseconds,
# after each answer too: a quiet machine gains a millisecond, and a busy one loses half of the time (measured: a query
# in 9.3 ms instead of 8.3 alone, in 30 instead of 69 beside four busy processes).
SPIN_MICROSECONDS = 20
REINSTALL = "pip install --force-reinstall limpet"
HEADS = 12
EPSILON = 1e-12
MASKED = -10_000.0  # added to the attention that padding gets, as onnxruntime does
# A process that reads this many times will stay, so a session is opened in the background; more texts than this at once
# wait for it.
READS_BEFORE_SESSION, TEXTS_BY_NUMPY = 4, 8
_DTYPES = {"F32": "float32", "I8": "int8"}
GELU_PART = 16_384  # numbers
# Held while NumPy multiplies: before a fork OpenBLAS waits for its threads, for ever if one of them is at work.
_AT_WORK = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_AT_WORK.acquire, after_in_parent=_AT_WORK.release, after_in_child=_AT_WORK.release)


class Encoder:
    """Turns token numbers into the output of the last layer. Thread-safe; opened at first use."""

    def __init__(self, folder: str, name: str, *, session: bool = True, words: str | None = None) -> None:
        """Name the files. `session`: onnxruntime takes over; else NumPy reads all, slower, from the mapped file.

        `words`: the model whose word table it reads by, of the same folder; else its own.
        """
        self._by_session = session
        self.graph = os.path.join(folder, f"{name}.onnx")  # noqa: PTH118
        self.weights = os.path.join(folder, f"{name}.safetensors")  # noqa: PTH118
        self._words = os.path.join(folder, f"{words}.safetensors") if words else None  # noqa: PTH118
        self._tensors: Tensors = {}
        self._session: Any = None
        self._mapping, self._opening = threading.Lock(), threading.Lock()
        self._reads = 0

    def load(self) -> None:
        """Map the weights into memory, once. Raises EmbedderUnavailable: the file is missing or cut off."""
        with self._mapping:
            if not self.is_loaded():
                tensors = _mapped(self.weights)
                if self._words is not None:
                    table = _mapped(self._words).items()
                    tensors |= {name: value for name, value in table if name.startswith("embeddings.")}
                self._tensors = tensors

    def is_loaded(self) -> bool:
        return bool(self._tensors) or self._session is not None

    def run(self, rows: Sequence[Sequence[int]], kinds: Sequence[Sequence[int]] | None = None) -> np.ndarray:
        """Read texts by their tokens: the output of the graph, float32 (n, ...). Raises EmbedderUnavailable.

        `kinds`: for each token 0 or 1, which of two texts it belongs to.
        """
        refuse_child()
        self.load()
        feed = _padded(rows, kinds)
        tensors = self._tensors  # before the session is checked: the thread that opens it drops them
        if self._session is None and self._by_session:
            self._reads += 1
            if len(rows) > TEXTS_BY_NUMPY:
                self._open()
            elif self._reads == READS_BEFORE_SESSION:
                threading.Thread(target=self._open_beside, daemon=False).start()  # a daemon aborts a process that ends
        if self._session is None:
            with _AT_WORK:
                return _by_numpy(tensors, feed)
        output: np.ndarray = self._session.run(None, feed)[0]
        return output

    def in_batches(
        self, rows: Sequence[Sequence[int]], kinds: Sequence[Sequence[int]] | None = None,
        size: Callable[[], int] = lambda: BATCH,
    ) -> Iterator[tuple[list[int], np.ndarray]]:  # fmt: skip
        """Read texts by their tokens, those of about one length together. Yield the places of some texts and the
        output of the graph for them. `size`: how many the next run takes. Raises EmbedderUnavailable."""
        places = sorted(range(len(rows)), key=lambda place: len(rows[place]))
        while places:
            count = size()
            part, places = places[:count], places[count:]
            yield part, self.run([rows[i] for i in part], None if kinds is None else [kinds[i] for i in part])

    def logits(self, pairs: Sequence[tuple[list[int], list[int]]], size: int = BATCH) -> list[list[float]]:
        """Read pairs of texts by their tokens and kinds, `size` at once: the outputs of a model that classifies, in the
        order of the pairs. Raises EmbedderUnavailable."""
        rows, kinds = [row for row, _ in pairs], [kind for _, kind in pairs]
        logits: list[list[float]] = [[]] * len(pairs)
        for part, outputs in self.in_batches(rows, kinds, lambda: size):
            for place, values in zip(part, outputs.tolist(), strict=True):
                logits[place] = values
        return logits

    def tags(self, rows: Sequence[Sequence[int]]) -> np.ndarray:
        """Read texts by their tokens, by a model with one output a token: float32 (n, tokens)."""
        hidden = self.run(rows)
        made = _dense(self._tensors, hidden.reshape(-1, hidden.shape[-1]), "tags")
        return made.reshape(hidden.shape[:2])

    def _open(self) -> None:
        with self._opening:
            if self._session is None:
                self._session = _session_of(self.graph)
                note_use(self._session)
                self._tensors = {}  # the runtime has them

    def _open_beside(self) -> None:
        # The runtime's errors are reported when it is needed, for many texts at once.
        with suppress(EmbedderUnavailable):
            self._open()


def _padded(rows: Sequence[Sequence[int]], kinds: Sequence[Sequence[int]] | None = None) -> dict[str, np.ndarray]:
    """Lay the tokens of texts out as BERT-like models take them, each input int64 (texts, longest)."""
    import numpy as np

    ids, mask, types = np.zeros((3, len(rows), max(map(len, rows))), dtype=np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
        mask[place, : len(row)] = 1
        if kinds is not None:
            types[place, : len(row)] = kinds[place]
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


def _session_of(path: str) -> Any:
    """Open a session of onnxruntime on the CPU. Raises EmbedderUnavailable."""
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
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EmbedderUnavailable(f"onnxruntime cannot load {os.path.basename(path)}: {error}") from error  # noqa: PTH119
    give_back()
    return session


def _norm(tensors: Tensors, values: np.ndarray, name: str) -> np.ndarray:
    import numpy as np

    values = values - values.mean(axis=-1, keepdims=True)
    variance = np.einsum("xi,xi->x", values, values)[:, None] / np.float32(values.shape[-1])
    values /= np.sqrt(variance + np.float32(EPSILON))
    values *= tensors[f"{name}.weight"]
    values += tensors[f"{name}.bias"]
    return values


def _dense(tensors: Tensors, values: np.ndarray, name: str) -> np.ndarray:
    weights = tensors[f"{name}.weight.int8"].astype("float32")
    weights *= tensors[f"{name}.weight.scale"]
    result: np.ndarray = values @ weights
    result += tensors[f"{name}.bias"]
    return result


def _layer(tensors: Tensors, name: str, hidden: np.ndarray, mask: np.ndarray, *, only_first: bool) -> np.ndarray:
    """Compute attention and the two products behind it, each with sum and norm: float32 (texts * tokens, width).

    `only_first`: (texts, width), of the first token of each.
    """
    import numpy as np

    texts, tokens = len(mask), mask.shape[-1]
    size = hidden.shape[1] // HEADS
    parts = []
    for part in ("query", "key", "value"):
        made = _dense(tensors, hidden, f"{name}.attention.self.{part}")
        parts.append(made.reshape(texts, tokens, HEADS, size).transpose(0, 2, 1, 3))
    query, key, value = parts
    weights = query @ key.transpose(0, 1, 3, 2)
    weights *= np.float32(size**-0.5)
    weights += mask
    weights -= weights.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    heads = (weights @ value).transpose(0, 2, 1, 3).reshape(hidden.shape)
    if only_first:
        heads, hidden = heads[::tokens], hidden[::tokens]
    attended = _dense(tensors, heads, f"{name}.attention.output.dense") + hidden
    hidden = _norm(tensors, attended, f"{name}.attention.output.LayerNorm")
    wide = _gelu(_dense(tensors, hidden, f"{name}.intermediate.dense"))
    narrow = _dense(tensors, wide, f"{name}.output.dense") + hidden
    return _norm(tensors, narrow, f"{name}.output.LayerNorm")


def _by_numpy(tensors: Tensors, feed: dict[str, np.ndarray]) -> np.ndarray:
    import numpy as np

    ids = feed["input_ids"]
    words = "embeddings.word_embeddings.weight"
    rows = tensors[f"{words}.int8"][ids].astype(np.float32) * tensors[f"{words}.scale"][ids]
    rows += tensors["embeddings.position_embeddings.weight"][: ids.shape[1]]
    rows += tensors["embeddings.token_type_embeddings.weight"][feed["token_type_ids"]]
    texts, tokens, width = rows.shape
    hidden = _norm(tensors, rows.reshape(-1, width), "embeddings.LayerNorm")
    mask = np.where(feed["attention_mask"] > 0, np.float32(0), np.float32(MASKED))[:, None, None, :]
    classifies, layer = "classifier.bias" in tensors, 0
    while f"encoder.layer.{layer}.output.dense.bias" in tensors:
        is_last = f"encoder.layer.{layer + 1}.output.dense.bias" not in tensors
        hidden = _layer(tensors, f"encoder.layer.{layer}", hidden, mask, only_first=is_last and classifies)
        layer += 1
    if classifies:
        return _dense(tensors, np.tanh(_dense(tensors, hidden, "pooler.dense")), "classifier")
    return hidden.reshape(texts, tokens, width)


def digest(path: str) -> str:
    """Return the sha256 of a file. Raises EmbedderUnavailable."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _missing(path) from error


def _missing(path: str) -> EmbedderUnavailable:
    return EmbedderUnavailable(f"a model file is missing: {os.path.basename(path)}", hint=REINSTALL)  # noqa: PTH119


def _mapped(path: str) -> Tensors:
    """Return the tensors of a file in the format safetensors, by their names, mapped into memory."""
    import numpy as np

    try:
        whole = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise _missing(path) from error
    try:
        start = 8 + int.from_bytes(whole[:8].tobytes(), "little")
        header: dict[str, Any] = json.loads(whole[8:start].tobytes())
        header.pop("__metadata__", None)
        return {
            name: np.ndarray(tensor["shape"], _DTYPES[tensor["dtype"]], whole[start + tensor["data_offsets"][0] :].data)
            for name, tensor in header.items()
        }
    except (ValueError, KeyError, TypeError) as error:
        name = os.path.basename(path)  # noqa: PTH119
        raise EmbedderUnavailable(f"{name} is damaged: {error}", hint=REINSTALL) from error


def _gelu(values: np.ndarray) -> np.ndarray:
    """Multiply x by the share of a normal distribution below x, erf by Abramowitz & Stegun 7.1.26 (to 1.5e-7).

    In place, and in parts that stay in the processor's cache: a third of the time.
    """
    import numpy as np

    flat = values.reshape(-1)
    scratch = np.empty((3, GELU_PART), dtype=np.float32)
    for start in range(0, len(flat), GELU_PART):
        part = flat[start : start + GELU_PART]
        size, place, series = scratch[:, : len(part)]
        np.abs(part, out=size)
        size *= np.float32(0.5**0.5)
        np.multiply(size, np.float32(0.3275911), out=place)
        place += 1
        np.reciprocal(place, out=place)
        np.multiply(place, np.float32(1.061405429), out=series)
        for term in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
            series += np.float32(term)
            series *= place
        size *= size
        np.negative(size, out=size)
        series *= np.exp(size, out=size)
        series *= np.float32(0.5)  # the share beyond |x|
        series *= np.abs(part, out=size)
        np.maximum(part, 0, out=part)
        part -= series
    return values
