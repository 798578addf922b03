"""From signals to an answer: fuse, adjust, order, fit the token budget, explain."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter

from ..model.clock import format_time
from ..model.memory import Memory
from ..rank import adjust, fuse, relevance
from ..rank import constants as C
from ..rank.trace import SignalTrace, Trace
from ..store.contract import Candidate, Store
from .gather import Gathered, VectorSignal, gather
from .plan import Plan
from .relevance import features

# What the adjustments of a candidate depend on.
_LIFE = attrgetter(
    "kind", "importance", "pinned", "trust", "observations", "stated_confidence", "uses", "used_at"
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One recalled memory. Times in microseconds UTC; `score` compares within one recall only."""

    id: str
    kind: str
    content: str
    scope: str
    score: float
    confidence: float  # 0 to 1
    topics: tuple[str, ...]
    key: str | None
    origin: str
    trust: str  # the least trusted origin it rests on
    valid_from: int
    valid_to: int | None
    recorded_at: int  # when the store first knew it
    session: str | None
    speaker: str | None
    metadata: dict[str, object]
    why: Trace | None = None

    def as_dict(self) -> dict[str, object]:
        """The JSON shape of docs/reference: times in ISO 8601."""
        shown: dict[str, object] = {
            "id": self.id,
            "kind": self.kind,
            "content": self.content,
            "scope": self.scope,
            "score": round(self.score, 6),
            "confidence": self.confidence,
            "topics": list(self.topics),
            "key": self.key,
            "origin": self.origin,
            "trust": self.trust,
            "valid_from": format_time(self.valid_from),
            "valid_to": format_time(self.valid_to),
            "recorded_at": format_time(self.recorded_at),
            "session": self.session,
            "speaker": self.speaker,
            "metadata": self.metadata,
        }
        if self.why is not None:
            shown["why"] = self.why.as_dict()
        return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Ranked memories, and which signals could not be asked (`notes` says why)."""

    query: str
    items: list[Item]
    missing: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    elapsed_ms: float = 0.0
    truncated: bool = False  # the token budget left something out
    relevance: float = 0.0  # probability that something among the items answers the query
    relevant: bool = True  # False: nothing relevant was found; the items are only the nearest there are

    def as_dict(self) -> dict[str, object]:
        """{"query", "items", "relevance", "relevant", "missing", "elapsed_ms", "notes"?, "truncated"?}."""
        shown: dict[str, object] = {
            "query": self.query,
            "items": [item.as_dict() for item in self.items],
            "relevance": round(self.relevance, 4),
            "relevant": self.relevant,
            "missing": self.missing,
            "elapsed_ms": round(self.elapsed_ms, 3),
        }
        if self.notes:
            shown["notes"] = self.notes
        if self.truncated:
            shown["truncated"] = True
        return shown


def recall(
    store: Store,
    vectors: VectorSignal | None,
    plan: Plan,
    *,
    explain: bool = False,
    skip: Callable[[Candidate], bool] | None = None,
) -> Recall:
    """Answer a plan. Reads one state of the store; the same store, plan and `now` give the same answer."""
    started = time.perf_counter()
    with store.snapshot():
        found = gather(store, vectors, plan)
        order, scores = _rank(found, plan)
        if skip is not None:
            order = [i for i in order if not skip(found.candidates[i])]
        likely, relevant = _judge(store, found, order, scores, plan)
        chosen, truncated = _fit(found, order, plan)
        whole = store.memories([found.candidates[i].num for i in chosen])
    traces = _explain(found, chosen, plan) if explain else {}
    items = [
        _item(memory, scores[i], _confidence(found.candidates[i], plan.now), traces.get(i))
        for i, memory in zip(chosen, whole, strict=True)
    ]
    return Recall(
        query=plan.query,
        items=items,
        missing=found.missing,
        notes=found.notes,
        elapsed_ms=(time.perf_counter() - started) * 1000,
        truncated=truncated,
        relevance=likely,
        relevant=relevant,
    )


def _judge(store: Store, found: Gathered, order: list[int], scores: list[float], plan: Plan) -> tuple[float, bool]:
    """The probability that something found answers the query, and whether that is enough."""
    if not order:
        return 0.0, False
    vectors = "vector" in found.signals
    likely = relevance.probability(features(store, found, order, scores, plan.query), vectors=vectors)
    return likely, relevance.is_relevant(likely, vectors=vectors)


def _rank(found: Gathered, plan: Plan) -> tuple[list[int], list[float]]:
    """Indices of candidates best first, and their scores."""
    several = found.candidates
    if plan.fusion == "rrf":
        scores = fuse.rrf(found.signals, len(several))
    elif isinstance(found.signals.get("lexical"), list):
        scores = fuse.linear(found.signals, [one.speaker is not None for one in several])
    else:
        from .arrays import combine

        scores = combine(found.signals, [one.speaker is not None for one in several])
    # Most candidates share the same life (never used, stated once): their product is computed once.
    products: dict[tuple[object, int], float] = {}
    for i, one in enumerate(several):
        # When it was last stated matters to opinions only.
        life = (_LIFE(one), one.observed_at if one.kind == "opinion" else 0)
        product = products.get(life)
        if product is None:
            product = products[life] = math.prod(_factors(one, plan.now).values())
        scores[i] = scores[i] * product if scores[i] > 0 else scores[i] / product
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], several[i].id))
    return order, scores


def _factors(one: Candidate, now: int) -> dict[str, float]:
    """What a memory's life does to its score: one factor each."""
    return {
        "use": adjust.use_boost(one.uses or 0),
        "decay": adjust.decay(one.kind, used_at=one.used_at or None, now=now, pinned=bool(one.pinned)),
        "importance": adjust.importance_factor(one.importance),
        "confidence": adjust.confidence_factor(_confidence(one, now)),
    }


def _confidence(one: Candidate, now: int) -> float:
    return adjust.confidence(
        kind=one.kind,
        trust=one.trust,
        observations=one.observations,
        observed_at=one.observed_at,
        stated=one.stated_confidence,
        now=now,
    )


def _fit(found: Gathered, order: list[int], plan: Plan) -> tuple[list[int], bool]:
    """The best `k` that fit the token budget together; one too long for what is left is passed over."""
    if plan.budget_tokens is None:
        return order[: plan.k], False
    chosen: list[int] = []
    left, passed_over = float(plan.budget_tokens), False
    for i in order[: plan.k * 3]:
        if len(chosen) == plan.k:
            break
        cost = C.TOKENS_PER_ITEM + len(found.candidates[i].content) / C.CHARACTERS_PER_TOKEN
        if cost <= left:
            chosen.append(i)
            left -= cost
        else:
            passed_over = True
    return chosen, passed_over


def _explain(found: Gathered, chosen: list[int], plan: Plan) -> dict[int, Trace]:
    """Traces of the chosen candidates. With `rrf` a contribution is what the signal's rank is worth."""
    table = {name: [float(value) for value in values] for name, values in found.signals.items()}
    ranks = {name: fuse.ranks(values) for name, values in table.items()}

    def contribution(name: str, i: int) -> float:
        if plan.fusion == "rrf":
            rank = ranks[name][i] if name in fuse.RANKED else None
            return 0.0 if rank is None else 1.0 / (C.RRF_K + rank)
        return fuse.weight_of(name, spoken=found.candidates[i].speaker is not None) * table[name][i]

    return {
        i: Trace(
            signals={
                name: SignalTrace(ranks[name][i], values[i], contribution(name, i)) for name, values in table.items()
            },
            adjustments=_factors(found.candidates[i], plan.now),
        )
        for i in chosen
    }


def _item(memory: Memory, score: float, confidence: float, why: Trace | None) -> Item:
    return Item(
        id=memory.id,
        kind=memory.kind,
        content=memory.content,
        scope=memory.scope,
        score=score,
        confidence=confidence,
        topics=memory.topics,
        key=memory.key,
        origin=memory.origin,
        trust=memory.trust,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        recorded_at=memory.created_at,
        session=memory.session,
        speaker=memory.speaker,
        metadata=memory.metadata,
        why=why,
    )
