"""The job that reads each new memory together with the older ones near it, and keeps how they stand to one another."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..model.ids import IdSource, parse_id
from ..model.memory import Filter, Memory
from ..store.records import Candidate, Proposal, Relation
from ..text.describe import searchable
from ..vectors.calibration import Calibration, calibration_of
from ..vectors.judge import shared
from ..vectors.reader import Reader
from .pairs import in_order, may_relate, statement
from .verdicts import ASKED_FROM, CHANGES, PROPOSED, SURE, WEIGHS, WEIGHTY, Verdict, verdicts, weight

if TYPE_CHECKING:
    from ..recall.semantic import SemanticSearch
    from ..store import Store
    from ..vectors.index import VectorIndex

# A pair (older, newer) with the cosine of both; and with the reader's verdict.
Pair = tuple[Memory, Memory, float]
Read = tuple[Memory, Memory, Verdict]
# The nearest texts that are looked at, those of them that are read at most, and the cosine that each needs.
NEAREST, MOST_READ, NEAR = 40, 6, 0.2
# Seconds that reading one pair takes on a slow machine.
PAIR_SECONDS = 0.06


def relate(
    store: Store, index: VectorIndex, calibration: Calibration, reader: Reader,
    new: Sequence[tuple[Candidate, Memory]], vectors: dict[int, np.ndarray], now: int,
) -> None:  # fmt: skip
    """Read each new memory with what was stored before it and is near. Raises EmbedderUnavailable.

    `vectors`: of the new memories, by text. Keeps the verdicts, and proposes the changes to a person.
    """
    pairs: list[Pair] = []
    for candidate, memory in new:
        pairs += _near(store, index, calibration, candidate.text_id, memory, vectors[candidate.text_id], now)
    _keep(store, reader, _read(reader, pairs), now)
    _weigh(store, [memory for _, memory in new])


def _weigh(store: Store, memories: Sequence[Memory]) -> None:
    """Keep what each memory weighs: how surely it answers a question that is asked of each."""
    odds = shared().scores(WEIGHTY, [searchable(memory.content, memory.key) for memory in memories])
    ids = [parse_id(memory.id) for memory in memories]
    store.relations.add(
        [Relation(id, id, WEIGHS, SURE, weight(value), "judge") for id, value in zip(ids, odds, strict=True)]
    )


def changed_by(
    store: Store, semantic: SemanticSearch, reader: Reader, memory: Memory, until: float, now: int
) -> list[Memory]:
    """Return older memories that a new one may replace, the nearest first, as far as can be read until a time on the
    monotonic clock. Raises EmbedderUnavailable."""
    embedder, row = semantic.for_writing(until)
    if not semantic.answers(row):
        return []
    index = semantic.index(row)
    index.refresh(until)
    (text_id,) = store.search.texts_of([parse_id(memory.id)])
    vector = embedder.embed_passages([searchable(memory.content, memory.key, memory.topics)])[0]
    read: list[Read] = []
    for pair in _near(store, index, calibration_of(row), text_id, memory, vector, now):
        if time.monotonic() + PAIR_SECONDS > until:
            break
        read += _read(reader, [pair])
    kept = {link.older for link in _keep(store, reader, read, now) if link.relation in PROPOSED}
    return [older for older, newer, _ in read if newer.id == memory.id and parse_id(older.id) in kept]


def _read(reader: Reader, pairs: Sequence[Pair]) -> list[Read]:
    """Read pairs (older, newer) in a language that the reader knows; return those with a verdict."""
    pairs = [pair for pair in pairs if all(reader.reads(memory.content) for memory in pair[:2])]
    if not pairs:
        return []
    texts = [(statement(older), statement(newer)) for older, newer, _ in pairs]
    shared = [reader.shared(older.content, newer.content) for older, newer, _ in pairs]
    links = verdicts(reader, texts, [cosine for *_, cosine in pairs], shared)
    return [(older, newer, link) for (older, newer, _), link in zip(pairs, links, strict=True) if link]


def _keep(store: Store, reader: Reader, read: Sequence[Read], now: int) -> list[Relation]:
    """Keep the verdicts, and propose changes to a person: of each new statement the likeliest, and those of what is a
    version of the same older one."""
    relations, proposals, ids = list[Relation](), list[Proposal](), IdSource()
    changing: dict[bytes, set[bytes]] = {}  # newer -> the older one that it changes, and its versions
    for older, newer, link in sorted(read, key=lambda row: -row[2].probability):
        raw = parse_id(older.id), parse_id(newer.id)
        if link.relation in CHANGES:
            if raw[1] not in changing:
                known = [*store.relations.of([raw[0]]), *(row for row in relations if raw[0] in row[:2])]
                changing[raw[1]] = {raw[0], *(id for row in known for id in row[:2])}
            if raw[0] not in changing[raw[1]]:
                continue
        relations.append(Relation(*raw, link.relation, link.level, round(link.probability, 4), reader.fingerprint))
        if link.relation in PROPOSED and link.probability >= ASKED_FROM:
            proposals.append(Proposal(
                id=ids.make(now), kind="correction", scope=newer.scope, memory=raw[1], other=raw[0],
                reason=f"read as a change: {link.probability:.0%}", score=round(link.probability, 4), created_at=now,
            ))  # fmt: skip
    store.relations.add(relations)
    store.reviews.propose(proposals)
    return relations


def _near(
    store: Store, index: VectorIndex, calibration: Calibration, text_id: int, memory: Memory, vector: np.ndarray,
    now: int,
) -> list[Pair]:  # fmt: skip
    """Return pairs (older, newer) of a memory and those stored before it, the nearest first."""
    pairs = []
    for cosine, other in nearest(store, index, text_id, memory.scope, vector, now):
        before = (other.created_at_us, other.id) < (memory.created_at_us, memory.id)
        if cosine >= NEAR and before and may_relate(*(pair := in_order(other, memory))):
            pairs.append((*pair, calibration.of_texts(cosine)))
    return pairs[:MOST_READ]


def nearest(
    store: Store, index: VectorIndex, text_id: int, scope: str, vector: np.ndarray, now: int
) -> list[tuple[float, Memory]]:
    """Return (cosine, memory) of what holds in a scope and is nearest to the vector of a text, best first."""
    scopes = store.search.scope_numbers((scope,))  # else a fuller scope would leave no place
    scan = index.search(vector, scopes=scopes)
    near = [other for other in scan.take(NEAREST) if other != text_id]
    others = store.search.candidates(near, Filter(scopes=(scope,), as_of=now))
    cosines = scan.cosines([row.text_id for row in others], exact=NEAREST)
    ranked = sorted(zip(cosines, others, strict=True), key=lambda hit: (-hit[0], hit[1].id))
    memories = store.memories.by_rows([row.num for _, row in ranked])
    return [(cosine, memory) for (cosine, _), memory in zip(ranked, memories, strict=True)]
