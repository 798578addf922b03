"""The default embedder: limpet's own model, MiniLM tuned so that a question lies near the memory that answers it.

Its files come with the package; docs/reference/embedder.md says how it was made. `make embedder-figures` writes its
sha256, its calibration and all that depends on the file.
"""

from __future__ import annotations

import json
import os.path
from typing import TYPE_CHECKING

from ..model.errors import EmbedderUnavailable
from .calibration import Calibration
from .encoder import Encoder, digest
from .onnx_model import REINSTALL, OnnxModel
from .wordpiece import DATA, wordpiece

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

TOKENS = 256  # of a text, the marks around it included
with open(os.path.join(DATA, "limpet.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
    _figures = json.load(file)
MODEL_SHA256: str = _figures["sha256"]


class OwnModel(Encoder, OnnxModel):
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

    def _ids(self, text: str) -> list[int]:
        return wordpiece().ids(text, TOKENS)

    def _run(self, rows: Sequence[Sequence[int]]) -> np.ndarray:
        import numpy as np

        hidden = self.run(rows)
        mask = np.zeros(hidden.shape[:2], dtype=np.float32)
        for place, row in enumerate(rows):
            mask[place, : len(row)] = 1
        # A mean over tokens and their sum point the same way.
        total = np.einsum("xyz,xy->xz", hidden, mask)
        vectors: np.ndarray = total / np.linalg.norm(total, axis=1, keepdims=True).clip(1e-12)
        return vectors
