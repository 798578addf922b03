"""The answer of a recall: plan, candidates, features, score, pack.

Read in this order: `plan.py` (what is asked), `candidates.py` (which memories may be meant), `features.py` (what each
signal says of them), `score.py` (the one number that decides), `pack.py` (near-duplicates and the token budget).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from ..model.clock import Instant, MaybeInstant
from ..model.dataclass import NamedTuple, dataclass, field
from ..model.encode import OPTIONAL, TIME, Holds, JsonForm, decoded, encode, rounded
from ..model.ids import format_id
from ..rank import adjust
from .candidates import Candidates, find_candidates
from .lookup import INDEXED, source_states
from .newer import Told, disputes, ended
from .pack import Packed, pack
from .plan import Plan, within_time
from .relevance import IN_TIME, note
from .score import Ranking, contributions, rank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
        "resolved_by", "before", "also_said", "source_state", "pinned", "why",
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
    # Id and text of what replaced it or likely did, of what says that it is over, of what it replaced, newest first;
    # and why, where somebody said so.
    newer: Told | None = field(default=None, metadata=_OTHER)
    resolved_by: Told | None = field(default=None, metadata=_OTHER)
    before: tuple[Told, ...] = field(default=(), metadata=_OTHERS)
    # Of what was merged into it and answers the question: id and text.
    also_said: tuple[tuple[str, str], ...] = field(default=(), metadata=_OTHERS)
    why: Trace | None = field(default=None, metadata=OPTIONAL)
    source_state: str | None = field(default=None, metadata=OPTIONAL)  # of an indexed file: fresh, drifted or gone
    pinned: bool = field(default=False, metadata=OPTIONAL)
    valid_from = Instant("valid_from_us")
    valid_to = MaybeInstant("valid_to_us")
    recorded_at = Instant("recorded_at_us")

    def history(self) -> list[tuple[str, Told]]:
        """Return what replaced the memory, what it replaced and what was merged into it: [(newer, over, before or also
        said, (id, text, why?))]."""
        after = [(what, pair) for what, pair in (("newer", self.newer), ("over", self.resolved_by)) if pair is not None]
        return after + [("before", pair) for pair in self.before] + [("also said", pair) for pair in self.also_said]

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> Item:
        """Read an item from its `as_dict`, without its trace."""
        given = decoded(cls, shown, without=("why",))
        given |= {name: tuple(given[name]) for name in ("topics", "disputed_by") if name in given}
        given |= {name: tuple(given[name].values()) for name in ("newer", "resolved_by") if name in given}
        for name in ("before", "also_said"):
            given[name] = tuple(tuple(other.values()) for other in given.get(name, ()))
        return cls(**given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall(JsonForm, Holds[Item]):
    """Memories by their scores, best first, and which signals could not be asked (`notes` says why)."""

    SHOWN = ("query", "items", *HOW_IT_WENT, "explained")

    query: str
    items: list[Item]
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
    with store.snapshot(plan.deadline):
        timed = within_time(semantic, plan)
        candidates = find_candidates(store, semantic, timed, ended=True)
        is_known = bool(candidates.table.rows)
        if timed.in_time and not is_known:
            candidates = find_candidates(store, semantic, plan, ended=True)  # the nearest are shown
        else:
            plan = timed
        ranking = rank(store, semantic, candidates, plan, skip=skip, thorough=thorough)
        packed = pack(store, candidates, ranking, plan)
        traces = _traces(candidates, ranking, packed, plan) if trace or explain else {}
        items = as_items(store, candidates, ranking, packed.places, plan, traces=traces, before=packed.before)
        explained = None
        if explain:
            from .explain import explanation

            explained = explanation(store, semantic, plan, candidates, packed, lower=len(ranking.order))
    likely, relevant = (float(is_known), is_known) if timed.in_time else (ranking.relevance, ranking.relevant)
    said = note(likely, relevant, shown=items, missing=candidates.missing)
    also = {}
    for i, others in packed.also.items():
        also[format_id(candidates.table.ids[i])] = tuple([format_id(candidates.table.ids[other]) for other in others])
    return Recall(
        query=plan.query,
        items=items,
        missing=candidates.missing,
        notes=candidates.notes,
        elapsed_ms=(time.perf_counter() - plan.began) * 1000,
        truncated=packed.truncated,
        relevance=likely,
        relevant=relevant,
        note=IN_TIME if plan.in_time else said,
        explained=explained,
        also=also,
    )


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
) -> list[Item]:  # fmt: skip
    """Return the candidates at some places as items. `before`: for each place those that it surely replaced."""
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
            Item(
                id=memory.id, kind=memory.kind, content=memory.content, scope=memory.scope, score=ranking.scores[i],
                confidence=confidence, confidence_word=adjust.confidence_word(prior, confidence),
                topics=memory.topics, key=memory.key, origin=memory.origin, trust=memory.trust,
                valid_from_us=memory.valid_from_us, valid_to_us=memory.valid_to_us,
                recorded_at_us=memory.created_at_us, session=memory.session, speaker=memory.speaker,
                metadata=memory.metadata, disputed_by=disputed.get(memory.id, ()), why=traces.get(i),
                source_state=states.get(memory.id), pinned=memory.pinned,
                also_said=tuple(candidates.also_said.get(i, ())), **more,
            )
        )  # fmt: skip
    return items


def _changes(store: Store, candidates: Candidates, ranking: Ranking, i: int, before: Sequence[int]) -> dict[str, Any]:
    """Return the fields of an item that name what changed it and what it replaced."""
    newer, what = ranking.changed.get(i, (i, ""))
    own, after, *earlier = ended(store, candidates, [i, newer, *before])
    changes: dict[str, Any] = {"before": tuple(earlier)}
    if what:
        changes["resolved_by" if what.startswith("resolves") else "newer"] = (*after[:2], *own[2:])
    return changes
