"""The default embedder: limpet's own model, MiniLM tuned so that a question lies near the memory that answers it.

Its file comes with the package; docs/reference/embedder.md says what it was made of. `make embedder-figures` writes its
sha256 and calibration, and all else that hangs on the file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from .calibration import Calibration
from .onnx_model import OnnxModel, checked_session, padded
from .wordpiece import DATA, wordpiece

if TYPE_CHECKING:
    import numpy as np

MODEL = Path(DATA) / "limpet.onnx"
FIGURES = Path(DATA) / "limpet.json"
TOKENS = 256  # of a text, the marks around it included
_figures = json.loads(FIGURES.read_text(encoding="utf-8"))
MODEL_SHA256: str = _figures["sha256"]


class OwnModel(OnnxModel):
    """The embedder `limpet`: English, 384 dimensions, the mean over a text's tokens."""

    name = "limpet"
    dimensions = 384
    fingerprint = f"limpet:{MODEL_SHA256[:12]}"
    calibration = Calibration(*_figures["calibration"])
    latin_only = True  # its vocabulary has next to nothing of other scripts: their vectors say little
    judges = True  # the relevance judge's constants are fitted to the vectors that it makes of words

    def load(self) -> None:
        with self._lock:
            if self._session is None:
                self._session = checked_session(MODEL, MODEL_SHA256)

    def _ids(self, text: str) -> list[int]:
        return wordpiece().ids(text, TOKENS)

    def _run(self, rows: list[list[int]]) -> np.ndarray:
        import numpy as np

        feed = padded(rows)
        # A mean over tokens and their sum point the same way.
        total = np.einsum("xyz,xy->xz", self._session.run(None, feed)[0], feed["attention_mask"].astype(np.float32))
        vectors: np.ndarray = total / np.linalg.norm(total, axis=1, keepdims=True).clip(1e-12)
        return vectors
