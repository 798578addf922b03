"""What a device that is not trusted may say: of memories and sessions that it began itself, and of nothing else.

The rest of its events waits in its segments until it is trusted. Needs an open transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ...model.dataclass import replace
from ...model.events import Event
from ...model.merge_order import SequencedEvent
from ...model.state import SESSION_EVENTS, scrub
from ..records import SegmentRow
from .database import Connection
from .peers import is_trusted

# Fields that name another memory.
_OTHERS = ("by", "into", "target", "over", "corrects")
# Decisions of a person, and names of scopes: they reach further than the memory that they are noted on.
_NEVER = frozenset({"reviewed", "moved"})
# The device that a memory or session was first heard of from.
_BEGAN = (
    "SELECT g.device FROM event v JOIN synced s ON s.id = v.id JOIN segment g ON g.num = s.segment"
    " WHERE v.seq IN (SELECT seq FROM event WHERE id = ?1 AND memory = ?1"
    " UNION ALL SELECT seq FROM event WHERE memory = ?1 AND memory <> id)"
    " AND v.type IN ('remembered', 'session_started', 'session_ended') ORDER BY v.seq LIMIT 1"
)
# A session may begin with a memory that names it.
_BEGAN_SESSION = (
    "SELECT g.device FROM session n JOIN memory m ON m.session = n.num JOIN event v ON v.id = m.id"
    " JOIN synced s ON s.id = v.id JOIN segment g ON g.num = s.segment"
    " WHERE n.name = ? AND n.scope = (SELECT num FROM scope WHERE name = ?) ORDER BY v.seq LIMIT 1"
)
_HOLDS_KEY = "SELECT id FROM memory WHERE key = ? AND retired_at IS NULL AND state = 'active'"


class Hearing:
    """Judges the events of some segments that arrive together."""

    def __init__(self, con: Connection, segments: Sequence[SegmentRow], lines: Sequence[SequencedEvent]) -> None:
        self._con = con
        self._devices = [one.device for one in segments]
        self._doubted = {one.device for one in segments if not is_trusted(con, one.device)}
        self._began: dict[bytes, bytes | None] = {}
        # Of what is not here yet: the trusted device that begins it, else the one that does so first.
        self._begins: dict[bytes, bytes] = {}
        if self._doubted:
            for one in sorted(lines, key=lambda one: (self._devices[one.segment] in self._doubted, one.order)):
                if one.event.type == "remembered" or one.event.type in SESSION_EVENTS:
                    self._begins.setdefault(one.event.memory, self._devices[one.segment])

    def divide(
        self, lines: Sequence[SequencedEvent], find: Callable[[bytes], Event | None]
    ) -> tuple[list[SequencedEvent], Counter[int]]:
        """The events that are taken in, and how many wait, by segment. `find`: an event that is here, by its id."""
        if not self._doubted:
            return list(lines), Counter()
        taken: list[SequencedEvent] = []
        waiting: Counter[int] = Counter()
        for one in lines:
            known = find(one.event.id) if self._devices[one.segment] in self._doubted else None
            if known is not None and self._device_of(one.event.memory) != self._devices[one.segment]:
                # Somebody else's event. It stands as it is, in its place.
                waiting[one.segment] += replace(known, seq=0) not in (one.event, scrub(one.event))
            elif self._waits(one):
                waiting[one.segment] += 1
            else:
                taken.append(one)
        return taken, +waiting

    def _waits(self, one: SequencedEvent) -> bool:
        device, event = self._devices[one.segment], one.event
        if device not in self._doubted:
            return False
        named = [event.memory, *(bytes.fromhex(event.data[name]) for name in _OTHERS if event.data.get(name))]
        if event.type in SESSION_EVENTS:
            first = self._con.execute(_BEGAN_SESSION, (event.data["name"], event.data["scope"])).get
            return first not in (None, device) or self._device_of(event.memory) != device
        if event.type in _NEVER or any(self._device_of(id) != device for id in named):
            return True
        key = event.data.get("key")
        if key is None:
            return False
        return any(self._device_of(bytes(row[0])) != device for row in self._con.execute(_HOLDS_KEY, (key,)).fetchall())

    def _device_of(self, memory: bytes) -> bytes | None:
        if memory not in self._began:
            self._began[memory] = self._con.execute(_BEGAN, (memory,)).get or self._begins.get(memory)
        return self._began[memory]
