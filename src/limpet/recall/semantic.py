"""Semantic search, the vector signal: which embedder speaks for this store, and its search index in this process.

The one whose vectors answer gets those of new texts too. Another fills its own in when it is told to, and takes over
when it is complete.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ..model.clock import Clock
from ..model.errors import EmbedderUnavailable, LimpetError, StoreError
from ..store.records import EmbedderRow
from ..text.language import latin_share
from ..vectors.calibration import TEXTS, calibration_of
from ..vectors.embedder import Embedder, StoreEmbedder, guarded, is_loaded, load_embedder
from .plan import Plan

if TYPE_CHECKING:
    from ..store import Store
    from ..vectors.index import SearchScan, VectorIndex
    from ..vectors.judge import Judge

# What an embedder is asked to see whether it answers.
PROBE = "Does the embedder answer?"
# What loading the model and embedding one query take at most on a slow machine, in seconds: a deadline that leaves
# less does without them (measured: 0.16 alone; a query of 1,400 characters 0.1). More of a query is not read.
LOAD_SECONDS = 0.5
QUERY_SECONDS, SECONDS_PER_CHARACTER, CHARACTERS_READ = 0.008, 1e-4, 1_400
# The share of the time that is left that one of others may take: what stands in for it needs the rest.
OTHERS_SHARE = 0.5
# What is left to do after the scan, in seconds.
RANKING_SECONDS = 0.004
# What the relevance judge takes for the first results at most on a slow machine, and with loading it, in seconds; the
# share of a question in Latin letters from which it understands it.
JUDGE_SECONDS, JUDGE_LOAD_SECONDS, LATIN = 0.06, 0.15, 0.5


def query_seconds(query: str) -> float:
    """What embedding a query takes at most."""
    return QUERY_SECONDS + SECONDS_PER_CHARACTER * min(len(query), CHARACTERS_READ)


def cannot_load(error: ImportError) -> EmbedderUnavailable:
    """What vectors need is not installed, or is not of this platform."""
    absent = isinstance(error, ModuleNotFoundError)
    why = "is not installed" if absent else f"does not load: {' '.join(str(error).split())[:200]}"
    return EmbedderUnavailable(
        f"the package {(absent and error.name) or 'numpy'} {why}", hint="pip install --force-reinstall limpet"
    )


class SemanticSearch:
    """Embedder and index of one store in one process. Thread-safe."""

    def __init__(
        self, store: Store, clock: Clock, *, name: str, embedder: Embedder | None, judge: bool = False
    ) -> None:
        self._store = store
        self._clock = clock
        self._embedder = None if embedder is None else guarded(embedder)  # once it was asked for
        self.name = self._embedder.name if self._embedder else name  # of the current embedder, loaded or not
        self._judge = judge
        self._lock = threading.RLock()
        self._index: VectorIndex | None = None
        self._row: EmbedderRow | None = None
        self._idle_at = -1  # data version at which nothing waited

    def load(self) -> StoreEmbedder:
        """The current embedder. Raises EmbedderUnavailable."""
        if self._embedder is None:
            self._embedder = load_embedder(self.name)
        return self._embedder

    def answering(self) -> StoreEmbedder:
        """The current embedder, which has just answered for what it is asked. Raises EmbedderUnavailable."""
        embedder = self.load()
        embedder.embed_query(PROBE)
        try:
            shape = embedder.embed_passages([PROBE]).shape
        except LimpetError:
            raise
        except Exception as error:
            raise EmbedderUnavailable(f"{embedder.name}: {type(error).__name__}: {error}") from error
        if shape != (1, embedder.dimensions):
            raise EmbedderUnavailable(f"{embedder.name}: embed_passages gave an array of shape {shape} for a text")
        return embedder

    def is_loaded(self) -> bool:
        """Whether an embedding costs milliseconds, not the loading of a model."""
        return self._embedder is not None or is_loaded(self.name)

    def can_answer(self) -> bool:
        """Whether the embedder whose vectors answer is loaded: while it is replaced, not the current one."""
        active = self._active()
        return self.is_loaded() if active is None or active.name == self.name else is_loaded(active.name)

    def for_writing(self, until: float = math.inf) -> tuple[StoreEmbedder, EmbedderRow]:
        """The embedder that new texts get vectors of, and its row in the store: the one whose vectors answer, so that
        they are found by meaning at once, whatever the setting says. The current one where that does not load.

        `until`, on the monotonic clock: one of others that has not answered by then raises EmbedderUnavailable.
        """
        active = self._answering()
        if active is not None and active.name != self.name:
            with suppress(EmbedderUnavailable):
                loaded = load_embedder(active.name).by(until)
                if loaded.fingerprint == active.fingerprint:
                    return self._registered(loaded)
        return self._registered(self.load().by(until))

    def current(self) -> tuple[StoreEmbedder, EmbedderRow]:
        """The current embedder and its row in the store."""
        return self._registered(self.load())

    def successor(self) -> tuple[StoreEmbedder, EmbedderRow] | None:
        """Return the current embedder and its row if it has a row and another one answers."""
        embedder, active = self.load(), self._active()
        fingerprint = embedder.fingerprint
        if active is None or active.fingerprint == fingerprint:
            return None
        known = any(row.fingerprint == fingerprint for row in self._store.vectors.embedders())
        return self._registered(embedder) if known else None

    def to_measure(self) -> int:
        """Texts that are embedded to measure the embedder before vectors are made. None of one that is not loaded."""
        if not self.is_loaded() or (embedder := self.load()).calibration is not None:
            return 0
        rows = (one for one in self._store.vectors.embedders() if one.fingerprint == embedder.fingerprint)
        return 0 if any(one.calibration is not None for one in rows) else TEXTS

    def answers(self, row: EmbedderRow) -> bool:
        """Whether a text that has a vector of this embedder is found by it now."""
        active = self._answering()
        return active is None or active.num == row.num

    def _answering(self) -> EmbedderRow | None:
        """The active embedder's row, if it has any vector."""
        active = self._active()
        return active if active is not None and self._store.vectors.chunks(active.num, {}, most=0)[1] else None

    def _active(self) -> EmbedderRow | None:
        rows = self._store.vectors.embedders()
        return rows[0] if rows else None  # all others are being filled

    def _registered(self, embedder: StoreEmbedder) -> tuple[StoreEmbedder, EmbedderRow]:
        """The embedder and its row, which says how its cosines lie; made, and measured, when it is new."""
        fingerprint = embedder.fingerprint
        for row in self._store.vectors.embedders():
            if row.fingerprint == fingerprint:
                break
        else:
            row = self._store.vectors.register(fingerprint, embedder.name, embedder.dimensions)
        if row.calibration is None:
            try:
                row = self._store.vectors.calibrate(row.num, embedder.calibrated())
            except (StoreError, EmbedderUnavailable):
                raise
            except Exception:  # it cannot embed now: the texts that wait will tell why
                pass
        return embedder, row

    def activate_when_complete(self) -> None:
        """Let a complete new embedder take over from the old one."""
        for row in self._store.vectors.embedders()[1:]:
            if row.fingerprint == self.load().fingerprint:
                if not self._store.vectors.missing(row.num, limit=1):
                    self._store.vectors.activate(row.num)
                return

    def index(self) -> tuple[EmbedderRow, VectorIndex] | None:
        """The active embedder's row and its search index; None before the first vector."""
        active = self._active()
        if active is None:
            return None
        with self._lock:
            return active, self._index_of(active)

    def search(self, plan: Plan) -> SearchScan:
        """Scan for a plan's query. Raises EmbedderUnavailable when there is nothing to search with, or no time."""
        rows = self._store.vectors.embedders()
        if not rows:
            raise self._no_vector(plan)
        if not self.can_answer() and plan.remaining() < LOAD_SECONDS:
            raise EmbedderUnavailable("the deadline leaves no time to load the embedding model")
        try:
            import numpy as np  # only now: to load it takes longer than some deadlines leave
        except ImportError as error:
            raise cannot_load(error) from None

        with self._lock:
            embedder, row = self._for_reading(plan, rows)
            index = self._index_of(row)
        deadline = None if plan.deadline is None else plan.deadline - RANKING_SECONDS
        # Half of the time that is left at most: the rest scans what has been read.
        whole = index.refresh(None if deadline is None else (time.monotonic() + deadline) / 2)
        if not index.size:
            raise self._no_vector(plan)
        vector = _beside(plan, embedder).embed_query(plan.query)
        if len(vector) != row.dimensions:
            raise EmbedderUnavailable(
                f"{embedder.name} gives {len(vector)} numbers, the stored vectors have {row.dimensions}",
                hint="a model that changed needs another setting, then `limpet rebuild --vectors`",
            )
        query = np.ascontiguousarray(vector, dtype=np.float32)
        search, where = self._store.search, plan.where
        anywhere = where.scopes is None or (where.known_at is not None and search.was_left(where.scopes))
        scopes = None if anywhere else search.scope_numbers(where.scopes or ())
        scan = index.search(query, scopes=scopes, deadline=deadline)
        scan.complete = scan.complete and whole
        scan.understood = latin_share(plan.query) if embedder.latin_only else 1.0
        scan.calibration = calibration_of(row)
        return scan

    def _no_vector(self, plan: Plan) -> EmbedderUnavailable:
        """Why there is nothing to search, as far as that was told."""
        why = plan.unembedded_why or self._store.jobs.last_error("embed")
        said = "no memory has a vector yet"
        return EmbedderUnavailable(f"{said}: {why}" if why else said, hint=None if why else "`limpet work` makes them")

    def _for_reading(self, plan: Plan, rows: Sequence[EmbedderRow]) -> tuple[StoreEmbedder, EmbedderRow]:
        """The embedder whose vectors answer now. A different one than the current only while that is being filled."""
        if plan.remaining() < query_seconds(plan.query):
            raise EmbedderUnavailable("the deadline leaves no time to embed the query")
        active = rows[0]
        embedder = self.load() if active.name == self.name else load_embedder(active.name)
        fingerprint = _beside(plan, embedder).fingerprint
        if fingerprint != active.fingerprint:
            current = next((row for row in rows if row.fingerprint == fingerprint), None)
            # Half of the texts would hide the other half.
            if current is None or self._store.vectors.missing(current.num, limit=1):
                new = "" if current is None else ", and not every text has a new one"
                raise EmbedderUnavailable(
                    f"the stored vectors are of another version of {active.name}{new}", hint="limpet rebuild --vectors"
                )
            return embedder, current
        return embedder, active

    def _index_of(self, row: EmbedderRow) -> VectorIndex:
        if self._index is None or self._row is None or self._row.num != row.num:
            from ..vectors.index import VectorIndex

            self._index = VectorIndex(self._store, row.num, row.dimensions)
            self._row = row
        return self._index

    def judge(self, plan: Plan, *, asked_for: bool = False) -> Judge | None:
        """The relevance judge: if it is wanted or `asked_for`, our embedder loaded, the question in Latin letters, and
        there is time."""
        if not (self._judge or asked_for) or not self.is_loaded() or latin_share(plan.query) < LATIN:
            return None
        if not self.load().judges:
            return None
        from ..vectors.judge import shared

        judge = shared()
        return judge if plan.remaining() >= (JUDGE_SECONDS if judge.is_loaded() else JUDGE_LOAD_SECONDS) else None

    def waiting(self, *, most: int | None = None) -> int:
        """Texts whose vectors could be made now, counted up to `most`; all take as long as a search by words."""
        version = self._store.data_version()
        if version == self._idle_at:
            return 0
        found = self._store.jobs.backlog("embed", self._clock.now(), most=most)
        if not found:
            self._idle_at = version
        return found


def _beside(plan: Plan, embedder: StoreEmbedder) -> StoreEmbedder:
    """The embedder as it is asked for a plan: one that might be slow leaves time for what stands in for it."""
    left = plan.remaining()
    return embedder.by(math.inf if left == math.inf else time.monotonic() + OTHERS_SHARE * left)
