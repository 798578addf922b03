"""What was asked, done and answered in sessions, what agents were shown, and whether it was of use: `limpet journal`,
`limpet exposures`, `limpet stats --usefulness`."""

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
    from ..history.usefulness import Use

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


# -- what agents were shown

# Memories that are named, those that cost most first.
NAMED = 10
_USED = {True: "yes", False: "no", None: "-"}


def _exposures_options(parser: ArgumentParser) -> None:
    parser.add_argument("--session", metavar="NAME", help="of one session only")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="at most so many (default: 20)")


def _exposures(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.exposures(session=args.session, limit=args.limit)
        short = dict(zip((one.id for one in found), memory.abbreviate([one.id for one in found]), strict=True))
    if args.json:
        for one in found:
            output.object_line(one.as_dict())
        return 0
    if not found:
        output.words("nothing was surfaced yet; `limpet install CLIENT` sets an agent's client up")
        return 0
    rows = [
        [
            output.moment(one.at) or "", one.client, one.session[:12] or "-", one.via if one.shown else "held out",
            short[one.id], str(one.tokens), _USED[one.used],
        ]
        for one in found
    ]  # fmt: skip
    output.table(["when", "client", "session", "via", "memory", "tokens", "used"], rows)
    return 0


def usefulness(args: Namespace) -> int:
    """`limpet stats --usefulness`."""
    with open_store(args) as memory:
        found = memory.usefulness(limit=NAMED)
        if args.json:
            output.object_line(found.as_dict())
            return 0
        if not found.shown.times and not found.withheld.judged:
            output.words("no memory was put before an agent yet")
            return 0
        parts = [("shown", found.shown), ("of them at random", found.drawn), ("held out", found.withheld)]
        rows = [[what, *_cells(use)] for what, use in parts]
        output.table(["", "times", "tokens", "used of those judged"], rows)
        if found.lift is None:
            output.words("nothing was held out to compare with: LIMPET_HOLDOUT=0.05 holds out 5 % at random")
        else:
            output.line(f"lift by showing: {output.points(found.lift)}")
        names = memory.abbreviate([id for id, _ in found.memories])
        rows = [
            [name, *_cells(use), output.in_a_line(memory.get(id))[:60]]
            for name, (id, use) in zip(names, found.memories, strict=True)
        ]
        if rows:
            output.line("")
            output.table(["memory", "times", "tokens", "used", "content"], rows)
    return 0


def _cells(use: Use) -> list[str]:
    share = f", {output.percent(use.rate)}" if use.rate else ""
    return [f"{use.times:,}", f"{use.tokens:,}", f"{use.used:,} of {use.judged:,}{share}"]


COMMANDS = {
    "exposures": Command(
        _exposures_options, _exposures, "limpet exposures --limit 5\nlimpet exposures --session s1 --json"
    ),
    "journal": Command(
        _options,
        _run,
        'limpet journal --session s1\nlimpet journal --since "2 days ago" --match deploy\n'
        'limpet journal drop 3 4\nlimpet journal drop --match "token" --dry-run',
    ),
}
