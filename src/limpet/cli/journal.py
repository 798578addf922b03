"""The journal of what was asked, done and answered in sessions: `limpet journal`, `limpet journal drop`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..model.errors import BadInput, counted
from . import output
from .options import TIME_FORMS, Command, open_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..features.usefulness.journal_lines import JournalLine

SHOWN = 50


def _options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("action", nargs="?", choices=("drop",), help="drop: erase lines for good; none: list them")
    add("numbers", nargs="*", type=int, metavar="NUMBER", help="lines, by their numbers")
    add("--session", metavar="NAME", help="of one session only")
    add("--since", metavar="TIME", help=f"written then or later: {TIME_FORMS}")
    add("--until", metavar="TIME", help="written before then")
    add("--match", metavar="WORDS", help="only lines that have all these words, whole")
    add("--limit", type=int, default=SHOWN, metavar="N", help=f"list the last N (default: {SHOWN})")
    add("--dry-run", action="store_true", help="with drop: say which lines, erase none, and do not ask")


def _run(args: Namespace) -> int:
    if args.limit < 1:
        raise BadInput("--limit must be 1 or more")
    if args.dry_run and args.action is None:
        raise BadInput("--dry-run goes with drop")
    given = {"session": args.session, "since": args.since, "until": args.until, "match": args.match}
    with open_store(args) as memory:
        if args.action is None:
            return _list(args, memory.journal(args.numbers, **given), any(given.values()) or bool(args.numbers))
        asked = _may_ask(args) and any(one is not None for one in given.values())
        dropped = memory.drop_from_journal(args.numbers, **given, dry_run=args.dry_run or asked)
        if asked and dropped.lines:
            _show(dropped.lines)
            if not _confirmed(f"Erase {counted(len(dropped.lines), 'line')} for good?"):
                output.words("nothing was erased")
                return 1
            # What was shown: not what was written meanwhile.
            dropped = memory.drop_from_journal([one.number for one in dropped.lines])
    if args.json:
        output.object_line(dropped.as_dict())
        return 0 if dropped.lines else 1
    if not asked:
        _show(dropped.lines)
    told = "would be dropped, for good" if args.dry_run else "erased for good: `limpet undo` does not bring them back"
    output.words(
        f"{counted(len(dropped.lines), 'line')} {told}" if dropped.lines else "no such line: nothing was dropped"
    )
    if dropped.lines and not dropped.erased and not args.dry_run:
        from .purge import STILL_READ

        output.words(STILL_READ)
    return 0 if dropped.lines else 1


def _may_ask(args: Namespace) -> bool:
    """Whether a person is there who types. A script that calls this goes on."""
    return not (args.dry_run or args.json) and sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _confirmed(question: str) -> bool:
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _list(args: Namespace, found: Sequence[JournalLine], chosen: bool) -> int:
    """`chosen`: whether numbers or options said which lines."""
    lines = found[-args.limit :]
    if args.json:
        for one in lines:
            output.object_line(one.as_dict())
    elif lines:
        _show(lines)
        if len(found) > len(lines):
            output.words(f"the last {len(lines):,} of {counted(len(found), 'line')}: --limit {len(found)} shows all")
    else:
        none = "no such line in the journal of this scope" if chosen else "the journal of this scope is empty"
        output.words(f"{none}; `limpet scopes` lists scopes")
    return 0 if lines else 1


def _show(lines: Sequence[JournalLine]) -> None:
    rows = [
        [
            str(one.number), output.moment(one.at), one.session[:12] or "-", one.kind,
            " ".join(output.printable(one.what).split()),
        ]
        for one in lines
    ]  # fmt: skip
    if rows:
        output.table(["line", "when", "session", "kind", "what"], rows)


COMMANDS = {
    "journal": Command(
        _options,
        _run,
        'limpet journal --session s1\nlimpet journal --since "2 days ago" --match deploy\n'
        'limpet journal drop 3 4\nlimpet journal drop --match "token" --dry-run',
    ),
}
