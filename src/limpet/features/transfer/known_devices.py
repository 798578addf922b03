"""Sync with other devices, and trust in them.

The segments of a device that nobody here trusts wait whole: they are noted, and read by the first import after
somebody trusts it. `sync.py` does the work, and is loaded at use.
"""

from __future__ import annotations

import json
import os

from ...model.dataclass import NamedTuple
from ...store.sql import jobs
from ...store.sql.ledger import to_event
from ...store.sql.statements import to_json
from ...store.sql.store import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...store.sql.store import Connection
    from .merge_order import SequencedEvent
    from .records import TransferReport
    from .sync import Sync

# How long an import waits for readers of content that another device purged; later the queue removes it.
FLUSH_SECONDS = 5.0
# The prefix of a segment's digest while events of it wait, for their memories or for trust in its device.
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
    ) -> set[int]:
        """Take in others' segments after `seal`. Return those taken in part: they speak of unknown memories."""
        erasure, before = self._store.erasure, report.purged
        going = [line.event.memory for line in lines if line.event.type == "purged"]
        texts, others = erasure.pieces(going)
        with self._database.writing() as con:
            erased = {memory: list(self._store.ledger.events(memory=memory)) for memory in going}
            sync = self._sync(con)
            held = sync.merge(segments, lines, report)
            sync.conclude()
            if report.purged > before:
                jobs.after_purge(self._database, con, erased)
        if report.purged > before:
            jobs.flush(self._database, seconds=FLUSH_SECONDS)
            erasure.scour([*texts, *others])
        return held

    def wait(self, segments: Sequence[SegmentRow]) -> None:
        """Note segments that wait until somebody trusts their device."""
        with self._database.writing() as con:
            sync = self._sync(con)
            for segment in segments:
                sync.register(segment, whole=False)

    def trusts(self, device: bytes) -> bool:
        """Return whether a device is this one, under any identity it ever had, or one that somebody here trusts."""
        statement = "SELECT 1 FROM device WHERE id = ?1 UNION ALL SELECT 1 FROM trusted WHERE device IN (?1, x'')"
        return bool(self._database.rows(statement, (device,)))

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
