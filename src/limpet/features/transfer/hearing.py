"""Sync with other devices, and trust in them.

A device that is not trusted may speak only of memories and sessions that it began; its other events wait in its
segments until it is trusted. `sync.py` does the work, and is loaded at use.
"""

from __future__ import annotations

import json
import os
from collections import Counter

from ...model.dataclass import NamedTuple, replace
from ...model.state import SESSION_EVENTS, scrub
from ...store.sql import jobs
from ...store.sql.ledger import to_event
from ...store.sql.statements import to_json
from ...store.sql.store import Connection, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ...model.events import Event
    from .merge_order import SequencedEvent
    from .records import TransferReport
    from .sync import Sync

# How long an import waits for readers of content that another device purged; later the queue removes it.
FLUSH_SECONDS = 5.0
# Fields that name another memory.
_OTHERS = ("by", "into", "target", "over", "corrects")
# Decisions of a person, and moves between scopes: they affect more than one memory.
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
# The memories and sessions that a device spoke of; the empty id: all devices but this one.
_SPOKEN_OF = (
    "SELECT DISTINCT v.memory FROM segment g JOIN synced s ON s.segment = g.num JOIN event v ON v.id = s.id"
    " WHERE g.device = ?1 OR (?1 = x'' AND g.device NOT IN (SELECT id FROM device))"
)
_HOLDS_KEY = "SELECT id FROM memory WHERE key = ? AND retired_at IS NULL AND state = 'active'"
# The prefix of a segment's digest while some of its events wait for their memories.
IN_PART = "in part "


class SegmentRow(NamedTuple):
    """A file of events of one device, that this store wrote or took in."""

    device: bytes
    number: int
    digest: str
    header: dict[str, Any]
    own: bool = False
    num: int = 0


class Devices(Repository):
    """Sync with the ledgers of other devices."""

    def seal(self, place: str, *, renew: bool = False) -> tuple[bytes, list[SegmentRow]]:
        """Give the events since the last time their order among all devices', and put them into segments. Return the
        identity and all known segments. `place`: of the file; another place is another device, as it is with
        `renew`."""
        with self._database.writing() as con:
            sync = self._sync(con)
            row = con.execute("SELECT id, place FROM device ORDER BY num DESC LIMIT 1").fetchone()
            if row and row[1] == place and not renew:
                device = bytes(row[0])
            else:  # the file has moved
                device = os.urandom(16)
                con.execute("INSERT INTO device (id, place) VALUES (?, ?)", (device, place))
            sync.seal(device)
            sync.conclude()
            return device, _segments(con)

    def segments(self) -> tuple[bytes | None, list[SegmentRow]]:
        """Return the identity used last, and all known segments."""
        with self._database.reading() as con:
            return con.execute("SELECT id FROM device ORDER BY num DESC LIMIT 1").get, _segments(con)

    def lines(self, segment: int) -> list[SequencedEvent]:
        """Return the events of a segment as they are now: without what was purged."""
        from .merge_order import SequencedEvent

        rows = self._ask("segment_lines", num=segment)
        return [SequencedEvent(to_event(row[:9]), row[9], row[10], segment) for row in rows]

    def written(self, segment: int, digest: str, header: dict[str, Any]) -> None:
        """Note that a segment is in its file, with this digest."""
        with self._database.writing() as con:
            con.execute("UPDATE segment SET digest = ?, header = ? WHERE num = ?", (digest, to_json(header), segment))

    def purged(self) -> dict[int, set[bytes]]:
        """Return the purged memories that segments have events of, by segment."""
        by_segment: dict[int, set[bytes]] = {}
        for segment, memory in self._ask("purged_in_segments"):
            by_segment.setdefault(segment, set()).add(memory)
        return by_segment

    def merge(
        self, segments: Sequence[SegmentRow], lines: Sequence[SequencedEvent], report: TransferReport
    ) -> tuple[set[int], Counter[int]]:
        """Take in others' segments after `seal`. Return the segments taken in part, whose events speak of unknown
        memories; and how many events wait, by segment, because an untrusted device speaks of memories that it did not
        begin."""
        erasure, before = self._store.erasure, report.purged
        going = [line.event.memory for line in lines if line.event.type == "purged"]
        texts, others = erasure.pieces(going)
        with self._database.writing() as con:
            erased = {memory: list(self._store.ledger.events(memory=memory)) for memory in going}
            sync = self._sync(con)
            held, waiting = sync.merge(segments, lines, report)
            sync.conclude()
            if report.purged > before:
                jobs.after_purge(self._database, con, erased)
        if report.purged > before:
            jobs.flush(self._database, seconds=FLUSH_SECONDS)
            erasure.scour([*texts, *others])
        return held, waiting

    def trusted(self) -> set[bytes]:
        """Return the devices that somebody here trusts; the empty id stands for all."""
        return {bytes(row[0]) for row in self._database.rows("SELECT device FROM trusted")}

    def trust(self, device: bytes, at: int | None) -> None:
        """Trust a device from now on, or (None) no more."""
        with self._database.writing() as con:
            if at is None:
                con.execute("DELETE FROM trusted WHERE device = ?", (device,))
            else:
                con.execute("INSERT INTO trusted VALUES (?, ?) ON CONFLICT DO NOTHING", (device, at))
            spoken_of = con.execute(_SPOKEN_OF, (device,))
            self._sync(con).reproject({bytes(row[0]) for row in spoken_of})

    def _sync(self, con: Connection) -> Sync:
        from .sync import Sync

        return Sync(self._store, con)


def _segments(con: Connection) -> list[SegmentRow]:
    own = {row[0] for row in con.execute("SELECT id FROM device")}
    return [
        SegmentRow(bytes(device), number, digest, json.loads(header), device in own, num)
        for num, device, number, digest, header in con.execute(
            "SELECT num, device, number, digest, header FROM segment ORDER BY device, number, num"
        )
    ]


def is_trusted(con: Connection, device: bytes) -> bool:
    """Return whether a device is this one, under any identity it ever had, or one that somebody here trusts."""
    trusted = "SELECT 1 FROM device WHERE id = ?1 UNION ALL SELECT 1 FROM trusted WHERE device IN (?1, x'') LIMIT 1"
    return con.execute(trusted, (device,)).get is not None


class Hearing:
    """A decision about the events of some segments that arrive together."""

    def __init__(self, con: Connection, segments: Sequence[SegmentRow], lines: Sequence[SequencedEvent]) -> None:
        self._con = con
        self._devices = [segment.device for segment in segments]
        self._doubted = {segment.device for segment in segments if not is_trusted(con, segment.device)}
        self._began: dict[bytes, bytes | None] = {}
        # For memories that are not here yet: the trusted device that begins it, else the first one.
        self._begins: dict[bytes, bytes] = {}
        if self._doubted:
            for line in sorted(lines, key=lambda row: (self._devices[row.segment] in self._doubted, row.order)):
                if line.event.type == "remembered" or line.event.type in SESSION_EVENTS:
                    self._begins.setdefault(line.event.memory, self._devices[line.segment])

    def divide(
        self, lines: Sequence[SequencedEvent], find: Callable[[bytes], Event | None]
    ) -> tuple[list[SequencedEvent], Counter[int]]:
        """Return the events that are taken in, and how many wait, by segment. `find`: id -> the event here."""
        if not self._doubted:
            return list(lines), Counter()
        taken: list[SequencedEvent] = []
        waiting: Counter[int] = Counter()
        for line in lines:
            known = find(line.event.id) if self._devices[line.segment] in self._doubted else None
            if known is not None and self._device_of(line.event.memory) != self._devices[line.segment]:
                # An event of another device stays as it is.
                waiting[line.segment] += replace(known, seq=0) not in (line.event, scrub(line.event))
            elif self._waits(line):
                waiting[line.segment] += 1
            else:
                taken.append(line)
        return taken, +waiting

    def _waits(self, line: SequencedEvent) -> bool:
        device, event = self._devices[line.segment], line.event
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
