"""All held memories at once: their contradictions, gaps, centrality and topics, and what could be tidied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import dataclass, field
from ..model.edges import SYMMETRIC_TYPES
from ..model.encode import INLINE, OPTIONAL, Holds, JsonForm, rounded
from ..model.errors import BadInput
from ..model.ids import format_id, parse_id
from ..model.memory import Memory
from ..rank.adjust import confidence_of
from ..rank.constants import OBSERVED_PER_DAY, STALE_DAYS, STALE_KINDS
from ..recall.pack import about, groups_of, wording
from ..store import records
from ..text.entities import entities
from ..text.normalise import normalise
from ..vectors.reader import shared
from .view import FALLEN, Link, Node, View, link_of, raw_id

# PageRank: the usual damping; the sum of changes at which it has converged. Brin & Page, 1998.
DAMPING = 0.85
TOLERANCE = 1e-9
MAX_ROUNDS = 100


class Whole:
    """Memories by place, their standings, and the edges among them. Places are indices into `memories`."""

    def __init__(self, view: View, types: Sequence[str]) -> None:
        self.view = view
        self.memories = list(view.store.listings.each(view.where()))
        self.place = place = {parse_id(memory.id): i for i, memory in enumerate(self.memories)}
        self.standings = list(map(view.standing, self.memories))
        # (source, type, target, weight), places; edges with an end out of view are left out.
        self.edges = [
            (place[edge.source], edge.type, place[edge.target], edge.weight)
            for edge in view.store.edges.all(types, known_at=view.known_at)
            if edge.source in place and edge.target in place
        ]

    def first(self, ranked: Iterable[tuple[float, int]], limit: int) -> list[tuple[Node, int]]:
        """Return the best of (value, place), with their nodes."""
        best = sorted(ranked, key=lambda pair: (-pair[0], self.memories[pair[1]].id))[:limit]
        return [(self.view.node(self.memories[place]), place) for _, place in best]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction(JsonForm):
    """Two memories that cannot both hold. `by`: a link, the review list where it waits, or the key of both."""

    memories: tuple[Node, Node]  # the surer one first
    by: str  # link, review, key
    open: bool  # both are still held
    link: Link | None = field(default=None, metadata=OPTIONAL)
    item: str | None = field(default=None, metadata=OPTIONAL)  # id of the review item
    key: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradictions(JsonForm, Holds[Contradiction]):
    """Open ones first, the most important first. `count` is of all there are, also those past the limit."""

    HELD = "found"

    found: list[Contradiction] = field(metadata={"name": "contradictions"})
    count: int = field()  # type: ignore[assignment]  # and so no count() of a sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Central(JsonForm):
    """The centrality of a memory. `rank`: PageRank, the mean of all is 1; foundations rank high."""

    node: Node = field(metadata=INLINE)
    links_in: int
    links_out: int
    rank: float = field(metadata=rounded(4))


def contradictions(view: View, *, limit: int, everything: bool) -> Contradictions:
    """Return pairs that contradict each other and both hold. `everything`: decided ones too.

    Linked by `contradicts`, waiting for review as a contradiction, or different values of one key in the scopes seen.
    """
    by_pair: dict[frozenset[bytes], Contradiction] = {}

    def add(memory: Memory, other: Memory, by: str, **more: Any) -> None:
        first, second = sorted((view.node(memory), view.node(other)), key=lambda end: (-end.confidence, end.id))
        is_open = first.standing == second.standing == "held"
        if is_open or everything:
            known = frozenset((raw_id(memory), raw_id(other)))
            by_pair.setdefault(known, Contradiction(memories=(first, second), by=by, open=is_open, **more))

    edges = view.store.edges.all(("contradicts",), known_at=view.known_at)
    memories = view.memories(end for edge in edges for end in (edge.source, edge.target))
    for edge in edges:
        if edge.source in memories and edge.target in memories:
            add(memories[edge.source], memories[edge.target], "link", link=link_of(edge))
    for proposal, memory, other in waiting_contradictions(view):
        add(memory, other, "review", item=format_id(proposal.id))
    by_key: dict[str, list[Memory]] = {}
    for memory in view.store.listings.each(view.held(), descending=False):
        if memory.key is not None:
            by_key.setdefault(memory.key, []).append(memory)
    for key, (first, *others) in by_key.items():
        for other in others:
            if normalise(other.content) != normalise(first.content):
                add(first, other, "key", key=key)
    shown = sorted(
        by_pair.values(),
        key=lambda item: (not item.open, -max(n.importance for n in item.memories), *(n.id for n in item.memories)),
    )
    return Contradictions(found=shown[:limit], count=len(shown))


def waiting_contradictions(view: View) -> list[tuple[records.Proposal, Memory, Memory]]:
    """Return contradictions and changes on the review list between memories that were held, as known then."""
    waiting = [
        proposal
        for kind in ("contradiction", "correction")
        for proposal in view.store.reviews.waiting(view.scopes, limit=records.MOST_WAITING, kind=kind)
        if view.known_at is None or proposal.created_at <= view.known_at
    ]
    memories = view.memories(id for proposal in waiting for id in (proposal.memory, proposal.other))
    pairs = []
    for proposal in waiting:
        memory, other = memories.get(proposal.memory), memories.get(proposal.other)
        if memory is not None and other is not None and view.standing(memory) == view.standing(other) == "held":
            pairs.append((proposal, memory, other))
    return pairs


def centrality(view: View, *, types: Sequence[str], limit: int) -> list[Central]:
    """Return the most central memories, by PageRank: each passes its rank on to what it rests on."""
    import numpy as np

    whole = Whole(view, types)
    count = len(whole.memories)
    if not count or not whole.edges:
        return []
    flows = [(source, target, weight) for source, type, target, weight in whole.edges if type != "supports"]
    flows += [
        (target, source, weight) for source, type, target, weight in whole.edges
        if type == "supports" or type in SYMMETRIC_TYPES
    ]  # fmt: skip
    giving, taking, weight = map(np.array, zip(*flows, strict=True))
    out = np.bincount(giving, weights=weight, minlength=count)
    share = weight / np.where(out > 0, out, 1.0)[giving]
    rank = np.full(count, 1.0 / count)
    for _ in range(MAX_ROUNDS):
        passed = np.bincount(taking, weights=rank[giving] * share, minlength=count)
        fresh = (1 - DAMPING) / count + DAMPING * (passed + rank[out == 0].sum() / count)
        converged = float(np.abs(fresh - rank).sum()) < TOLERANCE
        rank = fresh
        if converged:
            break
    links_in, links_out = Counter(edge[2] for edge in whole.edges), Counter(edge[0] for edge in whole.edges)
    linked = (i for i in range(count) if whole.standings[i] not in FALLEN and links_in[i] + links_out[i])
    return [
        Central(node=node, links_in=links_in[i], links_out=links_out[i], rank=float(rank[i]) * count)
        for node, i in whole.first(((rank[i], i) for i in linked), limit)
    ]


# -- gaps

GAPS = (
    "unjustified_decision", "single_source_inference", "weak_foundation", "superseded_often", "stale", "code",
)  # fmt: skip
# Below this confidence a reason is doubtful: less than a single statement has, for it was said to be wrong, is an old
# opinion, or was stated so. A foundation is weak when its best reason is. Guarded by tests/flows/test_graph.py.
WEAK_CONFIDENCE = OBSERVED_PER_DAY
# Corrections after which a belief counts as unsettled: three, as in the list. tests/flows/test_graph.py.
OFTEN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap(JsonForm):
    """One weakness. `severity` orders gaps of a kind: how important the memory is and how much rests on it."""

    SHOWN = ("node", "gap", "detail", "severity")

    gap: str
    node: Node = field(metadata=INLINE)
    detail: str  # in words
    severity: float = field(metadata=rounded(4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps(JsonForm, Holds[Gap]):
    """Weaknesses by kind, the severest first. `counts` are of all there are, also those past the limit."""

    HELD = "found"

    found: list[Gap] = field(metadata={"name": "gaps"})
    counts: dict[str, int]


def gaps(
    view: View, *, kinds: Sequence[str], limit: int,
    marks: Callable[[Sequence[tuple[str, str]]], Mapping[str, Sequence[tuple[str, bool]]]] | None = None,
) -> Gaps:  # fmt: skip
    """Return weaknesses among what is held; `limit` is per kind of gap. `marks`: what has changed in the code of
    memories (id, scope). Raises BadInput for an unknown kind."""
    for kind in kinds:
        if kind not in GAPS:
            raise BadInput(f"unknown gap: {str(kind)[:60]!r}", hint=f"one of: {', '.join(GAPS)}")
    whole = Whole(view, ("caused_by", "supports", "supersedes"))
    reasons, replaced = _below(whole)
    dependents = Counter(
        reason for what, causes in reasons.items() if whole.standings[what] == "held" for reason in causes
    )
    details: dict[str, dict[int, str]] = {gap: {} for gap in GAPS}
    severities: dict[int, float] = {}
    for place, memory in enumerate(whole.memories):
        if whole.standings[place] != "held":
            continue
        severities[place] = memory.importance * (1 + dependents[place])
        gap, detail = _of_reasons(whole, place, reasons.get(place, set()))
        if gap:
            details[gap][place] = detail
        if (times := _reached(place, replaced)) >= OFTEN:
            details["superseded_often"][place] = f"replaced {times} times"
        days = (view.now - max(memory.observed_at_us, memory.used_at_us or 0)) // MICROSECONDS_PER_DAY
        if memory.kind in STALE_KINDS and not memory.pinned and days > STALE_DAYS:
            details["stale"][place] = f"neither stated nor used for {days} days"
    if marks is not None and "code" in (kinds or GAPS):
        of_code = marks([(whole.memories[place].id, whole.memories[place].scope) for place in severities])
        details["code"] = {
            whole.place[parse_id(id)]: "; ".join(line for line, _ in said) for id, said in of_code.items()
        }
    gaps = [
        Gap(gap=gap, node=node, detail=details[gap][place], severity=severities[place])
        for gap in kinds or GAPS
        for node, place in whole.first(((severities[place], place) for place in details[gap]), limit)
    ]
    return Gaps(found=gaps, counts={gap: len(details[gap]) for gap in kinds or GAPS})


def _of_reasons(whole: Whole, place: int, reasons: set[int]) -> tuple[str, str]:
    """Return the gap that the reasons of a decision or an inference leave, and its description; ("", "") for none."""
    kind = whole.memories[place].kind
    if kind not in ("decision", "inference"):
        return "", ""
    live = [reason for reason in reasons if whole.standings[reason] not in FALLEN and reason != place]
    if kind == "decision" and not live:
        return "unjustified_decision", "its reason does not hold any more" if reasons else "no reason is recorded"
    if kind == "inference" and len(live) <= 1:
        return "single_source_inference", "rests on one memory alone" if live else "rests on nothing"
    if max(confidence_of(whole.memories[reason], whole.view.now) for reason in live) < WEAK_CONFIDENCE:
        return "weak_foundation", "its surest reason is doubtful"
    return "", ""


def _below(whole: Whole) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
    """Return what each place rests on, and what it replaced, along edges and keyed values, of any standing."""
    reasons: dict[int, set[int]] = {}
    replaced: dict[int, set[int]] = {}
    for source, type, target, _ in whole.edges:
        if type == "supports":
            reasons.setdefault(target, set()).add(source)
        else:
            (reasons if type == "caused_by" else replaced).setdefault(source, set()).add(target)
    for place, memory in enumerate(whole.memories):
        if memory.superseded_by is not None and (by := whole.place.get(parse_id(memory.superseded_by))) is not None:
            replaced.setdefault(by, set()).add(place)
    return reasons, replaced


def _reached(start: int, below: dict[int, set[int]]) -> int:
    """Count the places below one, directly or not; cycles are counted once."""
    seen, left = {start}, [start]
    while left:
        fresh = below.get(left.pop(), set()) - seen
        seen |= fresh
        left += fresh
    return len(seen) - 1


# -- what there is, and what could be tidied

# How many memories make a session or a topic worth a summary, and what counts as small, in bytes.
MANY, SMALL_BYTES = 12, 280
# Members of a proposal that are shown whole, and memories whose relations are read at once.
MAX_SHOWN, BLOCK = 5, 256


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityCount(JsonForm):
    """A thing that texts name. `kind`: url, path, code, flag, identifier, quoted, name; `count`: memories."""

    name: str  # as it is written most often
    kind: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(JsonForm):
    """Some memories that could become one."""

    action: str  # merge (they say the same), summarise (a topic), compress (a session)
    label: str  # kind, topic or session
    members: int
    ids: list[str]  # all of them
    shown: list[Node]  # the first of them, at most MAX_SHOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation(JsonForm, Holds[Proposal]):
    """Proposals, merges first, the largest first. `counts` are of all, also those past the limit."""

    HELD = "proposals"

    proposals: list[Proposal]
    counts: dict[str, int]


def entities_named(view: View, *, limit: int) -> list[EntityCount]:
    """Return the things that held texts name, the most named first. Reads them all. Raises EmbedderUnavailable."""
    reader = shared()
    counts: Counter[str] = Counter()
    spelled: dict[str, Counter[tuple[str, str]]] = {}
    for memory in view.store.listings.each(view.held()):
        for entity in entities(memory.content):
            if entity.kind == "name" and reader.is_common(entity.name):
                continue
            counts[entity.folded] += 1
            spelled.setdefault(entity.folded, Counter())[entity.name, entity.kind] += 1
    result = []
    for folded, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]:
        name, kind = min(spelled[folded], key=lambda form: (-spelled[folded][form], form))
        result.append(EntityCount(name=name, kind=kind, count=count))
    return result


def consolidate(view: View, *, limit: int) -> Consolidation:
    """Return what could be merged, summarised or compressed; `limit` is per action.

    To be merged is what says the same: by a model that has read both, or in the same words. To be summed up are topics
    and sessions of many small memories.
    """
    memories = list(view.store.listings.each(view.held(), descending=False))
    summed = {edge.source for edge in view.store.edges.all(("part_of",), known_at=view.known_at)}
    by_topic: dict[tuple[str, str], list[Memory]] = {}
    by_session: dict[tuple[str, str], list[Memory]] = {}
    for memory in memories:
        if len(memory.content.encode()) > SMALL_BYTES:
            continue
        for topic in memory.topics:
            by_topic.setdefault((memory.scope, topic), []).append(memory)
        if memory.session is not None and memory.kind != "episode" and raw_id(memory) not in summed:
            by_session.setdefault((memory.scope, memory.session), []).append(memory)
    groups = [("merge", "", group) for group in _saying_the_same(view, memories)]
    groups += [("summarise", topic, group) for (_, topic), group in by_topic.items() if len(group) >= MANY]
    groups += [("compress", "", group) for group in by_session.values() if len(group) >= MANY]
    groups.sort(key=lambda row: (-len(row[2]), row[1], row[2][0].id))
    proposals, counts = list[Proposal](), dict[str, int]()
    for action in ("merge", "summarise", "compress"):
        chosen = [row for row in groups if row[0] == action]
        counts[action] = len(chosen)
        for _, topic, group in chosen[:limit]:
            shown = list(map(view.node, group[:MAX_SHOWN]))
            label = topic or (shown[0].kind if action == "merge" else shown[0].session or "")
            proposals.append(Proposal(
                action=action, label=label, members=len(group), ids=[memory.id for memory in group], shown=shown
            ))  # fmt: skip
    return Consolidation(proposals=proposals, counts=counts)


def _saying_the_same(view: View, memories: Sequence[Memory]) -> Iterable[list[Memory]]:
    """Return groups of memories of one scope and kind that say the same, in their order."""
    by_id = {parse_id(memory.id): memory for memory in memories}
    wordings: dict[bytes, Hashable] = {
        id: (memory.scope, memory.kind, wording(memory.content, about(memory))) for id, memory in by_id.items()
    }
    read: list[tuple[bytes, bytes]] = []
    ids = list(by_id)
    for start in range(0, len(ids), BLOCK):
        links = view.store.relations.of(ids[start : start + BLOCK])
        read += [(link.older, link.newer) for link in links if link.relation == "same"]
    return [[by_id[id] for id in group] for group in groups_of(wordings, read) if len(group) > 1]
