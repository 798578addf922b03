"""Embedders for tests, made of a real one."""

from __future__ import annotations

import numpy as np


class Aside:
    """Real vectors with one more direction, the same for all: their cosines lie close together, in the same order."""

    def __init__(self, inner, aside):
        self.inner, self.aside = inner, aside
        self.name = "aside"
        self.fingerprint = f"aside:{aside}:{inner.fingerprint}"
        self.dimensions = inner.dimensions + 1
        self.latin_only = inner.latin_only
        self.texts = 0  # that were embedded

    def embed_passages(self, texts):
        self.texts += len(texts)
        return self._beside(self.inner.embed_passages(texts))

    def embed_query(self, text):
        return self._beside(self.inner.embed_query(text)[None, :])[0]

    def _beside(self, rows):
        beside = np.full((len(rows), 1), np.sqrt(self.aside), dtype=np.float32)
        return np.hstack([rows * np.sqrt(np.float32(1 - self.aside)), beside])
