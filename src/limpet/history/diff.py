"""What the store came to believe and stopped believing between two moments of its knowledge."""

from __future__ import annotations

from ..model.clock import Instant, format_time
from ..model.dataclass import dataclass, field, replace
from ..model.encode import INLINE, OPTIONAL, TIME, JsonForm, named
from ..model.errors import BadInput
from ..model.memory import Memory
from .view import Link, Node, View, link_of


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
        change = _change(then, later, old.get(id), new.get(id))
        if change is not None:
            found[change[0]].append(change[1])
    links = _links(later, start, end)
    counts = {name: len(changes) for name, changes in found.items()} | {n: len(one) for n, one in links.items()}
    for changes in found.values():
        changes.sort(key=lambda one: (-one.node.recorded_at_us, one.node.id))
    return Diff(
        start_us=start,
        end_us=end,
        began=found["began"][:limit],
        ended=found["ended"][:limit],
        changed=found["changed"][:limit],
        linked=links["linked"][:limit],
        unlinked=links["unlinked"][:limit],
        counts=counts,
    )


def _change(then: View, later: View, old: Memory | None, new: Memory | None) -> tuple[str, Change] | None:
    if new is None:
        return None
    node = later.node(new)
    if new.state == "purged":
        # Its versions are gone; only that there was something is still known.
        known_before = new.created_at_us <= (then.known_at or 0) and (old is None or old.state != "purged")
        return ("ended", Change(node=node, how="purged")) if known_before else None
    was = old is not None and then.standing(old) == "held"
    now = node.standing == "held"
    if now and not was:
        how = "new" if old is None else "began" if then.standing(old) == "future" else "restored"
        return "began", Change(node=node, how=how)
    if was and not now:
        how = {"superseded": "corrected", "future": "ended"}.get(node.standing, node.standing)
        if node.reason == "undone":
            how = "undone"
        return "ended", Change(node=node, how=how, by=new.superseded_by)
    if old is not None and was and now:
        if old.content != new.content:
            return "changed", Change(node=node, how="reworded", before=old.content)
        if any(getattr(old, name) != getattr(new, name) for name in _QUALITIES):
            return "changed", Change(node=node, how="requalified")
    return None


def _links(view: View, start: int, end: int) -> dict[str, list[Link]]:
    """Links that hold at `end` and did not at `start`, and the other way round; both ends seen from here."""
    added: dict[tuple[bytes, str, bytes], Link] = {}
    removed: dict[tuple[bytes, str, bytes], Link] = {}
    edges = view.store.edges.changed(start, end)
    seen = view.store.graph.matching(list({id for one in edges for id in (one.source, one.target)}), view.where())
    for edge in edges:
        if edge.source not in seen or edge.target not in seen:
            continue
        slot = (edge.source, edge.type, edge.target)
        before = edge.recorded_at <= start
        after = edge.retired_at is None or edge.retired_at > end
        if after and not before:
            added[slot] = link_of(edge)
        elif before and not after:
            removed[slot] = link_of(edge)
    both = added.keys() & removed.keys()
    return {
        "linked": [one for slot, one in added.items() if slot not in both],
        "unlinked": [one for slot, one in removed.items() if slot not in both],
    }
