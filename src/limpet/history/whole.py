"""The whole graph at once: one load of nodes and edges, and what is read off it: contradictions, gaps, centrality."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import dataclass, field
from ..model.edges import STORED_TYPES, SYMMETRIC_TYPES
from ..model.encode import INLINE, OPTIONAL, JsonForm, named, rounded
from ..model.errors import BadInput
from ..model.ids import format_id
from ..model.memory import Memory
from ..model.sequence import Holds
from ..rank.adjust import confidence_of
from ..rank.constants import OBSERVED_PER_DAY, STALE_DAYS, STALE_KINDS
from ..store.records import MOST_WAITING, GraphNode, Proposal
from ..text.normalise import normalise
from .view import FALLEN, Link, Node, View, link_of, raw_id, standing

# PageRank: the usual damping; the sum of changes at which it has converged. Brin & Page, 1998.
DAMPING = 0.85
TOLERANCE = 1e-9
MAX_ROUNDS = 100


class Whole:
    """Nodes by place, their standings, and what rests on what. Places are indices into `nodes`."""

    def __init__(self, view: View, types: Sequence[str] = STORED_TYPES) -> None:
        self.view = view
        self.nodes: list[GraphNode] = view.store.graph.nodes(view.where())
        self.place = {node.id: i for i, node in enumerate(self.nodes)}
        self.standings = [
            standing(one.state, one.superseded_by is not None, one.valid_from, one.valid_to, view.as_of)
            for one in self.nodes
        ]
        place = self.place
        # (source, type, target, weight), places; edges with an end out of view are left out.
        self.edges = [
            (place[one.source], one.type, place[one.target], one.weight)
            for one in view.store.edges.all(types, known_at=view.known_at)
            if one.source in place and one.target in place
        ]

    def reasons(self) -> dict[int, set[int]]:
        """What each place rests on, whatever the standing of either."""
        found: dict[int, set[int]] = {}
        for source, type, target, _ in self.edges:
            if type == "caused_by":
                found.setdefault(source, set()).add(target)
            elif type == "supports":
                found.setdefault(target, set()).add(source)
        return found

    def counts(self, place: int) -> bool:
        """Whether something may rest on it."""
        return self.standings[place] not in FALLEN


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

    found: list[Contradiction] = field(metadata=named("contradictions"))
    count: int = field()  # type: ignore[assignment]  # and so no count() of a sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Central(JsonForm):
    """How much the graph turns on a memory. `rank`: PageRank, the mean of all is 1; foundations rank high."""

    node: Node = field(metadata=INLINE)
    links_in: int
    links_out: int
    rank: float = field(metadata=rounded(4))


def contradictions(view: View, *, limit: int, everything: bool) -> Contradictions:
    """Pairs that contradict each other and both hold. `everything`: decided ones too.

    Linked by `contradicts`, waiting for review as a contradiction, or different values of one key in the scopes seen.
    """
    edges = view.store.edges.all(("contradicts",), known_at=view.known_at)
    memories = view.memories(end for edge in edges for end in (edge.source, edge.target))
    found: list[Contradiction] = []
    pairs: set[frozenset[bytes]] = set()
    for edge in edges:
        pair = frozenset((edge.source, edge.target))
        one, other = memories.get(edge.source), memories.get(edge.target)
        if pair in pairs or one is None or other is None:
            continue
        pairs.add(pair)
        is_open = view.standing(one) == view.standing(other) == "held"
        if is_open or everything:
            found.append(_contradiction(view.node(one), view.node(other), is_open, link=link_of(edge)))
    for proposal, one, other in waiting_contradictions(view):
        pair = frozenset((proposal.memory, proposal.other))
        if pair not in pairs:
            pairs.add(pair)
            found.append(_contradiction(view.node(one), view.node(other), True, item=format_id(proposal.id)))
    found += _key_conflicts(view, pairs)
    found.sort(
        key=lambda one: (not one.open, -max(n.importance for n in one.memories), one.memories[0].id, one.memories[1].id)
    )
    return Contradictions(found=found[:limit], count=len(found))


def waiting_contradictions(view: View) -> list[tuple[Proposal, Memory, Memory]]:
    """Contradictions and changes on the review list between memories that were held, as known then."""
    waiting = [
        one
        for kind in ("contradiction", "correction")
        for one in view.store.reviews.waiting(view.scopes, limit=MOST_WAITING, kind=kind)
        if view.known_at is None or one.created_at <= view.known_at
    ]
    memories = view.memories(id for one in waiting for id in (one.memory, one.other))
    found = []
    for proposal in waiting:
        one, other = memories.get(proposal.memory), memories.get(proposal.other)
        if one is not None and other is not None and view.standing(one) == view.standing(other) == "held":
            found.append((proposal, one, other))
    return found


def _key_conflicts(view: View, known: set[frozenset[bytes]]) -> list[Contradiction]:
    by_key: dict[str, list[GraphNode]] = {}
    for node in view.store.graph.nodes(view.held()):
        if node.key is not None:
            by_key.setdefault(node.key, []).append(node)
    several = {key: [node.id for node in nodes] for key, nodes in by_key.items() if len(nodes) > 1}
    memories = view.memories(id for ids in several.values() for id in ids)
    found = []
    for key, ids in several.items():
        first = memories[ids[0]]
        for id in ids[1:]:
            if frozenset((ids[0], id)) not in known and normalise(memories[id].content) != normalise(first.content):
                found.append(_contradiction(view.node(first), view.node(memories[id]), True, key=key))
    return found


def _contradiction(
    one: Node, other: Node, is_open: bool, *, link: Link | None = None, item: str | None = None, key: str | None = None
) -> Contradiction:
    pair = (one, other) if (-one.confidence, one.id) <= (-other.confidence, other.id) else (other, one)
    by = "link" if link else "review" if item else "key"
    return Contradiction(memories=pair, by=by, open=is_open, link=link, item=item, key=key)


def centrality(view: View, *, types: Sequence[str], limit: int) -> list[Central]:
    """The memories the graph turns on most, by PageRank: a thing passes its rank on to what it rests on."""
    import numpy as np

    whole = Whole(view, types)
    count = len(whole.nodes)
    if not count or not whole.edges:
        return []
    source = np.array([edge[0] for edge in whole.edges])
    target = np.array([edge[2] for edge in whole.edges])
    weight = np.array([edge[3] for edge in whole.edges])
    supports = np.array([edge[1] == "supports" for edge in whole.edges])
    both = np.array([edge[1] in SYMMETRIC_TYPES for edge in whole.edges])
    giving = np.concatenate([np.where(supports, target, source), target[both]])
    taking = np.concatenate([np.where(supports, source, target), source[both]])
    weight = np.concatenate([weight, weight[both]])
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
    links_in = np.bincount(target, minlength=count)
    links_out = np.bincount(source, minlength=count)
    standing_nodes = [i for i in range(count) if whole.counts(i) and links_in[i] + links_out[i]]
    best = sorted(standing_nodes, key=lambda i: (-rank[i], whole.nodes[i].id))[:limit]
    nodes = {raw_id(node): node for node in view.nodes(whole.nodes[i].id for i in best)}
    return [
        Central(
            node=nodes[whole.nodes[i].id],
            links_in=int(links_in[i]),
            links_out=int(links_out[i]),
            rank=float(rank[i]) * count,
        )
        for i in best
    ]


# -- gaps

GAPS = ("unjustified_decision", "single_source_inference", "weak_foundation", "superseded_often", "stale")
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

    found: list[Gap] = field(metadata=named("gaps"))
    counts: dict[str, int]


def gaps(view: View, *, kinds: Sequence[str], limit: int) -> Gaps:
    """Weaknesses among what is held; `limit` is per kind of gap. Raises BadInput for an unknown kind."""
    for kind in kinds:
        if kind not in GAPS:
            raise BadInput(f"unknown gap: {str(kind)[:60]!r}", hint=f"one of: {', '.join(GAPS)}")
    whole = Whole(view, ("caused_by", "supports", "supersedes"))
    reasons = whole.reasons()
    dependents: dict[int, int] = {}
    for what, rests_on in reasons.items():
        if whole.standings[what] == "held":
            for reason in rests_on:
                dependents[reason] = dependents.get(reason, 0) + 1
    rows: dict[str, list[tuple[float, int, str]]] = {gap: [] for gap in GAPS}
    replaced = _replaced_counts(whole)
    for place, node in enumerate(whole.nodes):
        if whole.standings[place] != "held":
            continue
        severity = node.importance * (1 + dependents.get(place, 0))
        for gap, detail in (
            _of_reasons(whole, place, node.kind, reasons.get(place, set())),
            ("superseded_often", f"replaced {replaced[place]} times") if replaced.get(place, 0) >= OFTEN else ("", ""),
            _stale(whole, place),
        ):
            if gap:
                rows[gap].append((severity, place, detail))
    found = []
    for gap in kinds or GAPS:
        best = sorted(rows[gap], key=lambda row: (-row[0], whole.nodes[row[1]].id))[:limit]
        nodes = {raw_id(node): node for node in view.nodes(whole.nodes[place].id for _, place, _ in best)}
        found += [
            Gap(gap=gap, node=nodes[whole.nodes[place].id], detail=detail, severity=severity)
            for severity, place, detail in best
        ]
    return Gaps(found=found, counts={gap: len(rows[gap]) for gap in kinds or GAPS})


def _of_reasons(whole: Whole, place: int, kind: str, reasons: set[int]) -> tuple[str, str]:
    """Which gap the reasons of a decision or an inference leave, and what to say; ("", "") for none."""
    if kind not in ("decision", "inference"):
        return "", ""
    live = [one for one in reasons if whole.counts(one) and one != place]
    if kind == "decision" and not live:
        return "unjustified_decision", "its reason does not hold any more" if reasons else "no reason is recorded"
    if kind == "inference" and len(live) <= 1:
        return "single_source_inference", "rests on one memory alone" if live else "rests on nothing"
    if max(confidence_of(whole.nodes[one], whole.view.now) for one in live) < WEAK_CONFIDENCE:
        return "weak_foundation", "its surest reason is doubtful"
    return "", ""


def _stale(whole: Whole, place: int) -> tuple[str, str]:
    one = whole.nodes[place]
    if one.kind not in STALE_KINDS or one.pinned:
        return "", ""
    days = (whole.view.now - max(one.observed_at_us, one.used_at or 0)) // MICROSECONDS_PER_DAY
    return ("stale", f"neither stated nor used for {days} days") if days > STALE_DAYS else ("", "")


def _replaced_counts(whole: Whole) -> dict[int, int]:
    """How many memories each one replaced in the end, along edges and keyed values; cycles are counted once."""
    before: dict[int, set[int]] = {}
    for source, type, target, _ in whole.edges:
        if type == "supersedes":
            before.setdefault(source, set()).add(target)
    for place, node in enumerate(whole.nodes):
        if node.superseded_by is not None and (by := whole.place.get(node.superseded_by)) is not None:
            before.setdefault(by, set()).add(place)
    counts: dict[int, int] = {}
    for start in before:
        if whole.standings[start] != "held":
            continue
        seen, left = {start}, [start]
        while left:
            for one in before.get(left.pop(), ()):
                if one not in seen:
                    seen.add(one)
                    left.append(one)
        counts[start] = len(seen) - 1
    return counts
