"""The default embedder: limpet's own model, MiniLM tuned so that a question lies near the memory that answers it.

Its file comes with the package; docs/reference/embedder.md says what it was made of. `make embedder-figures` writes its
sha256 and calibration, and all else that hangs on the file.
"""

from __future__ import annotations

import json
from pathlib import Path

from .calibration import Calibration
from .minilm import MiniLM
from .onnx_model import DATA, MAX_TOKENS, OnnxModel

MODEL = DATA / "limpet.onnx"
FIGURES = DATA / "limpet.json"
_figures = json.loads(FIGURES.read_text(encoding="utf-8"))
MODEL_SHA256: str = _figures["sha256"]


class OwnModel(OnnxModel):
    """The embedder `limpet`."""

    name = "limpet"
    fingerprint = f"limpet-int8:{MODEL_SHA256[:12]}:mean-{MAX_TOKENS}"
    calibration = Calibration(*_figures["calibration"])
    judges = True  # the relevance judge's constants are fitted to the vectors that it makes of words
    # Stores with vectors of these get ours by and by, without being told to: the defaults before it.
    replaces = frozenset({MiniLM.fingerprint, f"limpet-int8:3850c1a16403:mean-{MAX_TOKENS}"})

    def file(self) -> tuple[Path, str]:
        return MODEL, MODEL_SHA256
