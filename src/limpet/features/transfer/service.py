"""Import, export and sync. The contracts are those of the verbs in `api.py`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ...model.dataclass import NamedTuple
from ...model.errors import BadInput, LimpetError, StoreDamaged
from ...model.ids import format_id
from ...model.memory import FOREIGN

if TYPE_CHECKING:
    from ...context import Context
    from .devices import DeviceInfo
    from .records import TransferReport
    from .segments import SegmentReport

Progress = Callable[[int, int], None]


class _Counts(NamedTuple):
    new: int
    known: int
    rejected: list[tuple[int, str]]


class ImportReport(_Counts):
    """What an import did. `rejected`: (line number, reason). `operation`: which `undo` takes; none where only events of
    an export came, which keep theirs. `quarantined`: how many of the new plain statements wait for a person."""

    operation: str | None = None
    quarantined: int = 0


def import_from(
    context: Context, format: str, path: str | os.PathLike[str], *, trust: str, dry_run: bool, progress: Progress | None
) -> TransferReport:
    from . import formats
    from .importer import Importer
    from .project import PROJECTS, Indexer
    from .records import TransferReport

    if trust != "import" and trust not in FOREIGN:
        raise BadInput(f"trust of an import is import, {' or '.join(sorted(FOREIGN))}, not {trust!r}")
    report = TransferReport(progress=progress)
    if format in PROJECTS:
        if trust != "import":
            raise BadInput(f"{format} indexes a project of yours: it has no --trust")
        Indexer(context, format=format, dry_run=dry_run, report=report).run(Path(path))
        report.progress = None
        return report
    source: Any = formats.records(format, Path(path), report)
    Importer(context, format=format, dry_run=dry_run, report=report, origin=trust).run(source)
    report.progress = None
    return report


def export_to(
    context: Context,
    format: str,
    path: str | os.PathLike[str],
    *,
    vectors: bool,
    all_scopes: bool,
    force: bool,
    progress: Progress | None,
) -> TransferReport:
    from . import formats
    from .records import TransferReport
    from .writers import Source

    write = formats.writer(format)
    report = TransferReport(progress=progress)
    active = next((row.num for row in context.store.vectors.embedders() if row.state == "active"), None)
    source = Source(
        store=context.store,
        scopes=None if all_scopes else context.scopes,
        now=context.now(),
        report=report,
        vectors=vectors,
        embedder=active,
        force=force,
    )
    report.new = write(source, Path(path))
    context.store.erasure.note_copy(os.fspath(path), "export", context.now())
    report.progress = None
    return report


def export_segments(
    context: Context, folder: str | os.PathLike[str], *, encrypt: bool, progress: Progress | None
) -> SegmentReport:
    from .segments import export_segments

    report = export_segments(context.store, Path(folder), encrypt=encrypt, progress=progress)
    context.store.erasure.note_copy(os.fspath(folder), "segments", context.now())
    return report


def import_segments(
    context: Context, folder: str | os.PathLike[str], *, dry_run: bool, progress: Progress | None
) -> SegmentReport:
    from .segments import import_segments

    return import_segments(context.store, Path(folder), dry_run=dry_run, progress=progress)


def devices(context: Context) -> list[DeviceInfo]:
    from .devices import devices

    return devices(context)


def trust_device(context: Context, id: str, *, trusted: bool) -> int:
    from .devices import trust_device

    return trust_device(context, id, trusted=trusted)


def export_jsonl(
    context: Context, target: str | os.PathLike[str] | IO[str], *, vectors: bool, force: bool, encrypt: bool,
    progress: Progress | None,
) -> int:  # fmt: skip
    from .jsonl_export import export_jsonl

    def note() -> None:
        if isinstance(target, str | os.PathLike):
            context.store.erasure.note_copy(os.fspath(target), "export", context.now())

    try:
        written = export_jsonl(context.store, target, vectors=vectors, force=force, encrypt=encrypt, progress=progress)
    except StoreDamaged:
        # There is a file too, of what could be read; to note that may be too much for the store.
        with contextlib.suppress(LimpetError):
            note()
        raise
    note()
    return written


def import_jsonl(
    context: Context, source: str | os.PathLike[str] | IO[str] | IO[bytes], *, dry_run: bool, progress: Progress | None
) -> ImportReport:
    from .jsonl_import import import_jsonl

    new, known, bad, quarantined, operation = import_jsonl(context, source, dry_run=dry_run, progress=progress)
    report = ImportReport(new=new, known=known, rejected=bad)
    report.operation = None if operation is None else format_id(operation)
    report.quarantined = quarantined
    return report
