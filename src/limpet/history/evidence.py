"""Beliefs about a subject and their changes: audits, timelines, differences; a claim against them.

Recall is given as a function, so that this package need not import the other. No language model is asked: similarities
and the reader of statements are evidence, and the caller judges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ..model.clock import Instant, MaybeInstant, format_time
from ..model.dataclass import dataclass, field, replace
from ..model.edges import INVERSES
from ..model.encode import INLINE, OPTIONAL, TIME, Holds, JsonForm, rounded
from ..model.errors import BadInput, EmbedderUnavailable
from ..model.ids import parse_id
from ..model.memory import STORED_TYPES, Memory
from ..rank.adjust import stage
from ..text.lexicon import content
from .view import Link, Node, View, link_of, raw_id
from .walk import Affected, chain, edges_around, impact, rested_before, why
from .whole import waiting_contradictions

# A memory speaks of a claim from this similarity on: the cosine of all-MiniLM-L6-v2 (of 18 pairs looked at by hand,
# paraphrases lay at 0.75 to 0.95, texts about the same thing at 0.39 to 0.66, with one exception: lives and works in
# Berlin, 0.91). What is nearer than NEAR but not that near is a suggestion. Similarity is no proof: the reader judges.
# Guarded by tests/flows/test_graph.py.
SAME = 0.7
NEAR = 0.3
# Log-odds from which a claim is read as against what is held.
AGAINST = 0.7

# text, how many, view -> (id, cosine; None without vectors) of what recall answers, best first.
Recaller = Callable[[str, int, View], list[tuple[str, float | None]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Support(JsonForm):
    """A memory near a claim. `similarity`: 0 to 1. `difference`: why it speaks against the claim, None if for it."""

    node: Node = field(metadata=INLINE)
    similarity: float = field(metadata=rounded(4))
    difference: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding(JsonForm):
    """The beliefs about a claim. `verdict`: supported, disputed (some for, some against), opposed, ungrounded."""

    claim: str
    verdict: str
    supports: list[Support]
    against: list[Support]
    suggestions: list[Support]  # near, but not about the same: what might be looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Yields(JsonForm):
    """A belief that could not stay if a claim were true, and all that rests on it."""

    node: Node = field(metadata=INLINE)
    because: str
    affected: list[Affected]
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision(JsonForm):
    """The beliefs that would have to give if a claim were true, and those that agree with it. Nothing is changed."""

    claim: str
    gives: list[Yields]
    agrees: list[Support] = field(default_factory=list)


def ground(view: View, recall: Recaller, claim: str, *, limit: int) -> Grounding:
    """Return beliefs that support a claim or oppose it, and what is near when none does. Raises BadInput."""
    compared = _compared(view, recall, claim, limit)
    supports = [support for support in compared if support.similarity >= SAME and support.difference is None]
    against = [support for support in compared if support.difference is not None]
    # And what is linked as contradicting what supports it.
    known = {support.node.id for support in (*supports, *against)}
    edges = edges_around(view, [raw_id(support.node) for support in supports], ("contradicts",)) if supports else []
    against += [
        Support(node=node, similarity=0.0, difference="contradicts what supports the claim")
        for node in view.nodes(dict.fromkeys(end for edge in edges for end in (edge.source, edge.target)))
        if node.id not in known and node.standing == "held"
    ]
    verdict = "ungrounded"
    if supports or against:
        verdict = "opposed" if not supports else "disputed" if against else "supported"
    suggestions = [support for support in compared if support.similarity < SAME and support.difference is None]
    return Grounding(claim=claim, verdict=verdict, supports=supports, against=against, suggestions=suggestions)


def revise(view: View, recall: Recaller, claim: str, *, against: Sequence[str], depth: int, limit: int) -> Revision:
    """Return the beliefs that would have to give if `claim` were true: those against it, and all that rests on them.

    `against`: ids of memories that the caller knows it to contradict. Raises NotFound, AmbiguousId, BadInput.
    """
    given = [view.find(id) for id in against]
    grounding = ground(view, recall, claim, limit=limit)
    reasons = {memory.id: "named by the caller" for memory in given}
    for support in grounding.against:
        reasons.setdefault(support.node.id, support.difference or "contradicts what agrees with the claim")
    gives = []
    for id, because in list(reasons.items())[:limit]:
        resting = impact(view, id, depth=depth, limit=limit)
        gives.append(
            Yields(node=resting.memory, because=because, affected=resting.affected, truncated=resting.truncated)
        )
    return Revision(claim=claim, gives=gives, agrees=[row for row in grounding.supports if row.node.id not in reasons])


def near(view: View, recall: Recaller, text: str, limit: int) -> list[tuple[Memory, float]]:
    """Return memories near a text, in the order of recall, with their similarity; without vectors all are just near."""
    similarities = {parse_id(id): NEAR if cosine is None else cosine for id, cosine in recall(text, limit, view)}
    memories = view.memories(similarities)
    return [(memories[id], value) for id, value in similarities.items() if id in memories and value >= NEAR]


def _compared(view: View, recall: Recaller, claim: str, limit: int) -> list[Support]:
    """Return held memories near a claim, nearest first, each read with it: would the claim, stated now, change it?

    Two to one is enough: somebody asks about one claim, while of all pairs in a store hardly any is a change.
    """
    from ..relate.job import statement
    from ..relate.verdicts import change_odds
    from ..vectors.reader import shared

    if not claim.strip():
        raise BadInput("the text is empty")
    held = [(old, value) for old, value in near(view, recall, claim, limit) if view.standing(old) == "held"]
    now, words, reader = f"{(format_time(view.as_of) or '')[:10]} {claim}", content(claim), shared()
    against = set[str]()
    with suppress(EmbedderUnavailable):
        read = [old for old, _ in held if reader.reads(claim) and reader.reads(old.content)]
        relations = reader.relations([(statement(old), now) for old in read])
        against |= {
            old.id for old, relation in zip(read, relations, strict=True)
            if change_odds(relation) > AGAINST and content(old.content) != words
        }  # fmt: skip
    supports = [
        Support(node=view.node(old), similarity=similarity, difference="says otherwise" if old.id in against else None)
        for old, similarity in held
    ]
    return sorted(supports, key=lambda support: (-support.similarity, support.node.id))


# -- audit

# Links and corrections that one belief of an audit shows of each sort.
SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief(JsonForm):
    """One memory as an audit shows it."""

    node: Node = field(metadata=INLINE)
    trust: str
    stage: str  # observation, hypothesis, verified
    observations: int  # distinct days
    observed_at_us: int = field(metadata=TIME)
    source: str | None
    speaker: str | None
    replaced: list[Node]  # what it corrected, oldest first
    replaced_by: list[Node]
    corrections: dict[str, str]  # id of a replaced memory -> why
    reasons: list[Node]
    conflicts: list[Node]
    rests_on_it: list[Affected]
    rested_before: list[Affected]  # what rests on what it replaced, and may have to change with it
    merged: list[Node]  # other wordings that it speaks for
    observed_at = Instant("observed_at_us")


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit(JsonForm, Holds[Belief]):
    """The beliefs about a subject, the most relevant first, as of a time in the world and one of knowledge."""

    HELD = "beliefs"

    about: str
    by: str  # id, key, code or text
    as_of_us: int = field(metadata=TIME)
    known_at_us: int | None = field(metadata=TIME)
    beliefs: list[Belief]
    as_of = Instant("as_of_us")
    known_at = MaybeInstant("known_at_us")


def audit(view: View, about: str, by: str, memories: Sequence[Memory]) -> Audit:
    """Return the beliefs in the memories found for a subject."""
    waiting = [(proposal.memory, proposal.other) for proposal, _, _ in waiting_contradictions(view)]
    beliefs = []
    for memory in memories:
        raw = raw_id(memory)
        history = chain(view, memory.id, limit=SHOWN)
        resting = impact(view, memory.id, depth=1, limit=SHOWN)
        edges = edges_around(view, [raw], ("contradicts",))
        pairs = [*((edge.source, edge.target) for edge in edges), *(pair for pair in waiting if raw in pair)]
        others = view.nodes(dict.fromkeys(end for pair in pairs for end in pair if end != raw))
        beliefs.append(Belief(
            node=view.node(memory), trust=memory.trust, stage=stage(memory.observations, memory.trust),
            observations=memory.observations, observed_at_us=memory.observed_at_us, source=memory.source,
            speaker=memory.speaker, replaced=history.before, replaced_by=history.after, corrections=history.reasons,
            reasons=why(view, memory.id, depth=1, limit=SHOWN, everything=False).reasons,
            conflicts=[node for node in others if node.standing == "held"][:SHOWN],
            rests_on_it=resting.affected, rested_before=rested_before(view, resting, history.before, limit=SHOWN),
            merged=[view.node(other) for other in view.store.graph.merged_into([raw], view.where())],
        ))  # fmt: skip
    return Audit(about=about, by=by, as_of_us=view.as_of, known_at_us=view.known_at, beliefs=beliefs)


# -- along time


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment(JsonForm):
    """One entry of a timeline. `at`: when it began to hold."""

    SHOWN = ("node", "content", "at_us", "relation")

    at_us: int = field(metadata=TIME)
    node: Node = field(metadata=INLINE)
    relation: str  # to what was asked about: itself, earlier version, session, "TYPE it", match
    content: str  # as it was in that version
    at = Instant("at_us")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline(JsonForm, Holds[Moment]):
    """Moments, oldest first. `about`: what was asked."""

    HELD = "moments"

    about: str
    by: str  # memory, key, text, or all
    moments: list[Moment]
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(JsonForm):
    """One belief that began, ended or was reworded. `how`: a word for it; `before`: earlier words, if reworded."""

    node: Node = field(metadata=INLINE)  # as it stands at the later moment
    how: str  # new, restored, began; corrected, retracted, archived, ended, purged, undone; reworded, requalified
    before: str | None = field(default=None, metadata=OPTIONAL)
    by: str | None = field(default=None, metadata=OPTIONAL)  # id of what replaced it


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff(JsonForm):
    """Beliefs between two moments. Counts are of all; lists hold the newest up to the limit."""

    start_us: int = field(metadata=TIME | {"name": "from"})
    end_us: int = field(metadata=TIME | {"name": "to"})
    began: list[Change]
    ended: list[Change]
    changed: list[Change]
    linked: list[Link]
    unlinked: list[Link]
    counts: dict[str, int]
    start = Instant("start_us")
    end = Instant("end_us")


# What a reader would notice of a belief besides its words.
_QUALITIES = ("topics", "metadata", "key", "valid_from", "valid_to", "pinned", "importance", "stated_confidence")
_OWN = ("itself", "earlier version")
# Neighbours in its session that a memory is shown with, on either side.
REACH = 5


def around(view: View, id: str, *, limit: int) -> Timeline:
    """Return a memory with its versions, its neighbours in the session and its links, along time.

    Raises NotFound, AmbiguousId, BadInput.
    """
    memory = view.find(id)
    raw = raw_id(memory)
    relations: dict[bytes, str] = {}
    # What stands next in the session is among its neighbours below.
    for edge in edges_around(view, [raw], STORED_TYPES):
        # As the other one's sentence: "supports it", "causes it".
        outward = edge.source == raw
        type = INVERSES[edge.type] if outward else edge.type
        relations.setdefault(edge.target if outward else edge.source, f"{type} it")
    memories = view.memories(relations)
    for near in view.store.graph.session_around(raw, view.where(), reach=REACH):
        memories.setdefault(raw_id(near), near)
        relations.setdefault(raw_id(near), "session")
    memories.pop(raw, None)
    moments = [_moment(view, other, relations[id]) for id, other in memories.items() if other.state != "purged"]
    # The memory itself where it began to hold, and each change of its words where the store learned of it.
    words, own = None, list[Moment]()
    for version in view.store.memories.versions(raw):
        if version.content == words or (view.known_at is not None and version.recorded_at_us > view.known_at):
            continue
        at = version.valid_from_us if words is None else version.recorded_at_us
        own.append(Moment(at_us=at, node=view.node(memory), relation="earlier version", content=version.content))
        words = version.content
    own[-1] = replace(own[-1], relation="itself")
    return _along(memory.id, "memory", moments + own, limit)


def timeline_of(view: View, about: str, by: str, memories: Sequence[Memory], *, limit: int) -> Timeline:
    """Return memories found by other means, along time."""
    relation = {"text": "match", "key": "value"}.get(by, "newest")
    return _along(about, by, [_moment(view, memory, relation) for memory in memories], limit)


def _along(about: str, by: str, moments: list[Moment], limit: int) -> Timeline:
    """Sort by time. When there are too many, keep the subject itself first, then the newest."""

    def order(moment: Moment) -> tuple[object, ...]:
        return moment.at, moment.node.position, moment.node.recorded_at, moment.node.id

    kept = sorted(moments, key=lambda moment: (moment.relation in _OWN, *order(moment)))[-limit:]
    return Timeline(about=about, by=by, moments=sorted(kept, key=order), truncated=len(kept) < len(moments))


def _moment(view: View, memory: Memory, relation: str) -> Moment:
    return Moment(at_us=memory.valid_from_us, node=view.node(memory), relation=relation, content=memory.content)


def diff(view: View, start: int, end: int, *, as_of: int | None, limit: int) -> Diff:
    """Compare beliefs at `end` with those at `start`. `as_of`: about one instant; None: each moment about itself.

    Raises BadInput when `end` is before `start`.
    """
    if end < start:
        raise BadInput(f"{format_time(end)} is before {format_time(start)}", hint="give the earlier moment first")
    then = replace(view, known_at=start, as_of=start if as_of is None else as_of)
    later = replace(view, known_at=end, as_of=end if as_of is None else as_of)
    held = (start, end) if as_of is None else (0, 0)
    ids = view.store.graph.changed(replace(view.where(), known_at=None), (start, end), held)
    old, new = then.memories(ids), later.memories(ids)
    lists: dict[str, list[Any]] = {"began": [], "ended": [], "changed": []}
    for id in ids:
        what, change = _change(then, later, old.get(id), new[id]) if id in new else ("", None)
        if change is not None:
            lists[what].append(change)
    for changes in lists.values():
        changes.sort(key=lambda change: (-change.node.recorded_at_us, change.node.id))
    # Links that hold at `end` and did not at `start`, and the other way round; both ends seen from here.
    links: dict[bool, dict[tuple[bytes, str, bytes], Link]] = {True: {}, False: {}}
    edges = view.store.edges.changed(start, end)
    seen = later.standings(id for edge in edges for id in (edge.source, edge.target))
    for edge in edges:
        after = edge.retired_at is None or edge.retired_at > end
        if (edge.recorded_at <= start) != after and edge.source in seen and edge.target in seen:
            links[after][edge.source, edge.type, edge.target] = link_of(edge)
    for name, after in (("linked", True), ("unlinked", False)):
        lists[name] = [link for slot, link in links[after].items() if slot not in links[not after]]
    counts = {name: len(items) for name, items in lists.items()}
    return Diff(start_us=start, end_us=end, counts=counts, **{name: items[:limit] for name, items in lists.items()})


def _change(then: View, later: View, old: Memory | None, new: Memory) -> tuple[str, Change | None]:
    """Return (began, ended or changed, how); None for no change."""
    node = later.node(new)
    if new.state == "purged":
        # Its versions are gone; only that there was something is still known.
        known_before = new.created_at_us <= (then.known_at or 0) and (old is None or old.state != "purged")
        return "ended", Change(node=node, how="purged") if known_before else None
    before = "" if old is None else then.standing(old)
    was, now = before == "held", node.standing == "held"
    if now and not was:
        how = "new" if old is None else "began" if before == "future" else "restored"
        return "began", Change(node=node, how=how)
    if was and not now:
        how = {"superseded": "corrected", "future": "ended"}.get(node.standing, node.standing)
        return "ended", Change(node=node, how="undone" if node.reason == "undone" else how, by=new.superseded_by)
    if old is not None and was and now:
        if old.content != new.content:
            return "changed", Change(node=node, how="reworded", before=old.content)
        if any(getattr(old, name) != getattr(new, name) for name in _QUALITIES):
            return "changed", Change(node=node, how="requalified")
    return "", None
