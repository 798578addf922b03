"""A first look at many vectors: the signs of their components, a bit each, an eighth of what a scan of the codes reads.

Only the vectors that differ from the query in the fewest signs are compared by their codes. Of 48,000 texts the ten
nearest were among a thirty-second in 99.99 % (signs of random directions: Charikar, STOC 2002); of 50,000 to 179,000
all of them among a twenty-fourth, for each of 1,500 queries.
"""

from __future__ import annotations

import numpy as np

# The vectors from which it pays, the share that is looked at closely (one in so many), and the least number.
FROM, ONE_IN, LEAST = 50_000, 24, 4_096
# One in so many counts makes a sample that tells where the nearest end.
_SAMPLED = 16
# Vectors whose counts stay in the processor's cache.
_AT_ONCE = 32_768


def possible(dimensions: int) -> bool:
    """Return whether the components of a vector fill words of 64 bits."""
    return dimensions % 64 == 0


def signs_of(codes: np.ndarray) -> np.ndarray:
    """Turn int8 (n, d) into uint64 (d / 64, n): a row for each 64 components, so that a scan reads in sequence."""
    return np.ascontiguousarray(np.packbits(codes > 0, axis=1).view(np.uint64).T)


def differing(query: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Count the signs in which each vector differs from the query. `query`: uint64 (d / 64, 1). uint16 (n,)."""
    counts = np.zeros(signs.shape[1], dtype=np.uint16)
    for start in range(0, len(counts), _AT_ONCE):
        part = counts[start : start + _AT_ONCE]
        for row, word in zip(signs, query[:, 0], strict=True):
            part += np.bitwise_count(row[start : start + _AT_ONCE] ^ word)
    return counts


def nearest(counts: np.ndarray) -> np.ndarray:
    """Return places of the vectors with the fewest differing signs, about `LEAST` or one in `ONE_IN`, in order."""
    wanted = max(LEAST, len(counts) // ONE_IN)
    if wanted >= len(counts):
        return np.arange(len(counts))
    sample = counts[::_SAMPLED]
    place = min(wanted // _SAMPLED, len(sample) - 1)
    return np.flatnonzero(counts <= np.partition(sample, place)[place])
