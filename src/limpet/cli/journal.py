"""What was asked, done and answered in sessions, and what agents were shown: `limpet journal`."""

from __future__ import annotations

import sys

from ..model.errors import BadInput, counted
from . import output
from .receipt import short
from .verbs import PEOPLE, TIME_FORMS, Verb, arg, open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from ..api import Limpet
    from ..features.usefulness.journal_lines import JournalLine
    from ..history.usefulness import Use, Usefulness

STILL_READ = (
    "a process still reads the state from before: the bytes in the log go when it has ended, by `limpet work` or any "
    "running server"
)


def _journal(args: Namespace) -> int:
    if args.limit < 1:
        raise BadInput("--limit must be 1 or more")
    with open_store(args) as memory:
        if args.shown:
            return _exposures(memory, args)
        lines = memory.journal(args.number, **_chosen(args))[-args.limit :]
    if args.json:
        output.result(lines)
    else:
        _show(lines)
    return 0 if lines else 1


def _chosen(args: Namespace) -> dict[str, str | None]:
    return {"session": args.session, "since": args.since, "until": args.until, "match": args.match}


def _drop(args: Namespace) -> int:
    given = _chosen(args)
    with open_store(args) as memory:
        # A person who types is asked before what options choose is erased; a script that calls this goes on.
        asked = (
            any(given.values()) and not (args.dry_run or args.json)
            and sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        )  # fmt: skip
        dropped = memory.drop_from_journal(args.number, **given, dry_run=args.dry_run or asked)
        if not args.json:
            _show(dropped.lines)
        if asked and dropped.lines:
            if not output.confirmed(f"Erase {counted(len(dropped.lines), 'line')} for good?"):
                output.words("nothing was erased")
                return 1
            # What was shown: not what was written meanwhile.
            dropped = memory.drop_from_journal([one.number for one in dropped.lines])
    if args.json:
        output.result(dropped)
    elif dropped.lines:
        what = (
            "would be dropped, for good" if args.dry_run else "erased for good: `limpet undo` does not bring them back"
        )
        output.words(f"{counted(len(dropped.lines), 'line')} {what}")
        if not dropped.erased and not args.dry_run:
            output.words(STILL_READ)
    return 0 if dropped.lines else 1


def _show(lines: Sequence[JournalLine]) -> None:
    rows = [
        [str(one.number), output.moment(one.at), one.session[:12] or "-", one.kind, output.flat(one.what)]
        for one in lines
    ]
    output.table(["line", "when", "session", "kind", "what"], rows, "no such line in the journal of this scope")


def _exposures(memory: Limpet, args: Namespace) -> int:
    """What was put before agents: when, to whom, at how many tokens, and was it used."""
    found = memory.exposures(session=args.session, limit=args.limit)
    if args.json:
        output.result(list(found))
        return 0
    used = {True: "yes", False: "no", None: "-"}
    rows = [
        [
            output.moment(one.at), one.client, one.session[:12] or "-", one.via if one.shown else "held out",
            short(one.id), str(one.tokens), used[one.used],
        ]
        for one in found
    ]  # fmt: skip
    columns = ["when", "client", "session", "via", "memory", "tokens", "used"]
    output.table(columns, rows, "nothing was surfaced yet; `limpet install CLIENT` sets an agent's client up")
    return 0


def usefulness(found: Usefulness, memory: Limpet) -> None:
    """`limpet stats --usefulness`."""
    if not found.shown.times and not found.withheld.judged:
        output.words("no memory was put before an agent yet")
        return
    parts = [("shown", found.shown), ("of them at random", found.drawn), ("held out", found.withheld)]
    output.table(["", "times", "tokens", "used of those judged"], [[what, *_cells(use)] for what, use in parts])
    if found.lift is None:
        output.words("nothing was held out to compare with: LIMPET_HOLDOUT=0.05 holds out 5 % at random")
    else:
        output.line(f"lift by showing: {output.points(found.lift)}")
    rows = [[short(id), *_cells(use), output.in_a_line(memory.get(id))] for id, use in found.memories]
    if rows:
        output.line("")
        output.table(["memory", "times", "tokens", "used", "content"], rows)


def _cells(use: Use) -> list[str]:
    share = f", {output.percent(use.rate)}" if use.rate else ""
    return [f"{use.times:,}", f"{use.tokens:,}", f"{use.used:,} of {use.judged:,}{share}"]


_LINES = (
    arg("[NUMBER...]", "lines, by their numbers", type=int),
    arg("--session NAME", "of one session only"),
    arg("--since TIME", f"written then or later: {TIME_FORMS}"),
    arg("--until TIME", "written before then"),
    arg("--match WORDS", "only lines that have all these words, whole"),
)
VERBS = (
    Verb(
        name="journal", group=PEOPLE, about="what was asked, done and answered in sessions; drop lines of it",
        run=_journal,
        arguments=(
            *_LINES, arg("--limit N", "the last N", default=50),
            arg("--shown", "what was put before agents: when, to whom, at how many tokens, and was it used"),
        ),
        example='limpet journal --session s1\nlimpet journal --since "2 days ago" --match deploy\n'
        "limpet journal --shown --limit 5\nlimpet journal drop 3 4",
    ),
    Verb(
        name="journal drop", group=PEOPLE, about="erase lines for good", run=_drop,
        arguments=(*_LINES, arg("--dry-run", "say which lines, erase none, and do not ask")),
    ),
)  # fmt: skip
