"""The command `limpet share`: lists what would leave, asks, writes it."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ...checkout import FOLDER_FILE, checkout_of
from ...cli import output
from ...cli.remember import refuse_tainted
from ...cli.verbs import IN_OUT, Verb, arg, is_a_person, open_store
from ...model.errors import BadInput, counted
from ..transfer.commands import rejected
from . import take_in, write
from .team import ShareReport, check


def share(args: Namespace) -> int:
    """Share memories. Return 1 when nothing is to be written, or the person says no, 2 when something is left out."""
    project = checkout_of(args.dir or ".")
    shared = project.wish.shared if project.wish is not None else ""
    if args.dir is None and not shared:
        raise BadInput("no folder is shared here", hint="limpet share DIR, such as docs/memory")
    folder = Path(project.root, shared) if args.dir is None else Path(args.dir)
    if args.check:
        problems = check(folder)
        if args.json:
            output.result({"problems": [{"place": place, "reason": reason} for place, reason in problems]})
        rejected([] if args.json else problems, 0)
        return 2 if problems else 0
    if args.json and not (args.dry_run or args.yes):
        raise BadInput("--json does not ask", hint="look with --dry-run, then --yes")
    with open_store(args, create=True) as memory:
        refuse_tainted(memory, "sharing")
        taken = None if args.dry_run else take_in(memory, is_asked=True)
        report = write(memory, folder, dry_run=True)
        if not args.json:
            _show(report, taken)
        if report.written and not args.dry_run:
            question = f"write this into {folder}, for whoever reads the repository?"
            if not args.yes and not output.agrees(question):
                output.words("nothing was written")
                return 1
            known = memory._context.store.checkouts
            # The file asked for nothing else that nobody has allowed.
            is_free = project.wish is None or not known.may_ask(project, fresh=False)
            report = write(memory, folder)
            if is_free and not shared and is_a_person():
                known.allow(checkout_of(folder), memory._context.now())
            elif not shared:
                output.words(f"{FOLDER_FILE} names it; `limpet scope allow` lets limpet read what others put there")
        if args.json:
            counts = ("new", "changed", "removed", "waiting")
            output.result(report.as_dict() | {name: getattr(taken or report, name) for name in counts})
        return 2 if report.problems else 0 if report.written else 1


def _show(report: ShareReport, taken: ShareReport | None) -> None:
    for file, was, now in report.written:
        for sign, said in (("-", was), ("+", now)):
            if said:
                output.line(output.printable(f"{sign} {file}: {' '.join(said.split())}"))
    if taken is not None and (taken.new or taken.changed or taken.removed or taken.waiting):
        output.words(f"the team: {taken.new:,} new, {taken.changed:,} changed, {taken.removed:,} removed, "
                     f"{taken.waiting:,} for `limpet review`")  # fmt: skip
    rejected(report.problems, 0)
    output.words(f"{counted(len(report.written), 'statement')} to write, of what people have said in {report.scope}")


VERBS = (
    Verb(
        name="share", group=IN_OUT, run=share,
        about="what people said in this project into Markdown in its repository, for the team",
        arguments=(
            arg("[DIR]", "the folder in the repository (default: that of .limpet)"),
            arg("--dry-run", "only list what would be written"),
            arg("--yes", "do not ask"),
            arg("--check", "only say what is wrong in the folder; needs no store"),
        ),
        example="limpet share docs/memory --dry-run\nlimpet share --check",
    ),
)  # fmt: skip
