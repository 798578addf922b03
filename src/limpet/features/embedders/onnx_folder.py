"""Models in a folder as Hugging Face exports them (`optimum-cli export onnx`, sentence-transformers): `onnx:/folder`.

Read are `model.onnx` or one in `onnx/`, `tokenizer.json`, `config.json`, and of sentence-transformers
`1_Pooling/config.json`, `modules.json`, `sentence_bert_config.json` and `config_sentence_transformers.json` (prompts).
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...model.errors import EmbedderUnavailable
from ...model.forks import note_use, refuse_child
from ...vectors.onnx_model import OnnxModel, padded, session_of
from . import Spec

if TYPE_CHECKING:
    import numpy as np

FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx", "onnx/model_int8.onnx")
# Where nothing says how many tokens a model reads, and more than these are never read: a text's first page.
USUAL_TOKENS, MOST_TOKENS = 512, 2_048
POOLINGS = {
    "pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "first", "pooling_mode_lasttoken": "last",
    "pooling_mode_max_tokens": "most",
}  # fmt: skip
_POOL: dict[str, Callable[[Any], Any]] = {
    "mean": lambda tokens: tokens.mean(axis=0), "most": lambda tokens: tokens.max(axis=0),
    "first": lambda tokens: tokens[0], "last": lambda tokens: tokens[-1],
}  # fmt: skip
WHOLE = ("sentence_embedding", "text_embeds")  # outputs that are the vector already
# Of a file so many pieces of so many bytes make its fingerprint, evenly spread: gigabytes are not read at each start.
PIECES, PIECE = 64, 65_536


class Folder:
    """A model's files. Raises EmbedderUnavailable."""

    def __init__(self, place: Path) -> None:
        files = [place] if place.suffix == ".onnx" else [place / name for name in FILES]
        self.model = next((file for file in files if file.is_file()), place)
        if not self.model.is_file():
            raise EmbedderUnavailable(f"no model in {place}", hint=f"one of {', '.join(FILES)}, or name the .onnx file")
        # Exports have the model beside its tokenizer, or in `onnx/` below it.
        roots = [folder for folder in self.model.parents[:2] if (folder / "tokenizer.json").is_file()]
        if not roots:
            hint = "export it with its tokenizer: optimum-cli export onnx"
            raise EmbedderUnavailable(f"no tokenizer.json beside {self.model}", hint=hint)
        self.root = roots[0]
        self.config = self._json("config.json")

    def _json(self, name: str, type: type = dict) -> Any:
        try:
            value = json.loads((self.root / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return type()
        except (OSError, ValueError) as error:
            raise EmbedderUnavailable(f"{self.root / name} cannot be read: {error}") from None
        return value if isinstance(value, type) else type()

    def tokens(self) -> int:
        """Return the number of tokens that the model reads."""
        limits = [
            self._json("sentence_bert_config.json").get("max_seq_length"),
            self._json("tokenizer_config.json").get("model_max_length"),
            self.config.get("max_position_embeddings"),
        ]
        known = (int(limit) for limit in limits if isinstance(limit, int | float) and 8 <= limit < 10**6)
        return min(known, default=USUAL_TOKENS)

    def pooling(self) -> str:
        modules = [module for module in self._json("modules.json", list) if isinstance(module, dict)]
        layers = {str(module.get("type")).rpartition(".")[2] for module in modules}
        if unknown := ", ".join(sorted(layers - {"Transformer", "Pooling", "Normalize"})):
            raise EmbedderUnavailable(f"the model in {self.root} has a layer that is not read: {unknown}")
        settings = self._json("1_Pooling/config.json")
        chosen = [name for name, value in settings.items() if name.startswith("pooling_mode_") and value is True]
        if len(chosen) > 1 or any(name not in POOLINGS for name in chosen):
            raise EmbedderUnavailable(f"the model in {self.root} pools in a way that is not read: {', '.join(chosen)}")
        return POOLINGS[chosen[0]] if chosen else "mean"

    def prompts(self) -> tuple[str, str]:
        """Return the texts put before a question and before a passage."""
        prompts = self._json("config_sentence_transformers.json").get("prompts")
        prompts = prompts if isinstance(prompts, dict) else {}
        text = next((prompts[name] for name in ("passage", "document") if prompts.get(name)), "")
        return str(prompts.get("query") or ""), str(text)

    def fingerprint(self) -> str:
        """Return a hash of the model's weights, sampled in pieces, and of its tokenizer."""
        digest = hashlib.sha256((self.root / "tokenizer.json").read_bytes())
        for path in sorted({self.model, *self.model.parent.glob(f"{self.model.name}?data*")}):
            size = path.stat().st_size
            digest.update(f"{path.name}:{size}".encode())
            with path.open("rb") as file:
                for number in range(PIECES):
                    file.seek(max(0, size - PIECE) * number // (PIECES - 1))
                    digest.update(file.read(PIECE))
        return digest.hexdigest()[:16]

    def tokenizer(self, most: int) -> Any:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise EmbedderUnavailable(
                "a model in a folder needs the package tokenizers", hint="pip install 'limpet[onnx]'"
            ) from error
        try:
            made = Tokenizer.from_file(str(self.root / "tokenizer.json"))
        except Exception as error:
            raise EmbedderUnavailable(f"{self.root / 'tokenizer.json'} cannot be read: {error}") from None
        made.no_padding()
        made.enable_truncation(most)
        return made


class OnnxFolder(OnnxModel):
    """The embedder `onnx:/folder`. Raises EmbedderUnavailable when the folder holds none."""

    def __init__(self, spec: Spec) -> None:
        assert spec.folder is not None
        self._session: Any = None
        self._tokenizer: Any = None
        self._folder = folder = Folder(spec.folder)
        self.name = spec.text
        self._pooling, self._tokens = folder.pooling(), min(folder.tokens(), MOST_TOKENS)
        own = folder.prompts()
        self._query, self._passage = spec.query or own[0], spec.passage or own[1]
        settings = f"{self._pooling}:{self._tokens}:{self._query}:{self._passage}"
        self.fingerprint = f"onnx:{folder.fingerprint()}:{hashlib.sha256(settings.encode()).hexdigest()[:8]}"
        self._width: int | None = None
        self._lock = threading.Lock()

    @property
    def dimensions(self) -> int:  # type: ignore[override]  # of our own models a constant
        if self._width is None:
            width = self._folder.config.get("hidden_size")
            self._width = int(width) if isinstance(width, int) else len(self.embed_query("how wide"))
        return self._width

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        return super().embed_passages([self._passage + text for text in texts])

    def embed_query(self, text: str) -> np.ndarray:
        return super().embed_query(self._query + text)

    def load(self) -> None:
        refuse_child()
        with self._lock:
            if self._session is None:
                self._tokenizer = self._folder.tokenizer(self._tokens)
                session = session_of(self._folder.model)
                self._inputs = [slot.name for slot in session.get_inputs()]
                self._output = _output(session, self._folder.model)
                note_use(session)
                self._session = session

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def _run(self, rows: list[list[int]]) -> np.ndarray:
        import numpy as np

        vectors = []
        for row in rows:  # alone: a quantised model gives a text another vector in other company
            given = padded([row or [0]])
            given["position_ids"] = np.arange(given["input_ids"].shape[1], dtype=np.int64)[None]
            if unknown := ", ".join(sorted(set(self._inputs) - set(given))):
                raise EmbedderUnavailable(f"the model wants inputs that are not known here: {unknown}")
            output = self._session.run([self._output], {name: given[name] for name in self._inputs})[0][0]
            if output.ndim == 2:  # a vector for each token
                output = _POOL[self._pooling](output)
            vectors.append((output / max(float(np.linalg.norm(output)), 1e-12)).astype(np.float32))
        return np.stack(vectors)


def _output(session: Any, path: Path) -> str:
    """Return the output that is a text's vector, or the vectors of its tokens."""
    outputs: dict[str, Any] = {output.name: output.shape for output in session.get_outputs()}
    for name in (*WHOLE, *(name for name, shape in outputs.items() if len(shape) == 3)):
        if name in outputs:
            return name
    raise EmbedderUnavailable(
        f"{path.name} gives {', '.join(outputs)}: no vectors of tokens", hint="export it for feature-extraction"
    )
