"""The command that erases."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..model.errors import counted
from ..model.memory import valued
from . import output
from .options import Command, id_argument, open_store
from .receipt import quoted

if TYPE_CHECKING:
    from ..store.records import Scan

STILL_READ = (
    "a process still reads the state from before: the bytes in the log go when it has ended, by `limpet work` or any "
    "running server"
)


def _purge_options(parser: ArgumentParser) -> None:
    id_argument(parser)
    add = parser.add_argument
    add("--confirm", action="store_true", help="do it; without this only what would go is shown")
    add("--all-wordings", action="store_true", help="also the memories that it replaced or that were merged with it")
    add("--quoting", action="store_true", help="also other memories that hold its words")
    add("--copies", action="store_true", help="also in backups, exports and segments that the store knows of")
    add("--prove", action="store_true", help="search the files for its words, byte by byte, and print the result")
    add("--wait", type=float, default=10.0, metavar="SECONDS", help="for processes that still read it (default: 10)")


def _purge(args: Namespace) -> int:
    with open_store(args) as memory:
        before = memory.get(args.id)
        report = memory.purge(
            before.id, confirm=args.confirm, dry_run=not args.confirm, all_wordings=args.all_wordings,
            quoting=args.quoting, copies=args.copies, prove=args.prove, wait=args.wait,
        )  # fmt: skip
        [name] = memory.abbreviate([before.id])
    if args.json:
        output.object_line(report.as_dict())
        return 0
    standing = "" if before.state == "active" else f"{before.state}, "
    extent = f"{standing}versions: {report.versions}, ledger events: {report.events}"
    if before.state == "purged":
        output.line(f"purged already {name}")
    elif report.purged:
        output.line(f"purged {name} ({extent})")
        output.line(output.MARGIN + quoted(valued(before.key, before.content), len(output.MARGIN)))
    else:
        output.line(f"would purge {name} ({extent})")
        for line in output.wrapped(valued(before.key, before.content)):
            output.line(line)
        output.words("nothing was erased; --confirm erases it for good, which cannot be undone")
    for one in report.also:
        output.line(f"with it {output.short_ids(one)}")
    for one in report.quoted:
        output.words(f"its words are also in {output.short_ids(one)}: --quoting purges that too")
    for one in report.wordings:
        output.words(f"said otherwise in {output.short_ids(one)}, which stays readable: --all-wordings purges that too")
    for path in report.copies:
        output.words(f"{path} holds it, or may: --copies erases it there")
    if report.proof is not None:
        _proof(report.proof)
    if report.beyond and report.purged:
        output.words(report.beyond)
    if report.waits:
        output.words(STILL_READ)
    return 0


def _proof(scan: Scan) -> None:
    if not scan.pieces:
        output.words("its text is too short, or gone: there is nothing to search the files for")
        return
    output.line(f"searched {counted(scan.files, 'file')}, {scan.bytes:,} bytes, "
                f"for {counted(scan.pieces, 'piece')} of it: {sum(scan.found.values())} found")  # fmt: skip
    for path, count in scan.found.items():
        output.line(f"  {path}: {count}")
    for path in scan.unread:
        output.line(f"  {path} could not be read")


COMMANDS = {"purge": Command(_purge_options, _purge, "limpet purge 7rk2qm --confirm --prove")}
