"""Memories along time: around one memory, of a key, about something; and the chain of corrections both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..model.clock import Instant
from ..model.dataclass import dataclass, field
from ..model.edges import INVERSES, TEMPORAL
from ..model.encode import INLINE, TIME, JsonForm
from ..model.ids import parse_id
from ..model.memory import Memory
from ..model.sequence import Holds
from .view import Node, View, raw_id
from .walk import edges_around


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
class Chain(JsonForm):
    """How a belief was corrected: what it replaced (oldest first), itself, what replaced it (newest last)."""

    before: list[Node]
    memory: Node
    after: list[Node]
    reasons: dict[str, str] = field(default_factory=dict)  # id of a replaced memory -> why it was replaced
    truncated: bool = False


def around(view: View, id: str, *, types: Sequence[str], reach: int, limit: int) -> Timeline:
    """A memory with its versions, its neighbours in the session and what it is linked to, along time.

    Raises NotFound, AmbiguousId, BadInput.
    """
    one = view.find(id)
    raw = raw_id(one)
    relations: dict[bytes, str] = {}
    # What stands next in the session is among its neighbours below.
    for edge in edges_around(view, [raw], [type for type in types if type != TEMPORAL]):
        # As the other one's sentence: "supports it", "causes it".
        if edge.source == raw:
            relations.setdefault(edge.target, f"{INVERSES[edge.type]} it")
        else:
            relations.setdefault(edge.source, f"{edge.type} it")
    memories = view.memories(relations)
    for near in view.store.graph.session_around(raw, view.where(), reach=reach):
        memories.setdefault(raw_id(near), near)
        relations.setdefault(raw_id(near), "session")
    memories.pop(raw, None)
    moments = [_moment(view, found, relations[id]) for id, found in memories.items() if found.state != "purged"]
    moments += _versions(view, one)
    return _line(one.id, "memory", moments, limit)


def of_key(view: View, key: str, *, limit: int) -> Timeline:
    """Every value a key had, along the valid time."""
    found = view.store.graph.key_history(key, view.where())
    return _line(key, "key", [_moment(view, one, "value") for one in found], limit)


def found_along(view: View, about: str, by: str, memories: Sequence[Memory], *, limit: int) -> Timeline:
    """Memories that were found some other way, along time."""
    relation = "match" if by == "text" else "newest"
    return _line(about, by, [_moment(view, one, relation) for one in memories], limit)


def _line(about: str, by: str, moments: list[Moment], limit: int) -> Timeline:
    """In order of time; the newest are kept when there are too many, and what was asked about."""
    moments.sort(key=lambda one: (one.at, one.node.position, one.node.recorded_at, one.node.id))
    own = [one for one in moments if one.relation in ("itself", "earlier version")][-limit:]
    others = [one for one in moments if one.relation not in ("itself", "earlier version")]
    space = limit - len(own)
    kept = {id(one) for one in own + (others[-space:] if space else [])}
    shown = [one for one in moments if id(one) in kept]
    return Timeline(about=about, by=by, moments=shown, truncated=len(shown) < len(moments))


def _moment(view: View, one: Memory, relation: str) -> Moment:
    return Moment(at_us=one.valid_from_us, node=view.node(one), relation=relation, content=one.content)


def _versions(view: View, one: Memory) -> list[Moment]:
    """The memory itself where it began to hold, and each change of its words where the store learned of it."""
    moments: list[Moment] = []
    words = None
    known = [
        v
        for v in view.store.memories.versions(raw_id(one))
        if view.known_at is None or v.recorded_at_us <= view.known_at
    ]
    node = view.node(one)
    for version in known:
        if version.content == words:
            continue
        at = version.valid_from_us if words is None else version.recorded_at_us
        moments.append(Moment(at_us=at, node=node, relation="earlier version", content=version.content))
        words = version.content
    last = moments[-1]
    return [*moments[:-1], Moment(at_us=last.at_us, node=last.node, relation="itself", content=last.content)]


def chain(view: View, id: str, *, limit: int) -> Chain:
    """The corrections that led to a memory and those that replaced it. Cycles end. Raises NotFound, BadInput."""
    one = view.find(id)
    seen = {raw_id(one)}
    back = _follow(view, seen, [raw_id(one)], _replaced, limit)
    forward = _follow(view, seen, [raw_id(one)], _replacing, limit)
    nodes = view.memories([*back, *forward])
    before = [view.node(nodes[id]) for id in reversed(back) if id in nodes]
    after = [view.node(nodes[id]) for id in forward if id in nodes]
    replaced = [*before, view.node(one), *after]
    return Chain(
        before=before,
        memory=view.node(one),
        after=after,
        reasons=_reasons(view, replaced),
        truncated=len(back) >= limit or len(forward) >= limit,
    )


def _follow(
    view: View,
    seen: set[bytes],
    level: list[bytes],
    step: Callable[[View, Sequence[bytes]], list[bytes]],
    limit: int,
) -> list[bytes]:
    """Ids in the order met, step by step; `seen` grows, so that a cycle ends."""
    found: list[bytes] = []
    while level and len(found) < limit:
        fresh = [id for id in dict.fromkeys(step(view, level)) if id not in seen]
        there = view.memories(fresh)
        level = [id for id in fresh if id in there][: limit - len(found)]
        seen |= set(level)
        found += level
    return found


def _replaced(view: View, ids: Sequence[bytes]) -> list[bytes]:
    """What some memories replaced: by a `supersedes` edge, or as the value of a key."""
    linked = [edge.target for edge in view.edges(ids, ("supersedes",))]
    return linked + [old for _, old in view.store.graph.replaced_by_key(ids, view.where())]


def _replacing(view: View, ids: Sequence[bytes]) -> list[bytes]:
    linked = [edge.source for edge in view.edges(ids, ("supersedes",), incoming=True)]
    named = [one.superseded_by for one in view.memories(ids).values()]
    return linked + [parse_id(id) for id in named if id]


def _reasons(view: View, nodes: Sequence[Node]) -> dict[str, str]:
    """Why memories were replaced, from the ledger, where somebody said so."""
    found: dict[str, str] = {}
    for node in nodes:
        if node.standing != "superseded":
            continue
        for event in view.store.ledger.events(memory=raw_id(node)):
            known = view.known_at is None or event.at <= view.known_at
            if event.type == "superseded" and known and event.data.get("why"):
                found[node.id] = str(event.data["why"])
    return found
