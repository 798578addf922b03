"""Import, export and copy of whole stores, and the formats by name, whose modules are imported at use. The contracts
are in `api.py`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from importlib import import_module
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ...model.dataclass import NamedTuple, dataclass, replace
from ...model.edges import Edge
from ...model.errors import BadInput, LimpetError, StoreDamaged, StoreError
from ...model.ids import format_id
from ...model.memory import STATES, STORED_TYPES, Filter, Memory
from ...settings import read_settings
from ...store import open_store
from ...store.files import new_file
from ...store.records import MOST_WAITING
from ...text.describe import describe
from .known_devices import Devices

if TYPE_CHECKING:
    from ...context import Context
    from ...model.events import Event
    from ...store import Store
    from .records import Progress, Record, TransferReport

# Events in one transaction of a copy.
BATCH_EVENTS = 2_000
PAGE = 1_000

# name -> (module, function, what it reads)
READERS: dict[str, tuple[str, str, str]] = {
    "memori": ("programs", "read_memori", "a Memori database, or its JSONL"),
    "amem": ("amem", "read", "an .amem file of AgenticMemory"),
    "pmb": ("programs", "read_pmb", "events.sqlite of a PMB workspace, or its folder"),
    "mem0": ("exports", "read_mem0", "a JSON export of mem0"),
    "mcp": ("programs", "read_mcp", "JSONL of the MCP reference memory server"),
    "claude-memory": ("exports", "read_claude_memory", "Claude Code's memory folder"),
    "markdown": ("texts", "read_markdown", "a folder of Markdown, or one file: notes, CLAUDE.md, AGENTS.md, rules"),
    "text": ("texts", "read", "a folder of text, or one file: .txt, .md, .rst, .org, no suffix; any encoding"),
    "chatgpt": ("exports", "read_chats", "ChatGPT's data export: the zip, or conversations.json"),
    "claude": ("exports", "read_chats", "Claude's data export: the zip, or conversations.json"),
}
# What takes in its source by itself.
TAKERS: dict[str, tuple[str, str, str]] = {
    "jsonl": ("jsonl", "read", "an export, or plain statements"),
    "segments": ("segments", "read", "what other devices exported into a shared folder"),
    "code": ("project", "index", "a project's source code: symbols with their docstrings; again: what changed"),
    "docs": ("project", "index", "a project's documents: text and PDF, in passages; again: what changed"),
}
WRITERS: dict[str, tuple[str, str, str]] = {
    "jsonl": ("jsonl", "write", "the ledger of every scope, one event a line, lossless"),
    "segments": ("segments", "write", "what is new in every scope, into a folder shared with other devices"),
    "amem": ("amem", "write", "an .amem file, version 1"),
    "markdown": ("markdown", "write", "a new folder, a file a topic"),
    "mcp": ("programs", "write_mcp", "JSONL of the MCP reference memory server"),
    "memori": ("programs", "write_memori", "JSONL as `memori import` reads it"),
}
# Folders that people move in with: each file that is left out is named. A statement has one id in both formats.
TEXT = ("markdown", "text")
# limpet's own, which hold every scope.
OWN = ("jsonl", "segments")


def _function(format: str, known: Mapping[str, tuple[str, str, str]]) -> Callable[..., Any]:
    """Return the function of a format. Raises BadInput for an unknown name."""
    if format not in known:
        raise BadInput(f"the format {format[:60]!r} is not known", hint=f"formats: {', '.join(known)}")
    module, name, _ = known[format]
    function: Callable[..., Any] = getattr(import_module(f".{module}", __package__), name)
    return function


# -- import


def records(format: str, path: Path, report: TransferReport) -> Iterator[Record]:
    """Yield the records of a file or folder. Raises BadInput, and StoreError for errors of the file system."""
    read = _function(format, READERS)
    try:
        yield from read(path, report)
    except OSError as error:
        raise StoreError(f"cannot read {error.filename or path}: {error.strerror}") from None


def import_from(
    context: Context, format: str, path: Any, *, trust: bool, dry_run: bool, progress: Progress | None
) -> TransferReport:
    """Run an import as one operation. A dry run is an import into a copy of the store, which is dropped."""
    from .importer import Importer
    from .records import TransferReport

    read = _function(format, TAKERS | READERS)
    if format not in OWN and not Path(path).exists():
        raise BadInput(f"no file or folder {path}")
    report = TransferReport(progress=progress, by_name=format in TEXT)
    if format == "segments":
        read(context.store, Path(path), report, dry_run=dry_run)
        return report
    store = _scratch(context) if dry_run else contextlib.nullcontext(context)
    with store as target, target.one_operation() as operation:
        try:
            if format == "jsonl":
                read(target, path, report, trust)
            elif format in TAKERS:
                read(target, format, Path(path), report)
            else:
                importer = Importer(target, format=TEXT[0] if format in TEXT else format, report=report, trusted=trust)
                importer.run(records(format, Path(path), report))
        except KeyboardInterrupt:
            stored = f"the first {report.new:,} new memories of it are" if report.new else "nothing of it is"
            progress_note = f"{stored} stored, and the same import goes on from there"
            raise KeyboardInterrupt("nothing is stored: it was a dry run" if dry_run else progress_note) from None
    report.operation = format_id(operation[0]) if operation and not dry_run else None
    return report


@contextlib.contextmanager
def _scratch(context: Context) -> Iterator[Context]:
    """Open a store in memory with the same memories."""
    with contextlib.closing(open_store(":memory:", describe)) as store:
        store.ledger.append(context.store.ledger.events())
        target = copy(context)
        target.store, target._unclaimed = store, None
        yield target


# -- export


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The memories to export: those of some scopes, oldest first, with their links."""

    store: Store
    scopes: tuple[str, ...] | None  # None = every scope
    now: int  # microseconds UTC
    report: TransferReport
    force: bool  # replace a file that is there

    def new_file(self, path: Path) -> AbstractContextManager[IO[bytes]]:
        """Open the output file. Raises BadInput, StoreError."""
        return new_file(path, store=self.store.path, force=self.force)

    def memories(
        self, lost: Mapping[str, Callable[[Memory], object]] | None = None, *, ended: bool = False
    ) -> Iterator[Memory]:
        """Yield active memories; `ended`: also those that no longer hold. The report notes those left out, and `lost`
        fields, by name -> whether a memory has it."""
        where = Filter(scopes=self.scopes, as_of=None if ended else self.now)
        total = self.store.listings.count(where)
        left = self.store.listings.count(Filter(scopes=self.scopes)) - total
        self.report.note("memories that do not hold now were left out", left)
        for state in ("archived", "retracted", "merged", "quarantined"):
            left = self.store.listings.count(Filter(scopes=self.scopes, states=(state,)))
            self.report.note(f"{state} memories were left out", left)
        for done, memory in enumerate(self.store.listings.each(where, descending=False), 1):
            for what, has in (lost or {}).items():
                self.report.note(f"{what}: no place in this format", bool(has(memory)))
            yield memory
            if done % PAGE == 0 or done == total:
                self.report.at(done, total)

    def note_links(self) -> None:
        """Note that the format has no place for links."""
        links = self.store.edges.leaving(Filter(scopes=self.scopes), STORED_TYPES)
        self.report.note("links: no place in this format", len(links))

    def edges(self, ids: set[bytes], types: Sequence[str]) -> Iterator[tuple[Edge, int]]:
        """Yield the links between these memories, and since when each holds."""
        edges = [edge for edge in self.store.edges.all(types) if edge.source in ids and edge.target in ids]
        events = self.store.ledger.events(ids=[edge.event for edge in edges if edge.event is not None])
        since = {event.id: event.data.get("since") for event in events}
        for edge in edges:
            at = since.get(edge.event) if edge.event is not None else None
            yield edge, at if isinstance(at, int) else edge.recorded_at


def export_to(
    context: Context, format: str, path: Any, *, all_scopes: bool = False, force: bool = False,
    progress: Progress | None = None,
) -> TransferReport:  # fmt: skip
    from .records import TransferReport

    write = _function(format, WRITERS)
    report = TransferReport(progress=progress)
    source = Source(
        store=context.store, scopes=None if all_scopes else context.scopes, now=context.now(), report=report,
        force=force,
    )  # fmt: skip

    def note_copy() -> None:
        if isinstance(path, str | os.PathLike):
            kind = "segments" if format == "segments" else "export"
            context.store.erasure.note_copy(os.fspath(path), kind, context.now())

    try:
        report.new = write(source, path if format == "jsonl" else Path(path))
    except StoreDamaged:
        # A file of what could be read may exist; a damaged store may refuse the note.
        with contextlib.suppress(LimpetError):
            note_copy()
        raise
    note_copy()
    return report


# -- a whole store into another one of any engine: the ledger, then the tables beside it


class CopyReport(NamedTuple):
    """The report of a copy. `there`: events that the target had before."""

    events: int
    there: int


def copy_store(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, progress: Progress | None = None
) -> CopyReport:
    """Copy a whole store, a file or URL as for `open`, into a new one of either engine. An interrupted copy is
    continued. At the end both ledgers are compared. The target is another device for sync.

    Journal, exposures, read transcripts and claims of checkouts are not copied; vectors are made anew. Raises BadInput
    for a target that holds something else, StoreMissing, StoreError.
    """
    paths = [read_settings(path, "global", None).path for path in (source, target)]
    with (
        contextlib.closing(open_store(paths[0], describe, read_only=True)) as store,
        contextlib.closing(open_store(paths[1], describe)) as other,
    ):
        if store.path == other.path:
            raise BadInput("a store cannot be copied into itself")
        # The target must have the beginning of the same ledger, or nothing.
        there, coming = 0, _events(store)
        for there, event in enumerate(_events(other), 1):
            if next(coming, None) != event:
                raise BadInput(
                    f"{other.path} holds something else: event {there} is not that of {store.path}",
                    hint="copy into a new store; `limpet import` adds to one",
                )
        done, total = there, store.maintenance.stats().events
        while part := list(islice(coming, BATCH_EVENTS)):
            done += other.ledger.append(part)
            if progress:
                progress(done, max(done, total))
        other.usage.restore(store.usage.rows())
        scopes = [scope for scope, *_ in store.listings.count_scopes(Filter(scopes=None, states=STATES))]
        other.reviews.propose(store.reviews.waiting(scopes, limit=MOST_WAITING))
        for device in Devices(store).trusted():
            Devices(other).trust(device, 0)
        if not all(first == second for first, second in zip_longest(_events(store), _events(other))):
            raise StoreError(f"{other.path} is not what {store.path} is", hint="was one of them written to? copy again")
        return CopyReport(done - there, there)


def _events(store: Store) -> Iterator[Event]:
    """Return events without their numbers, between which a merge leaves gaps."""
    return (replace(event, seq=0) for event in store.ledger.events())
