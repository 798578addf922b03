"""The job that reads each new memory together with the older ones near it, and keeps how they stand to one another.

Also problems and what solved them, in the turns of a session. What solved a problem is often told many turns later and
in other words ("the clock of that node was slow"), so no search finds it by the problem. A turn that tells a cause and
a cure is read, when it is stored, with the turn before it that most likely tells the problem; a recall that finds the
problem then shows both as one item.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..model.clock import format_time
from ..model.ids import IdSource, parse_id
from ..model.memory import FOREIGN, Filter, Memory, is_below, is_unconfirmed
from ..store.records import Candidate, Proposal, Relation
from ..text.describe import searchable
from ..vectors.calibration import Calibration, calibration_of
from ..vectors.judge import shared
from ..vectors.reader import RELATIONS, Reader
from .verdicts import (
    ASKED_FROM,
    CHANGES,
    LIKELY,
    PROPOSED,
    SOLVES,
    SURE,
    WEIGHS,
    WEIGHTY,
    Verdict,
    log_odds,
    probability,
    verdicts,
    weight,
)

if TYPE_CHECKING:
    from ..recall.semantic import SemanticSearch
    from ..store import Store
    from ..vectors.index import VectorIndex

# A pair (older, newer) with the cosine of both; and with the reader's verdict.
Pair = tuple[Memory, Memory, float]
Read = tuple[Memory, Memory, Verdict]
# The nearest texts that are looked at, those of them that are read at most, and the cosine that each needs.
NEAREST, MOST_READ, NEAR = 40, 6, 0.2
# Words of the shortest text that is read: "Thank you" states nothing.
SHORTEST = 3
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
    if not row.is_complete:
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


# -- which pairs are read, and the text of each


def statement(memory: Memory) -> str:
    """Return a memory as the reader gets it: its date, its speaker, its key and topics, its text."""
    parts = [(format_time(memory.valid_from_us) or "")[:10]]
    if memory.speaker:
        parts.append(f"{memory.speaker}:")
    if memory.key:
        parts.append(f"[{memory.key}]")
    if memory.topics:
        parts.append(" ".join(f"#{topic}" for topic in memory.topics))
    return " ".join([*parts, memory.content])


def in_order(first: Memory, other: Memory) -> tuple[Memory, Memory]:
    """Return two memories in the order in which they began to hold."""
    return (first, other) if first.valid_from_us <= other.valid_from_us else (other, first)


def may_relate(older: Memory, newer: Memory) -> bool:
    """Return whether a newer statement can say anything of an older one.

    Both must share scope and heading, and the speaker where both name one. Not related: statements of one instant (the
    lines of a batch), two values of keys (compared by key), events, texts of one or two words, and a newer statement
    that is trusted less.
    """
    speakers = {name for name in (older.speaker, newer.speaker) if name}
    headings = {str(memory.metadata.get("heading") or "") for memory in (older, newer)}
    return (
        older.valid_from_us < newer.valid_from_us
        and older.scope == newer.scope
        and len(speakers) < 2
        and len(headings) == 1
        and not (older.key and newer.key)
        and "episode" not in (older.kind, newer.kind)
        and all(memory.key or len(memory.content.split()) >= SHORTEST for memory in (older, newer))
        and not is_unconfirmed(newer.origin, newer.trust)
        and not is_below(newer.trust, older.trust)
    )


# -- problems and what solved them

# Log-odds that a turn says what solved an earlier one: of the reader's `kept`, the logarithm of `lesson`; of the
# judge's log-odds that it answers CAUSE; of the reader's log-odds that it `replaces` the earlier one. Fitted on
# tests/quality/solutions.jsonl and on fourteen sessions by another hand (docs/log.md).
CAUSE = "What was the cause and how was it fixed?"
LESSON, CAUSED, REPLACED, OFFSET = 0.83, 0.59, 0.87, 7.24
LEAST_LESSON = -8.0
# From which a problem is told with its solution; and, without the last part, from which the turns before are looked at.
SOLVED_FROM, READ_FROM = -0.5, 1.5
# Turns of the session before it that may tell the problem. It is that which is most of a lesson and nearest, by these
# weights, if this is enough, and those that are nearly as likely: the same problem is told more than once.
REACH = 10
PROBLEM, NEARNESS, PROBLEM_FROM, NEARLY = 0.49, 3.07, -1.4, 0.8

# A function from texts to their vectors.
Vectors = Callable[[Sequence[int]], Mapping[int, np.ndarray]]


def solve(store: Store, reader: Reader, turns: Sequence[Candidate], vectors: Vectors, now: int) -> None:
    """Keep which new turns say what solved a problem of their session. Raises EmbedderUnavailable."""
    turns = [turn for turn in turns if turn.trust not in FOREIGN]
    lessons = _lessons(reader, turns)
    causes = shared().scores(CAUSE, list(map(_said, turns)))
    odds = {
        turn.id: LESSON * lessons[turn.id] + CAUSED * cause + OFFSET
        for turn, cause in zip(turns, causes, strict=True)
        if reader.reads(turn.content)
    }
    told = [turn for turn in turns if odds.get(turn.id, READ_FROM - 1) >= READ_FROM]
    near = list(dict.fromkeys(store.search.neighbours([turn.num for turn in told], Filter(as_of=now), reach=REACH)))
    lessons |= _lessons(reader, [turn for turn in near if turn.id not in lessons])
    known = vectors([turn.text_id for turn in (*told, *near)])
    pairs = []
    for turn in told:
        likely = {
            other: PROBLEM * lessons[other.id] + NEARNESS * float(known[other.text_id] @ known[turn.text_id])
            for other in near
            if other.session == turn.session and 0 < turn.position - other.position <= REACH
            if {other.text_id, turn.text_id} <= known.keys()
        }
        least = max(PROBLEM_FROM, max(likely.values(), default=0.0) - NEARLY)
        pairs += [(other, turn) for other, value in likely.items() if value >= least]
    replaces = reader.relations([(_said(other), _said(turn)) for other, turn in pairs])
    relations = []
    for (other, turn), logits in zip(pairs, replaces, strict=True):
        solved = odds[turn.id] + REPLACED * log_odds(logits, [RELATIONS.index("replaces")])
        if solved >= SOLVED_FROM:
            likely_is = round(probability(solved), 4)
            relations.append(Relation(other.id, turn.id, SOLVES, LIKELY, likely_is, reader.fingerprint))
    store.relations.add(relations)


def _lessons(reader: Reader, turns: Sequence[Candidate]) -> dict[bytes, float]:
    """Return the logarithm of the reader's `lesson` for each turn, by its id."""
    kept = reader.answers("kept", [("", _said(turn)) for turn in turns])
    return {
        turn.id: max(math.log(max(shares["lesson"], 1e-9)), LEAST_LESSON)
        for turn, shares in zip(turns, kept, strict=True)
    }


def _said(turn: Candidate) -> str:
    return f"{turn.speaker}: {turn.content}" if turn.speaker else turn.content
