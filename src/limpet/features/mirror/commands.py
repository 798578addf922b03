"""The command of the Markdown copy: mirror init, sync, status, watch."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...cli import output
from ...cli.verbs import IN_OUT, Verb, arg, open_store
from ...model.errors import BadInput, counted
from ...model.memory import ORIGINS
from ..transfer.commands import rejected
from . import init, mirrors, sync, watch

if TYPE_CHECKING:
    from ...api import Limpet
    from .folder import MirrorReport

# What people get to see one by one; --json has all.
SHOWN = 20


def _init(memory: Limpet, args: Namespace) -> list[MirrorReport]:
    made = init(memory, args.dir, author=args.author)
    if memory.encrypted:
        output.words("the store is encrypted, and its mirror is plain text")
    return [made]


def _sync(memory: Limpet, args: Namespace) -> list[MirrorReport]:
    """Sync, or, for `status`, which has no --forget, only say what that would do."""
    given = {"forget": args.forget} if "forget" in args else {"dry_run": True}
    return [sync(memory, folder, **given) for folder in _folders(memory, args)]


def _folders(memory: Limpet, args: Namespace) -> list[str]:
    folders = [args.dir] if args.dir is not None else mirrors(memory)
    if not folders:
        raise BadInput(f"{memory.scope} has no mirror", hint="limpet mirror init DIR")
    return folders


def _watch(args: Namespace) -> int:
    with open_store(args) as memory:
        folder, *others = _folders(memory, args)
        if others:
            raise BadInput("this scope has several mirrors", hint=f"name one of: {', '.join([folder, *others])}")
        output.words(f"watching {folder}; Ctrl-C ends it")
        for done in watch(memory, folder):
            if done.changed or done.left:
                output.result(done) if args.json else _show([done])
    return 0


def _left(done: list[MirrorReport]) -> int:
    return 2 if any(report.left for report in done) else 0  # the others are synced all the same


def _show(reports: list[MirrorReport], *_: object, would: bool = False) -> None:
    for done in reports:
        counts = {
            "to the store": {"new": done.created, "edited": done.edited, "archived": done.archived,
                             "restored": done.restored, "conflicts": done.conflicts},
            "to the folder": {"new": done.added, "changed": done.updated, "gone": done.removed},
        }  # fmt: skip
        wrote = f"{'would write' if would else 'wrote'} {counted(len(done.files), 'file')}"
        output.line(f"{done.folder} ({done.scope}): {wrote if done.changed else 'nothing to do'}")
        for what, files in counts.items():
            if any(files.values()):
                output.line(f"  {what}: " + ", ".join(f"{name} {count:,}" for name, count in files.items() if count))
        for name in done.files[:SHOWN] if would else ():
            output.line(f"  {output.printable(name)}")
        if done.conflicts and not would:
            output.words("both texts of a conflict are kept: `limpet review`")
        rejected([(f"left as it is: {place}", reason) for place, reason in done.left], 0)


_DIR = arg("[DIR]", "the folder (without it: every mirror of this scope)")
VERBS = (
    Verb(
        name="mirror", group=IN_OUT, about="a folder of Markdown that people read and edit: init, sync, status, watch",
        example="limpet mirror init ./memory\nlimpet mirror status\nlimpet mirror sync",
    ),
    Verb(
        name="mirror init", group=IN_OUT, about="make a folder a mirror of this scope",
        # Files in the folder may begin a store; an empty folder may be a mistyped path.
        create=lambda args: any(Path(args.dir).glob("*.md")),
        run=_init, show=_show, code=_left,
        arguments=(
            arg("DIR", "the folder"),
            arg("--author ORIGIN", "whose word files are, unless one says so itself", choices=ORIGINS, default="user"),
        ),
    ),
    Verb(
        name="mirror sync", group=IN_OUT, about="bring folder and store together", run=_sync, show=_show, code=_left,
        arguments=(_DIR, arg("--forget", "archive also when most entries are gone from the folder")),
    ),
    Verb(name="mirror status", group=IN_OUT, about="what sync would do", run=_sync,
         show=partial(_show, would=True), code=_left, arguments=(_DIR,)),
    Verb(name="mirror watch", group=IN_OUT, about="sync at every change", run=_watch, arguments=(_DIR,)),
)  # fmt: skip
