"""Caveats of memories that are about to be shown: what contradicts, corrects or replaces them."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.dataclass import replace
from ..model.ids import format_id, parse_id
from ..model.memory import Memory
from .newer import stands
from .plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store

# That two deny each other: by a link, or as a check proposes.
DISPUTES = ("contradicts", "contradiction")
# For each id (what, other id): one of DISPUTES, `replaced`, or what a model read of it and a newer one: `ends sure`.
Warned = dict[str, list[tuple[str, str]]]


def warnings(
    store: Store, plan: Plan, memories: Sequence[Memory], rows: Sequence[tuple[str, bytes, bytes]] | None = None
) -> tuple[Warned, dict[str, Memory]]:
    """For each id (what, other id); and the others that may be shown: held, and seen from here. `rows`: what
    `edges.warnings` says of them, where it is known."""
    if rows is None:
        rows = store.edges.warnings([parse_id(one.id) for one in memories])
    if not rows:
        return {}, {}
    held = store.graph.memories([other for what, _, other in rows if what != "replaced"], plan.where)
    seen = store.graph.validity(
        [other for what, _, other in rows if what == "replaced"], replace(plan.where, as_of=None)
    )
    warned: Warned = {}
    others: dict[str, Memory] = {}
    by_raw = {parse_id(one.id): one for one in memories}
    for what, raw, other in rows:
        one = by_raw[raw]
        if what == "replaced":
            if other in seen:
                warned.setdefault(one.id, []).append((what, format_id(other)))
        elif other in held and (what in DISPUTES or stands(one, held[other])):
            others[held[other].id] = held[other]
            warned.setdefault(one.id, []).append((what, held[other].id))
    return warned, others


def disputes(
    store: Store, plan: Plan, memories: Sequence[Memory], rows: Sequence[tuple[str, bytes, bytes]]
) -> dict[str, tuple[str, ...]]:
    """For each id those that contradict it, of what is held and seen from here. `rows`: as for `warnings`."""
    warned, _ = warnings(store, plan, memories, rows)
    found = {id: tuple(dict.fromkeys(other for what, other in rows if what in DISPUTES)) for id, rows in warned.items()}
    return {id: others for id, others in found.items() if others}
