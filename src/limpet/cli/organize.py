"""The command that reads what already happened: transcripts of agents, folders of notes."""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser, Namespace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..model.errors import BadInput
from ..organize.service import BUDGET_TOKENS
from . import output
from .options import Command, open_store, vectors_option

if TYPE_CHECKING:
    from ..organize.report import OrganizeReport

MODELS = "LIMPET_ORGANIZER"
SHORTEST_PAUSE_SECONDS = 10


def _options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="transcripts, notes, folders of them; none: what hooks named since")
    add(
        "--client", action="append", metavar="CLIENT",
        help="also what a client keeps in its own folder: claude, codex, gemini, copilot, cursor, opencode, or all; "
        "repeat it",
    )  # fmt: skip
    add(
        "--dry-run",
        action="store_true",
        help="store nothing and ask no model; say what would be stored, what it would cost",
    )
    vectors_option(parser)
    add("--once", action="store_true", help="one pass, then end; so it is without --every")
    add("--every", type=float, metavar="SECONDS", help="go on, with a pause of so many seconds between passes")
    add("--no-summaries", action="store_true", help="no episodes for days and months")
    add(
        "--model", action="append", metavar="MODEL",
        help="a language model reads too (pip install \"limpet[organizer]\"): gemini:NAME, claude:NAME, or "
        "openai:NAME,url=URL for what speaks its protocol, such as Ollama; ,in=USD,out=USD is its price for a million "
        f"tokens; repeat it for fallbacks, in order (default: {MODELS}, models separated by spaces)",
    )  # fmt: skip
    add("--no-model", action="store_true", help=f"rules alone, whatever {MODELS} says")
    add(
        "--budget-tokens", type=int, metavar="N", default=BUDGET_TOKENS,
        help="tokens that models may use in a pass (default: %(default)s)",
    )  # fmt: skip
    add("--budget-usd", type=float, metavar="USD", help="dollars that models may cost in a pass; needs their prices")


def _run(args: Namespace) -> int:
    if args.once and args.every is not None:
        raise BadInput("--once and --every contradict each other")
    if args.every is None:
        return organize(args)
    if not args.every >= SHORTEST_PAUSE_SECONDS:
        raise BadInput(f"--every must be {SHORTEST_PAUSE_SECONDS} seconds or more")
    while True:
        organize(args)
        time.sleep(args.every)


def organize(args: Namespace) -> int:
    """One pass. 2 when something was not understood; the rest is there all the same."""
    given: dict[str, Any] = vars(args)
    models = given.get("model") or ([] if given.get("no_model") else os.environ.get(MODELS, "").split())
    # A person who names no scope means the project of each conversation.
    by_folder = args.scope is None and not os.environ.get("LIMPET_SCOPE")
    with open_store(args, create=True) as memory:
        if models and not args.dry_run and not args.json:
            # The same run, without asking anybody: what it may cost is said before it costs.
            _cost(_pass(memory, args, models, by_folder, dry_run=True), before=True)
        with output.progress("organizing") as progress:
            report = _pass(memory, args, models, by_folder, dry_run=args.dry_run, progress=progress)
        return output.imported(
            memory, args, report, partial(_show, report, dry_run=args.dry_run), bad=bool(report.rejected)
        )


def _pass(memory: Any, args: Namespace, models: list[str], by_folder: bool, **more: Any) -> OrganizeReport:
    given = vars(args)
    report: OrganizeReport = memory.organize(
        given["paths"],
        clients=given.get("client") or (),
        by_folder=by_folder,
        summaries=not given.get("no_summaries"),
        models=models,
        budget_tokens=given.get("budget_tokens", BUDGET_TOKENS),
        budget_usd=given.get("budget_usd"),
        **more,
    )
    return report


def _show(report: OrganizeReport, *, dry_run: bool) -> None:
    for one in report.taken:
        output.line(output.printable(f"{one['kind']}: {' '.join(str(one['content']).split())}  [{one['source']}]"))
    would = "would be " if dry_run else ""
    output.words(
        f"{report.files:,} files ({report.unchanged:,} unchanged), {report.conversations:,} conversations: "
        f"{would}new {report.new:,}, said again {report.observed:,}, known already {report.known:,}"
    )
    for count, what in (
        (report.echoes, "repeated what limpet had recalled, and were left out"),
        (len(report.demoted), "are kept as episodes, by the rules of `limpet sweep`"),
        (report.quarantined, "read like instructions and wait for a person: `limpet review`"),
        (report.redacted, "held secrets, which were left out"),
        (report.proposals, "speak against what is believed and wait for a person: `limpet review`"),
        (report.summaries, "days and months were summed up"),
        (len(report.mirrors), "mirrors were synced"),
    ):
        if count:
            output.words(f"{count:,} {what}")
    _cost(report, before=dry_run)
    output.notes(report)


def _cost(report: OrganizeReport, *, before: bool) -> None:
    if report.model is None:
        return
    when = "before" if before else "after"
    spent = report.model[when]
    usd = "an unknown price" if spent["usd"] is None else f"${spent['usd']:.4f}"
    budget = report.model["budget"]
    most = f"{budget['tokens']:,} tokens" + ("" if budget["usd"] is None else f", ${budget['usd']:g}")
    what = "would take at most" if before else "took"
    output.words(
        f"models {what} {spent['calls']:,} calls, {spent['tokens_in']:,} tokens in, {spent['tokens_out']:,} out, "
        f"{usd} (budget: {most})"
    )
    if report.model["stopped"]:
        output.words(f"the models read no further: {report.model['stopped']}; the next run goes on there")


COMMANDS = {
    "organize": Command(
        _options,
        _run,
        "limpet organize ~/.claude/projects --dry-run\nlimpet organize --client all --once\n"
        "limpet organize notes --model openai:qwen3,url=http://localhost:11434/v1",
    ),
}
