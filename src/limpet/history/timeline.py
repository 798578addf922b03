"""Memories along time: around one memory, of a key, about something; and what changed between two moments."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.clock import Instant, format_time
from ..model.dataclass import dataclass, field, replace
from ..model.edges import INVERSES, TEMPORAL
from ..model.encode import INLINE, OPTIONAL, TIME, JsonForm, named
from ..model.errors import BadInput
from ..model.memory import Memory
from ..model.sequence import Holds
from .view import Link, Node, View, link_of, raw_id
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
class Change(JsonForm):
    """One belief that began, ended or was reworded. `how`: a word for it; `before`: earlier words, if reworded."""

    node: Node = field(metadata=INLINE)  # as it stands at the later moment
    how: str  # new, restored, began; corrected, retracted, archived, ended, purged, undone; reworded, requalified
    before: str | None = field(default=None, metadata=OPTIONAL)
    by: str | None = field(default=None, metadata=OPTIONAL)  # id of what replaced it


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff(JsonForm):
    """Beliefs between two moments. Counts are of all; lists hold the newest up to the limit."""

    start_us: int = field(metadata=TIME | named("from"))
    end_us: int = field(metadata=TIME | named("to"))
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
    # The memory itself where it began to hold, and each change of its words where the store learned of it.
    words, own = None, list[Moment]()
    for version in view.store.memories.versions(raw):
        if version.content == words or (view.known_at is not None and version.recorded_at_us > view.known_at):
            continue
        at = version.valid_from_us if words is None else version.recorded_at_us
        own.append(Moment(at_us=at, node=view.node(one), relation="earlier version", content=version.content))
        words = version.content
    own[-1] = replace(own[-1], relation="itself")
    return along(one.id, "memory", moments + own, limit)


def found_along(view: View, about: str, by: str, memories: Sequence[Memory], *, limit: int) -> Timeline:
    """Memories that were found some other way, along time."""
    relation = {"text": "match", "key": "value"}.get(by, "newest")
    return along(about, by, [_moment(view, one, relation) for one in memories], limit)


def along(about: str, by: str, moments: list[Moment], limit: int) -> Timeline:
    """In order of time; the newest are kept when there are too many, and what was asked about."""
    moments.sort(key=lambda one: (one.at, one.node.position, one.node.recorded_at, one.node.id))
    own = [one for one in moments if one.relation in _OWN][-limit:]
    others = [one for one in moments if one.relation not in _OWN]
    space = limit - len(own)
    kept = {id(one) for one in own + (others[-space:] if space else [])}
    shown = [one for one in moments if id(one) in kept]
    return Timeline(about=about, by=by, moments=shown, truncated=len(shown) < len(moments))


def _moment(view: View, one: Memory, relation: str) -> Moment:
    return Moment(at_us=one.valid_from_us, node=view.node(one), relation=relation, content=one.content)


def diff(view: View, start: int, end: int, *, as_of: int | None, limit: int) -> Diff:
    """Beliefs at `end` against those at `start`. `as_of`: about one instant; None: each moment about itself.

    Raises BadInput when `end` is before `start`.
    """
    if end < start:
        raise BadInput(f"{format_time(end)} is before {format_time(start)}", hint="give the earlier moment first")
    then = replace(view, known_at=start, as_of=start if as_of is None else as_of)
    later = replace(view, known_at=end, as_of=end if as_of is None else as_of)
    held = (start, end) if as_of is None else (0, 0)
    ids = view.store.graph.changed(replace(view.where(), known_at=None), (start, end), held)
    old, new = then.memories(ids), later.memories(ids)
    found: dict[str, list[Change]] = {"began": [], "ended": [], "changed": []}
    for id in ids:
        what, change = _change(then, later, old.get(id), new[id]) if id in new else ("", None)
        if change is not None:
            found[what].append(change)
    linked, unlinked = _links(later, start, end)
    counts = {name: len(changes) for name, changes in found.items()}
    for changes in found.values():
        changes.sort(key=lambda one: (-one.node.recorded_at_us, one.node.id))
    return Diff(
        start_us=start, end_us=end, began=found["began"][:limit], ended=found["ended"][:limit],
        changed=found["changed"][:limit], linked=linked[:limit], unlinked=unlinked[:limit],
        counts=counts | {"linked": len(linked), "unlinked": len(unlinked)},
    )  # fmt: skip


def _change(then: View, later: View, old: Memory | None, new: Memory) -> tuple[str, Change | None]:
    """(began, ended or changed, how); None for nothing of that."""
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


def _links(view: View, start: int, end: int) -> tuple[list[Link], list[Link]]:
    """Links that hold at `end` and did not at `start`, and the other way round; both ends seen from here."""
    added: dict[tuple[bytes, str, bytes], Link] = {}
    removed: dict[tuple[bytes, str, bytes], Link] = {}
    edges = view.store.edges.changed(start, end)
    seen = view.store.graph.matching(list({id for one in edges for id in (one.source, one.target)}), view.where())
    for edge in edges:
        before = edge.recorded_at <= start
        after = edge.retired_at is None or edge.retired_at > end
        if before != after and edge.source in seen and edge.target in seen:
            (added if after else removed)[edge.source, edge.type, edge.target] = link_of(edge)
    both = added.keys() & removed.keys()
    kept = [[one for slot, one in links.items() if slot not in both] for links in (added, removed)]
    return kept[0], kept[1]
