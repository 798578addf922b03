"""How good what is believed is, in counts: weak, stale, alone, unsupported, contradicted. For `stats --quality`."""

from __future__ import annotations

from ..model.dataclass import dataclass
from ..model.encode import JsonForm
from .gaps import WEAK_CONFIDENCE, gaps
from .view import Node, View
from .whole import Whole, contradictions

# What each count says; shown in this order.
MEANS = {
    "weak": "doubtful: said to be wrong, or an opinion that nobody repeated",
    "stale": "neither stated nor used for half a year",
    "orphaned": "no link, key, session or topic: only a search finds it",
    "unsupported": "a decision of whose reasons none stands",
    "contradicted": "pairs that cannot both hold",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality(JsonForm):
    """Counts among what is held, by the names of MEANS, and the most important examples of each."""

    held: int
    counts: dict[str, int]
    examples: dict[str, list[Node]]


def quality(view: View, *, limit: int) -> Quality:
    """Counts over everything held; at most `limit` examples of each."""
    weakly = gaps(view, kinds=("stale", "unjustified_decision"), limit=max(limit, 1))
    against = contradictions(view, limit=max(limit, 1), everything=False)
    whole = Whole(view)
    held = [place for place, how in enumerate(whole.standings) if how == "held"]
    linked = {end for source, _, target, _ in whole.edges for end in (source, target)}
    grouped = {one.id for one in view.store.graph.pieces(view.where()) if one.session is not None or one.topics}
    weak = [one for one in held if whole.confidence(one) < WEAK_CONFIDENCE]
    alone = [
        one for one in held
        if one not in linked and whole.nodes[one].key is None and whole.nodes[one].id not in grouped
    ]  # fmt: skip

    def best(places: list[int]) -> list[Node]:
        chosen = sorted(places, key=lambda one: (-whole.nodes[one].importance, whole.nodes[one].id))[:limit]
        return view.nodes(whole.nodes[one].id for one in chosen)

    return Quality(
        held=len(held),
        counts={
            "weak": len(weak),
            "stale": weakly.counts["stale"],
            "orphaned": len(alone),
            "unsupported": weakly.counts["unjustified_decision"],
            "contradicted": against.count,
        },
        examples={
            "weak": best(weak),
            "stale": [one.node for one in weakly.found if one.gap == "stale"][:limit],
            "orphaned": best(alone),
            "unsupported": [one.node for one in weakly.found if one.gap == "unjustified_decision"][:limit],
            "contradicted": [node for pair in against.found[:limit] for node in pair.memories],
        },
    )
