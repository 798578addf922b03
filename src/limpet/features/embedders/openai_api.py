"""Models behind an address that speaks OpenAI's embeddings (Ollama, llama.cpp, vLLM, TEI): `openai:NAME,url=URL`.

Texts go to that address, and nowhere else; OPENAI_API_KEY is sent along over TLS, or to this machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...model.dataclass import dataclass
from ...model.errors import EmbedderUnavailable
from ...secrets import redact
from ...vectors.encoder import MAX_CHARACTERS
from .guarded import Overloaded

if TYPE_CHECKING:
    import numpy as np

# A connection that breaks is tried again so often; who works the queue waits for what is overloaded (guarded.py).
RETRIES = 2
# What is asked of an overloaded server is asked again after so long, if it does not say when.
OVERLOADED, RETRY_SECONDS = (429, 500, 502, 503, 504), 1.0
# The statuses of a request that is too much: by its texts together, or by one of them. One is cut to no less than this.
TOO_MUCH, SHORTEST = (400, 413, 422), 200
CONNECT_SECONDS, ANSWER_SECONDS = 3.0, 60.0
BATCH = 32
MAX_ANSWER_BYTES = 64_000_000
LOCAL = ("localhost", "127.0.0.1", "::1")


FORM = "openai:NAME,url=URL[,dimensions=N][,query=PREFIX][,passage=PREFIX], or openai:URL"
_OPTION = re.compile(r",(url|dimensions|query|passage)=")
OWN_URL = "https://api.openai.com/v1"
MOST_DIMENSIONS = 16_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A parsed setting. docs/how-to/embedders.md says what it may hold."""

    text: str
    model: str  # "": the one that the address has
    url: str
    dimensions: int | None
    query: str  # put before a question
    passage: str  # and before a text


def parse(text: str) -> Spec:
    """Read a setting. Raises EmbedderUnavailable with the form that is wanted."""
    head, *options = _OPTION.split(text.partition(":")[2])
    given = dict(zip(options[::2], options[1::2], strict=True))
    is_url = head.startswith(("http://", "https://"))
    url = head if is_url else given.get("url", OWN_URL)
    try:
        host = urlsplit(url).hostname if url.startswith(("http://", "https://")) else None
        dimensions = int(given["dimensions"]) if "dimensions" in given else None
    except ValueError:
        host, dimensions = None, None
    if not head or not host or (is_url and "url" in given):
        raise EmbedderUnavailable(f"not a model's address: {text[:120]!r}", hint=FORM)
    if "dimensions" in given and not 1 <= (dimensions or 0) <= MOST_DIMENSIONS:
        raise EmbedderUnavailable(f"not a number of dimensions: {given['dimensions'][:40]!r}", hint=FORM)
    return Spec(
        text=text, model="" if is_url else head, url=url.rstrip("/"), dimensions=dimensions,
        query=given.get("query", ""), passage=given.get("passage", ""),
    )  # fmt: skip


class TooLong(Exception):
    """An error: the answer has more bytes than are read."""


def http_answer(client: Any, method: str, url: str, *, most: int, **given: Any) -> tuple[int, str, Any]:
    """Return the status, text and headers of an answer that is not taken whole on trust. Raises TooLong beyond `most`,
    and the errors of `client` (httpx2)."""
    with client.stream(method, url, **given) as response:
        raw = bytearray()
        for block in response.iter_bytes():
            raw += block
            if len(raw) > most:
                raise TooLong
        return response.status_code, bytes(raw).decode("utf-8", "replace"), response.headers


class Refused(EmbedderUnavailable):
    """An error: the server refuses the request as bad or too large."""


_HINTS = {
    401: "OPENAI_API_KEY holds the key; it is sent over https, or to this machine",
    404: "the address ends in /v1 with most servers, and the model's name must be one it has",
}


class RemoteEmbedder:
    """The embedder `openai:NAME,url=URL`, or of the only model that `openai:URL` has. Thread-safe."""

    is_local = False

    def __init__(self, spec: Spec) -> None:
        try:
            import httpx2
        except ImportError:
            raise EmbedderUnavailable("a model over HTTP needs httpx2", hint="pip install 'limpet[remote]'") from None
        self._http, self.name, self._spec = httpx2, spec.text, spec
        self._model, self._width = spec.model, spec.dimensions or 0
        where = urlsplit(spec.url)
        key = os.environ.get("OPENAI_API_KEY", "")
        safe = where.scheme == "https" or where.hostname in LOCAL
        self._client = httpx2.Client(
            transport=httpx2.HTTPTransport(retries=RETRIES), follow_redirects=False,
            headers={"Authorization": f"Bearer {key}"} if key and safe else {},
            timeout=httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
        )  # fmt: skip

    @property
    def fingerprint(self) -> str:
        """The model's name and a hash of the settings. The server does not tell if it changes the model itself."""
        settings = f"{self._spec.url}\n{self._spec.dimensions}\n{self._spec.query}\n{self._spec.passage}"
        return f"openai:{self._named()}:{hashlib.sha256(settings.encode()).hexdigest()[:12]}"

    @property
    def dimensions(self) -> int:
        self.load()
        return self._width

    def load(self) -> None:
        """Ask for what the setting does not say. Raises EmbedderUnavailable."""
        if not self._width:
            self._width = len(self._vectors(["how wide"])[0])

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts, many in a request: float32 (n, dimensions)."""
        return self._in_batches(self._spec.passage, texts)

    def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        """Embed questions likewise."""
        return self._in_batches(self._spec.query, texts)

    def _in_batches(self, prefix: str, texts: Sequence[str]) -> np.ndarray:
        import numpy as np

        parts = [
            self._fitting([prefix + text for text in texts[start : start + BATCH]])
            for start in range(0, len(texts), BATCH)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), dtype=np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        """Return float32 (dimensions,)."""
        vector: np.ndarray = self._fitting([self._spec.query + text])[0]
        return vector

    def _ask(self, path: str, request: dict[str, Any] | None = None) -> Any:
        """Return the answer's JSON. Raises EmbedderUnavailable."""
        where = f"{self._spec.url}{path}"
        try:
            status, text, headers = http_answer(
                self._client, "GET" if request is None else "POST", where, most=MAX_ANSWER_BYTES, json=request
            )
        except TooLong:
            raise EmbedderUnavailable(f"{where} answered with more than {MAX_ANSWER_BYTES:,} bytes") from None
        except (self._http.HTTPError, self._http.InvalidURL, OSError) as error:
            reason = str(error) or type(error).__name__
            raise EmbedderUnavailable(f"{where} does not answer: {reason}", hint="is it running?") from None
        if status != 200:
            message = " ".join(redact(text)[0].split())[:200]
            kind = Refused if status in TOO_MUCH else Overloaded if status in OVERLOADED else EmbedderUnavailable
            refused = kind(f"{where} answered {status}: {message}", hint=_HINTS.get(status))
            if isinstance(refused, Overloaded):
                refused.retry_seconds = RETRY_SECONDS
                with suppress(ValueError):  # a date
                    refused.retry_seconds = max(0.0, float(headers.get("retry-after") or RETRY_SECONDS))
            raise refused
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise EmbedderUnavailable(f"{where} did not answer with JSON") from None

    def _named(self) -> str:
        """Return the model's name; where none was given, that of the only one there is."""
        if self._model:
            return self._model
        answer = self._ask("/models")
        try:
            names = [str(model["id"]) for model in answer["data"]]
        except (TypeError, KeyError):
            names = []
        if len(names) != 1:
            raise EmbedderUnavailable(
                f"{self._spec.url} has {len(names)} models: {', '.join(names[:8])}",
                hint="name one: openai:NAME,url=URL",
            )
        self._model = names[0]
        return self._model

    def _fitting(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts in as many requests as the server accepts. Cut a text that is too long for it. Raises ValueError
        for a text that it refuses at any length."""
        import numpy as np

        try:
            return self._vectors(texts)
        except Refused as refused:
            half = len(texts) // 2
            if half:
                return np.concatenate([self._fitting(texts[:half]), self._fitting(texts[half:])])
            text = texts[0][:MAX_CHARACTERS]
            if len(text) > SHORTEST:
                return self._fitting([text[: max(SHORTEST, len(text) // 2)]])
            self._vectors(["how wide"])  # else it refuses whatever is asked, and no text is to blame
            raise ValueError(refused.message) from None

    def _vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts in one request; rows of any length, which the guard brings to 1."""
        import numpy as np

        # An empty text is refused by some.
        request: dict[str, Any] = {"model": self._named(), "input": [text[:MAX_CHARACTERS] or " " for text in texts]}
        if self._spec.dimensions:
            request["dimensions"] = self._spec.dimensions
        answer = self._ask("/embeddings", request)
        try:
            rows = sorted(answer["data"], key=lambda row: row.get("index", 0))
            matrix = np.array([row["embedding"] for row in rows], dtype=np.float32)
        except (TypeError, KeyError, AttributeError, ValueError):
            matrix = np.empty(0, dtype=np.float32)
        width = self._width or (matrix.shape[1] if matrix.ndim == 2 else 0)
        if matrix.shape == (len(texts), width) and not np.isfinite(matrix).all():
            raise EmbedderUnavailable(f"{self._spec.url}/embeddings: a vector came with what is no finite number")
        if matrix.shape != (len(texts), width) or not width:
            raise EmbedderUnavailable(
                f"{self._spec.url}/embeddings: {len(texts)} vectors of {width or 'some'} numbers were asked for, and an"
                f" array of shape {matrix.shape} came"
            )
        return matrix
