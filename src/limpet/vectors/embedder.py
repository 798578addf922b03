"""The interface of embedders, and their loading by name. Our own is here; others come from `features/embedders/`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ..model.errors import EmbedderUnavailable
from ..registry import call, part

if TYPE_CHECKING:
    import numpy as np

    from .calibration import Calibration

# Our own model, beside which the relevance judge is asked.
OWN = "limpet"


class Embedder(Protocol):
    """Turns texts into unit vectors. Thread-safe. A class without arguments makes one, cheaply: it loads at first use.

    `fingerprint` changes whenever the vectors would: it is stored beside them. A `load()` method is optional: workers
    call it before they take work, so that a slow start holds up nothing. So is a `calibration` (calibration.py):
    without it, a worker measures it once a store, with `embed_queries(texts)`, like `embed_passages`, if there is one.
    """

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 (n, dimensions), rows of length 1. Raises EmbedderUnavailable."""
        ...

    def embed_query(self, text: str) -> np.ndarray:
        """Return float32 (dimensions,), of length 1. Raises EmbedderUnavailable."""
        ...


class StoreEmbedder(Embedder, Protocol):
    """An embedder as a store uses it: our own model, or another one in a guard (features/embedders/guarded.py)."""

    latin_only: bool  # vectors of other scripts say little
    judges: bool  # the relevance judge's constants are fitted to its vectors
    is_local: bool  # texts stay on this machine

    @property
    def calibration(self) -> Calibration | None:
        """The embedder's calibration, if it is known without measuring."""
        ...

    def calibrated(self) -> Calibration:
        """Return the calibration; measure it on `calibration.TEXTS` texts if it is not known."""
        ...

    def load(self) -> None:
        """Make it ready, once. Raises EmbedderUnavailable."""
        ...

    def by(self, until: float) -> StoreEmbedder:
        """Return the same embedder; if it might be slow, it raises EmbedderUnavailable when it has not answered by
        `until`, on the monotonic clock."""
        ...


_loaded: dict[str, StoreEmbedder] = {}
_lock = threading.Lock()


def installed() -> list[str]:
    """List the names of the embedders that are installed."""
    return [OWN, *(call("embedders") or ())]


def is_loaded(name: str) -> bool:
    """Return whether this process has used the embedder already."""
    return name in _loaded


def load_embedder(name: str) -> StoreEmbedder:
    """Return the embedder of a name, one in a process. Raises EmbedderUnavailable: unknown, missing, not working."""
    with _lock:
        if name not in _loaded:
            _loaded[name] = _make(name)
        return _loaded[name]


def guarded(embedder: Embedder) -> StoreEmbedder:
    """Wrap a caller's embedder so that the store can use it. Raises FeatureMissing."""
    made: StoreEmbedder = part("features.embedders").guarded(embedder)
    return made


def _make(name: str) -> StoreEmbedder:
    if name == OWN:
        from .own import OwnModel

        return OwnModel()
    made: StoreEmbedder | None = call("embedder", name)
    if made is None:
        raise EmbedderUnavailable(f"this installation of limpet has no embedder but {OWN}, and {name!r} is asked for")
    return made
