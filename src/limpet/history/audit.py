"""What is believed about something: how sure, since when, from whom, what it replaced, what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.clock import Instant, MaybeInstant
from ..model.dataclass import dataclass, field
from ..model.encode import INLINE, TIME, JsonForm
from ..model.memory import Memory
from ..model.sequence import Holds
from ..rank.adjust import stage
from .reasons import Affected, impact, rested_before, why
from .timeline import chain
from .view import Node, View, raw_id
from .whole import waiting_contradictions

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
