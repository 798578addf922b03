"""The embedding job: texts without vectors get theirs, in batches, each in one transaction with its queue rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..model.clock import MICROSECONDS_PER_SECOND, Clock
from ..model.dataclass import dataclass
from ..model.errors import EmbedderUnavailable, StoreError
from ..store.records import ALL, INTERRUPTED, PARTS, EmbedderRow, Job
from ..text.describe import searchable
from ..text.excerpt import LONG, sections
from .embedder import StoreEmbedder
from .index import encode_for_store

if TYPE_CHECKING:
    from ..store import Store

KIND = "embed"
# The job that follows when a text has its vector; and one more of a long text, whose parts get vectors of their own.
THEN = "duplicates"
BATCH = 64
# Texts whose parts are read at once.
LONG_BATCH = 8
# A killed worker's jobs come back after this long; longer than a batch of long texts takes on a slow machine.
LEASE_SECONDS = 120
# Waits after a failure: 10 s, 20 s, 40 s ... and after this many attempts the job lies dead until someone looks.
FIRST_WAIT_SECONDS = 10
MAX_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkReport:
    """The report of a worker. Counts of embedding jobs, and of memories compared with those near them."""

    done: int = 0
    checked: int = 0
    failed: int = 0
    remaining: int = 0  # that wait, those included whose next attempt is later
    dead: int = 0
    error: str | None = None  # why the last of those that failed did, while they wait or lie dead


def drain(
    store: Store, embedder: StoreEmbedder, row: EmbedderRow, clock: Clock, *, kind: str = KIND,
    limit: int | None = None, progress: Callable[[int, int], None] | None = None,
) -> WorkReport:  # fmt: skip
    """Do the embedding jobs that are due, at most `limit`."""
    done = failed = 0
    total = store.jobs.backlog(kind, clock.now())
    if total:
        embedder.load()  # before any job is leased: a worker that dies while it loads then holds none
    while limit is None or done + failed < limit:
        at = clock.now()
        lease = at + LEASE_SECONDS * MICROSECONDS_PER_SECOND
        batch = LONG_BATCH if kind == PARTS else BATCH
        size = batch if limit is None else min(batch, limit - done - failed)
        jobs = store.jobs.lease(kind, limit=size, at=at, until=lease)
        if not jobs:
            break
        ok = run(store, embedder, row, jobs, clock)
        done += ok
        failed += len(jobs) - ok
        if progress:
            progress(done + failed, max(total, done + failed))
    return WorkReport(
        done=done,
        failed=failed,
        remaining=store.jobs.backlog(kind, ALL),
        dead=len(store.jobs.dead()),
        error=store.jobs.last_error(kind),
    )


class WrongShape(ValueError):
    """An embedder's result that is not one vector for each text."""


def run(store: Store, embedder: StoreEmbedder, row: EmbedderRow, jobs: list[Job], clock: Clock) -> int:
    """Embed one batch of leased jobs; returns how many were done.

    When it fails as a whole, its jobs are tried one by one, so that one bad text stops no other.
    """
    try:
        return _embed(store, embedder, row, jobs, clock)
    except (StoreError, EmbedderUnavailable, KeyboardInterrupt, SystemExit):
        subjects = [job.subject for job in jobs]
        store.jobs.fail(jobs[0].kind, subjects, error=INTERRUPTED, not_before=clock.now(), dead=False)
        raise
    except Exception as error:
        if len(jobs) > 1 and not isinstance(error, WrongShape):
            return sum(run(store, embedder, row, [job], clock) for job in jobs)
        wait = FIRST_WAIT_SECONDS * 2 ** (jobs[0].attempts - 1)
        store.jobs.fail(
            jobs[0].kind,
            [job.subject for job in jobs],
            error=f"{type(error).__name__}: {error}",
            not_before=clock.now() + wait * MICROSECONDS_PER_SECOND,
            dead=jobs[0].attempts >= MAX_ATTEMPTS,
        )
        return 0


def _embed(store: Store, embedder: StoreEmbedder, row: EmbedderRow, jobs: list[Job], clock: Clock) -> int:
    kind, subjects = jobs[0].kind, [job.subject for job in jobs]
    every, have = store.search.texts(subjects), dict(store.vectors.exact(row.num, subjects))
    if kind == PARTS:
        texts = [
            (num, number, searchable(part, key, [topics or ""]))
            for num, text, key, topics in every
            for number, part in enumerate(sections(text), 1)
        ]
    else:
        texts = [(num, 0, searchable(text, key, [topics or ""])) for num, text, key, topics in every if num not in have]
    if texts:
        nums, parts, read = zip(*texts, strict=True)
        vectors = embedder.embed_passages(read)
        if vectors.shape != (len(texts), row.dimensions):
            # No text's fault: one by one, a single vector for all would pass for that of each.
            raise WrongShape(
                f"{embedder.name}: embed_passages gave an array of shape {vectors.shape} for {len(texts)} texts, where"
                f" {(len(texts), row.dimensions)} belongs"
            )
        made = encode_for_store(nums, vectors, parts)
        then = {} if kind == PARTS else {PARTS: [num for num, text, *_ in every if len(text) > LONG]}
        if kind == KIND:
            then[THEN] = subjects
        store.vectors.add(row.num, made, done=subjects, kind=kind, then=then, at=clock.now())
    else:
        store.jobs.finish(kind, subjects)
    return len(jobs)
