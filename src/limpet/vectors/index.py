"""Exact search over all vectors of a store: an int8 scan of a copy in memory, then exact scores for the best.

The copy follows the store: `refresh` reads the chunks that changed, whichever process changed them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..store.records import VectorChunk
from .codes import quantise

if TYPE_CHECKING:
    from ..store.contract import Store

SLOTS = 1_024
# Vectors that are scanned between two looks at the clock: one or two milliseconds.
SCANNED_AT_ONCE = 32_768
# Up to so many vectors, the exact ones are held in memory too: 24 MB at 384 dimensions.
EXACT_HELD = 32_768
Dot = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _numkong_dot() -> Dot:
    import numkong

    def dot(query: np.ndarray, codes: np.ndarray) -> np.ndarray:
        return np.asarray(numkong.dot(query, codes)).ravel()

    return dot


def _numpy_dot(query: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The fallback: blocks that fit the cache, as float32."""
    wide = query.astype(np.float32)
    parts = [codes[start : start + 4_096].astype(np.float32) @ wide for start in range(0, len(codes), 4_096)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.float32)


def int8_dot() -> Dot:
    """The fastest dot product there is here: numkong's, or NumPy's where that does not load."""
    try:
        return _numkong_dot()
    except Exception:  # a wheel for another processor fails in many ways; NumPy always works
        return _numpy_dot


class VectorIndex:
    """A copy of one embedder's chunks, one array over all of them. Thread-safe; a search sees one state."""

    def __init__(self, store: Store, embedder: int, dimensions: int) -> None:
        self._store = store
        self._embedder = embedder
        self._dimensions = dimensions
        self._lock = threading.Lock()
        self._dot = int8_dot()
        self._data_version = -1
        self._versions: dict[int, int] = {}
        self._blocks: dict[int, int] = {}  # chunk number -> block in the arrays
        self._state = _Arrays(dimensions, 0)
        self._rescored = False

    @property
    def size(self) -> int:
        """Vectors held, empty slots included."""
        return self._state.used

    def refresh(self) -> None:
        """Read what changed since the last time. Cheap when nothing did."""
        with self._lock:
            version = self._store.data_version()
            if version == self._data_version:
                return
            changed, present = self._store.vector_chunks(self._embedder, self._versions)
            if set(self._blocks) - set(present):
                self._blocks.clear()
                self._versions.clear()
                self._state = _Arrays(self._dimensions, 0)
                changed, present = self._store.vector_chunks(self._embedder, {})
            if changed:
                self._state = self._take(changed)
            self._data_version = version

    def _take(self, changed: Sequence[VectorChunk]) -> _Arrays:
        blocks = len(self._blocks) + sum(chunk.num not in self._blocks for chunk in changed)
        state = self._state.grown(blocks)
        for chunk in changed:
            block = self._blocks.setdefault(chunk.num, len(self._blocks))
            state.put(block, chunk)
        state.finish(blocks)
        # Only now: had a chunk been unreadable, all of them are to be read again.
        self._versions.update((chunk.num, chunk.version) for chunk in changed)
        return state

    def search(self, query: np.ndarray, *, scopes: Sequence[int] | None, deadline: float | None = None) -> SearchScan:
        """Scan everything for a unit query vector (d,). `scopes`: find only in these.

        `deadline`, on the monotonic clock: what was not scanned by then, the oldest, is not found.
        """
        state = self._state
        codes, scale = quantise(query[None, :])
        scores = np.zeros(state.used, dtype=np.float32)
        start = end = state.used
        while end and (deadline is None or time.monotonic() < deadline):
            start = 0 if deadline is None else max(0, end - SCANNED_AT_ONCE)
            scores[start:end] = self._dot(codes[0], state.codes[start:end])
            end = start
        scores *= state.scales[: state.used]
        scores *= scale[0]
        hidden = state.hidden(scopes)
        if end:
            hidden = np.zeros(state.used, dtype=bool) if hidden is None else hidden
            hidden[:end] = True
        return SearchScan(state, scores, hidden, complete=not end)

    def rescore(self, query: np.ndarray, bodies: Sequence[int]) -> dict[int, float]:
        """Exact cosines, from float16."""
        found, matrix = self.exact(bodies)
        return dict(zip(found, (matrix @ query).tolist(), strict=True)) if found else {}

    def exact(self, bodies: Sequence[int]) -> tuple[list[int], np.ndarray]:
        """Those of some bodies that have a vector, and the vectors, float32 (n, dimensions)."""
        state = self._state
        if state.used <= EXACT_HELD and self._rescored:
            slots = state.slots_of(bodies)
            there = [body for body, slot in zip(bodies, slots.tolist(), strict=True) if slot >= 0]
            return there, self._hold_exact(state)[slots[slots >= 0]].astype(np.float32)
        self._rescored = True  # a process that asks once reads no more than it needs
        rows = self._store.exact_vectors(self._embedder, bodies) if bodies else []
        if not rows:
            return [], np.zeros((0, self._dimensions), dtype=np.float32)
        return [body for body, _ in rows], _halves(rows).astype(np.float32)

    def _hold_exact(self, state: _Arrays) -> np.ndarray:
        """The float16 vectors of all slots, those read that are not held yet."""
        missing = np.flatnonzero((state.bodies != 0) & ~state.held)
        if len(missing):
            if not len(state.exact):
                state.exact = np.zeros((len(state.scales), self._dimensions), dtype=np.float16)
            rows = self._store.exact_vectors(self._embedder, state.bodies[missing].tolist())
            if rows:
                state.exact[state.slots_of([body for body, _ in rows])] = _halves(rows)
            state.held[missing] = True
        return state.exact


def _halves(rows: Sequence[tuple[int, bytes]]) -> np.ndarray:
    return np.frombuffer(b"".join(data for _, data in rows), dtype=np.float16).reshape(len(rows), -1)


class _Arrays:
    """Codes, scales, bodies and scopes, a block of 1,024 slots for each chunk. Body 0 = empty slot."""

    def __init__(self, dimensions: int, blocks: int) -> None:
        slots = blocks * SLOTS
        self.dimensions = dimensions
        self.codes = np.zeros((slots, dimensions), dtype=np.int8)
        self.scales = np.zeros(slots, dtype=np.float32)
        self.bodies = np.zeros(slots, dtype=np.int64)
        self.scopes = np.zeros(slots, dtype=np.int32)
        self.exact = np.zeros((0, dimensions), dtype=np.float16)  # none until they are asked for
        self.held = np.zeros(slots, dtype=bool)  # slots whose exact vector is there
        self.used = 0
        self.order: np.ndarray | None = None
        self.present: frozenset[int] = frozenset()
        self.gaps = False

    def grown(self, blocks: int) -> _Arrays:
        """Room for this many blocks; a new object, so that running searches keep theirs."""
        have = len(self.scales) // SLOTS
        grown = _Arrays.__new__(_Arrays)
        grown.dimensions = self.dimensions
        extra = 0 if blocks <= have else max(blocks, have + have // 2) - have
        for name in ("codes", "scales", "bodies", "scopes", "exact", "held"):
            old: np.ndarray = getattr(self, name)
            if extra and not (name == "exact" and not len(old)):
                more = np.zeros((extra * SLOTS, *old.shape[1:]), dtype=old.dtype)
                setattr(grown, name, np.concatenate([old, more]))
            else:
                # Slots are written once and emptied at most: sharing the codes with a running search is safe, its
                # bodies and scopes are its own.
                setattr(grown, name, old if name in ("codes", "scales", "exact") else old.copy())
        return grown

    def put(self, block: int, chunk: VectorChunk) -> None:
        start, used = block * SLOTS, chunk.used
        end = start + used
        self.codes[start:end] = np.frombuffer(chunk.codes, dtype=np.int8).reshape(used, self.dimensions)
        self.scales[start:end] = np.frombuffer(chunk.scales, dtype="<f4")
        self.bodies[start:end] = np.frombuffer(chunk.bodies, dtype="<i8")
        self.scopes[start:end] = np.frombuffer(chunk.scopes, dtype="<i4")
        self.bodies[end : start + SLOTS] = 0
        self.held[start : start + SLOTS] = False

    def finish(self, blocks: int) -> None:
        held = np.nonzero(self.bodies[: blocks * SLOTS])[0]
        self.used = int(held[-1]) + 1 if len(held) else 0
        self.gaps = len(held) != self.used
        self.present = frozenset(np.unique(self.scopes[held]).tolist())
        self.order = None

    def hidden(self, scopes: Sequence[int] | None) -> np.ndarray | None:
        """Slots that must not be found; None when there are none."""
        parts = []
        if self.gaps:
            parts.append(self.bodies[: self.used] == 0)
        if scopes is not None and not self.present <= set(scopes):
            parts.append(~np.isin(self.scopes[: self.used], np.asarray(scopes, dtype=np.int32)))
        if not parts:
            return None
        out: np.ndarray = np.logical_or.reduce(parts)
        return out

    def slots_of(self, bodies: Sequence[int]) -> np.ndarray:
        """The slot of each body, -1 where there is none."""
        if self.order is None:
            self.order = np.argsort(self.bodies[: self.used], kind="stable")
        wanted = np.asarray(bodies, dtype=np.int64)
        if not self.used:
            return np.full(len(wanted), -1)
        there = self.bodies[: self.used]
        at = np.searchsorted(there, wanted, sorter=self.order)
        at = self.order[np.minimum(at, self.used - 1)]
        found: np.ndarray = np.where(there[at] == wanted, at, -1)
        return found


class SearchScan:
    """The scores of one query: bodies on demand, best first, and the score of any body."""

    def __init__(self, state: _Arrays, scores: np.ndarray, hidden: np.ndarray | None, *, complete: bool = True) -> None:
        self.complete = complete  # False: the deadline came first
        self._state = state
        self._scores = scores
        self._left = scores if hidden is None else np.where(hidden, np.float32(-4), scores)
        self._visible = len(scores) if hidden is None else int(len(scores) - np.count_nonzero(hidden))
        self._ordered: list[int] = []
        self._taken = 0

    def restrict(self, bodies: Sequence[int]) -> None:
        """Take from these alone from now on, from the best one again."""
        slots = np.unique(self._state.slots_of(bodies))
        slots = slots[slots >= 0]
        left = np.full(len(self._left), np.float32(-4))
        left[slots] = self._left[slots]
        self._left = left
        self._visible = int(np.count_nonzero(left > -4))
        self._ordered, self._taken = [], 0

    def take(self, n: int) -> list[int]:
        """The next `n` bodies by approximate cosine, best first, ties by body; [] at the end."""
        end = min(self._taken + n, self._visible)
        if end > len(self._ordered):
            self._order(end)
        part = self._ordered[self._taken : end]
        self._taken = end
        return part

    def _order(self, count: int) -> None:
        count = min(self._visible, max(count, 2 * len(self._ordered)))
        # Without the hidden ones: a partition among many equal values takes ten times as long.
        there = None if self._visible == len(self._left) else np.flatnonzero(self._left > -4)
        left = self._left if there is None else self._left[there]
        if count < len(left):
            best = np.flatnonzero(left >= np.partition(left, len(left) - count)[len(left) - count])
        else:
            best = np.arange(len(left))
        best = best if there is None else there[best]
        bodies = self._state.bodies[best]
        sequence: Any = np.lexsort((bodies, -self._left[best]))
        self._ordered = bodies[sequence][:count].tolist()

    def score_of(self, bodies: Sequence[int]) -> np.ndarray:
        """Approximate cosines (n,), float64; 0 for a body without a vector."""
        slots = self._state.slots_of(bodies)
        if not len(self._scores):
            return np.zeros(len(slots))
        found: np.ndarray = np.where(slots >= 0, self._scores[slots], np.float32(0)).astype(np.float64)
        return found
