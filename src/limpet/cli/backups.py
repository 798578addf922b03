"""Commands about copies of a whole store: backup and restore. `restore` also brings back one memory."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..model.errors import BadInput
from . import output
from .options import Command, open_store
from .receipt import receipt


def _backup_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="the file to make, which must not be there yet; a folder with --every"
    )
    parser.add_argument(
        "--every", metavar="INTERVAL",
        help="keep backups in the folder PATH: one now, and one when the last is so old (12h, 1d, 2w) and the queue is "
        "worked: by an MCP server, or `limpet work`; off: no more",
    )  # fmt: skip
    parser.add_argument("--keep", type=int, metavar="NUMBER", default=7, help="how many of them stay (default: 7)")


def _backup(args: Namespace) -> int:
    if args.path is None and args.every != "off":
        raise BadInput("where to?", hint="limpet backup FILE, or limpet backup FOLDER --every 1d --keep 7")
    with open_store(args) as memory, output.progress("copying pages") as progress:
        if args.every is None:
            memory.backup(args.path, progress=progress)
            made = args.path
        else:
            made = memory.backup_every(args.every, args.path, keep=args.keep)
    if args.json:
        output.object_line({"path": made} | ({} if args.every is None else {"every": args.every, "keep": args.keep}))
    elif made is None:
        output.words("no more automatic backups; those that were made stay")
    else:
        output.words(f"backed up to {made}")
        if args.every is not None:
            output.words(f"and again every {args.every}, when the queue is worked; {args.keep} stay")
    return 0


def _restore_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "id", metavar="ID|FILE", nargs="?",
        help="the id of a memory, or its beginning; or a backup, for the whole store",
    )  # fmt: skip
    parser.add_argument("--undo", action="store_true", help="put back the store that the last restore replaced")


def _restore(args: Namespace) -> int:
    if (args.id is None) != args.undo:
        raise BadInput("restore takes the id of a memory, or a backup, or --undo", hint="limpet restore 7rk2qm")
    # An id has no dot and no slash, and a file that happens to be called like one needs ./ before it.
    if args.id is not None and not _names_file(args.id):
        with open_store(args) as memory:
            return receipt(memory.restore(args.id), memory, as_json=args.json)
    from ..api import restore_backup

    with output.progress("copying pages") as progress:
        kept = restore_backup(args.store, args.id, progress=progress)
    if args.json:
        output.object_line({"restored": args.id, "replaced": kept})
    else:
        output.words("put back what the last restore replaced" if args.undo else f"restored from {args.id}")
        if kept is not None:
            output.words(f"what was there is in {kept}; `limpet restore --undo` puts it back")
    return 0


def _names_file(text: str) -> bool:
    return "/" in text or "\\" in text or "." in text


COMMANDS = {
    "backup": Command(
        _backup_options,
        _backup,
        "limpet backup ~/backups/memory-2026-01-31.db\nlimpet backup ~/backups --every 1d --keep 7",
    ),
    "restore": Command(
        _restore_options, _restore, "limpet restore 7rk2qm\nlimpet restore ~/backups/memory-2026-01-31.db"
    ),
}
