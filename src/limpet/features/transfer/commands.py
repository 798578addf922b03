"""Commands that move whole stores: import and export."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from ...cli import output
from ...cli.output import undone_by
from ...cli.verbs import IN_OUT, VECTORS, Verb, arg, open_store
from ...model.errors import BadInput, counted
from . import export_segments, import_segments
from .service import PROJECTS, READERS, WRITERS

if TYPE_CHECKING:
    from .records import TransferReport
    from .segments import SegmentReport

# limpet's own.
OWN = ("jsonl", "segments")


def _listed(formats: Mapping[str, tuple[str, str, str]]) -> str:
    return "; ".join(f"{name}: {what}" for name, (_, _, what) in formats.items())


def _import(args: Namespace) -> int:
    if args.format == "transcripts":  # `limpet organize` under the name of an import
        from ..organize.commands import organize

        args.paths = [args.path]
        return organize(args)
    if args.trust != "import" and args.format in OWN:
        raise BadInput(f"{args.format} says of each line where it is from", hint='in a plain line: "origin": "web"')
    if args.format == "jsonl" and args.path == "-" and sys.stdin is None:
        raise BadInput("stdin is closed")
    with open_store(args, create=True) as memory:
        with output.progress("importing") as progress:
            how = {"dry_run": args.dry_run, "progress": progress}
            if args.format == "segments":
                taken = import_segments(memory, args.path, **how)
            elif args.format == "jsonl":
                report = memory.import_jsonl(sys.stdin.buffer if args.path == "-" else args.path, **how)
            else:
                report = memory.import_from(args.format, args.path, trust=args.trust, **how)
        if args.format == "segments":
            show = partial(_show_segments, taken, "would be " if args.dry_run else "")
            return output.imported(memory, args, taken, show, bad=bool(taken.problems))
        return output.imported(memory, args, report, partial(_show, report, args), bad=bool(report.rejected))


def _show(report: TransferReport, args: Namespace) -> None:
    output.line(
        f"{'would be ' if args.dry_run else ''}new {report.new:,}, changed {report.changed:,}, "
        f"known already {report.known:,}, links {report.links:,}, "
        f"not understood {len(report.rejected) + report.more_rejected:,}"
    )
    if report.quarantined:
        why = "read like instructions, or say otherwise than what is trusted more"
        output.words(f"{report.quarantined:,} {why}, kept out until a person looks: `limpet review`")
    if report.redacted:
        output.words(f"{report.redacted:,} held a secret, which was left out")
    output.notes(report)
    undone_by(report.operation)


def _show_segments(report: SegmentReport, would: str = "", *, exported: bool = False) -> None:
    if exported:
        output.line(f"segments written {report.segments:,}, events {report.new:,}")
    else:
        counts = f"new events {report.new:,}, known already {report.known:,}"
        output.line(f"segments {would}taken in {report.segments:,}, {counts}")
    if report.conflicts:
        output.words(f"set on two devices at once: {counted(report.conflicts, 'key')}: `limpet review`")
    if report.purged:
        output.words(f"purged on another device, and erased here now: {counted(report.purged, 'memory')}")
    for note in report.notes:
        output.words(note)
    output.rejected(report.problems, 0)


def _export(args: Namespace) -> int:
    """2 when something was left out, or of segments is missing; the rest is there all the same."""
    if args.encrypt and args.format not in OWN:
        raise BadInput("--encrypt belongs to jsonl and segments", hint="limpet export jsonl FILE.age --encrypt")
    to_stdout = args.path == "-" and args.format == "jsonl"
    if to_stdout and sys.__stdout__ is None:
        raise BadInput("stdout is closed")
    with open_store(args) as memory, output.progress("exporting") as progress:
        if args.format == "segments":
            written = export_segments(memory, args.path, encrypt=args.encrypt, progress=progress)
        elif args.format == "jsonl":
            target = sys.stdout if to_stdout else args.path
            lines = memory.export_jsonl(target, force=args.force, encrypt=args.encrypt, progress=progress)
        else:
            report = memory.export_to(
                args.format, args.path, all_scopes=args.all_scopes, force=args.force, progress=progress
            )
    if args.format == "segments":
        output.result(written) if args.json else _show_segments(written, exported=True)
        return 2 if written.problems else 0
    if args.format == "jsonl":
        if args.json and not to_stdout:
            output.result({"lines": lines, "path": args.path})
        elif not to_stdout:
            output.words(f"exported {counted(lines, 'line')} to {args.path}")
        return 0
    if args.json:
        shown = report.as_dict()
        kept = {name: shown[name] for name in ("rejected", "more_rejected", "notes")}
        output.result({"written": report.new, "path": args.path} | kept)
    else:
        output.words(f"exported {counted(report.new, 'memory')} to {args.path}")
        output.notes(report)
    return 2 if report.rejected else 0


def _copy(args: Namespace) -> int:
    from ...api import copy_store
    from ...folders import shown

    with output.progress("copying events") as progress:
        report = copy_store(args.source, args.target, progress=progress)
    if args.json:
        output.result(report._asdict())
    else:
        there = f"; {report.there:,} were there" if report.there else ""
        output.words(f"copied {counted(report.events, 'event')} to {shown(args.target)}{there}")
        output.words(
            "not copied: vectors, the journal, what was shown, which transcripts were read, claims of checkouts"
        )
    return 0


VERBS = (
    Verb(
        name="import", group=IN_OUT, about="read memories from a file", run=_import,
        arguments=(
            arg("FORMAT", "jsonl: an export, or plain statements; segments: what other devices exported into a shared "
                f"folder; {_listed({**READERS, **PROJECTS})}; transcripts: as `limpet organize`"),
            arg("PATH", "a file or folder; - for stdin, with jsonl"),
            arg("--dry-run", "only say what would be new"),
            arg("--trust ORIGIN", "web or tool: nobody vouches for what the file says; found when asked for, never "
                "shown unasked", choices=("import", "tool", "web"), default="import"),
            VECTORS,
        ),
        example="limpet import jsonl memories.jsonl --dry-run\nlimpet import memori ~/.claude/memori.db",
    ),
    Verb(
        name="export", group=IN_OUT, about="write the whole store to a file, lossless", run=_export,
        arguments=(
            arg("FORMAT", "jsonl: the ledger of every scope, one event a line, lossless; segments: what is new in "
                "every scope, into a folder shared with other devices; of this scope and global: "
                + _listed(WRITERS)),
            arg("PATH", "appears when it is complete; - for stdout, with jsonl"),
            arg("--all-scopes", "memories of every scope; jsonl always has all"),
            arg("--encrypt", "jsonl and segments: as files of age, for LIMPET_AGE_RECIPIENTS, or jsonl with "
                "LIMPET_AGE_PASSPHRASE"),
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
