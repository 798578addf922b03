"""The answer of a recall: plan, candidates, features, score, pack.

Read in this order: `plan.py` (what is asked), `candidates.py` (which memories may be meant), `features.py` (what each
signal says of them), `score.py` (the one number that decides), `pack.py` (near-duplicates and the token budget).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from ..model.clock import Instant, MaybeInstant
from ..model.dataclass import NamedTuple, dataclass, field, replace
from ..model.encode import OPTIONAL, TIME, Holds, JsonForm, decoded, encode, rounded
from ..model.ids import format_id
from ..rank import adjust
from ..rank.constants import ANSWERS_FROM
from .candidates import Candidates, find_candidates
from .lookup import INDEXED, source_states
from .newer import SOLUTION, Solution, Told, disputes, ended, solution
from .pack import Packed, cost_of, pack
from .plan import Plan, within_time
from .relevance import LIKELY, MORE_MAY_ANSWER, NONE_IN_TIME, in_time, note
from .score import BELOW, Ranking, contributions, rank
from .shape import MEMORY, OF_TIME, ONE, SEVERAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model.memory import Filter, Memory
    from ..store import Store
    from .explain import Explanation
    from .semantic import SemanticSearch

# What every answer says about itself.
HOW_IT_WENT = ("relevance", "relevant", "note", "missing", "elapsed_ms", "notes", "truncated")


def _other(other: Told) -> dict[str, str]:
    return dict(zip(("id", "content", "because"), other, strict=False))


# JSON of one other memory, and of several.
_OTHER, _OTHERS = OPTIONAL | {"form": _other}, OPTIONAL | {"form": lambda others: [*map(_other, others)]}


class SignalTrace(NamedTuple):
    """One signal's part in a score. `rank` from 1; None = the signal said nothing about this memory."""

    rank: int | None
    raw: float
    contribution: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The contributions that add up to one score."""

    signals: dict[str, SignalTrace]
    ranked: float  # the score before the judge and all caps

    def as_dict(self) -> dict[str, object]:
        """Return {"signals": {name: {"rank", "raw", "contribution"}}}."""
        signals = {
            name: {"rank": signal.rank, "raw": round(signal.raw, 4), "contribution": round(signal.contribution, 6)}
            for name, signal in self.signals.items()
        }
        return {"signals": signals}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(JsonForm):
    """One recalled memory. `score` compares within one recall only."""

    SHOWN = (
        "id", "kind", "content", "scope", "score", "confidence", "confidence_word", "topics", "key", "origin", "trust",
        "valid_from_us", "valid_to_us", "recorded_at_us", "session", "speaker", "metadata", "disputed_by", "newer",
        "resolved_by", "said_after", "before", "also_said", "part", "source_state", "marks", "pinned", "outside",
        "why",
    )  # fmt: skip

    id: str
    kind: str
    content: str
    scope: str
    score: float = field(metadata=rounded(6))
    confidence: float  # 0 to 1
    confidence_word: str  # in a word: stated, repeated, confirmed, doubtful
    topics: tuple[str, ...]
    key: str | None
    origin: str
    trust: str  # the least trusted origin it rests on
    valid_from_us: int = field(metadata=TIME)
    valid_to_us: int | None = field(metadata=TIME)
    recorded_at_us: int = field(metadata=TIME)  # when the store first knew it
    session: str | None
    speaker: str | None
    metadata: dict[str, object]
    # Ids of held memories that contradict it.
    disputed_by: tuple[str, ...] = field(default=(), metadata=OPTIONAL)
    # Id and text of what replaced it or likely did, of what it replaced or resolved, newest first; and why, where
    # somebody said so. Of a problem, the later turn of its session that says what solved it.
    newer: Told | None = field(default=None, metadata=_OTHER)
    resolved_by: Solution | None = field(default=None, metadata=SOLUTION)
    # Id and text of what was said next and last in the session of an error (features/happened.py).
    said_after: tuple[tuple[str, str], ...] = field(default=(), metadata=_OTHERS)
    before: tuple[Told, ...] = field(default=(), metadata=_OTHERS)
    # Of what was merged into it and answers the question: id and text.
    also_said: tuple[tuple[str, str], ...] = field(default=(), metadata=_OTHERS)
    part: str = field(default="", metadata=OPTIONAL)  # of a long text what is nearest to the question
    why: Trace | None = field(default=None, metadata=OPTIONAL)
    source_state: str | None = field(default=None, metadata=OPTIONAL)  # of an indexed file: fresh, drifted or gone
    marks: tuple[str, ...] = field(default=(), metadata=OPTIONAL)  # what has changed in its code since
    pinned: bool = field(default=False, metadata=OPTIONAL)
    outside: bool = field(default=False, metadata=OPTIONAL)  # not of the time that was asked for
    valid_from = Instant("valid_from_us")
    valid_to = MaybeInstant("valid_to_us")
    recorded_at = Instant("recorded_at_us")

    def history(self) -> list[tuple[str, Told]]:
        """Return what replaced the memory, what it replaced and what was merged into it: [(newer, before or also said,
        (id, text, why?))]."""
        after = [("newer", self.newer)] if self.newer is not None else []
        return after + [("before", pair) for pair in self.before] + [("also said", pair) for pair in self.also_said]

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> Item:
        """Read an item from its `as_dict`, without its trace."""
        given = decoded(cls, shown, without=("why",))
        given |= {name: tuple(given[name]) for name in ("topics", "disputed_by", "marks") if name in given}
        given |= {name: tuple(given[name].values()) for name in ("newer", "resolved_by") if name in given}
        for name in ("said_after", "before", "also_said"):
            given[name] = tuple(tuple(other.values()) for other in given.get(name, ()))
        return cls(**given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall(JsonForm, Holds[Item]):
    """Memories by their scores, best first, and which signals could not be asked (`notes` says why)."""

    SHOWN = ("query", "items", "shape", "count", "complete", "more", "overview", *HOW_IT_WENT, "explained")

    query: str
    items: list[Item]
    # One, all, count, memory (it asks about the memory itself) or time: so the question was read.
    shape: str = ONE
    # The number of memories of the time that is asked for, or of all that an overview is of; whether nothing else may
    # answer; the number of those counted that are not shown.
    count: int | None = field(default=None, metadata=OPTIONAL)  # type: ignore[assignment]
    complete: bool = True
    more: int = 0
    # {"kinds": {kind: count}, "topics": {topic: count}, "text"} for a question about the memory.
    overview: Mapping[str, Any] | None = field(default=None, metadata=OPTIONAL)
    missing: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict, metadata=OPTIONAL)
    elapsed_ms: float = field(default=0.0, metadata=rounded(3))
    truncated: bool = field(default=False, metadata=OPTIONAL)  # the token budget left something out
    relevance: float = field(default=0.0, metadata=rounded(4))  # probability that an item answers the query
    relevant: bool = True  # False: nothing relevant was found; the items are only the nearest there are
    note: str = ""  # the same in a sentence
    # How it was read and what was left out, if that was asked for.
    explained: Explanation | None = field(default=None, metadata=OPTIONAL)
    # An item's id -> ids of the near-duplicates that it stands for.
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> Recall:
        """Read a recall from its `as_dict`, without traces."""
        items = [Item.from_dict(item) for item in shown["items"]]
        also = {item["id"]: tuple(item["also"]) for item in shown["items"] if "also" in item}
        return cls(**decoded(cls, shown, without=("explained",)) | {"items": items, "also": also})

    def as_dict(self) -> dict[str, Any]:
        """Return {"query", "items", "relevance", "relevant", "note", "missing", "elapsed_ms"}, and more if there is."""
        shown = encode(self)
        for item in shown["items"]:
            if item["id"] in self.also:
                item["also"] = list(self.also[item["id"]])
        return shown


def recall(
    store: Store, semantic: SemanticSearch | None, plan: Plan, *, trace: bool = False, explain: bool = False,
    skip: bytes | None = None, thorough: bool = False,
) -> Recall:  # fmt: skip
    """Answer a plan, leaving out the memory `skip`. `trace`: how each score arose; `explain`: what was left out too.
    `thorough`: the judge reads more of the first results.

    Reads one state of the store; the same store, plan and `now` give the same answer.
    """
    if plan.shape == MEMORY:
        as_one = replace(plan, shape=ONE)
        answer = recall(store, semantic, as_one, trace=trace, explain=explain, skip=skip, thorough=thorough)
        return answer if explain else _with_overview(store, plan, answer, trace=trace)
    with store.snapshot(plan.deadline):
        timed, parts = _parts(store, semantic, plan, skip, thorough=thorough)
        items, also = list[Item](), dict[str, tuple[str, ...]]()
        explained, truncated = None, False
        for part, candidates, ranking in parts:
            if rest := plan.k - len(items):
                left = plan.budget_tokens and max(1, plan.budget_tokens - sum(map(cost_of, items)))
                packed = pack(store, candidates, ranking, replace(part, k=rest, budget_tokens=left))
                traces = _traces(candidates, ranking, packed, plan) if trace or explain else {}
                items += as_items(
                    store, candidates, ranking, packed.places, part, traces=traces, before=packed.before, within=timed,
                    solved=packed.solved,
                )  # fmt: skip
                ids, truncated = list(map(format_id, candidates.table.ids)), truncated or packed.truncated
                also |= {ids[i]: tuple([ids[other] for other in others]) for i, others in packed.also.items()}
                if explain and explained is None:
                    explained = _explained(store, semantic, part, candidates, ranking, packed)
        is_timed, candidates, ranking = parts[0][0] is not plan, *parts[0][1:]
        by_time = plan.shape == OF_TIME and timed is not plan
        count = store.listings.count(timed.where) if by_time and is_timed else None
    more = max(0, (count or 0) - sum(not item.outside for item in items))
    complete = not more and not truncated and (is_timed or len(ranking.order) <= plan.k)
    likely, relevant = ranking.relevance, ranking.relevant
    sentence = note(likely, relevant, shown=items, missing=candidates.missing)
    if count:
        likely, relevant, sentence = 1.0, True, in_time(more, sum(item.outside for item in items))
    elif by_time and items:
        relevant, sentence = False, NONE_IN_TIME
    elif plan.shape in SEVERAL and relevant and not complete:
        sentence = MORE_MAY_ANSWER
    return Recall(
        query=plan.query,
        items=items,
        shape=plan.shape,
        count=count,
        complete=complete,
        more=more,
        missing=candidates.missing,
        notes=candidates.notes,
        elapsed_ms=(time.perf_counter() - plan.began) * 1000,
        truncated=truncated,
        relevance=likely,
        relevant=relevant,
        note=sentence,
        explained=explained,
        also=also,
    )


def _explained(
    store: Store, semantic: SemanticSearch | None, plan: Plan, candidates: Candidates, ranking: Ranking, packed: Packed
) -> Explanation:
    from .explain import explanation  # few ask

    return explanation(store, semantic, plan, candidates, packed, lower=len(ranking.order))


def _parts(
    store: Store, semantic: SemanticSearch | None, plan: Plan, skip: bytes | None, *, thorough: bool
) -> tuple[Plan, list[tuple[Plan, Candidates, Ranking]]]:
    """Rank the candidates of a plan; before them, where the question is for a time, those that are of it. Return the
    plan for that time too."""

    def ranked(plan: Plan) -> tuple[Plan, Candidates, Ranking]:
        candidates = find_candidates(store, semantic, plan, ended=True)
        return plan, candidates, rank(store, semantic, candidates, plan, skip=skip, thorough=thorough)

    timed = within_time(plan)
    if timed is plan:
        return plan, [ranked(plan)]
    then = ranked(timed)
    if not then[2].order and (end := timed.where.until):  # what began then may have been replaced since
        timed = replace(timed, where=replace(timed.where, as_of=min(plan.at, end - 1)))
        then = ranked(timed)
    fills = len(then[2].order) >= plan.k
    if fills and then[2].judged.get(then[2].order[0], 0.0) >= ANSWERS_FROM:
        return timed, [then]
    whole = ranked(plan)
    if _held_then(store, timed.where, *whole[1:]):
        return plan, [whole]
    if fills:
        return timed, [then]
    if not then[2].order:
        return timed, [whole]
    _put_below(*then[1:], *whole[1:])
    return timed, [then, whole]


def _held_then(store: Store, time: Filter, candidates: Candidates, ranking: Ranking) -> bool:
    """Return whether the first result held in a time that it did not begin in, and has ended: "what did it cost last
    year?" asks for no event."""
    first = candidates.memories(store, ranking.order[:1])
    ends = [memory.valid_to_us for memory in first if memory.valid_from_us < (time.since or 0)]
    return any(end is not None and end > (time.since or 0) for end in ends)


def _put_below(upper: Candidates, first: Ranking, lower: Candidates, second: Ranking) -> None:
    """Take what is in the first ranking out of the second, and lower what is left below all of the first."""
    known = {upper.table.ids[i] for i in first.order}
    second.order = [i for i in second.order if lower.table.ids[i] not in known]
    over = max([second.scores[i] - first.scores[first.order[-1]] for i in second.order[:1]], default=-1.0)
    second.add("outside", dict.fromkeys(second.order, -(over + BELOW)) if over >= 0 else {})


def _with_overview(store: Store, plan: Plan, answer: Recall, *, trace: bool) -> Recall:
    """Answer a question about the memory itself. What is known of one thing is asked in nearly the same words: results
    that probably answer it stay, beside the overview."""
    from .overview import counts, first_of_all, in_words

    with store.snapshot(plan.deadline):
        known, (memories, truncated) = counts(store, plan.where), first_of_all(store, plan)
    text, total = in_words(**known), sum(known["kinds"].values())
    answer = replace(answer, shape=MEMORY, overview=known | {"text": text})
    if answer.relevance >= LIKELY:
        return answer
    items = []
    for place, memory in enumerate(memories):
        confidence = adjust.confidence_of(memory, plan.now)
        word = adjust.confidence_word(memory, confidence)
        score = 1 / (place + 1)
        why = Trace(signals={"place": SignalTrace(place + 1, score, score)}, ranked=score) if trace else None
        items.append(_item(memory, score, confidence, word, why=why))
    return replace(
        answer, items=items, count=total, complete=total == len(items), more=total - len(items), relevance=1.0,
        relevant=True, note=text, truncated=truncated, also={},
        elapsed_ms=(time.perf_counter() - plan.began) * 1000,
    )  # fmt: skip


def _traces(candidates: Candidates, ranking: Ranking, packed: Packed, plan: Plan) -> dict[int, Trace]:
    columns = {**candidates.features, "judge": list(ranking.judged.values())}
    traces = {}
    for i in packed.places:
        terms = contributions(candidates, ranking, i, plan.now)
        signals = {
            name: SignalTrace(
                1 + sum(other > raw for other in columns[name]) if name in columns and raw else None, raw, added
            )
            for name, (raw, added) in terms.items()
        }
        traces[i] = Trace(signals=signals, ranked=ranking.ranked[i])
    return traces


def as_items(
    store: Store, candidates: Candidates, ranking: Ranking, places: Sequence[int], plan: Plan, *,
    traces: Mapping[int, Trace] = {}, before: Mapping[int, Sequence[int]] = {},
    within: Plan | None = None, solved: Mapping[int, Memory] = {},
) -> list[Item]:  # fmt: skip
    """Return the candidates at some places as items. `before`: for each place those that it replaced or resolved;
    `within`: what did not begin in the time of its filter is outside; `solved`: what solved the problem of each."""
    memories = candidates.memories(store, places)
    warned = candidates.warnings(store, places)
    disputed = disputes(store, plan, memories, warned) if warned else {}
    indexed = [memory for memory in memories if INDEXED in memory.metadata]
    states = dict(zip([memory.id for memory in indexed], source_states(indexed), strict=True)) if indexed else {}
    items = []
    for i, memory in zip(places, memories, strict=True):
        prior = candidates.table.priors[i]
        confidence = adjust.confidence_of(prior, plan.now)
        more = _changes(store, candidates, ranking, i, before.get(i, ())) if i in ranking.changed or i in before else {}
        items.append(
            _item(
                memory, ranking.scores[i], confidence, adjust.confidence_word(prior, confidence),
                disputed_by=disputed.get(memory.id, ()), why=traces.get(i), source_state=states.get(memory.id),
                outside=within is not None and not _in_time(memory, within.where),
                also_said=tuple(candidates.also_said.get(i, ())),
                part=candidates.part_of(i, memory.content, plan.query),
                resolved_by=solution(solved[i], solved[i].content) if i in solved else None, **more,
            )
        )  # fmt: skip
    return items


def _in_time(memory: Memory, where: Filter) -> bool:
    since, until = where.since, where.until
    return (since is None or memory.valid_from_us >= since) and (until is None or memory.valid_from_us < until)


def _item(memory: Memory, score: float, confidence: float, word: str, **more: Any) -> Item:
    return Item(
        id=memory.id, kind=memory.kind, content=memory.content, scope=memory.scope, score=score, confidence=confidence,
        confidence_word=word, topics=memory.topics, key=memory.key, origin=memory.origin, trust=memory.trust,
        valid_from_us=memory.valid_from_us, valid_to_us=memory.valid_to_us, recorded_at_us=memory.created_at_us,
        session=memory.session, speaker=memory.speaker, metadata=memory.metadata, pinned=memory.pinned, **more,
    )  # fmt: skip


def _changes(store: Store, candidates: Candidates, ranking: Ranking, i: int, before: Sequence[int]) -> dict[str, Any]:
    """Return the fields of an item that name what changed it and what it replaced."""
    newer, what = ranking.changed.get(i, (i, ""))
    own, after, *earlier = ended(store, candidates, [i, newer, *before])
    changes: dict[str, Any] = {"before": tuple(earlier)}
    if what:
        changes["newer"] = (*after[:2], *own[2:])
    return changes
