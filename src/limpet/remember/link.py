"""Links between two memories: what `link` and `unlink` write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model.edges import ACYCLIC_TYPES, SYMMETRIC_TYPES, Edge, check_edge_type, check_weight
from ..model.errors import BadInput
from ..model.ids import format_id, parse_id
from ..model.memory import Memory, is_below
from ..store.records import Proposal
from .decide import kept_for_review
from .write import Receipt, Writer, check_live, need

if TYPE_CHECKING:
    from ..context import Context


def link(context: Context, a: str, type: str, b: str, weight: float | None) -> Receipt:
    """`a TYPE b`. The same link again changes nothing; with another weight it replaces the first.

    A `supersedes` link also ends `b`, from when `a` begins to hold; if `b` is trusted more, nothing is linked and the
    pair is on the review list. Raises NotFound, BadInput: an unknown type, a link to itself, a memory of another scope
    or a purged one, a cycle of `caused_by`, `supersedes` or `part_of`.
    """
    check_edge_type(type, derived=False)
    given = None if weight is None else check_weight(weight)

    def decide(writer: Writer) -> Receipt:
        source, target = _ends(context, writer, a, b)
        start, goal = parse_id(source.id), parse_id(target.id)
        purged = next((one for one in (source, target) if one.state == "purged"), None)
        if purged is not None:
            raise BadInput(f"memory {purged.id} was purged: its content is gone")
        known = _existing(writer, start, type, goal)
        replaces = type == "supersedes" and known is None
        if known is not None and given in (None, known.weight):
            return Receipt(id=source.id, status="unchanged", reason="linked already")
        if known is not None:
            start, goal = known.source, known.target
        elif type in ACYCLIC_TYPES and writer.reads.edges.reaches(type, goal, start):
            raise BadInput(
                f"{source.id} {type} {target.id} would close a cycle: {target.id} leads back to {source.id} by {type}",
                hint=f"`limpet link A TYPE B --end` one of the {type} links in between first",
            )
        if replaces:
            check_live(target)
            if target.superseded_by is not None:
                raise BadInput(f"memory {b} was superseded by {target.superseded_by} already", hint="link that one")
            if is_below(source.trust, target.trust):
                return Receipt(id=source.id, status="proposed", reason=kept_for_review(writer, target))
        more: dict[str, Any] = {} if given is None else {"weight": given}
        made = writer.event("linked", start, origin="agent", edge=type, target=goal.hex(), **more)
        if replaces:  # the older holds until the newer does, as with a correction
            until = max(source.valid_from_us, target.valid_from_us)
            writer.event("superseded", goal, origin="agent", by=start.hex(), valid_to=until)
        return Receipt(id=format_id(start), status="changed", event=format_id(made.id))

    receipt = context.write(decide)
    if receipt.status == "proposed":
        new, old = context.memory(a), context.memory(b)
        why = "said to replace what is trusted more"
        proposal = Proposal(
            id=context.new_id(), kind="correction", scope=new.scope, memory=parse_id(new.id), other=parse_id(old.id),
            reason=why, score=0.0, created_at=context.now(),
        )  # fmt: skip
        context.store.reviews.propose([proposal])
    return receipt


def unlink(context: Context, a: str, type: str, b: str) -> Receipt:
    """End `a TYPE b`; that it held stays in the ledger. Without a `supersedes` link its target is believed again.

    A link that is not there changes nothing. Raises NotFound, BadInput: two values of one key would hold at once.
    """
    check_edge_type(type, derived=False)

    def decide(writer: Writer) -> Receipt:
        source, target = _ends(context, writer, a, b)
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

    return context.write(decide)


def _ends(context: Context, writer: Writer, a: str, b: str) -> tuple[Memory, Memory]:
    source, target = (need(writer.reads, id, context.scopes) for id in (a, b))
    if source.id == target.id:
        raise BadInput(f"a memory cannot be linked to itself: {source.id}")
    return source, target


def _existing(writer: Writer, start: bytes, type: str, goal: bytes) -> Edge | None:
    """The link as it stands; one that reads alike from both ends counts from either."""
    known = writer.reads.edges.between(start, type, goal)
    if known is None and type in SYMMETRIC_TYPES:
        known = writer.reads.edges.between(goal, type, start)
    return known
