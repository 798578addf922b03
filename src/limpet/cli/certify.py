"""The command that tries what stores survive on a disk."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from . import output
from .options import Command
from .upkeep import UNSOUND

if TYPE_CHECKING:
    from ..certify.report import Part

# Findings of a part that are shown; the JSON has more.
SHOWN, MOST = 5, 100


def _certify_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="FOLDER", nargs="?", help="a folder on the disk to be tried (default: that of the store)"
    )
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="a few points of each, in seconds")
    extent.add_argument(
        "--whole", action="store_true", help="power lost at every step of 2,000 operations, 1,000 kills; up to an hour"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="NUMBER", help="another choice of what goes wrong when")


def _certify(args: Namespace) -> int:
    from ..certify import service
    from ..settings import read_settings

    folder = args.folder or Path(read_settings(args.store, "global", None).path).absolute().parent
    extent = service.QUICK if args.quick else service.WHOLE if args.whole else service.USUAL

    def tell(part: Part) -> None:
        if not args.json:
            output.line(("FOUND " if part.problems else "ok    ") + f"{part.name}: {part.tried}")
            for problem in part.problems[:SHOWN]:
                output.line(f"      {problem}")
            if len(part.problems) > SHOWN:
                output.line(f"      and {len(part.problems) - SHOWN:,} more")

    done = service.certify(folder, extent, seed=args.seed, progress=output.progress, tell=tell)
    if args.json:
        parts = [
            {"name": one.name, "ok": not one.problems, "tried": one.tried, "counts": one.counts,
             "problems": one.problems[:MOST]} for one in done.parts
        ]  # fmt: skip
        output.object_line(
            {"ok": done.ok, "folder": done.folder, "file_system": done.file_system, "flush_ms": done.flush_ms,
             "seconds": done.seconds, "seed": args.seed, "parts": parts, "kept": done.kept}
        )  # fmt: skip
        return 0 if done.ok else UNSOUND
    place = done.folder + (f" ({done.file_system})" if done.file_system else "")
    output.line(
        f"{place}: nothing that was acknowledged was lost, and every store opened and was sound" if done.ok
        else f"{place}: not every store was sound, or held what was acknowledged"
    )  # fmt: skip
    output.words(f"a flush to the disk takes {done.flush_ms} ms; it took {done.seconds:,.0f} s in all")
    if done.kept:
        output.words(f"the files of it are kept in {done.kept}; --seed {args.seed} tries the same again")
    return 0 if done.ok else UNSOUND


COMMANDS = {"certify": Command(_certify_options, _certify, "limpet certify --quick\nlimpet certify /media/disk --json")}
