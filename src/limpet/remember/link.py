"""Which events a link between two memories becomes. Decided inside the write transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model.edges import ACYCLIC_TYPES, SYMMETRIC_TYPES, Edge, check_edge_type, check_weight
from ..model.errors import BadInput
from ..model.ids import format_id, parse_id
from ..model.memory import Memory, is_below
from .decide import kept_for_review
from .write import Receipt, Writer, check_live, need


def link(writer: Writer, a: str, type: str, b: str, weight: float | None, scopes: Sequence[str]) -> Receipt:
    """`a TYPE b`. The same link again changes nothing; with another weight it replaces the first.

    A `supersedes` link also ends `b`, from when `a` begins to hold; if `b` is trusted more, nothing is linked and the
    receipt says `proposed`: the caller puts the pair on the review list. Raises NotFound, BadInput: an unknown type, a
    link to itself, a memory of another scope or a purged one, a cycle of `caused_by`, `supersedes` or `part_of`.
    """
    check_edge_type(type, derived=False)
    given = None if weight is None else check_weight(weight)
    source, target = _ends(writer, a, b, scopes)
    start, goal = parse_id(source.id), parse_id(target.id)
    known = _existing(writer, start, type, goal)
    if known is not None and given in (None, known.weight):
        return Receipt(id=source.id, status="unchanged", reason="linked already")
    if known is not None:
        start, goal = known.source, known.target
    elif type in ACYCLIC_TYPES and writer.reads.edges.reaches(type, goal, start):
        raise BadInput(
            f"{source.id} {type} {target.id} would close a cycle: {target.id} leads back to {source.id} by {type}",
            hint=f"`limpet link A TYPE B --end` one of the {type} links in between first",
        )
    if type == "supersedes" and known is None:
        check_replaceable(target)
        if is_below(source.trust, target.trust):
            return Receipt(id=source.id, status="proposed", reason=kept_for_review(writer, target))
    more: dict[str, Any] = {} if given is None else {"weight": given}
    made = writer.event("linked", start, origin="agent", edge=type, target=goal.hex(), **more)
    if type == "supersedes" and known is None:
        _supersede(writer, source, target)
    return Receipt(id=format_id(start), status="changed", event=format_id(made.id))


def unlink(writer: Writer, a: str, type: str, b: str, scopes: Sequence[str]) -> Receipt:
    """End `a TYPE b`; that it held stays in the ledger. Without a `supersedes` link its target is believed again.

    A link that is not there changes nothing. Raises NotFound, BadInput: two values of one key would hold at once.
    """
    check_edge_type(type, derived=False)
    source, target = _ends(writer, a, b, scopes, purged=True)
    start, goal = parse_id(source.id), parse_id(target.id)
    known = _existing(writer, start, type, goal)
    if known is None:
        return Receipt(id=source.id, status="unchanged", reason="not linked")
    revived = type == "supersedes" and target.superseded_by == source.id and target.state != "purged"
    if revived and source.key is not None and source.key == target.key and source.state == "active":
        raise BadInput(
            f"both values of {source.key} would hold at once",
            hint=f"`limpet forget {source.id}` ends the newer one; `limpet undo` takes a correction back",
        )
    made = writer.event("unlinked", known.source, origin="agent", edge=type, target=known.target.hex())
    if revived:
        writer.revive(goal, start)
    return Receipt(id=format_id(known.source), status="changed", event=format_id(made.id))


def _ends(writer: Writer, a: str, b: str, scopes: Sequence[str], *, purged: bool = False) -> tuple[Memory, Memory]:
    source, target = need(writer.reads, a, scopes), need(writer.reads, b, scopes)
    for one in (source, target):
        if one.state == "purged" and not purged:
            raise BadInput(f"memory {one.id} was purged: its content is gone")
    if source.id == target.id:
        raise BadInput(f"a memory cannot be linked to itself: {source.id}")
    return source, target


def _existing(writer: Writer, start: bytes, type: str, goal: bytes) -> Edge | None:
    """The link as it stands; one that reads alike from both ends counts from either."""
    known = writer.reads.edges.between(start, type, goal)
    if known is None and type in SYMMETRIC_TYPES:
        known = writer.reads.edges.between(goal, type, start)
    return known


def check_replaceable(old: Memory) -> None:
    """Raises BadInput when a memory is not believed any more."""
    check_live(old)
    if old.superseded_by is not None:
        raise BadInput(f"memory {old.id} was superseded by {old.superseded_by} already", hint="link that one")


def _supersede(writer: Writer, new: Memory, old: Memory) -> None:
    """`old` holds until `new` does, as with a correction."""
    until = max(new.valid_from_us, old.valid_from_us)
    writer.event("superseded", parse_id(old.id), origin="agent", by=parse_id(new.id).hex(), valid_to=until)
