"""Sync with other devices. `sync.py`, which does the work, is loaded at use: few processes ever sync."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import journal
from .database import Database
from .ledger import SqliteLedger, flush_erased
from .rows import to_json
from .sql import statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from ...model.merge_order import SequencedEvent
    from ..contract import Describe
    from ..records import Merged, SegmentRow
    from .sync import Sync


class SqliteDevices:
    def __init__(self, database: Database, ledger: SqliteLedger, describe: Describe) -> None:
        self._database = database
        self._ledger = ledger
        self._describe = describe

    def seal(self, place: str, *, renew: bool = False) -> tuple[bytes, list[SegmentRow]]:
        with self._database.writing() as con:
            sync = self._sync(con)
            device = sync.device(place, renew=renew)
            sync.seal(device)
            return device, sync.segments()

    def segments(self) -> tuple[bytes | None, list[SegmentRow]]:
        from .sync import segments

        with self._database.reading() as con:
            return con.execute("SELECT id FROM device ORDER BY num DESC LIMIT 1").get, segments(con)

    def lines(self, segment: int) -> list[SequencedEvent]:
        from .sync import segment_lines

        with self._database.reading() as con:
            return segment_lines(con, segment)

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
            merged = self._sync(con).merge(segments, lines)
            if merged.purged:
                journal.clear(con)
        if merged.purged:
            flush_erased(self._database)
        return merged

    def _sync(self, con: apsw.Connection) -> Sync:
        from .sync import Sync

        return Sync(con, self._describe, self._ledger)
