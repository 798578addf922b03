"""Search over all vectors of a store: an int8 scan of a copy in memory, then exact scores for the best.

The copy follows the store: `refresh` reads the chunks that changed, whichever process changed them. The store has int8
codes with a scale each, for scanning, and float16 for exact scores.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from ..store.records import NewVector, VectorChunk
from .calibration import FITTED

if TYPE_CHECKING:
    from ..store import Store

SLOTS = 1_024
# Vectors that are scanned between two looks at the clock: one or two milliseconds.
SCANNED_AT_ONCE = 32 * SLOTS
# Chunks that are read between two looks at the clock: 25 MB at 384 dimensions.
READ_AT_ONCE = 64
# Vectors whose codes are widened at once: they stay in the processor's cache, and BLAS starts no threads for so few.
WIDENED_AT_ONCE = 256


def quantise(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return int8 codes (n, d) and float32 scales (n,) of float32 vectors (n, d): vector = code * scale."""
    scales = np.abs(vectors).max(axis=1) / 127.0
    scales[scales == 0] = 1.0
    codes = np.rint(vectors / scales[:, None]).astype(np.int8)
    return codes, scales.astype(np.float32)


def encode_for_store(
    text_ids: Sequence[int], vectors: np.ndarray, parts: Sequence[int] | None = None
) -> list[NewVector]:
    """Return each vector as the store keeps it. Raises ValueError for vectors that are not finite numbers."""
    if not np.isfinite(vectors).all():
        raise ValueError("a vector holds something that is no number")
    codes, scales = quantise(vectors)
    return [
        NewVector(text_id, exact.tobytes(), code.tobytes(), scale, part)
        for text_id, exact, code, scale, part in zip(
            text_ids, vectors.astype(np.float16), codes, scales.tolist(), parts or [0] * len(text_ids), strict=True
        )
    ]


def dot(query: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Multiply int8 codes (n, d) by those of a query (d,). float32 (n,).

    Exact for up to 1,040 dimensions: every sum is a whole number below 2 ** 24, in whatever order it is made.
    """
    wide = query.astype(np.float32)
    products = np.empty(len(codes), dtype=np.float32)
    for start in range(0, len(codes), WIDENED_AT_ONCE):
        part = slice(start, start + WIDENED_AT_ONCE)
        products[part] = codes[part].astype(np.float32) @ wide
    return products


class VectorIndex:
    """A copy of one embedder's chunks. Thread-safe; a search sees one state, without texts purged meanwhile."""

    def __init__(self, store: Store, embedder: int, dimensions: int) -> None:
        self.store = store
        self.embedder = embedder
        self._dimensions = dimensions
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._data_version = -1
        self._versions: dict[int, int] = {}
        self._blocks: dict[int, int] = {}  # chunk number -> block in the arrays
        self._state = _Arrays(self._dimensions)

    def refresh(self, deadline: float | None = None) -> bool:
        """Read what changed since the last time, the newest first; cheap when nothing did. False: the deadline, on the
        monotonic clock, came before all was read."""
        # The store before the lock, as in a recall: in the other order two threads would wait for each other.
        with self.store.snapshot(), self._lock:
            version = self.store.data_version()
            while version != self._data_version:
                changed, present = self.store.vectors.chunks(self.embedder, self._versions, most=READ_AT_ONCE)
                if self._blocks.keys() - present:
                    self._forget()
                    continue
                for num in present:
                    self._blocks.setdefault(num, len(self._blocks))
                if changed:
                    state = self._state.grown(len(self._blocks))
                    for chunk in changed:
                        state.put(self._blocks[chunk.num], chunk)
                    self._state = state
                    # Only now: if a chunk is unreadable, all of them must be read again.
                    for chunk in changed:
                        self._versions[chunk.num] = chunk.version
                if len(changed) < READ_AT_ONCE:
                    self._data_version = version
                elif deadline is not None and time.monotonic() > deadline:
                    return False
            return True

    def search(
        self, query: np.ndarray, *, scopes: Sequence[int] | None, deadline: float | None = None,
        chance: float | None = None,
    ) -> SearchScan:  # fmt: skip
        """Scan everything for a unit query vector (d,). `scopes`: find only in these.

        `deadline`, on the monotonic clock: what was not scanned by then, the oldest, is not found. `chance`: a long
        text is as near as the nearest of its parts, less this cosine for each e-fold of parts; None: as its beginning.
        """
        state = self._state
        codes, scale = quantise(query[None, :])
        scores = np.full(state.used, np.nan, dtype=np.float32)
        end = state.used
        while end and (deadline is None or time.monotonic() < deadline):
            start = max(0, end - SCANNED_AT_ONCE)
            scores[start:end] = dot(codes[0], state.codes[start:end])
            end = start
        scores *= state.scales[: state.used] * scale[0]
        parts = _NO_PARTS if chance is None else state.parts.less(chance)
        parts.fold(scores)
        masks = []
        if state.filled != state.used:
            masks.append((state.text_ids[: state.used] == 0) | (state.part[: state.used] > 0))
        if scopes is not None and not state.present <= set(scopes):
            masks.append(~np.isin(state.scopes[: state.used], np.asarray(scopes, dtype=np.int32)))
        if end:
            masks.append(np.arange(state.used) < end)
        hidden = np.logical_or.reduce(masks) if masks else None  # slots that must not be found
        return SearchScan(self, query, state, scores, parts, hidden, complete=not end)


class _Arrays:
    """Codes, scales, texts and scopes, a block of 1,024 slots for each chunk. Text 0 = empty slot.

    A slot is written once and emptied at most. So a running search may share all arrays with later states: it does not
    look beyond the slots that its own state uses.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.codes = np.zeros((0, dimensions), dtype=np.int8)
        self.scales = np.zeros(0, dtype=np.float32)
        self.text_ids = np.zeros(0, dtype=np.int32)
        self.part = np.zeros(0, dtype=np.uint16)  # of the text; 0 = its beginning
        self.scopes = np.zeros(0, dtype=np.int32)
        self.place = np.zeros(1, dtype=np.int32)  # the slot of each text; any value for a text that is not there
        self.used = 0
        self.filled = 0  # slots in use that are the beginning of a text
        self._parts: _Parts | None = None
        self.present: frozenset[int] = frozenset()  # scopes

    def grown(self, blocks: int) -> _Arrays:
        """Return a copy with room for this many blocks, so that running searches keep theirs."""
        grown = copy(self)
        grown._parts = None
        for name in ("codes", "scales", "text_ids", "part", "scopes"):
            setattr(grown, name, _longer(getattr(self, name), blocks * SLOTS))
        return grown

    def put(self, block: int, chunk: VectorChunk) -> None:
        start, used = block * SLOTS, chunk.used
        end, stop = start + used, start + SLOTS
        self.codes[start:end] = np.frombuffer(chunk.codes, dtype=np.int8).reshape(used, self.dimensions)
        self.scales[start:end] = np.frombuffer(chunk.scales, dtype="<f4")
        self.scopes[start:end] = np.frombuffer(chunk.scopes, dtype="<i4")
        text_ids = np.zeros(SLOTS, dtype=np.int32)
        packed = np.frombuffer(chunk.text_ids, dtype="<i8")
        text_ids[:used] = packed & 0xFFFFFFFF
        self.filled -= int(np.count_nonzero((self.text_ids[start:stop] > 0) & (self.part[start:stop] == 0)))
        self.text_ids[start:stop] = text_ids
        self.part[start:end] = packed >> 32
        self.used = max(self.used, end)
        there = np.flatnonzero((text_ids > 0) & (self.part[start:stop] == 0))
        self.filled += len(there)
        if len(there):
            self.place = _longer(self.place, int(text_ids.max()) + 1)
            self.place[text_ids[there]] = start + there
            self.present |= set(self.scopes[start + there].tolist())

    @property
    def parts(self) -> _Parts:
        if self._parts is None:
            slots = np.flatnonzero(self.part[: self.used])
            owners = self.slots_of(self.text_ids[slots])
            self._parts = _Parts(slots[owners >= 0], owners[owners >= 0])
        return self._parts

    def slots_of(self, text_ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the slot of each text, -1 where there is none."""
        wanted = np.asarray(text_ids, dtype=np.int64)
        if not self.used:
            return np.full(len(wanted), -1)
        at = self.place.take(wanted, mode="clip")
        held = (at < self.used) & (self.text_ids.take(at) == wanted) & (self.part.take(at) == 0)
        slots: np.ndarray = np.where(held, at, -1)
        return slots


class _Parts:
    """The parts of long texts among some slots. A text is as near as its beginning or as its nearest part, less what
    that is nearer by chance: the more parts there are, the more."""

    def __init__(self, slots: np.ndarray, owners: np.ndarray) -> None:
        """Take the slots of parts, and for each that of its text's beginning."""
        order = np.lexsort((slots, owners))
        self.slots = slots[order]
        self.owners, self.starts, self.counts = np.unique(owners[order], return_index=True, return_counts=True)
        self.chance = np.log(self.counts, dtype=np.float32)  # that each text loses

    def less(self, chance: float) -> _Parts:
        """Return them with what is lost for each e-fold of parts."""
        parts = copy(self)
        parts.chance = np.float32(chance) * self.chance
        return parts

    def fold(self, scores: np.ndarray) -> None:
        """Raise each text's score, in place, to that of its nearest part."""
        if len(self.owners):
            nearest = np.fmax.reduceat(scores[self.slots], self.starts) - self.chance
            scores[self.owners] = np.fmax(scores[self.owners], nearest)

    def of(self, slot: int) -> np.ndarray:
        """Return the slots of the parts of the text that begins at a slot."""
        at = int(self.owners.searchsorted(slot))
        if at == len(self.owners) or self.owners[at] != slot:
            return self.slots[:0]
        return self.slots[self.starts[at] :][: self.counts[at]]


_NO_PARTS = _Parts(np.zeros(0, np.int64), np.zeros(0, np.int64))


def _longer(array: np.ndarray, length: int) -> np.ndarray:
    """Return the same array if it is long enough, else one with room for half as much again, zeros at its end."""
    have = len(array)
    if length <= have:
        return array
    grown = np.zeros((max(length, have + have // 2), *array.shape[1:]), dtype=array.dtype)
    grown[:have] = array
    return grown


class SearchScan:
    """The scores of one query: texts on demand, best first, and the score of any text."""

    def __init__(
        self, index: VectorIndex, query: np.ndarray, state: _Arrays, scores: np.ndarray, parts: _Parts,
        hidden: np.ndarray | None, *, complete: bool,
    ) -> None:  # fmt: skip
        """Begin with the best. `scores`: approximate cosines by slot, NaN if not scanned; of a text, those of its
        `parts` are in it."""
        self.complete = complete  # False: the deadline came first
        self.understood = 1.0  # share of the query that the embedder knows: a factor of its cosines
        self.calibration = FITTED  # of the embedder
        self._index, self._query = index, query
        self._read: dict[int, bytes | None] = {}  # exact vectors
        self._scores, self._parts, self._state = scores, parts, state
        self._take_from(np.arange(state.used) if hidden is None else np.flatnonzero(~hidden))

    def _take_from(self, slots: np.ndarray) -> None:
        self._slots, self._left = slots, self._scores[slots]
        self._ordered: list[int] = []
        self._taken = 0

    def restrict(self, text_ids: Sequence[int]) -> None:
        """Take from these alone from now on, from the best one again."""
        slots = np.unique(self._state.slots_of(text_ids))
        self._take_from(np.intersect1d(slots, self._slots, assume_unique=True))

    def take(self, n: int) -> list[int]:
        """Return the next `n` texts by approximate cosine, best first, ties by text; [] at the end."""
        end = min(self._taken + n, len(self._slots))
        if end > len(self._ordered):
            count = min(len(self._slots), max(end, 2 * len(self._ordered)))
            best = np.arange(len(self._left))
            if count < len(best):  # and all that equal the last of them: ties go by text
                best = np.flatnonzero(self._left >= np.partition(self._left, -count)[-count])
            text_ids = self._state.text_ids[self._slots[best]]
            ordered = text_ids[np.lexsort((text_ids, -self._left[best]))]
            self._ordered = ordered[ordered != 0][:count].tolist()  # 0: purged meanwhile
        part = self._ordered[self._taken : end]
        self._taken = end
        return part

    def score_of(self, text_ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return approximate cosines (n,), float64; NaN for a text without a vector."""
        slots = self._state.slots_of(text_ids)
        scores = np.full(len(slots), np.nan)
        there = slots >= 0
        scores[there] = self._scores[slots[there]]
        return scores

    def has_parts(self, text_ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return whether each text is compared by its parts too. bool (n,)."""
        return np.isin(self._state.slots_of(text_ids), self._parts.owners)

    def part_of(self, text_id: int) -> int:
        """Return the part of a long text that is nearest, from 1 on; 0 of a text that has none."""
        parts = self._parts.of(self._state.slots_of([text_id])[0])
        if not len(parts):
            return 0
        return int(self._state.part[parts[np.nan_to_num(self._scores[parts], nan=-np.inf).argmax()]])

    def exact(self, text_ids: Sequence[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of the texts that have a vector, and the vectors as stored, float32 (n, dimensions). Each
        is read from the store once."""
        wanted, read = np.asarray(text_ids).tolist(), self._read
        if missing := sorted(set(wanted) - read.keys()):
            read.update(dict.fromkeys(missing))
            read.update(self._index.store.vectors.exact(self._index.embedder, missing))
        places, vectors = [], []
        for place, text_id in enumerate(wanted):
            if (vector := read[text_id]) is not None:
                places.append(place)
                vectors.append(vector)
        halves = np.frombuffer(b"".join(vectors), dtype=np.float16)
        return np.array(places, dtype=np.int64), halves.astype(np.float32).reshape(-1, self._state.dimensions)

    def cosines(self, text_ids: Sequence[int], *, exact: int) -> list[float]:
        """Return each text's cosine with the query, exact for the best `exact`; NaN for a text without a vector."""
        scores = self.score_of(text_ids)
        count = len(scores)
        order = np.where(np.isnan(scores), -np.inf, scores)
        best = np.argpartition(order, count - exact)[count - exact :] if exact < count else np.arange(count)
        # Only the codes of a long text are read.
        best = best[~self.has_parts(np.asarray(text_ids)[best])]
        there, matrix = self.exact(np.asarray(text_ids)[best])
        if len(there):
            scores[best[there]] = matrix @ self._query
        cosines: list[float] = (self.calibration.of_question(scores) * self.understood).tolist()
        return cosines

    def among(self, text_ids: Sequence[int]) -> dict[tuple[int, int], float]:
        """Return cosines of some texts with each other, by pairs of places (earlier, later), if both have vectors."""
        there, matrix = self.exact(text_ids)
        cosines = self.calibration.of_texts(matrix @ matrix.T).tolist()
        places = sorted(zip(there.tolist(), cosines, range(len(there)), strict=True))
        return {(a, b): row[n] for at, (b, _, n) in enumerate(places) for a, row, _ in places[:at]}

    def near(self, text_ids: Sequence[int], weights: Sequence[float], others: Sequence[int]) -> list[float | None]:
        """Return each other's mean cosine with some texts, each counted by its weight; texts without a vector are left
        out. None for another without a vector, and for all if none of the texts has one."""
        count = len(text_ids)
        there, matrix = self.exact([*text_ids, *others])
        few = there < count
        known = np.asarray(weights)[there[few]]
        result: list[float | None] = [None] * len(others)
        if len(known):
            # The mean of cosines is that of their mean vector.
            mean = (known / known.sum()).astype(np.float32) @ matrix[few]
            cosines = self.calibration.of_texts(matrix[~few] @ mean).tolist()
            for place, cosine in zip((there[~few] - count).tolist(), cosines, strict=True):
                result[place] = cosine
        return result
