"""Semantic search, the vector signal: the embedder of this store, and its search index in this process.

A store has vectors of one embedder, whatever a process is set to. `rebuild --vectors` makes them anew with the current
one; until all are made, words answer. A recall embeds as many waiting texts as its deadline allows.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from ..model.clock import MICROSECONDS_PER_SECOND, Clock
from ..model.dataclass import replace
from ..model.errors import EmbedderUnavailable, LimpetError, StoreError
from ..rank import constants as C
from ..store.records import EmbedderRow
from ..text.describe import LATIN, latin_share, with_grams
from ..vectors.calibration import TEXTS, calibration_of
from ..vectors.embedder import Embedder, StoreEmbedder, guarded, is_loaded, load_embedder
from .plan import SECONDS_FOR_WORDS, Plan

if TYPE_CHECKING:
    from ..store import Store
    from ..vectors.index import SearchScan, VectorIndex
    from ..vectors.judge import Judge

# A text to test whether an embedder answers.
PROBE = "Does the embedder answer?"
# Seconds that loading the model and embedding one query take at most on a slow machine; a deadline that leaves less
# does without (measured: 0.16 alone; a query of 1,400 characters 0.1). Longer queries are cut.
LOAD_SECONDS = 0.5
QUERY_SECONDS, SECONDS_PER_CHARACTER, CHARACTERS_READ = 0.008, 1e-4, 1_400
# The share of the remaining time that an embedder of others may take: a fallback needs the rest.
OTHERS_SHARE = 0.5
# Seconds that the steps after the scan take.
RANKING_SECONDS = 0.004
# Seconds that the relevance judge takes for the first results at most on a slow machine, and with loading.
JUDGE_SECONDS, JUDGE_LOAD_SECONDS = 0.06, 0.15

# A recall without a deadline spends so long on waiting texts. While another process embeds, it spends only this long,
# on texts that its words find: otherwise both would wait for each other.
SECONDS, SECONDS_BESIDE = 1.5, 0.1
# Seconds that embedding a text takes at most before it has been measured, and texts in the first batch.
SECONDS_PER_TEXT, FIRST_BATCH = 0.03, 8
# A batch takes this share of the remaining time, judged by the slowest so far, and is at most so many times as large as
# the one before: texts differ in length, and a machine may become busy.
SHARE, GROWTH = 0.5, 4
# The share of the remaining time for the search itself, and the most seconds that it needs.
SEARCH_SHARE, SEARCH_SECONDS = 0.25, 0.25
# Seconds that noting a waiting text in the queue takes at most.
SECONDS_PER_JOB = 5e-6
MOST = 5_000


def query_seconds(query: str) -> float:
    """Return the most seconds that embedding a query takes."""
    return QUERY_SECONDS + SECONDS_PER_CHARACTER * min(len(query), CHARACTERS_READ)


def cannot_load(error: ImportError) -> EmbedderUnavailable:
    """Return the error for a package that is not installed, or is not of this platform."""
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
        self._idle_at: tuple[object, ...] = ()  # data version at which nothing of some scopes waited

    def load(self) -> StoreEmbedder:
        """Return the current embedder. Raises EmbedderUnavailable."""
        if self._embedder is None:
            self._embedder = load_embedder(self.name)
        return self._embedder

    def answering(self) -> StoreEmbedder:
        """Return the current embedder after a test that it answers. Raises EmbedderUnavailable."""
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
        """Return whether an embedding costs milliseconds, not the loading of a model."""
        return self._embedder is not None or is_loaded(self.name)

    def understands(self, query: str) -> bool:
        """Return whether the embedder knows the letters of a question. Raises EmbedderUnavailable."""
        return not self.load().latin_only or latin_share(query) >= LATIN

    def can_answer(self) -> bool:
        """Return whether the embedder whose vectors are searched is loaded."""
        row = self._store.vectors.embedder()
        return self.is_loaded() if row is None or row.name == self.name else is_loaded(row.name)

    def for_writing(self, until: float | None = None, *, anew: bool = False) -> tuple[StoreEmbedder, EmbedderRow]:
        """Return the embedder that makes vectors of new texts, and its row in the store with its calibration: the one
        whose vectors the store has. `anew`, and where there are none: the current one. Raises EmbedderUnavailable.

        `until`, on the monotonic clock: an embedder of others that has not answered by then raises EmbedderUnavailable.
        """
        vectors = self._store.vectors
        row = vectors.embedder()
        if row is not None and not anew and (row.has_vectors or not row.is_complete):
            embedder = self._of(row, until)
        else:
            embedder = self.load()
            if row is not None and row.has_vectors and row.fingerprint != embedder.fingerprint:
                self.answering()  # else the old vectors would go for nothing
            embedder = embedder if until is None else embedder.by(until)
            row = vectors.register(embedder.fingerprint, embedder.name, embedder.dimensions)
        if row.calibration is None:
            try:
                calibration = embedder.calibrated()
                vectors.calibrate(row.num, calibration)
                row = row._replace(calibration=calibration)
            except (StoreError, EmbedderUnavailable):
                raise
            except Exception:  # it cannot embed now: the texts that wait will tell why
                pass
        return embedder, row

    def _of(self, row: EmbedderRow, until: float | None) -> StoreEmbedder:
        """Return the embedder that made the store's vectors. Raises EmbedderUnavailable, also for another version."""
        embedder = self.load() if row.name == self.name else load_embedder(row.name)
        embedder = embedder if until is None else embedder.by(until)
        if embedder.fingerprint != row.fingerprint:
            raise EmbedderUnavailable(
                f"the stored vectors are of another version of {row.name}", hint="limpet rebuild --vectors"
            )
        return embedder

    def index(self, row: EmbedderRow) -> VectorIndex:
        """Return the search index of an embedder's vectors; the last one is kept."""
        with self._lock:
            if self._index is None or self._index.embedder != row.num:
                from ..vectors.index import VectorIndex

                self._index = VectorIndex(self._store, row.num, row.dimensions)
            return self._index

    def search(self, plan: Plan) -> SearchScan | None:
        """Scan for a plan's query; None where its scopes have nothing to embed, and no text of others has a vector.
        Raises EmbedderUnavailable when there is nothing to search with, or no time."""
        row = self._store.vectors.embedder()
        if row is not None and not row.is_complete:
            raise EmbedderUnavailable("the vectors are made anew", hint="`limpet work` makes those that wait")
        if row is None or not row.has_vectors:
            self._no_vector(plan)
            return None
        if plan.remaining() < LOAD_SECONDS and not self.can_answer():
            raise EmbedderUnavailable("the deadline leaves no time to load the embedding model")
        try:
            import numpy as np  # only now: to load it takes longer than some deadlines leave
        except ImportError as error:
            raise cannot_load(error) from None

        if plan.remaining() < query_seconds(plan.query):
            raise EmbedderUnavailable("the deadline leaves no time to embed the query")
        with self._lock:
            embedder = self._of(row, time.monotonic() + OTHERS_SHARE * plan.remaining())
            index = self.index(row)
        deadline = None if plan.deadline is None else plan.deadline - RANKING_SECONDS
        # At most half of the remaining time: the rest scans what has been read.
        whole = index.refresh(None if deadline is None else (time.monotonic() + deadline) / 2)
        vector = embedder.by(time.monotonic() + OTHERS_SHARE * plan.remaining()).embed_query(plan.query)
        if len(vector) != row.dimensions:
            raise EmbedderUnavailable(
                f"{embedder.name} gives {len(vector)} numbers, the stored vectors have {row.dimensions}",
                hint="a model that changed needs another setting, then `limpet rebuild --vectors`",
            )
        query = np.ascontiguousarray(vector, dtype=np.float32)
        search, where = self._store.search, plan.where
        once = search.once_in(where)
        scopes = None if once or where.scopes is None else search.scope_numbers(where.scopes)
        calibration = calibration_of(row)
        chance = C.PARTS_BY_CHANCE * calibration.stretch
        scan = index.search(query, scopes=scopes, deadline=deadline, chance=chance)
        if once:
            scan.restrict([row[0] for row in self._store.database.rows(f"{once} AND body IS NOT NULL")])
        scan.complete = scan.complete and whole
        scan.understood = latin_share(plan.query) if embedder.latin_only else 1.0
        scan.calibration = calibration
        return scan

    def _no_vector(self, plan: Plan) -> None:
        """Raise EmbedderUnavailable for a search without vectors, with a reason; not if only other scopes wait."""
        why = plan.unembedded_why or self._store.jobs.last_error("embed")
        others = self._store.jobs.backlog("embed", self._clock.now(), most=1)
        if why or not others or self.waiting(plan, most=1):
            text = "no memory has a vector yet" + (f": {why}" if why else "")
            raise EmbedderUnavailable(text, hint=None if why else "`limpet work` makes them")

    def judge(self, plan: Plan, *, asked_for: bool = False) -> Judge | None:
        """Return the relevance judge if it is wanted or `asked_for`, our embedder is loaded and knows the question's
        letters, and there is time."""
        if not (self._judge or asked_for) or not self.is_loaded() or not self.understands(plan.query):
            return None
        if not self.load().judges:
            return None
        from ..vectors.judge import shared

        judge = shared()
        return judge if plan.remaining() >= (JUDGE_SECONDS if judge.is_loaded() else JUDGE_LOAD_SECONDS) else None

    def catch_up(self, plan: Plan) -> Plan:
        """Embed waiting texts as time allows: the best by words of this query first, then the newest.

        Returns the plan with what still waits. Other processes may do the same at once: each leases what it works on. A
        store that is open read-only is left as it is.
        """
        first = SECONDS_PER_TEXT if self.can_answer() else LOAD_SECONDS
        if _until(plan, 1) - time.monotonic() < first:
            return replace(plan, unembedded=None)
        waiting = self.waiting(plan)
        if self.is_loaded() and self.load().calibration is None:
            row = self._store.vectors.embedder()
            first += TEXTS * SECONDS_PER_TEXT if row is None or row.calibration is None else 0  # to measure it
        if self._store.read_only or _until(plan, waiting) - time.monotonic() < first:
            return replace(plan, unembedded=waiting)
        why = ""
        try:
            self._embed_waiting(plan, waiting)
        except EmbedderUnavailable as error:
            why = error.message + (f" ({error.hint})" if error.hint else "")
        except StoreError:  # somebody else writes: the next recall may
            pass
        plan = replace(plan, unembedded=self.waiting(plan), unembedded_why=why)
        short = plan.remaining() < SECONDS_FOR_WORDS
        return replace(plan, deadline=time.monotonic() + SECONDS_FOR_WORDS) if short else plan

    def _embed_waiting(self, plan: Plan, waiting: int) -> None:
        """Embed while there is time."""
        store, clock = self._store, self._clock
        try:
            from ..vectors import embed  # NumPy with it, which takes longer to load than some deadlines leave
        except ImportError as error:
            raise cannot_load(error) from None

        beside = store.jobs.busy(embed.KIND, clock.now())
        seconds = SECONDS_BESIDE if beside else SECONDS
        embedder, row = self.for_writing(min(_until(plan, waiting), time.monotonic() + seconds))
        embedder.load()  # before the time is looked at again, and before any job is leased
        until = _until(plan, waiting) if plan.deadline is not None else time.monotonic() + seconds
        embedder = embedder.by(until)
        words = store.search.lexical(with_grams(plan.query), plan.where, limit=C.LEXICAL_CANDIDATES, deadline=until)
        asked, others = store.jobs.due(clock.now(), first=list(words.hits), most=MOST, scopes=plan.where.scopes)
        queue = asked if beside else asked + others
        slowest, most = 0.0, FIRST_BATCH  # not measured yet
        while queue:
            started = time.monotonic()
            size = min(most, int(SHARE * (until - started) / (slowest or SECONDS_PER_TEXT)))
            if beside and not slowest and plan.deadline is None:
                size = max(size, 1)  # one, however busy the machine is
            if size < 1:
                break
            part, queue = queue[:size], queue[size:]
            at = clock.now()
            lease = at + embed.LEASE_SECONDS * MICROSECONDS_PER_SECOND
            jobs = store.jobs.lease(embed.KIND, part, at=at, until=lease)
            if jobs:
                embed.run(store, embedder, row, jobs, clock)
                slowest = max(slowest, (time.monotonic() - started) / len(jobs))
                most = min(embed.BATCH, GROWTH * size)

    def waiting(self, plan: Plan, *, most: int | None = None) -> int:
        """Count the texts that a plan may see whose vectors could be made now, up to `most`; all of them take as long
        as a search."""
        state = self._store.data_version(), plan.where.scopes
        if state == self._idle_at:
            return 0
        count = self._store.jobs.backlog("embed", self._clock.now(), most=most, scopes=plan.where.scopes)
        if not count:
            self._idle_at = state
        return count


def _until(plan: Plan, waiting: int) -> float:
    """Return when embedding has to end, on the monotonic clock; infinite without a deadline."""
    left = plan.remaining()
    search = query_seconds(plan.query) + min(SEARCH_SECONDS, SEARCH_SHARE * left) + waiting * SECONDS_PER_JOB
    return time.monotonic() + left - search
