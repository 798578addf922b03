"""An embedder that remembers on disk what it embedded, so that a second run of a benchmark takes no model.

It has the name, fingerprint and dimensions of the embedder it wraps: a store cannot tell them apart.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import threading
import time
import uuid
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from limpet.settings import DEFAULT_EMBEDDER

CACHE = Path(__file__).parent / ".cache"
# More files than this are merged into one when they are read.
MANY_SHARDS = 8


class CachingEmbedder:
    """Wraps `inner`; thread-safe, and safe among processes: each writes its own files, whole or not at all.

    `live_queries = True` makes every query go to the model (to time recall with query embedding); its vector is kept.
    """

    def __init__(self, inner: Any, folder: Path = CACHE) -> None:
        self.inner = inner
        self.name: str = inner.name
        self.fingerprint: str = inner.fingerprint
        self.dimensions: int = inner.dimensions
        self.live_queries = False
        self.embedded = 0  # texts that the model really saw
        self._folder = folder / hashlib.sha256(self.fingerprint.encode()).hexdigest()[:16]
        self._lock = threading.RLock()
        self._known: dict[bytes, np.ndarray] = {}
        self._new: dict[bytes, np.ndarray] = {}
        self._load()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """One row a text, float32."""
        keys = [_key("p", text) for text in texts]
        with self._lock:
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
            if missing:
                vectors = np.asarray(self.inner.embed_passages(list(missing.values())), dtype=np.float32)
                self._keep(dict(zip(missing, vectors, strict=True)))
            if not texts:
                return np.zeros((0, self.dimensions), dtype=np.float32)
            return np.stack([self._known[key] for key in keys])

    def embed_query(self, text: str) -> np.ndarray:
        key = _key("q", text)
        if self.live_queries:
            vector = np.asarray(self.inner.embed_query(text), dtype=np.float32)
            with self._lock:
                self._keep({key: vector})
            return vector
        with self._lock:
            if key not in self._known:
                self._keep({key: np.asarray(self.inner.embed_query(text), dtype=np.float32)})
            return self._known[key]

    def save(self) -> None:
        """Write what is new as one more file."""
        with self._lock:
            if self._new:
                _write(self._folder, self._new)
                self._new = {}

    def _keep(self, vectors: dict[bytes, np.ndarray]) -> None:
        self.embedded += len(vectors)
        for key, vector in vectors.items():
            if key not in self._known:
                self._known[key] = self._new[key] = vector

    def _load(self) -> None:
        shards = sorted(self._folder.glob("*.npz"))
        read = []
        for shard in shards:
            # Another process may have merged it away, or be an older layout: what is not read is embedded again.
            with contextlib.suppress(OSError, KeyError, ValueError, zipfile.BadZipFile), np.load(shard) as content:
                keys, vectors = content["keys"], content["vectors"]
                self._known.update({key.tobytes(): row for key, row in zip(keys, vectors, strict=True)})
                read.append(shard)
        if len(read) > MANY_SHARDS:
            _write(self._folder, self._known)
            for shard in read:
                shard.unlink(missing_ok=True)


def load(name: str = DEFAULT_EMBEDDER) -> CachingEmbedder:
    """The real embedder `name`, with the cache around it."""
    from limpet.vectors.embedder import load_embedder

    return CachingEmbedder(load_embedder(name))


def _key(role: str, text: str) -> bytes:
    return hashlib.blake2b(f"{role}:{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _write(folder: Path, vectors: dict[bytes, np.ndarray]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=folder, suffix=".part")
    with os.fdopen(handle, "wb") as file:
        np.savez(
            file,
            keys=np.stack([np.frombuffer(key, dtype=np.uint8) for key in vectors]),
            vectors=np.stack(list(vectors.values())).astype(np.float32),
        )
    Path(unfinished).replace(folder / f"{int(time.time())}-{uuid.uuid4().hex[:12]}.npz")
