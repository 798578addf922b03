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
    from .replay import Figures, WayFigures
    from .service import Evaluation

MISSES = 10
# Characters of a message or a memory that a line shows.
LINE = 90


def _run(args: Namespace) -> int:
    if args.misses < 0:
        raise BadInput("--misses must be 0 or more")
    with open_store(args) as memory, output.progress("replaying") as progress:
        evaluation = run(
            memory, args.path, words=args.words, since=args.since, until=args.until,
            worst=args.misses, progress=progress,
        )  # fmt: skip
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
    first = trial.ways[0].figures
    output.line("")
    if first.hit_rate is None:
        output.line("Nothing that the store knew showed up in the work, or was told again: there is nothing to find.")
    else:
        _headline(first, first.hit_rate)
    _heading("Compared")
    tables.table(["", "found", "points to limpet", "shown", "for nothing", "tokens"], [_way(way) for way in trial.ways])
    if trial.misses:
        _heading("Missed")
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


def _heading(text: str) -> None:
    output.line("")
    output.line(output.paint(text, "1"))


def _way(way: WayFigures) -> list[str]:
    hits, *more = _figures(way.figures)
    beside = ""
    if way.difference is not None:
        value, low, high = (
            round(part * 100) for part in (way.difference.value, way.difference.low, way.difference.high)
        )
        beside = f"{value:+} ({low:+} to {high:+})"
    return [way.name, hits, beside, *more]


def _figures(row: Figures) -> list[str]:
    hits = f"{row.found:,} of {row.needs:,}" + (f", {row.hit_rate.value * 100:.0f} %" if row.hit_rate else "")
    judged = row.useful + row.for_nothing
    return [hits, f"{row.shown:,}", f"{row.for_nothing:,} of {judged:,}" if judged else "-", f"{row.tokens:,}"]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times" if count else "never"


VERBS = (
    Verb(
        name="eval", group=PEOPLE, run=_run,
        about="memory measured on your own history: what was found, missed, shown for nothing",
        arguments=(
            arg("[PATH...]", "transcripts of clients, or folders of them: whole sessions"),
            arg("--words", "also as a hook searches that finds no running limpet process: by words alone"),
            arg("--since TIME", f"only messages of then or later: {TIME_FORMS}"),
            arg("--until TIME", "only messages of before then"),
            arg("--misses N", "explain the N worst misses", default=MISSES),
        ),
        example="limpet eval\nlimpet eval ~/.claude/projects/-work-shop\n"
        "limpet eval --words",
    ),
)  # fmt: skip
