"""The store's side of syncing devices. `sync.py`, which does the work, is loaded at use: few processes ever sync."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import journal
from .rows import to_json
from .sql import statements

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    import apsw

    from ...model.settle import Placed
    from ..contract import Describe
    from ..records import Merged, SegmentRow


class Devices:
    """A mixin of `SqliteStore`."""

    if TYPE_CHECKING:
        _describe: Describe

        def _reading(self) -> AbstractContextManager[apsw.Connection]: ...

        def _writing(self) -> AbstractContextManager[apsw.Connection]: ...

        def _flush_erased(self) -> None: ...

    def seal(self, place: str, *, renew: bool = False) -> tuple[bytes, list[SegmentRow]]:
        from .sync import Sync

        with self._writing() as con:
            ledger = Sync(con, self._describe)
            device = ledger.device(place, renew=renew)
            ledger.seal(device)
            return device, ledger.segments()

    def segments(self) -> tuple[bytes | None, list[SegmentRow]]:
        from .sync import segments

        with self._reading() as con:
            return con.execute("SELECT id FROM device ORDER BY num DESC LIMIT 1").get, segments(con)

    def segment_lines(self, num: int) -> list[Placed]:
        from .sync import segment_lines

        with self._reading() as con:
            return segment_lines(con, num)

    def segment_written(self, num: int, digest: str, header: dict[str, Any]) -> None:
        with self._writing() as con:
            con.execute("UPDATE segment SET digest = ?, header = ? WHERE num = ?", (digest, to_json(header), num))

    def purged_in_segments(self) -> dict[int, set[bytes]]:
        found: dict[int, set[bytes]] = {}
        with self._reading() as con:
            for segment, memory in con.execute(statements()["purged_in_segments"]):
                found.setdefault(segment, set()).add(memory)
        return found

    def merge(self, segments: Sequence[SegmentRow], lines: Sequence[Placed]) -> Merged:
        from .sync import Sync

        with self._writing() as con:
            merged = Sync(con, self._describe).merge(segments, lines)
            if merged.purged:
                journal.clear(con)
        if merged.purged:
            self._flush_erased()
        return merged
