"""Memory measured on one's own history: `limpet eval`."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from ...cli import output, tables
from ...cli.verbs import PEOPLE, TIME_FORMS, Verb, arg, open_store
from ...model.errors import BadInput, counted
from ..usefulness import percent
from . import run

if TYPE_CHECKING:
    from ..usefulness import Interval
    from .replay import Figures
    from .service import Evaluation

MISSES = 10
# Characters of a message or a memory that a line shows.
LINE = 90


def _run(args: Namespace) -> int:
    if args.misses < 0:
        raise BadInput("--misses must be 0 or more")
    with open_store(args) as memory, output.progress("replaying") as progress:
        evaluation = run(memory, args.path, since=args.since, until=args.until, worst=args.misses, progress=progress)
        short = memory.abbreviate([miss.id for miss in evaluation.misses])
    for note in evaluation.notes:
        output.words(note)
    if args.json:
        output.result(evaluation)
    elif not evaluation.moments:
        output.words(
            "no session to measure: hooks keep a journal of them (`limpet install CLIENT`), or name transcripts"
        )
    else:
        _show(evaluation, short)
    return 0 if evaluation.moments else 1


def _show(trial: Evaluation, short: list[str]) -> None:
    sessions, moments = counted(trial.sessions, "session"), counted(trial.moments, "message")
    whole = "" if trial.whole == trial.moments else "; the journal keeps only the beginning of messages and answers"
    output.line(
        f"{sessions}, {moments}, {trial.looked_up:,} looked up; up to {counted(trial.memories, 'memory')} known{whole}"
    )
    first = trial.figures
    output.line("")
    if first.hit_rate is None:
        output.line("Nothing that the store knew showed up in the work, or was told again: there is nothing to find.")
    else:
        _headline(first, first.hit_rate)
    if trial.shown is not None:
        then = trial.shown
        found = f"{then.found:,} of {then.needs:,} found, " if then.needs else ""
        output.line(f"As it was shown then: {found}{then.tokens_for_nothing:,} of {then.tokens:,} tokens for nothing.")
    if trial.misses:
        output.line("")
        output.line(output.paint("Missed", "1"))
        for miss, id in zip(trial.misses, short, strict=True):
            how = "told" if miss.told_again else "used"
            tables.entry(id, how, output.cut(output.flat(miss.content), LINE))
            tables.detail("asked", f"{output.moment(miss.at)}  {output.cut(output.flat(miss.prompt), LINE - 25)}")
            tables.detail("words", ", ".join(miss.words))
            tables.detail("why", miss.why)


def _headline(figures: Figures, rate: Interval) -> None:
    output.line(
        f"Something that the store knew would have helped {_times(figures.needs)}; "
        f"it was found {_times(figures.found)}: {percent(rate)}."
    )
    if figures.told_again:
        output.line(
            f"You had to tell it again {_times(figures.told_again)}; of these it was found {_times(figures.spared)}."
        )
    if figures.useful + figures.for_nothing:
        output.line(f"Shown for nothing: {figures.tokens_for_nothing:,} of {figures.tokens:,} tokens.")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times" if count else "never"


VERBS = (
    Verb(
        name="eval", group=PEOPLE, run=_run,
        about="memory measured on your own history: what was found, missed, shown for nothing",
        arguments=(
            arg("[PATH...]", "transcripts of clients, or folders of them: whole sessions"),
            arg("--since TIME", f"only messages of then or later: {TIME_FORMS}"),
            arg("--until TIME", "only messages of before then"),
            arg("--misses N", "explain the N worst misses", default=MISSES),
        ),
        example="limpet eval\nlimpet eval ~/.claude/projects/-work-shop",
    ),
)  # fmt: skip
