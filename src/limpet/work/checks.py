"""The job that looks at a memory once it has its vector: it is judged, and read together with the older ones near it.

Episodes replace nothing: the same words said on two days are two events. Of turns it is read which problem they solve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import registry
from ..model.clock import MICROSECONDS_PER_SECOND, Clock
from ..model.events import Event
from ..model.ids import IdSource
from ..model.memory import Filter
from ..relate.job import relate, solve
from ..remember.write import Writer
from ..store.records import EmbedderRow
from ..vectors.calibration import Calibration
from ..vectors.embed import LEASE_SECONDS, THEN
from ..vectors.index import VectorIndex

if TYPE_CHECKING:
    from ..features.policy import ContentPolicy
    from ..store import Store
    from ..vectors.reader import Reader

BATCH = 64
# Kinds that no later statement takes back.
NEVER = frozenset({"episode"})


class Checks:
    """The checks that are due in a store, with the vectors that answer."""

    def __init__(
        self, store: Store, calibration: Calibration, row: EmbedderRow, index: VectorIndex,
        policy: ContentPolicy | None, reader: Reader | None, clock: Clock,
    ) -> None:  # fmt: skip
        """Set up the checks. `calibration`: of the embedder of `row` and `index`. `policy`: if memories are judged.
        `reader`: if pairs are read."""
        self._store, self._row, self._index = store, row, index
        self._policy, self._reader, self._clock, self._ids = policy, reader, clock, IdSource()
        self._calibration = calibration

    def drain(self, limit: int | None) -> int:
        """Run at most `limit` checks. Return how many were run."""
        done = 0
        while limit is None or done < limit:
            at = self._clock.now()
            size = BATCH if limit is None else min(BATCH, limit - done)
            until = at + LEASE_SECONDS * MICROSECONDS_PER_SECOND
            jobs = self._store.jobs.lease(THEN, limit=size, at=at, until=until)
            if not jobs:
                break
            self._index.refresh()
            text_ids = [job.subject for job in jobs]
            vectors = self._vectors(text_ids)
            where = Filter(as_of=at)
            every = self._store.search.candidates(list(vectors), where)
            candidates = [candidate for candidate in every if candidate.kind not in NEVER]
            memories = self._store.memories.by_rows([candidate.num for candidate in candidates])
            registry.call("anchor", self._store, memories)
            # What the content policy refuses becomes an episode.
            fallen = self._policy.demote(self._store, memories, self._write) if self._policy else set()
            pairs = zip(candidates, memories, strict=True)
            stands = [(candidate, new) for candidate, new in pairs if new.id not in fallen]
            if self._reader is not None:
                news = [new for _, new in stands]
                news = registry.call("confirm_typed", self._store, self._reader, news, self._write) or news
                stands = [(candidate, new) for (candidate, _), new in zip(stands, news, strict=True)]
                relate(self._store, self._index, self._calibration, self._reader, stands, vectors, at)
                turns = [new for new in every if new.session is not None]
                solve(self._store, self._reader, turns, self._vectors, at)
            self._store.jobs.finish(THEN, text_ids)
            done += len(jobs)
        return done

    def _vectors(self, text_ids: Sequence[int]) -> dict[int, np.ndarray]:
        return {
            text_id: np.frombuffer(vector, dtype=np.float16).astype(np.float32)
            for text_id, vector in self._store.vectors.exact(self._row.num, text_ids)
        }

    def _write(self, decide: Callable[[Writer], object]) -> None:
        def inside(reads: Store) -> Sequence[Event]:
            now = self._clock.now()
            writer = Writer(reads, lambda: self._ids.make(now), now, background=True)
            decide(writer)
            return writer.events

        self._store.ledger.commit(inside)
