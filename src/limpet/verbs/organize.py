"""What already happened, into memories: transcripts of agents and folders of notes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.errors import BadInput, LimpetError
from ..settings import default_scope
from .mirror import Mirrors

if TYPE_CHECKING:
    from ..organize.reading import Reading
    from ..organize.report import OrganizeReport

Progress = Callable[[int, int], None]
# Tokens that a language model may use in one run, when nobody says.
BUDGET_TOKENS = 200_000


class Organize(Mirrors):
    """Verbs that read what agents and people wrote down elsewhere."""

    def note_transcript(self, path: str | os.PathLike[str]) -> None:
        """A session has ended whose transcript lies there: the next `organize` reads it into this scope."""
        self._store.sources.announce(self.scope, os.fspath(Path(path).absolute()), self._clock.now())

    def organize(
        self,
        paths: Iterable[str | os.PathLike[str]] = (),
        *,
        clients: Sequence[str] = (),
        by_folder: bool = False,
        dry_run: bool = False,
        summaries: bool = True,
        models: Sequence[str] = (),
        budget_tokens: int = BUDGET_TOKENS,
        budget_usd: float | None = None,
        progress: Progress | None = None,
    ) -> OrganizeReport:
        """Take what is worth remembering from transcripts and notes: by rules, and with `models` by these too.

        `paths`: files and folders; `clients`: also what these keep in their own folders. Without either, what hooks
        named since. `by_folder`: into the scope of the folder where an agent worked instead of this one. Twice is once.
        A model is a text such as `gemini:NAME`; the first that answers counts. Mirrors of the scopes that got something
        are synced at the end. Raises BadInput, StoreError.
        """
        from ..organize import scan
        from ..organize.report import OrganizeReport

        report = OrganizeReport(progress=progress)
        named = [Path(os.fspath(one)) for one in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
        reading = self._reading(models, budget_tokens, budget_usd, dry_run)
        try:
            if named or clients:
                strict = [one for one in named if one.is_file()]
                loose = [one for one in scan.find(named, report) if one not in strict]
                self._run(report, strict, reading, by_folder, dry_run, summaries, strict=True)
                self._run(report, loose, reading, by_folder, dry_run, summaries, strict=False)
                theirs = scan.places(scan.PLACES if "all" in clients else clients, Path.home())  # type: ignore[arg-type]
                self._run(report, theirs, reading, by_folder, dry_run, summaries, strict=False, others=True)
            else:
                self._run_named(report, reading, by_folder, dry_run, summaries)
        finally:
            if reading is not None:
                report.model = reading.as_dict()
                reading.close()
        report.progress = None
        if not dry_run:
            self._refresh_mirrors(report)
        return report

    def _refresh_mirrors(self, report: OrganizeReport) -> None:
        """The last step. A mirror that cannot be synced now is said, and is synced another time."""
        for scope in sorted({self.scope, *(one["scope"] for one in report.taken)}):
            of_scope = self.in_scope(scope)
            for folder in of_scope.mirrors():
                try:
                    of_scope.mirror_sync(folder)
                    report.mirrors.append(folder)
                except LimpetError as error:
                    report.note(f"the mirror {folder} was not synced: {error.message}")

    def _run_named(
        self, report: OrganizeReport, reading: Reading | None, by_folder: bool, dry_run: bool, summaries: bool
    ) -> None:
        """What hooks named, each into the scope of its hook; of every scope when none was asked for."""
        waiting = self._store.sources.waiting(None if by_folder else self.scope)
        for number, one in enumerate(waiting):
            report.at(number, len(waiting))
            path = Path(one.path)
            if path.is_file():
                self._run(report, [path], reading, False, dry_run, summaries, strict=True, scope=one.scope)
                continue
            report.note("transcripts that hooks named are not there any more")
            if not dry_run:
                self._store.sources.keep(one._replace(digest=one.digest or "gone"))

    def _run(
        self,
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
        from ..organize.run import Organizer

        if not files:
            return
        mine = scope or self.scope

        def scope_of(folder: str) -> str | None:
            """Whose a conversation is. One whose folder is gone is taken if its file was named, else it is nobody's."""
            if folder and os.path.isabs(folder) and os.path.isdir(folder):  # noqa: PTH112, PTH117
                return default_scope(Path(folder))
            return None if others else mine

        organizer = Organizer(
            self._store, self._clock, self._write, self._door, scope=mine,
            scope_of=scope_of if by_folder else None, dry_run=dry_run, summaries=summaries, reading=reading,
            report=report,
        )  # fmt: skip
        organizer.run(files, strict=strict)

    def _reading(self, models: Sequence[str], tokens: int, usd: float | None, dry_run: bool) -> Any:
        if not models:
            return None
        from ..organize.models import Asker, parse_model
        from ..organize.reading import Reading, Spent

        if isinstance(tokens, bool) or tokens < 1 or (usd is not None and not 0 <= usd < 1_000_000):
            raise BadInput("a budget must be a number of tokens above 0, and dollars from 0")
        spent = Spent(most_tokens=tokens, most_usd=usd)
        return Reading([parse_model(one) for one in models], None if dry_run else Asker(), spent)
