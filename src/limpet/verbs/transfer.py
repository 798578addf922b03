"""Other programs' formats, in and out, projects, and sync between devices.

The ledger as JSONL is the engine's own (`import_jsonl`, `export_jsonl`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .base import Base

if TYPE_CHECKING:
    from ..transfer.record import Report
    from ..transfer.segments import SegmentReport

Progress = Callable[[int, int], None]


class Transfer(Base):
    """Verbs that move memories between programs."""

    def import_from(
        self, format: str, path: str | os.PathLike[str], *, dry_run: bool = False, progress: Progress | None = None
    ) -> Report:
        """Read another program's memories into this scope; the source is never written. Twice is once.

        `code` and `docs` index a project: again, they bring what changed there. The report says what was not
        understood, and where. Formats: `transfer/formats.py`. Raises BadInput, StoreError.
        """
        from ..transfer import formats
        from ..transfer.bring import Importer
        from ..transfer.project import PROJECTS, Indexer
        from ..transfer.record import Report

        report = Report(progress=progress)
        if format in PROJECTS:
            Indexer(
                self._store, self._clock, self._write, format=format, scope=self.scope, dry_run=dry_run, report=report
            ).run(Path(path))
            report.progress = None
            return report
        importer = Importer(
            self._store,
            self._clock,
            self._write,
            lambda: self._vectors().for_writing(),
            format=format,
            scope=self.scope,
            dry_run=dry_run,
            report=report,
        )
        source: Any = formats.records(format, Path(path), report)
        importer.run(source)
        report.progress = None
        return report

    def export_to(
        self,
        format: str,
        path: str | os.PathLike[str],
        *,
        vectors: bool = False,
        all_scopes: bool = False,
        force: bool = False,
        progress: Progress | None = None,
    ) -> Report:
        """Write the memories of this scope and `global` in another program's format; `new` counts them.

        The report says what the format cannot hold. `vectors`: where it can hold them. `force`: replace a file that is
        there, which the store and what lies beside it never is. Raises BadInput, StoreError.
        """
        from ..transfer import formats
        from ..transfer.record import Report
        from ..transfer.writers import Source

        write = formats.writer(format)
        report = Report(progress=progress)
        active = next((row.num for row in self._store.vectors.embedders() if row.state == "active"), None)
        source = Source(
            store=self._store,
            scopes=None if all_scopes else self._scopes,
            now=self._clock.now(),
            report=report,
            vectors=vectors,
            embedder=active,
            force=force,
        )
        report.new = write(source, Path(path))
        report.progress = None
        return report

    def export_segments(self, folder: str | os.PathLike[str], *, progress: Progress | None = None) -> SegmentReport:
        """Write what is new in this store into its own folder below a shared one; other devices import it there.

        Every scope. Raises BadInput, StoreError.
        """
        from ..transfer.segments import export_segments

        return export_segments(self._store, Path(folder), progress=progress)

    def import_segments(
        self, folder: str | os.PathLike[str], *, dry_run: bool = False, progress: Progress | None = None
    ) -> SegmentReport:
        """Take in what other devices exported there. Stores that have taken in the same segments hold the same.

        Raises BadInput, StoreError.
        """
        from ..transfer.segments import import_segments

        return import_segments(self._store, Path(folder), dry_run=dry_run, progress=progress)
