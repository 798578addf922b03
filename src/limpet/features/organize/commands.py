"""The command that reads what already happened: transcripts of agents, folders of notes."""

from __future__ import annotations

import os
from argparse import Namespace
from functools import partial
from typing import TYPE_CHECKING, Any

from ...cli import output
from ...cli.verbs import PEOPLE, Verb, arg, open_store
from ...model.errors import counted
from ...model.memory import GLOBAL_SCOPE
from ..transfer.commands import imported, notes, undone_by
from . import BUDGET_TOKENS, run

if TYPE_CHECKING:
    from .job import OrganizeReport


def organize(args: Namespace) -> int:
    """Organize once. Return 2 when something was not understood; the rest is stored all the same."""
    given: dict[str, Any] = vars(args)
    models = given.get("model") or []
    with open_store(args, create=True) as memory:
        # A person who names no scope means the project of each conversation.
        run_once = partial(
            run, memory, given["paths"], clients=given.get("client") or (), models=models,
            by_folder=args.scope is None and not os.environ.get("LIMPET_SCOPE"),
            budget_tokens=given.get("budget_tokens", BUDGET_TOKENS),
        )  # fmt: skip
        if models and not args.dry_run and not args.json:
            # The same run, without asking anybody: what it may cost is said before it costs.
            _cost(run_once(dry_run=True), before=True)
        with output.progress("organizing") as progress:
            report = run_once(dry_run=args.dry_run, progress=progress)
        show = partial(_show, report, memory.scope, dry_run=args.dry_run)
        return imported(memory, args, report, show, code=2 if report.rejected else 0)


def _show(report: OrganizeReport, scope: str, *, dry_run: bool) -> None:
    for item in report.taken:
        output.line(output.printable(f"{item['kind']}: {output.flat(str(item['content']))}  [{item['source']}]"))
    would = "would be " if dry_run else ""
    output.words(
        f"{counted(report.files, 'file')} ({report.unchanged:,} unchanged), "
        f"{counted(report.conversations, 'conversation')}: "
        f"{would}new {report.new:,}, said again {report.observed:,}, known already {report.known:,}"
    )
    for count, what in (
        (report.echoes, "left out: limpet had recalled the same"),
        (len(report.demoted), "kept as an episode, by the rules of `limpet review sweep`"),
        (report.quarantined, "read like instructions, kept out until a person looks: `limpet review`"),
        (report.redacted, "held a secret, which was left out"),
    ):
        if count:
            output.words(f"{count:,} {what}")
    if report.mirrors:
        output.words(f"{counted(len(report.mirrors), 'mirror')} synced")
    _cost(report, before=dry_run)
    notes(report)
    undone_by(report.operation, report.scopes if report.scopes - {scope, GLOBAL_SCOPE} else ())


def _cost(report: OrganizeReport, *, before: bool) -> None:
    if report.model is None:
        return
    spent = report.model["before" if before else "after"]
    what = "would take at most" if before else "took"
    output.words(
        f"models {what} {counted(spent['calls'], 'call')}, {spent['tokens_in']:,} tokens in, "
        f"{spent['tokens_out']:,} out (budget: {report.model['budget']:,})"
    )
    if report.model["stopped"]:
        output.words(f"the models read no further: {report.model['stopped']}; the next run goes on there")


VERBS = (
    Verb(
        name="organize", group=PEOPLE, run=organize,
        about="transcripts of agents and notes into memories; by rules, and with a model if you give one",
        arguments=(
            arg("[PATH...]", "transcripts, notes, folders of them; none: what hooks named since", dest="paths"),
            arg("--client CLIENT...", "also what a client keeps in its own folder: claude, codex, gemini, copilot, "
                "cursor, opencode, or all; repeat it"),
            arg("--dry-run", "store nothing and ask no model; say what would be stored, what it would cost"),
            arg("--model MODEL...", "a language model reads too (pip install \"limpet[organizer]\"): gemini:NAME, "
                "claude:NAME, or openai:NAME,url=URL for what speaks its protocol, such as Ollama; "
                "repeat it for fallbacks, in order"),
            arg("--budget-tokens N", "tokens that models may use in a pass", default=BUDGET_TOKENS),
        ),
        example="limpet organize ~/.claude/projects --dry-run\nlimpet organize --client all\n"
        "limpet organize notes --model openai:qwen3,url=http://localhost:11434/v1",
    ),
)  # fmt: skip
