"""The embedding job: texts without vectors get theirs, in batches, each in one transaction with its queue rows."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..model.clock import MICROSECONDS_PER_SECOND, Clock
from ..model.errors import EmbedderUnavailable, StoreError
from ..store.records import EmbedderRow, Job
from ..text.describe import searchable
from ..vectors.codes import encode_for_store
from ..vectors.embedder import Embedder

if TYPE_CHECKING:
    from ..store.contract import Store

KIND = "embed"
# What is looked at once a text has its vector.
THEN = "duplicates"
BATCH = 64
# A killed worker's jobs come back after this long; longer than a batch of long texts takes on a slow machine.
LEASE_SECONDS = 120
# Waits after a failure: 10 s, 20 s, 40 s ... and after this many attempts the job lies dead until someone looks.
FIRST_WAIT_SECONDS = 10
MAX_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkReport:
    """What a worker did. Counts of embedding jobs, and of memories compared with those near them."""

    done: int = 0
    checked: int = 0
    failed: int = 0
    remaining: int = 0
    dead: int = 0


def drain(
    store: Store,
    embedder: Embedder,
    row: EmbedderRow,
    clock: Clock,
    *,
    limit: int | None = None,
    until: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> WorkReport:
    """Do the embedding jobs that are due. Stops at `limit` jobs, or when monotonic seconds reach `until`."""
    worker = name()
    done = failed = 0
    total = store.jobs.backlog(KIND, clock.now())
    # Load the model before any job is leased: a worker that dies while it loads then holds none.
    load = getattr(embedder, "load", None)
    if total and load is not None:
        load()
    while limit is None or done + failed < limit:
        if until is not None and time.monotonic() >= until:
            break
        at = clock.now()
        size = BATCH if limit is None else min(BATCH, limit - done - failed)
        jobs = store.jobs.lease(
            KIND, limit=size, at=at, until=at + LEASE_SECONDS * MICROSECONDS_PER_SECOND, worker=worker
        )
        if not jobs:
            break
        ok = run(store, embedder, row, jobs, clock)
        done += ok
        failed += len(jobs) - ok
        if progress:
            progress(done + failed, max(total, done + failed))
    return WorkReport(
        done=done, failed=failed, remaining=store.jobs.backlog(KIND, clock.now()), dead=len(store.jobs.dead())
    )


def name() -> str:
    """Who leases jobs here."""
    return f"{socket.gethostname()}:{os.getpid()}"


def run(store: Store, embedder: Embedder, row: EmbedderRow, jobs: list[Job], clock: Clock) -> int:
    """Embed one batch of leased jobs; returns how many were done.

    When it fails as a whole, its jobs are tried one by one, so that one bad text stops no other.
    """
    try:
        return _embed(store, embedder, row, jobs, clock)
    except (StoreError, EmbedderUnavailable):
        store.jobs.fail(KIND, [job.subject for job in jobs], error="interrupted", not_before=clock.now(), dead=False)
        raise
    except Exception as error:
        if len(jobs) > 1:
            return sum(run(store, embedder, row, [job], clock) for job in jobs)
        wait = FIRST_WAIT_SECONDS * 2 ** (jobs[0].attempts - 1)
        store.jobs.fail(
            KIND,
            [jobs[0].subject],
            error=f"{type(error).__name__}: {error}",
            not_before=clock.now() + wait * MICROSECONDS_PER_SECOND,
            dead=jobs[0].attempts >= MAX_ATTEMPTS,
        )
        return 0


def _embed(store: Store, embedder: Embedder, row: EmbedderRow, jobs: list[Job], clock: Clock) -> int:
    texts = store.search.texts([job.subject for job in jobs])
    if texts:
        vectors = embedder.embed_passages([searchable(text, key) for _, text, key in texts])
        made = encode_for_store([num for num, _, _ in texts], vectors)
        store.vectors.add(row.num, made, done=[job.subject for job in jobs], then=THEN, at=clock.now())
    else:
        store.jobs.finish(KIND, [job.subject for job in jobs])
    return len(jobs)
