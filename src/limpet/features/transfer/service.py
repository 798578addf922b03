"""Import, export and sync, and the formats by name. The contracts are in `__init__.py` and `api.py`.

A reader or writer is imported when it is asked for. `jsonl` and `segments` are not among
them: they are the ledger itself.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ...model.dataclass import NamedTuple
from ...model.errors import BadInput, LimpetError, StoreDamaged, StoreError
from ...model.ids import format_id
from ...model.memory import FOREIGN

if TYPE_CHECKING:
    from ...context import Context
    from .records import Record, TransferReport
    from .segments import DeviceInfo, SegmentReport

Progress = Callable[[int, int], None]

# name -> (module, function, what it reads)
READERS: dict[str, tuple[str, str, str]] = {
    "memori": ("programs", "read_memori", "a Memori database, or its JSONL"),
    "amem": ("amem", "read", "an .amem file of AgenticMemory"),
    "pmb": ("programs", "read_pmb", "events.sqlite of a PMB workspace, or its folder"),
    "mem0": ("programs", "read_mem0", "a JSON export of mem0"),
    "mcp": ("programs", "read_mcp", "JSONL of the MCP reference memory server"),
    "claude-memory": ("claude_memory", "read", "Claude Code's memory folder"),
    "markdown": ("markdown", "read", "a folder of Markdown, or one file: notes, CLAUDE.md, AGENTS.md, rules"),
    "chatgpt": ("chats", "read_chatgpt", "ChatGPT's data export: the zip, or conversations.json"),
    "claude": ("chats", "read_claude", "Claude's data export: the zip, or conversations.json"),
}
# name -> (module, function, what it reads): again, what changed.
PROJECTS: dict[str, tuple[str, str, str]] = {
    "code": ("code", "pieces", "a project's source code: symbols with their docstrings; again: what changed"),
    "docs": ("project", "document_pieces", "a project's documents: Markdown and PDF; again: what changed"),
}
WRITERS: dict[str, tuple[str, str, str]] = {
    "amem": ("amem", "write", "an .amem file, version 1"),
    "markdown": ("writers", "write_markdown", "a new folder, a file a topic"),
    "mcp": ("writers", "write_mcp", "JSONL of the MCP reference memory server"),
    "memori": ("writers", "write_memori", "JSONL as `memori import` reads it"),
}


def _function(format: str, known: dict[str, tuple[str, str, str]]) -> Callable[..., Any]:
    """Raises BadInput for a name that is not known."""
    if format not in known:
        raise BadInput(f"the format {format[:60]!r} is not known", hint=f"formats: jsonl, segments, {', '.join(known)}")
    module, name, _ = known[format]
    function: Callable[..., Any] = getattr(import_module(f".{module}", __package__), name)
    return function


def records(format: str, path: Path, report: TransferReport) -> Iterator[Record]:
    """What is in a file or folder. Raises BadInput; what the file system says becomes a StoreError."""
    read = _function(format, READERS)
    if not path.exists():
        raise BadInput(f"no file or folder {path}")
    try:
        yield from read(path, report)
    except OSError as error:
        raise StoreError(f"cannot read {error.filename or path}: {error.strerror}") from None


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
    from .importer import Importer
    from .records import TransferReport

    if trust != "import" and trust not in FOREIGN:
        raise BadInput(f"trust of an import is import, {' or '.join(sorted(FOREIGN))}, not {trust!r}")
    report = TransferReport(progress=progress)
    if format in PROJECTS:
        from .project import Indexer

        if trust != "import":
            raise BadInput(f"{format} indexes a project of yours: it has no --trust")
        pieces = _function(format, PROJECTS)
        Indexer(context, format=format, pieces=pieces, dry_run=dry_run, report=report).run(Path(path))
    else:
        importer = Importer(context, format=format, dry_run=dry_run, report=report, origin=trust)
        importer.run(records(format, Path(path), report))
    report.progress = None
    return report


def export_to(
    context: Context, format: str, path: str | os.PathLike[str], *, all_scopes: bool, force: bool,
    progress: Progress | None,
) -> TransferReport:  # fmt: skip
    from .records import TransferReport
    from .writers import Source

    write = _function(format, WRITERS)
    report = TransferReport(progress=progress)
    scopes = None if all_scopes else context.scopes
    source = Source(store=context.store, scopes=scopes, now=context.now(), report=report, force=force)
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
    from .segments import devices

    return devices(context)


def trust_device(context: Context, id: str, *, trusted: bool) -> int:
    from .segments import trust_device

    return trust_device(context, id, trusted=trusted)


def export_jsonl(
    context: Context, target: str | os.PathLike[str] | IO[str], *, vectors: bool, force: bool, encrypt: bool,
    progress: Progress | None,
) -> int:  # fmt: skip
    from .jsonl import export_jsonl

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
