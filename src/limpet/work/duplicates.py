"""The job that finds the same thing said twice: merged when it surely is, proposed to a person when it may be.

Runs after a text has its vector. A pair is looked at from the side of its newer memory. Episodes are left alone: the
same words said on two days are two events.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..model.clock import MICROSECONDS_PER_SECOND, Clock
from ..model.events import Event
from ..model.ids import IdSource, parse_id
from ..model.memory import Memory
from ..remember.duplicates import Comparison, compare
from ..remember.review import merge
from ..remember.write import Writer
from ..store.records import Candidate, EmbedderRow, Filter, Proposal
from ..vectors.embedder import Embedder
from ..vectors.gauge import Gauge, gauge_of, stored
from ..vectors.index import VectorIndex
from .keys import propose_synonyms

if TYPE_CHECKING:
    from ..store.contract import Reads, Store

KIND = "duplicates"
BATCH = 64
LEASE_SECONDS = 120
# Nearest memories that a new one is compared with, and proposals it can make.
NEAREST, MOST_PROPOSALS = 12, 3
PROPOSED = {"merge": "duplicate", "flag": "duplicate", "correction": "correction", "contradiction": "contradiction"}
# Kinds whose repetition means something.
NEVER = frozenset({"episode"})


def drain(
    store: Store, embedder: Embedder, row: EmbedderRow, index: VectorIndex, clock: Clock, *, limit: int | None,
    until: float | None = None,
) -> int:  # fmt: skip
    """Do the checks that are due, at most `limit`. Returns how many were done."""
    worker = f"{socket.gethostname()}:{os.getpid()}"
    ids = IdSource()
    # Vectors of an embedder that is being replaced may still answer; keys are embedded here.
    gauge, of_keys = stored(row), gauge_of(embedder, row)
    done = 0
    while limit is None or done < limit:
        if until is not None and time.monotonic() >= until:
            break
        at = clock.now()
        size = BATCH if limit is None else min(BATCH, limit - done)
        jobs = store.lease(KIND, limit=size, at=at, until=at + LEASE_SECONDS * MICROSECONDS_PER_SECOND, worker=worker)
        if not jobs:
            break
        index.refresh()
        bodies = [job.subject for job in jobs]
        vectors = dict(store.exact_vectors(row.num, bodies))
        where = Filter(as_of=at)
        for one in store.candidates(list(vectors), where):
            if one.kind in NEVER:
                continue
            (new,) = store.memories([one.num])
            if new.key is not None:
                propose_synonyms(store, embedder, of_keys, new, clock, ids)
            else:
                check(store, index, gauge, one, new, vectors[one.body], where, clock, ids)
        store.finish(KIND, bodies)
        done += len(jobs)
    return done


def check(
    store: Store, index: VectorIndex, gauge: Gauge, one: Candidate, new: Memory, vector: bytes, where: Filter,
    clock: Clock, ids: IdSource,
) -> None:  # fmt: skip
    """Compare one memory with those near it that are older; merge it, or put proposals on the list."""
    query = np.frombuffer(vector, dtype=np.float16).astype(np.float32)
    scan = index.search(query, scopes=None)
    near = {body: i for i, body in enumerate(scan.take(NEAREST)) if body != one.body}
    others = [c for c in store.candidates(list(near), where) if c.kind == one.kind and c.id != one.id]
    if not others:
        return
    exact = index.rescore(query, [c.body for c in others])
    cosines = {body: gauge.of_texts(cosine) for body, cosine in exact.items()}
    older = store.memories([c.num for c in others])
    proposals: list[Proposal] = []
    for other, candidate in sorted(zip(older, others, strict=True), key=lambda pair: -cosines.get(pair[1].body, 0.0)):
        if not _comparable(other, new):
            continue
        found = compare(other.content, new.content, cosines.get(candidate.body, 0.0))
        # Words from outside neither confirm nor weaken what a person or the agent said: a person decides.
        if found.verdict == "merge" and other.trust == new.trust:
            _merge(store, other, new, clock, ids)
            return
        if found.verdict in PROPOSED and len(proposals) < MOST_PROPOSALS:
            proposals.append(_proposal(other, new, found, ids.make(clock.now()), clock.now()))
    if proposals:
        store.propose(proposals)


def _comparable(other: Memory, new: Memory) -> bool:
    return (
        other.scope == new.scope
        and other.key is None
        and (other.speaker or "") == (new.speaker or "")
        and (other.created_at, other.id) < (new.created_at, new.id)
    )


def _merge(store: Store, old: Memory, new: Memory, clock: Clock, ids: IdSource) -> None:
    """The older one speaks for both from now on; the newer keeps its words and can be brought back by `undo`."""

    def decide(reads: Reads) -> Sequence[Event]:
        now = clock.now()
        writer = Writer(reads, lambda: ids.make(now), now)
        merge(writer, old.id, new.id, origin="agent")
        return writer.events

    store.commit(decide)


def _proposal(old: Memory, new: Memory, found: Comparison, id: bytes, at: int) -> Proposal:
    told = "; ".join(str(one) for one in found.difference.found[:4]) or "nearly the same words"
    return Proposal(
        id=id,
        kind=PROPOSED[found.verdict],
        scope=new.scope,
        memory=parse_id(new.id),
        other=parse_id(old.id),
        reason=told,
        score=round(found.cosine, 4),
        created_at=at,
    )
