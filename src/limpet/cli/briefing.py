"""The command that briefs an agent: prepare."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..model.errors import counted
from . import output
from .options import Command, given_text, open_store

if TYPE_CHECKING:
    from ..recall.brief import Brief, BriefItem

# How long a brief at the command line may take; a cold embedder needs most of it.
DEADLINE_MS = 2_000.0


def _prepare_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "message",
        metavar="MESSAGE",
        nargs="?",
        default="",
        help="what the agent was asked; - reads stdin; may be empty",
    )
    add("--budget", type=int, metavar="TOKENS", help="fit the brief into so many tokens (default: 1500)")
    add("--full", action="store_true", help="also the newest, the most used, what was not seen for long, and counts")
    add("--session", metavar="NAME", help="the agent's own session: its news is left out")
    add(
        "--deadline-ms", type=float, default=DEADLINE_MS, metavar="MS",
        help="answer with what is there after so many milliseconds (default: 2000)",
    )  # fmt: skip
    add("--lexical", action="store_true", help="words only: no embedder, fastest")


def _prepare(args: Namespace) -> int:
    message = given_text(args.message) if args.message else ""
    with open_store(args) as memory:
        brief = memory.prepare(
            message,
            budget_tokens=args.budget,
            full=args.full,
            session=args.session,
            deadline_ms=args.deadline_ms,
            lexical_only=args.lexical,
        )
    if args.json:
        output.object_line(brief.as_dict())
        return 0
    if sys.stdout.isatty():
        _shown(brief)
    else:
        sys.stdout.write(output.printable(brief.text()))
    for signal in brief.missing:
        output.words(f"without {signal}: {brief.notes.get(signal, 'no reason given')}")
    if not brief.items:
        output.words("nothing to say")
    elif brief.truncated:
        output.words(f"more was found than fits into {brief.budget_tokens} tokens")
    return 0


def _shown(brief: Brief) -> None:
    """For a terminal: the same page in colour, wrapped."""
    first = True
    for section in brief.sections:
        _title(section.title, first=first)
        first = False
        for item in section.items:
            _item(item)
    if brief.warnings:
        _title("Beware", first=first)
        for text in brief.beware():
            for line in output.wrapped(text):
                output.line(output.paint(line, output.RED))
    if brief.stats:
        from ..recall.brief import stats_line

        _title("In this store", first=first)
        for line in output.wrapped(stats_line(brief.stats)):
            output.line(line)
    if brief.items:
        output.line("")
        output.line(output.paint(f"{counted(len(brief.items), 'memory')}, about {brief.tokens} tokens", output.DIM))


def _title(text: str, *, first: bool) -> None:
    if not first:
        output.line("")
    output.line(output.paint(text, output.BOLD))


def _item(item: BriefItem) -> None:
    outside = f"  {item.trust}" if item.mark.endswith(f" {item.trust}]") else ""
    output.line(
        f" {output.paint(item.short, output.YELLOW)}  {output.paint(item.kind, output.CYAN)}  "
        f"{output.day(item.valid_from)}" + (output.paint(outside, output.RED) if outside else "")
    )
    for line in output.wrapped(item.text):
        output.line(line)


COMMANDS = {
    "prepare": Command(
        _prepare_options, _prepare, 'limpet prepare "the deploy hangs" --budget 800\nlimpet prepare --full'
    ),
}
