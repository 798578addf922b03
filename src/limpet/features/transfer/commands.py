"""Commands that move whole stores: import, export and copy; and how an import is reported."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...cli import output
from ...cli.remember import refuse_tainted
from ...cli.verbs import IN_OUT, Verb, arg, open_store
from ...folders import shown
from ...model.errors import BadInput, counted
from .service import READERS, TAKERS, WRITERS, copy_store

if TYPE_CHECKING:
    from typing import Any

    from ...api import Limpet
    from ...model.encode import JsonForm
    from .records import TransferReport


def _listed(formats: Mapping[str, tuple[str, str, str]]) -> str:
    return "; ".join(f"{name}: {what}" for name, (_, _, what) in formats.items())


def _import(args: Namespace) -> int:
    """Import a file. Return 2 when a record was not understood, 1 when a file of a folder of text was left out; the
    rest is there all the same."""
    if args.format == "transcripts":  # `limpet organize` under the name of an import
        from ..organize.commands import organize

        args.paths = [args.path]
        return organize(args)
    source = args.path
    if args.format == "jsonl" and source == "-":
        if sys.stdin is None:
            raise BadInput("stdin is closed")
        source = sys.stdin.buffer
    with open_store(args, create=True) as memory:
        if args.trust:
            refuse_tainted(memory, "vouching for a file")
        with output.progress("importing") as progress:
            report = memory.import_from(args.format, source, trust=args.trust, dry_run=args.dry_run, progress=progress)
        asks = args.format in READERS or args.format == "jsonl"
        if asks and report.new and not (args.trust or args.dry_run or args.json):
            _vouch(memory, args, source, report.new)
        code = (1 if report.by_name else 2) if report.rejected else 0
        return imported(memory, args, report, partial(_show, report, args), code=code)


# Memories that are listed before a person vouches for them.
MOST_LISTED = 200


def _vouch(memory: Limpet, args: Namespace, source: Any, new: int) -> None:
    """Ask the person at the terminal whether agents may be shown what was imported; elsewhere say how to."""
    if source is not args.path or sys.stdin is None or not sys.stdin.isatty():
        output.words("agents are not shown it unasked: `--trust`, again, vouches for it")
        return
    while True:
        given = input(f"{counted(new, 'memory')} of {args.format}: let agents be shown them? [y/N/list] ").strip()
        if given.lower() != "list":
            break
        for item in memory.list(limit=min(new, MOST_LISTED)):
            output.line(output.printable(output.cut(output.flat(item.content), 100)))
    if given.lower() in ("y", "yes"):
        memory.import_from(args.format, source, trust=True)


def _show(report: TransferReport, args: Namespace) -> None:
    output.line(
        f"{'would be ' if args.dry_run else ''}new {report.new:,}, changed {report.changed:,}, "
        f"known already {report.known:,}, links {report.links:,}, "
        f"{'left out' if report.by_name else 'not understood'} {len(report.rejected) + report.more_rejected:,}"
    )
    if report.quarantined:
        why = "read like instructions, or say otherwise than what is trusted more"
        output.words(f"{report.quarantined:,} {why}, kept out until a person looks: `limpet review`")
    if report.redacted:
        output.words(f"{report.redacted:,} held a secret, which was left out")
    if report.conflicts:
        output.words(f"set on two devices at once: {counted(report.conflicts, 'key')}: `limpet review`")
    if report.purged:
        output.words(f"purged on another device, and erased here now: {counted(report.purged, 'memory')}")
    notes(report)
    undone_by(report.operation)


def _export(args: Namespace) -> int:
    """Export memories. Return 2 when something was left out; the rest is there all the same."""
    to_stdout = args.path == "-" and args.format == "jsonl"
    if to_stdout and sys.__stdout__ is None:
        raise BadInput("stdout is closed")
    with open_store(args) as memory, output.progress("exporting") as progress:
        report = memory.export_to(
            args.format, sys.stdout if to_stdout else args.path, all_scopes=args.all_scopes, force=args.force,
            progress=progress,
        )  # fmt: skip
    if to_stdout:
        return 0
    if args.json:
        kept = ("rejected", "more_rejected", "notes", "device", "segments")
        fields = {name: value for name, value in report.as_dict().items() if name in kept}
        output.result({"written": report.new, "path": args.path} | fields)
    else:
        what = {"jsonl": "line", "segments": "event"}.get(args.format, "memory")
        output.words(f"exported {counted(report.new, what)} to {args.path}")
        notes(report)
    return 2 if report.rejected else 0


def _copy(args: Namespace) -> int:
    with output.progress("copying events") as progress:
        report = copy_store(args.source, args.target, progress=progress)
    if args.json:
        output.result(report._asdict())
    else:
        there = f"; {report.there:,} were there" if report.there else ""
        output.words(f"copied {counted(report.events, 'event')} to {shown(args.target)}{there}")
    return 0


# -- what an import brought, what was not understood, how to take it back

# Rejected lines that are printed, unless each is a file's; --json has all.
SHOWN_REJECTIONS = 20


def imported(memory: Limpet, args: Namespace, report: JsonForm, show: Callable[[], object], *, code: int) -> int:
    """Print what was imported (`show`: in words), make its vectors; return the exit code."""
    if not args.json:
        show()
    more = output.embedded(memory, args)
    if args.json:
        output.result(report.as_dict() | more)
    return code


def undone_by(operation: str | None, scopes: Collection[str] = ()) -> None:
    """Print how to take back what one run stored. `scopes`: those that only an undo in them reaches."""
    if operation is None:
        return
    for scope in sorted(scopes):
        output.words(f"`limpet undo {output.short(operation)} --scope {scope}` takes back what went there")
    if not scopes:
        output.words(f"`limpet undo` takes it all back; later, `limpet undo {output.short(operation)}`")


def notes(report: TransferReport) -> None:
    """Print what was kept in another way, and what was not understood, on stderr."""
    for what, count in sorted(report.notes.items()):
        output.words(f"{count:,} x {what}")
    rejected(report.rejected, report.more_rejected, most=len(report.rejected) if report.by_name else SHOWN_REJECTIONS)


def rejected(lines: Sequence[tuple[str, str]], more: int, most: int = SHOWN_REJECTIONS) -> None:
    """Print what an import could not read, the first ones one by one, on stderr."""
    for place, reason in lines[:most]:
        output.words(f"{place}: {reason}")
    if (count := len(lines) - most + more) > 0:
        output.words(f"... and {count:,} more; --json lists all")


VERBS = (
    Verb(
        name="import", group=IN_OUT, about="read memories from a file", run=_import,
        arguments=(
            arg("FORMAT", f"{_listed({**TAKERS, **READERS})}; transcripts: as `limpet organize`"),
            arg("PATH", "a file or folder; - for stdin, with jsonl"),
            arg("--dry-run", "only say what would be new"),
            arg("--trust", "vouch for what the file says: else it is found when asked for, and agents are not shown it "
                "unasked. On a terminal you are asked"),
        ),
        example="limpet import jsonl memories.jsonl --dry-run\nlimpet import memori ~/.claude/memori.db",
    ),
    Verb(
        name="export", group=IN_OUT, about="write the whole store to a file, lossless", run=_export,
        arguments=(
            arg("FORMAT", f"{_listed(WRITERS)}. All but jsonl and segments: memories of this scope and global"),
            arg("PATH", "appears when it is complete; - for stdout, with jsonl"),
            arg("--all-scopes", "memories of every scope; jsonl and segments always have all"),
            arg("--force", "replace a file that is there; never the store or a file beside it, and never a folder"),
        ),
        example="limpet export jsonl memories.jsonl\nlimpet export jsonl - | gzip > memories.jsonl.gz\n"
        "limpet export markdown memories",
    ),
    Verb(
        name="copy", group=IN_OUT, about="a whole store into a new one: from a file to a server, or back", run=_copy,
        arguments=(arg("SOURCE", "a file, or postgresql://..."),
                   arg("TARGET", "the same; new, or what an interrupted copy left")),
        example="limpet copy memory.db 'postgresql://db.example/limpet?tenant=team'",
    ),
)  # fmt: skip
