"""Vectors as they lie in the store: int8 codes with a scale each for scanning, float16 for exact scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..store.records import NewVector


def quantise(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """float32 (n, d) -> int8 codes (n, d) and float32 scales (n,): vector = code * scale."""
    scales = np.abs(vectors).max(axis=1) / 127.0
    scales[scales == 0] = 1.0
    codes = np.rint(vectors / scales[:, None]).astype(np.int8)
    return codes, scales.astype(np.float32)


def encode_for_store(text_ids: Sequence[int], vectors: np.ndarray) -> list[NewVector]:
    """What the store keeps of each vector. Raises ValueError for vectors that are not finite numbers."""
    if not np.isfinite(vectors).all():
        raise ValueError("a vector holds something that is no number")
    codes, scales = quantise(vectors)
    exact = vectors.astype(np.float16)
    return [
        NewVector(text_id=text_id, exact=exact[i].tobytes(), code=codes[i].tobytes(), scale=float(scales[i]))
        for i, text_id in enumerate(text_ids)
    ]
