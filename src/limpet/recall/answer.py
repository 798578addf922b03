"""From candidates to the answer of a recall: fuse, adjust, order, fold near-duplicates, fit the budget, explain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ..model.clock import Instant, MaybeInstant, format_time, parse_time
from ..model.dataclass import dataclass, field
from ..model.ids import format_id
from ..model.memory import Memory
from ..model.sequence import Holds
from ..model.unfrozen import unfrozen
from ..rank import adjust, fuse, relevance
from ..rank.trace import SignalTrace, Trace
from ..rank.weights import WEIGHTS
from .alike import like_the_best
from .anchor import TemporalAnchor, resolve_anchor
from .candidates import Candidates, find_candidates
from .disputes import disputes
from .index import PriorFactors, VectorSignal
from .judged import JUDGE, in_order, judged
from .near_duplicates import Chosen, best, best_within
from .newer import asks_before, later, newer_first
from .plan import Plan
from .relevance import features
from .sources import Sources
from .trusted import trusted_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..store import Store
    from .explain import Explanation
    from .rerank import Reranker
    from .sessions import SessionRecall

# Fields of an item that its JSON shape has in another form, or not always.
_SHAPED = ("valid_to_us", "topics", "disputed_by", "source_state", "pinned", "why")
# What is left to do after a reranker has answered, in seconds.
ANSWERING_SECONDS = 0.002
NO_TRACES: Mapping[int, Trace] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One recalled memory. `score` is the ranking's, before what has the last word on the order (the judge, a reranker,
    what is newer): it compares within one recall only, and items need not be sorted by it."""

    id: str
    kind: str
    content: str
    scope: str
    score: float
    confidence: float  # 0 to 1
    confidence_word: str  # the same for people and models: stated, repeated, confirmed, doubtful
    topics: tuple[str, ...]
    key: str | None
    origin: str
    trust: str  # the least trusted origin it rests on
    valid_from_us: int
    valid_to_us: int | None
    recorded_at_us: int  # when the store first knew it
    session: str | None
    speaker: str | None
    metadata: dict[str, object]
    disputed_by: tuple[str, ...] = ()  # ids of what contradicts it and is held as well
    why: Trace | None = None
    source_state: str | None = None  # of an indexed file: fresh, drifted or gone
    pinned: bool = False
    valid_from = Instant("valid_from_us")
    valid_to = MaybeInstant("valid_to_us")
    recorded_at = Instant("recorded_at_us")

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> Item:
        """An item from its `as_dict`, without its trace."""
        times: dict[str, Any] = {f"{name}_us": parse_time(shown[name], now=0) for name in ("valid_from", "recorded_at")}
        until = shown["valid_to"]
        plain = {name: shown[name] for name in cls.__slots__ if name not in (*times, *_SHAPED)}
        return cls(
            **plain,
            **times,
            topics=tuple(shown["topics"]),
            disputed_by=tuple(shown.get("disputed_by", ())),
            valid_to_us=None if until is None else parse_time(until, now=0),
            source_state=shown.get("source_state"),
            pinned=shown.get("pinned", False),
        )

    def as_dict(self) -> dict[str, object]:
        """The JSON shape of docs/reference: times in ISO 8601."""
        shown: dict[str, object] = {
            "id": self.id,
            "kind": self.kind,
            "content": self.content,
            "scope": self.scope,
            "score": round(self.score, 6),
            "confidence": self.confidence,
            "confidence_word": self.confidence_word,
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
        if self.disputed_by:
            shown["disputed_by"] = list(self.disputed_by)
        if self.source_state is not None:
            shown["source_state"] = self.source_state
        if self.pinned:
            shown["pinned"] = True
        if self.why is not None:
            shown["why"] = self.why.as_dict()
        return shown


_Unfrozen = unfrozen(Item)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall(Holds[Item]):
    """Ranked memories, and which signals could not be asked (`notes` says why). `items` are best first: their order is
    the ranking, `score` but a part of what makes it."""

    query: str
    items: list[Item]
    missing: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    elapsed_ms: float = 0.0
    truncated: bool = False  # the token budget left something out
    relevance: float = 0.0  # probability that something among the items answers the query
    relevant: bool = True  # False: nothing relevant was found; the items are only the nearest there are
    note: str = ""  # the same in a sentence
    explained: Explanation | None = None  # how it was read and what was left out, if that was asked for
    # Ids of near-duplicates that an item stands for, which took no place, by its id.
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> Recall:
        """A recall from its `as_dict`, without traces."""
        return cls(
            query=shown["query"],
            items=[Item.from_dict(one) for one in shown["items"]],
            missing=shown["missing"],
            notes=shown.get("notes", {}),
            elapsed_ms=shown["elapsed_ms"],
            truncated=shown.get("truncated", False),
            relevance=shown["relevance"],
            relevant=shown["relevant"],
            note=shown.get("note", ""),
            also={one["id"]: tuple(one["also"]) for one in shown["items"] if "also" in one},
        )

    def as_dict(self) -> dict[str, object]:
        """{"query", "items", "relevance", "relevant", "note", "missing", "elapsed_ms"}; where there are, more."""
        shown: dict[str, object] = {
            "query": self.query,
            "items": [
                item.as_dict() | ({"also": list(self.also[item.id])} if item.id in self.also else {})
                for item in self.items
            ],
        } | how_it_went(self)
        if self.explained is not None:
            shown["explained"] = self.explained.as_dict()
        return shown


def how_it_went(answer: Recall | SessionRecall) -> dict[str, object]:
    """What every answer says of itself, as JSON."""
    shown: dict[str, object] = {
        "relevance": round(answer.relevance, 4),
        "relevant": answer.relevant,
        "note": answer.note,
        "missing": answer.missing,
        "elapsed_ms": round(answer.elapsed_ms, 3),
    }
    if answer.notes:
        shown["notes"] = answer.notes
    if answer.truncated:
        shown["truncated"] = True
    return shown


def recall(
    store: Store,
    vectors: VectorSignal | None,
    plan: Plan,
    *,
    trace: bool = False,
    explain: bool = False,
    skip: bytes | None = None,
    reranker: str | Reranker | None = None,
) -> Recall:
    """Answer a plan, leaving out the memory `skip`. `trace`: how each score arose; `explain`: what was left out too.

    `reranker` puts the first results in its own order, if it can.

    Reads one state of the store; the same store, plan and `now` give the same answer.
    """
    asked = plan.query
    with store.snapshot(plan.deadline):
        plan, event, found, order, scores = find_and_rank(store, vectors, plan)
        if skip is not None:
            order = [i for i in order if found.table.ids[i] != skip]
        order, alike = like_the_best(found, order, scores, plan)
        found.read(store, order[: plan.k])  # at once, what each step would read a part of
        said = judged(store, found, order, plan, vectors, asked_for=reranker == JUDGE)
        likely, relevant = how_relevant(store, found, order, scores, plan, said)
        order, moved = newer_first(store, found, in_order(order, scores, said), scores, plan)
        order, read = _reranked(store, found, order, plan, reranker)
        order = trusted_first(found, order, scores, plan)
        if plan.budget_tokens is None:
            chosen = best(store, found, order, plan)
        else:
            chosen = best_within(store, found, order, plan, plan.budget_tokens)
        disputed = disputes(store, plan, chosen.memories, found.warnings(store, chosen.places))
        explained = None
        if explain:
            from .explain import explanation

            dropped = [(found.table.rows[i], why) for i, why in chosen.dropped]
            lower = len(order) - len(chosen.places) - len(dropped)
            explained = explanation(store, vectors, plan, dropped, event, lower=lower, miss=found.miss)
    by_models, by_place = {"judge": said, "rerank": read}, {"alike": alike, "newer": moved}
    traces = _explain(found, chosen, plan, by_models, by_place) if trace or explain else {}
    before = asks_before(chosen.memories, plan)
    return Recall(
        query=asked,
        items=shown_items(found, chosen.places, chosen.memories, scores, plan, disputed, traces),
        missing=found.missing,
        notes=found.notes,
        elapsed_ms=plan.elapsed_ms(),
        truncated=chosen.truncated,
        relevance=likely,
        relevant=relevant,
        note=relevance.told(likely, relevant, shown=chosen.places, missing=found.missing, asks_before=before),
        explained=explained,
        also={
            found.memories(store, [i])[0].id: tuple(format_id(found.table.ids[one]) for one in several)
            for i, several in chosen.also.items()
        },
    )


def _reranked(
    store: Store, found: Candidates, order: list[int], plan: Plan, reranker: str | Reranker | None
) -> tuple[list[int], dict[int, float]]:
    """The order with the first results in that of a reranker, and its scores; without one, or where it did not answer,
    which is noted, as it was."""
    if reranker is None or reranker == JUDGE:
        return order, {}
    from ..text.describe import searchable
    from .rerank import RerankFailed, depth, new_order, rerank

    first = order[: depth(plan.k)]
    texts = [searchable(one.content, one.key) for one in found.memories(store, first)]
    try:
        scores = rerank(reranker, plan.query, texts, seconds=plan.remaining() - ANSWERING_SECONDS) if first else []
    except RerankFailed as failure:
        found.miss("rerank", str(failure))
        return order, {}
    return new_order(order, scores), dict(zip(first, scores, strict=True))


def how_relevant(
    store: Store, found: Candidates, order: list[int], scores: list[float], plan: Plan, said: Mapping[int, float]
) -> tuple[float, bool]:
    """The probability that something found answers the query, and whether that is enough. `said`: by the judge."""
    if not order:
        return 0.0, False
    near = found.features.get("word_vectors")
    if near is not None:
        # The constants of a recall by words know scores of words.
        scores = [one - WEIGHTS["word_vectors"] * value for one, value in zip(scores, near.tolist(), strict=True)]
    known = features(store, found, order, scores, plan, said)
    likely = relevance.probability(known)
    return likely, relevance.is_relevant(likely, known)


def find_and_rank(
    store: Store, vectors: VectorSignal | None, plan: Plan
) -> tuple[Plan, TemporalAnchor | None, Candidates, list[int], list[float]]:
    """The plan as of the time that the question tells by an event, and that event, if it does; candidates, ranked."""
    plan, event = resolve_anchor(store, plan)
    found = find_candidates(store, vectors, plan)
    if event is not None:
        found.notes["time"] = str(event)
    return plan, event, found, *rank(found, plan)


def rank(found: Candidates, plan: Plan) -> tuple[list[int], list[float]]:
    """Indices of candidates best first, and their scores."""
    table, arithmetic = found.table, found.arithmetic
    # Most candidates share the same prior factors (never used, stated once): their product is computed once.
    products = {number: _product(one, one.evaluated_at(plan.now)) for number, one in table.priors.items()}
    factors = arithmetic.look_up(table.prior_of, products)
    scores = fuse.linear(arithmetic, found.features, len(table.rows))
    scores = arithmetic.where(scores > 0, scores * factors, scores / factors)
    return arithmetic.order(scores, table.ids), scores.tolist()


@lru_cache(maxsize=1024)
def _product(one: PriorFactors, now: int) -> float:
    return math.prod(_factors(one, now).values())


def _factors(one: PriorFactors, now: int) -> dict[str, float]:
    """The prior factors of a memory's score: one each."""
    return {
        "use": adjust.use_boost(one.uses),
        "decay": adjust.decay(one.kind, uses=one.uses, used_at=one.used_at, now=now, pinned=one.pinned),
        "importance": adjust.importance_factor(_importance(one, now)),
        "confidence": adjust.confidence_factor(adjust.confidence_of(one, now)),
        "feedback": adjust.feedback_factor(
            useful=one.useful, not_useful=one.not_useful, wrong=0 if one.trust == "user" else one.wrong
        ),
    }


def _importance(one: PriorFactors, now: int) -> float:
    seen_at = max(one.observed_at_us, one.used_at or 0)
    return adjust.faded(one.importance, one.kind, seen_at=seen_at, now=now, pinned=one.pinned)


def _explain(
    found: Candidates, chosen: Chosen, plan: Plan, read: Mapping[str, Mapping[int, float]],
    by_place: Mapping[str, Sequence[int]],
) -> dict[int, Trace]:  # fmt: skip
    """Traces of the chosen candidates.

    `read`: what the judge and a reranker say. They decide the order of those they read, and add nothing to the score.
    `by_place`: which have their place by something else than the score, by fields of the trace.
    """
    table: dict[str, list[float]] = {name: values.tolist() for name, values in found.features.items()}
    ranks = {name: fuse.ranks(values) for name, values in table.items()}
    after = later(found, chosen.places, chosen.memories, plan)
    places = {
        name: {i: place for place, i in enumerate(sorted(said, key=lambda one: -said[one]), 1)}
        for name, said in read.items()
    }

    def contribution(name: str, i: int) -> float:
        return WEIGHTS.get(name, 0.0) * table[name][i]

    return {
        i: Trace(
            signals={
                name: SignalTrace(ranks[name][i], values[i], contribution(name, i)) for name, values in table.items()
            }
            | {name: SignalTrace(places[name][i], said[i], 0.0) for name, said in read.items() if i in said},
            adjustments=_factors(found.table.prior(i), found.table.prior(i).evaluated_at(plan.now)),
            **{name: i in several for name, several in by_place.items()},
            later=after.get(i),
        )
        for i in chosen.places
    }


def shown_items(
    found: Candidates,
    places: Sequence[int],
    whole: Sequence[Memory],
    scores: Sequence[float],
    plan: Plan,
    disputed: Mapping[str, tuple[str, ...]],
    traces: Mapping[int, Trace] = NO_TRACES,
) -> list[Item]:
    """The candidates at some places as they are shown. `whole`: their memories."""
    sources = Sources()
    return [
        _item(
            memory,
            scores[i],
            found.table.prior(i),
            plan.now,
            disputed.get(memory.id, ()),
            traces.get(i),
            sources.state(memory.metadata),
        )
        for i, memory in zip(places, whole, strict=True)
    ]


def _item(
    memory: Memory,
    score: float,
    prior: PriorFactors,
    now: int,
    disputed_by: tuple[str, ...],
    why: Trace | None,
    source_state: str | None,
) -> Item:
    one = _Unfrozen()
    one.id = memory.id
    one.kind = memory.kind
    one.content = memory.content
    one.scope = memory.scope
    one.score = score
    one.confidence = adjust.confidence_of(prior, now)
    one.confidence_word = adjust.confidence_word(prior, one.confidence)
    one.topics = memory.topics
    one.key = memory.key
    one.origin = memory.origin
    one.trust = memory.trust
    one.valid_from_us = memory.valid_from_us
    one.valid_to_us = memory.valid_to_us
    one.recorded_at_us = memory.created_at_us
    one.session = memory.session
    one.speaker = memory.speaker
    one.metadata = memory.metadata
    one.disputed_by = disputed_by
    one.why = why
    one.source_state = source_state
    one.pinned = memory.pinned
    one.__class__ = Item
    made: Item = one
    return made
