"""The command of the Markdown copy: mirror init, sync, status, watch."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ...cli import output
from ...cli.options import Command, open_store
from ...model.errors import BadInput, counted
from ...model.memory import ORIGINS

if TYPE_CHECKING:
    from ...api import Limpet
    from .report import MirrorReport

# What people get to see one by one; --json has all.
SHOWN = 20


def _options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("action", metavar="ACTION", choices=("init", "sync", "status", "watch"),
        help="init: make a folder a mirror of this scope; sync: bring both together; status: what sync would do; "
        "watch: sync at every change")  # fmt: skip
    add("where", metavar="DIR", nargs="?",
        help="the folder (without it: every mirror of this scope)")  # fmt: skip
    add("--author", choices=ORIGINS, metavar="ORIGIN",
        help="with init: the origin of what files say, unless one names its own (default: user)")  # fmt: skip
    add("--index-bytes", type=int, metavar="BYTES", help="with init: the longest MEMORY.md may be (default: 10240)")
    add("--with-global", action="store_true", help="with init: mirror the scope global too")
    add("--forget", action="store_true", help="with sync: archive also when most entries are gone from the folder")
    add("--full", action="store_true", help="with sync and status: read every file, whatever its time stamps say")


def _run(args: Namespace) -> int:
    for name, given in (("author", args.author), ("index_bytes", args.index_bytes), ("with_global", args.with_global)):
        if given and args.action != "init":
            raise BadInput(f"--{name.replace('_', '-')} belongs to init", hint="limpet mirror init DIR")
    if args.forget and args.action != "sync":
        raise BadInput("--forget belongs to sync")
    if args.full and args.action not in ("sync", "status"):
        raise BadInput("--full belongs to sync and status")
    if args.where is None and args.action == "init":
        raise BadInput("init needs a folder")
    with open_store(args, create=args.action == "init" and _holds_notes(args.where)) as memory:
        if args.action == "init":
            made = memory.mirror_init(
                args.where, author=args.author or "user", index_bytes=args.index_bytes, with_global=args.with_global
            )
            if memory.encrypted:
                output.words("the store is encrypted, and its mirror is plain text")
            return _shown([made], args)
        folders = [args.where] if args.where is not None else memory.mirrors()
        if not folders:
            raise BadInput(f"{memory.scope} has no mirror", hint="limpet mirror init DIR")
        if args.action == "watch":
            return _watch(memory, folders, args)
        dry = args.action == "status"
        reports = [memory.mirror_sync(one, dry_run=dry, forget=args.forget, full=args.full) for one in folders]
        return _shown(reports, args)


def _holds_notes(folder: str) -> bool:
    """Whether a folder becomes memories, which begin a store: an empty one would mirror a mistyped path."""
    try:
        return any(name.endswith(".md") for name in os.listdir(folder))  # noqa: PTH208
    except (OSError, ValueError):
        return False


def _watch(memory: Limpet, folders: list[str], args: Namespace) -> int:
    if len(folders) > 1:
        raise BadInput("this scope has several mirrors", hint=f"name one of: {', '.join(folders)}")
    output.words(f"watching {folders[0]}; Ctrl-C ends it")
    for done in memory.mirror_watch(folders[0]):
        if done.changed or done.left:
            _shown([done], args)
    return 0


def _shown(done: list[MirrorReport], args: Namespace) -> int:
    """2 when something was left as it is in the folder: the rest is done all the same."""
    for one in done:
        if args.json:
            output.object_line(one.as_dict())
        else:
            _report(one, would=args.action == "status")
    return 2 if any(one.left for one in done) else 0


def _report(done: MirrorReport, *, would: bool) -> None:
    inward = [("new", done.created), ("edited", done.edited), ("archived", done.archived), ("restored", done.restored),
              ("front matter", done.tagged), ("conflicts", done.conflicts)]  # fmt: skip
    outward = [("new", done.added), ("changed", done.updated), ("gone", done.removed)]
    head = f"{done.folder} ({done.scope}): "
    if not done.changed:
        output.line(head + "nothing to do")
    else:
        output.line(head + f"{'would write' if would else 'wrote'} {counted(len(done.files), 'file')}")
        for what, counts in (("  to the store: ", inward), ("  to the folder:", outward)):
            if any(count for _, count in counts):
                output.line(f"{what} " + ", ".join(f"{name} {count:,}" for name, count in counts if count))
        for name in done.files[:SHOWN] if would else ():
            output.line(f"  {output.printable(name)}")
    if done.conflicts and not would:
        output.words("both texts of a conflict are kept: `limpet review`")
    for place, reason in done.left[:SHOWN]:
        output.words(f"left as it is: {place}: {reason}")
    if len(done.left) > SHOWN:
        output.words(f"... and {len(done.left) - SHOWN:,} more; --json lists all")


COMMANDS = {"mirror": Command(_options, _run, "limpet mirror init ./memory\nlimpet mirror status\nlimpet mirror sync")}
