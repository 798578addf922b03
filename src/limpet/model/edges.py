"""Typed links between memories: what each type means, and how events become edges.

`A TYPE B` reads as a sentence: A caused_by B (A rests on B), A supports B (B rests on A), A supersedes B, A part_of B.
"""

from __future__ import annotations

from collections.abc import Iterable

from .dataclass import NamedTuple
from .errors import BadInput
from .events import Event
from .memory import EDGE_TYPES, STORED_TYPES, check_one_of
from .state import cancelled_by

# Follows from the places of memories in their sessions; never stored.
TEMPORAL = "temporal_next"
# A memory cannot rest on, replace or be part of itself, however far around.
ACYCLIC_TYPES = ("caused_by", "supersedes", "part_of")
# Read alike from both ends.
SYMMETRIC_TYPES = ("contradicts", "related_to")
# How a link reads from its target.
INVERSES = {
    "caused_by": "causes",
    "supports": "supported_by",
    "contradicts": "contradicts",
    "supersedes": "superseded_by",
    "related_to": "related_to",
    "part_of": "has_part",
    TEMPORAL: "follows",
}
MAX_WEIGHT = 1_000.0


class Edge(NamedTuple):
    """One link. Ids are 16 bytes; `event` is None for a derived one. Times are microseconds UTC."""

    source: bytes
    type: str
    target: bytes
    weight: float
    event: bytes | None
    recorded_at: int
    retired_at: int | None = None


def check_edge_type(type: str, *, derived: bool = True) -> str:
    """Check for a known type; `derived`: also `temporal_next`. Raises BadInput."""
    if type == TEMPORAL and not derived:
        raise BadInput(
            f"{TEMPORAL} is made by the session itself", hint="remember with session=NAME puts memories in order"
        )
    return check_one_of("edge type", type, EDGE_TYPES if derived else STORED_TYPES)


def live_edges(events: Iterable[Event]) -> dict[tuple[str, bytes], Event]:
    """Fold one memory's history, oldest first: (type, target) -> the `linked` event that holds now. Pure."""
    history = list(events)
    cancelled = cancelled_by(history)
    live: dict[tuple[str, bytes], Event] = {}
    for event in history:
        if event.type not in ("linked", "unlinked") or event.id in cancelled:
            continue
        slot = (event.data["edge"], bytes.fromhex(event.data["target"]))
        live.pop(slot, None)
        if event.type == "linked":
            live[slot] = event
    return live
