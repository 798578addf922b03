"""Transcripts and notes into memories. The contracts are those of the functions in `__init__.py`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...model.errors import BadInput, LimpetError
from ...model.ids import format_id
from ...pause import look
from ..mirror import mirrors_of, sync_folder

if TYPE_CHECKING:
    from ...context import Context
    from .reading import Reading
    from .report import OrganizeReport

Progress = Callable[[int, int], None]


def note_transcript(context: Context, path: str | os.PathLike[str]) -> None:
    context.store.sources.announce(context.scope, os.fspath(Path(path).absolute()), context.now())


def organize(
    context: Context,
    paths: Iterable[str | os.PathLike[str]],
    *,
    clients: Sequence[str],
    by_folder: bool,
    dry_run: bool,
    summaries: bool,
    models: Sequence[str],
    budget_tokens: int,
    budget_usd: float | None,
    progress: Progress | None,
) -> OrganizeReport:
    from . import scan
    from .report import OrganizeReport

    report = OrganizeReport(progress=progress)
    state = look(context.store.path, os.getcwd(), "", context.now())  # noqa: PTH109
    if state.why:
        report.progress = None
        report.note(f"{state.why}: nothing was read")
        return report
    named = [Path(os.fspath(one)) for one in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    reading = _reading(models, budget_tokens, budget_usd, dry_run)
    try:
        with context.one_operation() as operation:
            if named or clients:
                strict = [one for one in named if one.is_file()]
                loose = [one for one in scan.find(named, report) if one not in strict]
                _run(context, report, strict, reading, by_folder, dry_run, summaries, strict=True)
                _run(context, report, loose, reading, by_folder, dry_run, summaries, strict=False)
                theirs = scan.places(scan.PLACES if "all" in clients else clients, Path.home())  # type: ignore[arg-type]
                _run(context, report, theirs, reading, by_folder, dry_run, summaries, strict=False, others=True)
            else:
                _run_named(context, report, reading, by_folder, dry_run, summaries)
        report.operation = format_id(operation[0]) if operation else None
    finally:
        if reading is not None:
            report.model = reading.as_dict()
            reading.close()
    report.progress = None
    if not dry_run:
        _refresh_mirrors(context, report)
    return report


def _refresh_mirrors(context: Context, report: OrganizeReport) -> None:
    """The last step. A mirror that cannot be synced now is said, and is synced another time."""
    for scope in sorted({context.scope, *(one["scope"] for one in report.taken)}):
        of_scope = context.in_scope(scope)
        for folder in mirrors_of(of_scope):
            try:
                sync_folder(of_scope, folder)
                report.mirrors.append(folder)
            except LimpetError as error:
                report.note(f"the mirror {folder} was not synced: {error.message}")


def _run_named(
    context: Context, report: OrganizeReport, reading: Reading | None, by_folder: bool, dry_run: bool, summaries: bool
) -> None:
    """What hooks named, each into the scope of its hook; of every scope when none was asked for."""
    waiting = context.store.sources.waiting(None if by_folder else context.scope)
    for number, one in enumerate(waiting):
        report.at(number, len(waiting))
        path = Path(one.path)
        if path.is_file():
            _run(context, report, [path], reading, False, dry_run, summaries, strict=True, scope=one.scope)
            continue
        report.note("transcripts that hooks named are not there any more")
        if not dry_run:
            context.store.sources.keep(one._replace(digest=one.digest or "gone"))


def _run(
    context: Context,
    report: OrganizeReport,
    files: Sequence[Path],
    reading: Reading | None,
    by_folder: bool,
    dry_run: bool,
    summaries: bool,
    *,
    strict: bool,
    others: bool = False,
    scope: str | None = None,
) -> None:
    from .organizer import Organizer

    if not files:
        return
    mine = scope or context.scope

    def scope_of(folder: str) -> str | None:
        """Whose a conversation is. One whose folder is gone is taken if its file was named, else it is nobody's."""
        if folder and os.path.isabs(folder) and os.path.isdir(folder):  # noqa: PTH112, PTH117
            return context.store.checkouts.scope_of(Path(folder))
        return None if others else mine

    organizer = Organizer(
        context, scope=mine, scope_of=scope_of if by_folder else None, dry_run=dry_run, summaries=summaries,
        reading=reading, report=report,
    )  # fmt: skip
    organizer.run(files, strict=strict)


def _reading(models: Sequence[str], tokens: int, usd: float | None, dry_run: bool) -> Any:
    if not models:
        return None
    from .models import Asker, parse_model
    from .reading import Reading, Spent

    if isinstance(tokens, bool) or tokens < 1 or (usd is not None and not 0 <= usd < 1_000_000):
        raise BadInput("a budget must be a number of tokens above 0, and dollars from 0")
    spent = Spent(most_tokens=tokens, most_usd=usd)
    return Reading([parse_model(one) for one in models], None if dry_run else Asker(), spent)
