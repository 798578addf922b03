"""Sync with other devices. `sync.py`, which does the work, is loaded at use: few processes ever sync."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...model.merge_order import SequencedEvent
from ..records import SegmentRow
from . import jobs, journal, reviews, rows
from .database import Connection, Database
from .ledger import SqlLedger
from .reviews import SqlReviews
from .rows import to_json
from .statements import statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..contract import Describe
    from ..records import Merged
    from .sync import Sync

# How long an import waits for readers of what another device purged; later the queue sees to it.
FLUSH_SECONDS = 5.0


class SqlDevices:
    def __init__(self, database: Database, ledger: SqlLedger, reviews: SqlReviews, describe: Describe) -> None:
        self._database = database
        self._ledger = ledger
        self._reviews = reviews
        self._describe = describe

    def seal(self, place: str, *, renew: bool = False) -> tuple[bytes, list[SegmentRow]]:
        with self._database.writing() as con:
            sync = self._sync(con)
            device = sync.device(place, renew=renew)
            sync.seal(device)
            sync.conclude()
            return device, _segments(con)

    def segments(self) -> tuple[bytes | None, list[SegmentRow]]:
        with self._database.reading() as con:
            return con.execute("SELECT id FROM device ORDER BY num DESC LIMIT 1").get, _segments(con)

    def lines(self, segment: int) -> list[SequencedEvent]:
        found = self._database.rows(statements()["segment_lines"], {"num": segment})
        return [SequencedEvent(rows.event(row[:9]), row[9], row[10], segment) for row in found]

    def written(self, segment: int, digest: str, header: dict[str, Any]) -> None:
        with self._database.writing() as con:
            con.execute("UPDATE segment SET digest = ?, header = ? WHERE num = ?", (digest, to_json(header), segment))

    def purged(self) -> dict[int, set[bytes]]:
        found: dict[int, set[bytes]] = {}
        for segment, memory in self._database.rows(statements()["purged_in_segments"]):
            found.setdefault(segment, set()).add(memory)
        return found

    def merge(self, segments: Sequence[SegmentRow], lines: Sequence[SequencedEvent]) -> Merged:
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
        return {bytes(row[0]) for row in self._database.rows("SELECT device FROM trusted")}

    def trust(self, device: bytes, at: int | None) -> None:
        with self._database.writing() as con:
            if at is None:
                con.execute("DELETE FROM trusted WHERE device = ?", (device,))
            else:
                con.execute("INSERT INTO trusted VALUES (?, ?) ON CONFLICT DO NOTHING", (device, at))
            self._sync(con).hear_anew(device)

    def _sync(self, con: Connection) -> Sync:
        from .sync import Sync

        return Sync(self._database, con, self._describe, self._ledger, self._reviews)


def _segments(con: Connection) -> list[SegmentRow]:
    own = {row[0] for row in con.execute("SELECT id FROM device")}
    return [
        SegmentRow(bytes(device), number, digest, json.loads(header), device in own, num)
        for num, device, number, digest, header in con.execute(
            "SELECT num, device, number, digest, header FROM segment ORDER BY device, number, num"
        )
    ]
