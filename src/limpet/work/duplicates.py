"""The job that finds the same thing said twice and what cannot both hold: merged when surely the same, proposed to a
person when one of two is right.

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
from ..remember.duplicates import COMPARED, compare, is_series, is_turn, subject
from ..remember.review import merge
from ..remember.write import Writer
from ..store.records import Candidate, EmbedderRow, Filter, Proposal
from ..text.ceased import ceased, says_ceased
from ..vectors.calibration import Calibration, calibration_of, stored
from ..vectors.embedder import Embedder
from ..vectors.index import VectorIndex
from .keys import propose_synonyms

if TYPE_CHECKING:
    from ..store import Store

KIND = "duplicates"
BATCH = 64
LEASE_SECONDS = 120
# Nearest memories that a new one is compared with, and proposals it can make.
NEAREST, MOST_PROPOSALS = 12, 3
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
    calibration, of_keys = stored(row), calibration_of(embedder, row)
    done = 0
    while limit is None or done < limit:
        if until is not None and time.monotonic() >= until:
            break
        at = clock.now()
        size = BATCH if limit is None else min(BATCH, limit - done)
        jobs = store.jobs.lease(
            KIND, limit=size, at=at, until=at + LEASE_SECONDS * MICROSECONDS_PER_SECOND, worker=worker
        )
        if not jobs:
            break
        index.refresh()
        text_ids = [job.subject for job in jobs]
        vectors = dict(store.vectors.exact(row.num, text_ids))
        where = Filter(as_of=at)
        for one in store.search.candidates(list(vectors), where):
            if one.kind in NEVER:
                continue
            (new,) = store.memories.by_rows([one.num])
            if new.key is not None:
                propose_synonyms(store, embedder, of_keys, new, clock, ids)
            else:
                check(store, index, calibration, one, new, vectors[one.text_id], where, clock, ids)
        store.jobs.finish(KIND, text_ids)
        done += len(jobs)
    return done


def check(
    store: Store, index: VectorIndex, calibration: Calibration, one: Candidate, new: Memory, vector: bytes,
    where: Filter, clock: Clock, ids: IdSource,
) -> None:  # fmt: skip
    """Compare one memory with those near it that are older; merge it, or put proposals on the list."""
    query = np.frombuffer(vector, dtype=np.float16).astype(np.float32)
    scan = index.search(query, scopes=None)
    near = {text_id: i for i, text_id in enumerate(scan.take(NEAREST)) if text_id != one.text_id}
    others = [c for c in store.search.candidates(list(near), where) if c.id != one.id]
    proposals = _against_facts(store, new, clock, ids)
    if not others:
        store.reviews.propose(proposals)
        return
    exact = index.rescore(query, [c.text_id for c in others])
    cosines = {text_id: calibration.of_texts(cosine) for text_id, cosine in exact.items()}
    memories = store.memories.by_rows([c.num for c in others])
    ordered = sorted(zip(memories, others, strict=True), key=lambda pair: -cosines.get(pair[1].text_id, 0.0))
    series: set[bytes] = set()
    for other, candidate in ordered:
        if not _comparable(other, new):
            continue
        cosine = cosines.get(candidate.text_id, 0.0)
        if other.key is not None or other.kind != new.kind:
            continue
        found = compare(other.content, new.content, cosine)
        # Words from outside neither confirm nor weaken what a person or the agent said: a person decides.
        if found.verdict == "merge" and other.trust == new.trust:
            _merge(store, other, new, clock, ids)
            return
        kind = "duplicate" if found.verdict == "merge" else found.verdict
        if kind not in COMPARED or (kind == "duplicate" and is_turn(new)):
            continue
        kin = (third.content for third in memories if third.scope == new.scope and subject(third) == subject(new))
        if is_series(found.clash, other.content, new.content, kin):
            series |= {parse_id(other.id), parse_id(new.id)}
            continue
        if len(proposals) < MOST_PROPOSALS:
            reason = "; ".join(str(one) for one in found.difference.found) or "nearly the same words"
            proposals.append(_proposal(kind, other, new, reason, cosine, ids.make(clock.now()), clock))
    if proposals:
        store.reviews.propose(proposals)
    if series:
        # Its first two looked like a value and its correction before the third was there.
        store.reviews.withdraw("correction", list(series))


def _against_facts(store: Store, new: Memory, clock: Clock, ids: IdSource) -> list[Proposal]:
    """Proposals against the keyed facts whose value a statement says holds no more. A value is too short to be near."""
    if not says_ceased(new.content):
        return []
    now = clock.now()
    return [
        _proposal("contradiction", one, new, f"says that {key} is no longer {one.content}", 0.0, ids.make(now), clock)
        for key in store.memories.keys(new.scope)
        for one in store.memories.keyed(new.scope, key)
        if _comparable(one, new)
        and one.valid_from_us <= now
        and (one.valid_to_us is None or now < one.valid_to_us)
        and ceased(new.content, one.content, key)
    ]


def _comparable(other: Memory, new: Memory) -> bool:
    return (
        other.scope == new.scope
        and subject(other) == subject(new)
        and (other.created_at, other.id) < (new.created_at, new.id)
    )


def _merge(store: Store, old: Memory, new: Memory, clock: Clock, ids: IdSource) -> None:
    """The older one speaks for both from now on; the newer keeps its words and can be brought back by `undo`."""

    def decide(reads: Store) -> Sequence[Event]:
        now = clock.now()
        writer = Writer(reads, lambda: ids.make(now), now)
        merge(writer, old.id, new.id, origin="agent")
        return writer.events

    store.ledger.commit(decide)


def _proposal(kind: str, old: Memory, new: Memory, reason: str, cosine: float, id: bytes, clock: Clock) -> Proposal:
    return Proposal(
        id=id,
        kind=kind,
        scope=new.scope,
        memory=parse_id(new.id),
        other=parse_id(old.id),
        reason=reason,
        score=round(cosine, 4),
        created_at=clock.now(),
    )
