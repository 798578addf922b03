"""The merge of several devices' events: their order, and values of one key at one instant. Pure.

Events are ordered by (stamp, operation, place). A stamp is the time of an operation, or one more than the last stamp
its device had seen (a hybrid logical clock), so an event comes after those that its author knew. The same events give
the same beliefs on every device.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from ...model.dataclass import replace
from ...model.events import Event
from ...model.state import MemoryState, replay

# Derived events follow the operation that called for them.
DERIVED_PLACE = 1 << 40


class SequencedEvent(NamedTuple):
    """An event and its place in the order of all devices. `segment` 0: derived from the others."""

    event: Event
    stamp: int
    place: int
    segment: int = 0

    @property
    def order(self) -> tuple[int, bytes, int, bytes]:
        return (self.stamp, self.event.operation, self.place, self.event.id)


class Conflict(NamedTuple):
    """Two values of one key that were given without knowing of each other. Ids are 16 bytes; `at` in microseconds."""

    id: bytes
    scope: str
    memory: bytes  # the one that holds
    other: bytes
    at: int


def in_merge_order(history: Iterable[SequencedEvent]) -> tuple[list[SequencedEvent], list[Conflict]]:
    """Return the events that the history of some keys implies: each value ends where the next begins.

    `history`: the events of every memory that ever had one of the keys, in order, without derived ones. Of two values
    that hold at one instant the earlier one is superseded by the other. O(events x memories).
    """
    derived: list[SequencedEvent] = []
    conflicts: list[Conflict] = []
    seen: dict[bytes, list[Event]] = {}
    states: dict[bytes, MemoryState] = {}
    stated: set[tuple[bytes, bytes]] = set()  # (old, new) of what a device said itself
    counter = 0
    for (stamp, operation), run in groupby(history, lambda line: (line.stamp, line.event.operation)):
        touched: dict[bytes, None] = {}
        last = 0
        for sequenced in run:
            counter += 1
            event = replace(sequenced.event, seq=counter)
            seen.setdefault(event.memory, []).append(event)
            touched[event.memory] = None
            last = event.at
            if event.type == "superseded":
                stated.add((event.memory, bytes.fromhex(event.data["by"])))
        for memory in touched:
            _replay(memory, seen, states)
        slots = {(s.scope, s.key) for memory in touched if (s := states.get(memory)) and s.key is not None}
        for scope, key in sorted(slots):
            for old, new in _overlapping(states, scope, key):
                counter += 1
                made = _superseded(old, new, stamp, operation, last, counter)
                derived.append(made)
                seen[old.id].append(made.event)
                _replay(old.id, seen, states)
                if (old.id, new.id) not in stated and old.content != new.content:
                    conflicts.append(Conflict(_hash(b"conflict", old.id, new.id), scope, new.id, old.id, last))
    return derived, conflicts


def _replay(memory: bytes, seen: dict[bytes, list[Event]], states: dict[bytes, MemoryState]) -> None:
    state = replay(seen[memory])
    if state is not None:
        states[memory] = state


def _overlapping(
    states: dict[bytes, MemoryState], scope: str, key: str | None
) -> Sequence[tuple[MemoryState, MemoryState]]:
    """Return consecutive values of a key of which the first ends after the second begins."""
    values = (s for s in states.values() if (s.scope, s.key, s.state) == (scope, key, "active"))
    live = [s for s in values if s.valid_to is None or s.valid_from < s.valid_to]
    # Sorting is stable, and states are in the order in which their memories came.
    live.sort(key=lambda s: s.valid_from)
    return [(a, b) for a, b in pairwise(live) if a.valid_to is None or a.valid_to > b.valid_from]


def _superseded(old: MemoryState, new: MemoryState, stamp: int, operation: bytes, at: int, seq: int) -> SequencedEvent:
    start = new.valid_from
    event = Event(
        id=_hash(b"settled", old.id, new.id, str(start).encode(), str(stamp).encode(), operation), type="superseded",
        memory=old.id, at=at, operation=operation, data={"by": new.id.hex(), "valid_to": start, "settled": True},
        seq=seq,
    )  # fmt: skip
    return SequencedEvent(event, stamp, DERIVED_PLACE)


def payload(event: Event) -> str:
    """Return an event as JSON without its id, to tell it from another with the same id."""
    fields = (event.type, event.memory.hex(), event.at, event.operation.hex(), event.origin, event.content, event.data)
    return json.dumps(fields, sort_keys=True)


def variant(event: Event) -> Event:
    """Return an event whose id another event has too under a new id: the same on every device."""
    return replace(event, id=_hash(b"variant", event.id, payload(event).encode("utf-8", "surrogatepass")))


def _hash(*parts: bytes) -> bytes:
    import hashlib  # what lists and recalls has no need of it

    return hashlib.sha256(b"\0".join(parts)).digest()[:16]
