"""Commands that move whole stores: import and export."""

from __future__ import annotations

import io
import sys
from argparse import ArgumentParser, Namespace
from typing import IO

from ..model.errors import BadInput
from . import output
from .options import Command, open_store

FORMATS = ("jsonl",)
# What other programs write and limpet will read one day; named so that the refusal can say so.
PLANNED = frozenset(
    {"amem", "memori", "pmb", "mem0", "mcp", "claude-memory", "markdown", "claude", "chatgpt", "transcripts", "code",
     "docs", "segments"}
)  # fmt: skip
# Rejected lines of an import that people get to see one by one; --json has all.
SHOWN_REJECTIONS = 20


def _check_format(name: str) -> None:
    if name not in FORMATS:
        what = "is not there yet" if name in PLANNED else "is not known"
        raise BadInput(f"the format {name[:60]!r} {what}", hint=f"formats there are now: {', '.join(FORMATS)}")


def _import_options(parser: ArgumentParser) -> None:
    parser.add_argument("format", metavar="FORMAT", help=f"{', '.join(FORMATS)}: an export, or plain statements")
    parser.add_argument("path", metavar="PATH", help="a file, or - for stdin")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be new")


def _import(args: Namespace) -> int:
    _check_format(args.format)
    with open_store(args) as memory, output.progress("importing") as progress:
        try:
            report = memory.import_jsonl(
                _stdin() if args.path == "-" else args.path, dry_run=args.dry_run, progress=progress
            )
        except UnicodeDecodeError as error:
            raise BadInput(f"stdin is not valid UTF-8: {error.reason}") from None
    if args.json:
        rejected = [{"line": number, "reason": reason} for number, reason in report.rejected]
        output.object_line({"new": report.new, "known": report.known, "rejected": rejected})
    else:
        would = "would be " if args.dry_run else ""
        output.line(f"{would}new {report.new:,}, known already {report.known:,}, rejected {len(report.rejected):,}")
        for number, reason in report.rejected[:SHOWN_REJECTIONS]:
            output.words(f"line {number}: {reason}")
        if len(report.rejected) > SHOWN_REJECTIONS:
            output.words(f"... and {len(report.rejected) - SHOWN_REJECTIONS:,} more; --json lists all")
    return 2 if report.rejected else 0


def _stdin() -> IO[str]:
    if sys.stdin is None:
        raise BadInput("stdin is closed")
    return io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="strict")


def _export_options(parser: ArgumentParser) -> None:
    parser.add_argument("format", metavar="FORMAT", help=f"{', '.join(FORMATS)}: the ledger, one event a line")
    parser.add_argument("path", metavar="PATH", help="a file, which appears when it is complete, or - for stdout")
    parser.add_argument("--vectors", action="store_true", help="vectors too, so that an import need not make them")


def _export(args: Namespace) -> int:
    _check_format(args.format)
    to_stdout = args.path == "-"
    with open_store(args) as memory, output.progress("exporting") as progress:
        lines = memory.export_jsonl(sys.stdout if to_stdout else args.path, vectors=args.vectors, progress=progress)
    if to_stdout:
        return 0
    if args.json:
        output.object_line({"lines": lines, "path": args.path})
    else:
        output.words(f"exported {lines:,} lines to {args.path}")
    return 0


COMMANDS = {
    "import": Command(_import_options, _import, "limpet import jsonl memories.jsonl --dry-run"),
    "export": Command(
        _export_options, _export, "limpet export jsonl memories.jsonl\nlimpet export jsonl - | gzip > memories.jsonl.gz"
    ),
}
