"""Sync with other devices. `sync.py`, which does the work, is loaded at use: few processes ever sync."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...model.merge_order import SequencedEvent
from ..records import SegmentRow
from . import jobs, journal, reviews, rows
from .database import Repository
from .rows import to_json
from .statements import statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..records import Merged
    from .database import Connection
    from .sync import Sync

# How long an import waits for readers of what another device purged; later the queue sees to it.
FLUSH_SECONDS = 5.0


class Devices(Repository):
    """Sync with the ledgers of other devices."""

    def seal(self, place: str, *, renew: bool = False) -> tuple[bytes, list[SegmentRow]]:
        """Give the events since the last time their order among all devices', and put them into segments.

        `place`: where the file is; from another place it is another device, and so when it is to `renew` its identity.
        Returns the identity and all segments that are known.
        """
        with self._database.writing() as con:
            sync = self._sync(con)
            device = sync.device(place, renew=renew)
            sync.seal(device)
            sync.conclude()
            return device, _segments(con)

    def segments(self) -> tuple[bytes | None, list[SegmentRow]]:
        """The identity used last, and all segments that are known."""
        with self._database.reading() as con:
            return con.execute("SELECT id FROM device ORDER BY num DESC LIMIT 1").get, _segments(con)

    def lines(self, segment: int) -> list[SequencedEvent]:
        """The events of a segment as they are now: without what was purged."""
        found = self._database.rows(statements()["segment_lines"], {"num": segment})
        return [SequencedEvent(rows.event(row[:9]), row[9], row[10], segment) for row in found]

    def written(self, segment: int, digest: str, header: dict[str, Any]) -> None:
        """A segment stands in its file, with this digest."""
        with self._database.writing() as con:
            con.execute("UPDATE segment SET digest = ?, header = ? WHERE num = ?", (digest, to_json(header), segment))

    def purged(self) -> dict[int, set[bytes]]:
        """The purged memories that segments have events of, by segment."""
        found: dict[int, set[bytes]] = {}
        for segment, memory in self._database.rows(statements()["purged_in_segments"]):
            found.setdefault(segment, set()).add(memory)
        return found

    def merge(self, segments: Sequence[SegmentRow], lines: Sequence[SequencedEvent]) -> Merged:
        """Take in others' segments after `seal`: union of the events, and what follows from their order.

        A device that is not trusted speaks of memories that it began itself only; its other events wait.
        """
        with self._database.writing() as con:
            sync = self._sync(con)
            merged = sync.merge(segments, lines)
            sync.conclude()
            if merged.purged:
                journal.clear(con)
                reviews.clear(con)
                jobs.after_purge(self._database, con)
        if merged.purged and self._database.flush_erased(seconds=FLUSH_SECONDS):
            jobs.flushed(self._database)
        return merged

    def trusted(self) -> set[bytes]:
        """The devices that somebody here trusts; the empty id stands for all."""
        return {bytes(row[0]) for row in self._database.rows("SELECT device FROM trusted")}

    def trust(self, device: bytes, at: int | None) -> None:
        """Trust a device from now on, or (None) no more."""
        with self._database.writing() as con:
            if at is None:
                con.execute("DELETE FROM trusted WHERE device = ?", (device,))
            else:
                con.execute("INSERT INTO trusted VALUES (?, ?) ON CONFLICT DO NOTHING", (device, at))
            self._sync(con).hear_anew(device)

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
