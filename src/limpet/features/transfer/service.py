"""Import, export and copy of whole stores, and the formats by name. The contracts are in `api.py`.

A reader or writer is imported when it is asked for. `jsonl` and `segments` are not among them: they are the ledger
itself.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from copy import copy
from importlib import import_module
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ...model.dataclass import NamedTuple, dataclass, replace
from ...model.edges import STORED_TYPES, Edge
from ...model.errors import BadInput, LimpetError, StoreDamaged, StoreError
from ...model.ids import format_id
from ...model.memory import FOREIGN, STATES, Memory
from ...store.engines import open_store
from ...store.files import new_file
from ...store.records import MOST_WAITING, Filter

if TYPE_CHECKING:
    from ...context import Context
    from ...model.events import Event
    from ...store import Store
    from .records import Record, TransferReport

Progress = Callable[[int, int], None]
# Events of one transaction of a copy: what a copy that is killed begins anew with.
BATCH_EVENTS = 2_000
PAGE = 1_000

# name -> (module, function, what it reads)
READERS: dict[str, tuple[str, str, str]] = {
    "memori": ("programs", "read_memori", "a Memori database, or its JSONL"),
    "amem": ("amem", "read", "an .amem file of AgenticMemory"),
    "pmb": ("programs", "read_pmb", "events.sqlite of a PMB workspace, or its folder"),
    "mem0": ("exports", "read_mem0", "a JSON export of mem0"),
    "mcp": ("programs", "read_mcp", "JSONL of the MCP reference memory server"),
    "claude-memory": ("markdown", "read_claude_memory", "Claude Code's memory folder"),
    "markdown": ("markdown", "read", "a folder of Markdown, or one file: notes, CLAUDE.md, AGENTS.md, rules"),
    "chatgpt": ("exports", "read_chatgpt", "ChatGPT's data export: the zip, or conversations.json"),
    "claude": ("exports", "read_claude", "Claude's data export: the zip, or conversations.json"),
}
# name -> (module, function, what it reads): again, what changed.
PROJECTS: dict[str, tuple[str, str, str]] = {
    "code": ("project", "code_pieces", "a project's source code: symbols with their docstrings; again: what changed"),
    "docs": ("project", "document_pieces", "a project's documents: Markdown and PDF; again: what changed"),
}
WRITERS: dict[str, tuple[str, str, str]] = {
    "amem": ("amem", "write", "an .amem file, version 1"),
    "markdown": ("markdown", "write", "a new folder, a file a topic"),
    "mcp": ("programs", "write_mcp", "JSONL of the MCP reference memory server"),
    "memori": ("programs", "write_memori", "JSONL as `memori import` reads it"),
}


def _function(format: str, known: dict[str, tuple[str, str, str]]) -> Callable[..., Any]:
    """Raises BadInput for a name that is not known."""
    if format not in known:
        raise BadInput(f"the format {format[:60]!r} is not known", hint=f"formats: jsonl, segments, {', '.join(known)}")
    module, name, _ = known[format]
    function: Callable[..., Any] = getattr(import_module(f".{module}", __package__), name)
    return function


# -- import


def records(format: str, path: Path, report: TransferReport) -> Iterator[Record]:
    """What is in a file or folder. Raises BadInput; what the file system says becomes a StoreError."""
    read = _function(format, READERS)
    if not path.exists():
        raise BadInput(f"no file or folder {path}")
    try:
        yield from read(path, report)
    except OSError as error:
        raise StoreError(f"cannot read {error.filename or path}: {error.strerror}") from None


def import_from(
    context: Context, format: str, path: str | os.PathLike[str], *, trust: str, dry_run: bool, progress: Progress | None
) -> TransferReport:
    from .importer import Importer
    from .project import Indexer

    if trust != "import" and trust not in FOREIGN:
        raise BadInput(f"trust of an import is import, {' or '.join(sorted(FOREIGN))}, not {trust!r}")
    read = _function(format, READERS | PROJECTS)
    if format in PROJECTS and trust != "import":
        raise BadInput(f"{format} indexes a project of yours: it has no --trust")

    def run(target: Context, report: TransferReport) -> None:
        if format in PROJECTS:
            Indexer(target, format=format, pieces=read, report=report).run(Path(path))
        else:
            Importer(target, format=format, report=report, origin=trust).run(records(format, Path(path), report))

    return _import(context, dry_run, progress, run)


def import_jsonl(
    context: Context, source: str | os.PathLike[str] | IO[str] | IO[bytes], *, dry_run: bool, progress: Progress | None
) -> TransferReport:
    from .jsonl import import_jsonl

    return _import(context, dry_run, progress, lambda target, report: import_jsonl(target, source, report))


def _import(
    context: Context, dry_run: bool, progress: Progress | None, run: Callable[[Context, TransferReport], object]
) -> TransferReport:
    """Run an import as one operation. A dry run is an import into a copy of the store, which is dropped."""
    from .records import TransferReport

    report = TransferReport(progress=progress)
    store = _scratch(context) if dry_run else contextlib.nullcontext(context)
    with store as target, target.one_operation() as operation:
        try:
            run(target, report)
        except KeyboardInterrupt:
            stored = f"the first {report.new:,} new memories of it are" if report.new else "nothing of it is"
            said = f"{stored} stored, and the same import goes on from there"
            raise KeyboardInterrupt("nothing is stored: it was a dry run" if dry_run else said) from None
    report.operation = format_id(operation[0]) if operation and not dry_run else None
    report.progress = None
    return report


@contextlib.contextmanager
def _scratch(context: Context) -> Iterator[Context]:
    """The same memories in a store in memory."""
    from ...text.describe import describe

    with contextlib.closing(open_store(":memory:", describe)) as store:
        coming = context.store.ledger.events()
        while part := list(islice(coming, BATCH_EVENTS)):
            store.ledger.append(part)
        target = copy(context)
        target.store, target._unclaimed = store, None
        yield target


# -- export


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is exported: the memories of some scopes, oldest first, with their links."""

    store: Store
    scopes: tuple[str, ...] | None  # None = every scope
    now: int  # microseconds UTC
    report: TransferReport
    force: bool = False  # replace a file that is there

    def new_file(self, path: Path) -> AbstractContextManager[IO[bytes]]:
        """Where it is written to. Raises BadInput, StoreError."""
        return new_file(path, store=self.store.path, force=self.force)

    def memories(self, *, ended: bool) -> Iterator[Memory]:
        """Active ones; `ended`: also those that hold no longer. What stays behind is noted."""
        where = Filter(scopes=self.scopes, as_of=None if ended else self.now)
        total = self.store.listings.count(where)
        rest = self.store.listings.count(Filter(scopes=self.scopes)) - total
        if rest:
            self.report.note("memories that do not hold now were left out", rest)
        for state in ("archived", "retracted", "merged", "quarantined"):
            if count := self.store.listings.count(Filter(scopes=self.scopes, states=(state,))):
                self.report.note(f"{state} memories were left out", count)
        for done, one in enumerate(self.store.listings.each(where, descending=False), 1):
            yield one
            if done % PAGE == 0 or done == total:
                self.report.at(done, total)

    def note_links(self) -> None:
        """Say that the format has no place for links."""
        links = self.store.edges.leaving(Filter(scopes=self.scopes), STORED_TYPES)
        if links:
            self.report.note("links: no place in this format", len(links))

    def edges(self, ids: set[bytes], types: Sequence[str]) -> Iterator[tuple[Edge, int]]:
        """Links between these memories, and since when each holds."""
        found = [edge for edge in self.store.edges.all(types) if edge.source in ids and edge.target in ids]
        for start in range(0, len(found), PAGE):
            part = found[start : start + PAGE]
            events = self.store.ledger.events(ids=[edge.event for edge in part if edge.event is not None])
            since = {event.id: event.data.get("since") for event in events}
            for edge in part:
                at = since.get(edge.event) if edge.event is not None else None
                yield edge, at if isinstance(at, int) else edge.recorded_at


def export_to(
    context: Context, format: str, path: str | os.PathLike[str], *, all_scopes: bool, force: bool,
    progress: Progress | None,
) -> TransferReport:  # fmt: skip
    from .records import TransferReport

    write = _function(format, WRITERS)
    report = TransferReport(progress=progress)
    scopes = None if all_scopes else context.scopes
    source = Source(store=context.store, scopes=scopes, now=context.now(), report=report, force=force)
    report.new = write(source, Path(path))
    context.store.erasure.note_copy(os.fspath(path), "export", context.now())
    report.progress = None
    return report


def export_jsonl(
    context: Context, target: str | os.PathLike[str] | IO[str], *, force: bool, encrypt: bool, progress: Progress | None
) -> int:
    from .jsonl import export_jsonl

    def note() -> None:
        if isinstance(target, str | os.PathLike):
            context.store.erasure.note_copy(os.fspath(target), "export", context.now())

    try:
        written = export_jsonl(context.store, target, force=force, encrypt=encrypt, progress=progress)
    except StoreDamaged:
        # There is a file too, of what could be read; to note that may be too much for the store.
        with contextlib.suppress(LimpetError):
            note()
        raise
    note()
    return written


# -- a whole store into another one, of whatever engine: the ledger event by event, then what is no ledger


class CopyReport(NamedTuple):
    """What a copy has brought over. `there`: events that the target had before."""

    events: int
    there: int


def copy_store(source: Store, target: Store, *, progress: Progress | None = None) -> CopyReport:
    """What is there already must be the beginning of the same ledger, so that a copy that was interrupted goes on. The
    queue of the target makes vectors.

    Raises BadInput for a target that holds something else, StoreError when what arrived is not what was sent.
    """
    if source.path == target.path:
        raise BadInput("a store cannot be copied into itself")
    there, coming = 0, _events(source)
    for there, event in enumerate(_events(target), 1):
        if next(coming, None) != event:
            raise BadInput(
                f"{target.path} holds something else: event {there} is not that of {source.path}",
                hint="copy into a new store; `limpet import` adds to one",
            )
    done, total = there, source.maintenance.stats().events
    while part := list(islice(coming, BATCH_EVENTS)):
        done += target.ledger.append(part)
        if progress:
            progress(done, max(done, total))
    target.usage.restore(source.usage.rows())
    scopes = [scope for scope, *_ in source.listings.count_scopes(Filter(scopes=None, states=STATES))]
    target.reviews.propose(source.reviews.waiting(scopes, limit=MOST_WAITING))
    for device in source.devices.trusted():
        target.devices.trust(device, 0)
    if not all(one == other for one, other in zip_longest(_events(source), _events(target))):
        raise StoreError(f"{target.path} is not what {source.path} is", hint="was one of them written to? copy again")
    return CopyReport(done - there, there)


def _events(store: Store) -> Iterator[Event]:
    """Without their numbers, between which a merge leaves gaps."""
    return (replace(event, seq=0) for event in store.ledger.events())
