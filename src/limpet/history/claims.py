"""What is believed about something: an audit; a claim against it: grounded or not, and what would have to give.

Recall is given as a function, so that this package need not know the other. No language model is asked: a similarity
and the reader of statements speak, and who asked judges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..model.clock import Instant, MaybeInstant
from ..model.dataclass import dataclass, field
from ..model.encode import INLINE, OPTIONAL, TIME, JsonForm, rounded
from ..model.errors import BadInput, EmbedderUnavailable
from ..model.ids import parse_id
from ..model.memory import Memory
from ..model.sequence import Holds
from ..rank.adjust import stage
from ..text.normalise import normalise
from .view import Node, View, raw_id
from .walk import Affected, chain, edges_around, impact, rested_before, why
from .whole import waiting_contradictions

# A memory speaks of a claim from this similarity on: the cosine of all-MiniLM-L6-v2 (of 18 pairs looked at by hand,
# paraphrases lay at 0.75 to 0.95, texts about the same thing at 0.39 to 0.66, with one exception: lives and works in
# Berlin, 0.91); without vectors, the share of the claim's words that the memory has. What is nearer than NEAR but not
# that near is a suggestion. Similarity is no proof: the reader judges. Guarded by tests/flows/test_graph.py.
SAME = 0.7
NEAR = 0.3

_WORD = re.compile(r"\w+(?:['’]\w+)?")


class Match(NamedTuple):
    """A memory that recall found. `cosine` is None when it has no vector or none was asked."""

    id: str
    cosine: float | None


# text, how many, view -> matches, best first.
Recaller = Callable[[str, int, View], list[Match]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Support(JsonForm):
    """A memory near a claim. `similarity`: 0 to 1. `difference`: why it speaks against the claim, None if for it."""

    node: Node = field(metadata=INLINE)
    similarity: float = field(metadata=rounded(4))
    difference: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding(JsonForm):
    """What is believed about a claim. `verdict`: supported, disputed (some for, some against), opposed, ungrounded."""

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
    """What would have to give if a claim were true, and what would agree with it. Nothing is changed."""

    claim: str
    gives: list[Yields]
    agrees: list[Support] = field(default_factory=list)


def says_otherwise(claim: str, texts: Sequence[str]) -> list[bool]:
    """For each text whether a claim would change it, as the reader of statements takes both."""
    from ..relate.verdicts import CHANGES, verdict
    from ..vectors.reader import shared

    try:
        found = map(verdict, shared().relations([(text, claim) for text in texts]))
    except EmbedderUnavailable:
        return [False] * len(texts)
    return [one is not None and one.relation in CHANGES for one in found]


def ground(view: View, recall: Recaller, claim: str, *, limit: int) -> Grounding:
    """Which beliefs support a claim, which speak against it, and what is near when none does. Raises BadInput."""
    near = _near(view, recall, claim, limit)
    supports = [one for one in near if one.similarity >= SAME and one.difference is None]
    against = [one for one in near if one.similarity >= NEAR and one.difference is not None]
    against += _contradicted(view, supports, {one.node.id for one in (*supports, *against)})
    verdict = "ungrounded"
    if supports or against:
        verdict = "opposed" if not supports else "disputed" if against else "supported"
    suggestions = [one for one in near if NEAR <= one.similarity < SAME and one.difference is None]
    return Grounding(claim=claim, verdict=verdict, supports=supports, against=against, suggestions=suggestions)


def revise(view: View, recall: Recaller, claim: str, *, against: Sequence[str], depth: int, limit: int) -> Revision:
    """What would have to give if `claim` were true: what speaks against it, and what rests on that.

    `against`: ids of memories that the caller knows it to contradict. Raises NotFound, AmbiguousId, BadInput.
    """
    given = [view.find(id) for id in against]
    grounding = ground(view, recall, claim, limit=limit)
    reasons = {one.id: "named by the caller" for one in given}
    for one in grounding.against:
        reasons.setdefault(one.node.id, one.difference or "contradicts what agrees with the claim")
    gives = []
    for id, because in list(reasons.items())[:limit]:
        resting = impact(view, id, depth=depth, limit=limit, everything=False)
        gives.append(
            Yields(node=resting.memory, because=because, affected=resting.affected, truncated=resting.truncated)
        )
    return Revision(claim=claim, gives=gives, agrees=[one for one in grounding.supports if one.node.id not in reasons])


def _near(view: View, recall: Recaller, text: str, limit: int) -> list[Support]:
    """Held memories near a text, nearest first."""
    if not text.strip():
        raise BadInput("the text is empty")
    matches = recall(text, limit, view)
    memories = view.memories(parse_id(one.id) for one in matches)
    held = [
        (one, overlap(text, one) if match.cosine is None else match.cosine)
        for match in matches
        if (one := memories.get(parse_id(match.id))) is not None and view.standing(one) == "held"
    ]
    against = says_otherwise(text, [one.content for one, _ in held])
    found = [
        Support(node=view.node(one), similarity=similarity, difference="says otherwise" if differs else None)
        for (one, similarity), differs in zip(held, against, strict=True)
    ]
    return sorted(found, key=lambda one: (-one.similarity, one.node.id))


def overlap(text: str, one: Memory) -> float:
    """The share of the text's words that the memory has."""
    wanted = set(_WORD.findall(normalise(text)))
    return len(wanted & set(_WORD.findall(normalise(one.content)))) / max(1, len(wanted))


def _contradicted(view: View, supports: Sequence[Support], known: set[str]) -> list[Support]:
    """Held memories that are linked as contradicting those."""
    ids = [raw_id(one.node) for one in supports]
    edges = edges_around(view, ids, ("contradicts",)) if ids else []
    ends = dict.fromkeys(end for edge in edges for end in (edge.source, edge.target))
    return [
        Support(node=node, similarity=0.0, difference="contradicts what supports the claim")
        for node in view.nodes(ends)
        if node.id not in known and node.standing == "held"
    ]


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
    """What is believed about something, the most relevant first, as of a time in the world and one of knowledge."""

    HELD = "beliefs"

    about: str
    by: str  # id, key or text
    as_of_us: int = field(metadata=TIME)
    known_at_us: int | None = field(metadata=TIME)
    beliefs: list[Belief]
    as_of = Instant("as_of_us")
    known_at = MaybeInstant("known_at_us")


def audit(view: View, about: str, by: str, memories: Sequence[Memory]) -> Audit:
    """Beliefs about something, of the memories found for it."""
    waiting = [(proposal.memory, proposal.other) for proposal, _, _ in waiting_contradictions(view)]
    return Audit(
        about=about,
        by=by,
        as_of_us=view.as_of,
        known_at_us=view.known_at,
        beliefs=[_belief(view, one, waiting) for one in memories],
    )


def _belief(view: View, one: Memory, waiting: Sequence[tuple[bytes, bytes]]) -> Belief:
    raw = raw_id(one)
    history = chain(view, one.id, limit=SHOWN)
    reasons = why(view, one.id, depth=1, limit=SHOWN, everything=False)
    resting = impact(view, one.id, depth=1, limit=SHOWN, everything=False)
    return Belief(
        node=view.node(one),
        trust=one.trust,
        stage=stage(one.observations, one.trust),
        observations=one.observations,
        observed_at_us=one.observed_at_us,
        source=one.source,
        speaker=one.speaker,
        replaced=history.before,
        replaced_by=history.after,
        corrections=history.reasons,
        reasons=reasons.reasons,
        conflicts=_conflicts(view, raw, waiting),
        rests_on_it=resting.affected,
        rested_before=rested_before(view, resting, history.before, limit=SHOWN),
        merged=[view.node(other) for other in view.store.graph.merged_into([raw], view.where())],
    )


def _conflicts(view: View, raw: bytes, waiting: Sequence[tuple[bytes, bytes]]) -> list[Node]:
    out = view.edges([raw], ("contradicts",))
    back = view.edges([raw], ("contradicts",), incoming=True)
    others = dict.fromkeys([edge.target for edge in out] + [edge.source for edge in back])
    others |= dict.fromkeys(b if a == raw else a for a, b in waiting if raw in (a, b))
    return [node for node in view.nodes(others) if node.standing == "held"][:SHOWN]
