"""What was asked, done and answered in sessions, and what agents were shown: `limpet journal`."""

from __future__ import annotations

from ..model.errors import BadInput, counted
from . import output
from .output import short, words
from .verbs import PEOPLE, TIME_FORMS, Verb, arg, open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from ..api import Limpet
    from ..history.usefulness import Usefulness

STILL_READ = (
    "a process still reads the state from before: the bytes in the log go when it has ended, by `limpet work` or any "
    "running server"
)
NO_LINE = "no such line in the journal of this scope"
NOTHING_SHOWN = "nothing was surfaced yet; `limpet install CLIENT` sets an agent's client up"


def _journal(args: Namespace) -> int:
    if args.limit < 1:
        raise BadInput("--limit must be 1 or more")
    with open_store(args) as memory:
        if args.shown:
            exposures = list(memory.exposures(session=args.session, limit=args.limit))
            output.result(exposures) if args.json else output.rows(exposures, NOTHING_SHOWN)
            return 0
        lines = memory.journal(args.number, **_chosen(args))[-args.limit :]
    output.result(lines) if args.json else output.rows(lines, NO_LINE)
    return 0 if lines else 1


def _chosen(args: Namespace) -> dict[str, str | None]:
    return {"session": args.session, "since": args.since, "until": args.until, "match": args.match}


def _drop(args: Namespace) -> int:
    given = _chosen(args)
    # Lines that numbers name are erased at once; those that options choose are only shown without --confirm.
    dry_run = any(given.values()) and not args.confirm
    with open_store(args) as memory:
        dropped = memory.drop_from_journal(args.number, **given, dry_run=dry_run)
    if args.json:
        output.result(dropped)
        return 0 if dropped.lines else 1
    output.rows(dropped.lines, NO_LINE)
    if dropped.lines:
        count = counted(len(dropped.lines), "line")
        after = "would be erased for good; --confirm does it" if dry_run else "erased for good"
        words(f"{count} {after}: `limpet undo` does not bring them back")
        if not dropped.erased and not dry_run:
            words(STILL_READ)
    return 0 if dropped.lines else 1


def usefulness(answer: Usefulness, memory: Limpet) -> None:
    """Print the answer of `limpet stats --usefulness`."""
    if not answer.shown.times and not answer.withheld.judged:
        words("no memory was put before an agent yet")
        return
    uses = [("shown", answer.shown), ("of them at random", answer.drawn), ("held out", answer.withheld)]
    rows = []
    for name, use in [
        *uses,
        *((f"{short(id)}  {output.in_a_line(memory.get(id))}", use) for id, use in answer.memories),
    ]:
        share = f", {output.percent(use.rate)}" if use.rate else ""
        rows.append([f"{use.times:,}", f"{use.tokens:,}", f"{use.used:,} of {use.judged:,}{share}", name])
    output.table(["times", "tokens", "used of those judged", ""], rows)
    if answer.lift is None:
        words("nothing was held out to compare with: LIMPET_HOLDOUT=0.05 holds out 5 % at random")
    else:
        output.line(f"lift by showing: {output.points(answer.lift)}")


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
        arguments=(*_LINES, arg("--confirm", "do it; without this what options choose is only shown")),
    ),
)  # fmt: skip
