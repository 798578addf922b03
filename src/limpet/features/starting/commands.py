"""The command `limpet start`: says what there is, asks once, reads."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from typing import TYPE_CHECKING, Any

from ...cli import output, tables
from ...cli.remember import refuse_tainted
from ...cli.verbs import IN_OUT, TIME_FORMS, Verb, arg, leave_worker, open_store
from ...model.errors import counted
from ..transfer.commands import notes
from . import consent, run, survey

if TYPE_CHECKING:
    from .found import Survey
    from .reading import StartReport

# Projects that are listed.
SHOWN = 12


def start(args: Namespace) -> int:
    """Read histories. Return 1 when there is nothing new, or the person says no, 2 when something was not understood;
    the rest is stored all the same."""
    given: dict[str, Any] = {
        "only": args.only or (), "since": args.since,
        "by_folder": args.scope is None and not os.environ.get("LIMPET_SCOPE"),
    }  # fmt: skip
    with open_store(args, create=True) as memory:
        found = survey(memory, **given)
        if args.dry_run and args.json:
            output.result(found.as_dict())
        elif not args.json:
            _show(found)
        if args.dry_run:
            return 0 if found.histories else 1
        refuse_tainted(memory, "reading histories")
        if not found.histories or not (
            consent(memory._context) or output.agrees("read this into limpet, and let agents be shown it?")
        ):
            output.words("nothing was read")
            return 1
        with output.progress("reading histories, the newest first:") as progress:
            report = run(memory, **given, progress=progress)
        if args.json:
            output.result(report.as_dict())
        else:
            _done(report)
        leave_worker(memory, memory.stats().waiting_jobs)
        return 2 if report.rejected else 0


def _show(found: Survey) -> None:
    by_client: dict[str, list[Any]] = {}
    projects = Counter[str]()
    for history in found.histories:
        by_client.setdefault(history.client, []).append(history)
        projects[history.folder] += bool(history.folder)
    rows = []
    for client, all in sorted(by_client.items()):
        size, at = sum(each.size for each in all) / 1e6, sorted(each.at for each in all)
        rows.append([client, f"{len(all):,}", f"{size:,.1f}", output.day(at[0]), output.day(at[-1])])
    if rows:
        tables.table(["what", "files", "MB", "changed from", "to"], rows)
    named = [f"{folder} ({count:,})" for folder, count in projects.most_common(SHOWN) if count]
    if named:
        more = sum(1 for count in projects.values() if count) - len(named)
        output.line(output.printable(f"of {', '.join(named)}{f' and {more:,} more' if more else ''}"))
    if found.known:
        output.words(f"{counted(found.known, 'file')} read before, unchanged")
    for why, count in sorted(found.left_out.items()):
        output.words(f"left out, {count:,}: {why}")
    output.words("left out of all: secrets, what limpet put in, and what was said while it was paused or off")


def _done(report: StartReport) -> None:
    output.line(
        f"new {report.new:,}, changed {report.changed:,}, known already {report.known:,}, of "
        f"{counted(report.conversations, 'conversation')} in {counted(report.files, 'file')}"
    )
    if report.redacted:
        output.words(f"{report.redacted:,} held a secret, which was left out")
    notes(report)
    output.words("words find it now; vectors are made in the background")
    if report.operation:
        output.words(f"`limpet undo {output.short(report.operation)}` takes it all back")


VERBS = (
    Verb(
        name="start", group=IN_OUT, run=start,
        about="what agents have kept on this machine into memories: how much there is, then, if you agree, all of it",
        arguments=(
            arg("--dry-run", "only say what there is"),
            arg("--since TIME", f"only what was said since then: {TIME_FORMS}"),
            arg("--only CLIENT...", "claude, codex, copilot, cursor, gemini, opencode, or rules for CLAUDE.md and the "
                "like; repeat it"),
        ),
        example="limpet start --dry-run\nlimpet start --only claude --since '30 days ago'",
    ),
)  # fmt: skip
