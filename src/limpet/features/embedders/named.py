"""Models that a setting names, without code: `onnx:/folder` and `openai:NAME,url=URL`.

What the setting may say: docs/how-to/embedders.md. The models themselves are in onnx_folder.py and openai_api.py, which
are imported when one is asked for.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from ...model.dataclass import dataclass
from ...model.errors import EmbedderUnavailable

FORMS = {
    "onnx": "onnx:/FOLDER[,query=PREFIX][,passage=PREFIX]",
    "openai": "openai:NAME,url=URL[,dimensions=N][,query=PREFIX][,passage=PREFIX], or openai:URL",
}
_OPTION = re.compile(r",(url|dimensions|query|passage)=")
OWN_URL = "https://api.openai.com/v1"
MOST_DIMENSIONS = 16_000


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
