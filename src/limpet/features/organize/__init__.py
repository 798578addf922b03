"""The organizer: memories from what already happened, agents' transcripts and folders of notes.

Read first: `transcripts.py` (what a reader yields), `extract.py` and `lessons.py` (what is worth remembering), `job.py`
(find, skip, store). With a language model: `reading.py`. Never on a read path, and never without somebody having asked
for it.
"""

from __future__ import annotations

from ...model.dataclass import NamedTuple
from ...store.sql.store import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from ...api import Limpet, Progress
    from .job import OrganizeReport

# Tokens that a language model may use in one run, when nobody says.
BUDGET_TOKENS = 200_000


def run(
    memory: Limpet, paths: Iterable[str | os.PathLike[str]] = (), *, clients: Sequence[str] = (),
    by_folder: bool = False, dry_run: bool = False, models: Sequence[str] = (), budget_tokens: int = BUDGET_TOKENS,
    progress: Progress | None = None,
) -> OrganizeReport:  # fmt: skip
    """Take what is worth remembering from transcripts and notes: by a small model, and with `models` by these too.

    `paths`: files and folders; `clients`: also what these keep in their own folders. Without either, what hooks
    named since. `by_folder`: into the scope of the folder where an agent worked instead of this one. Twice is once.
    A model is a text such as `gemini:NAME`; the first that answers counts. Mirrors of the scopes that got something
    are synced at the end. Raises BadInput, StoreError.

    >>> _ = Path("notes.md").write_text("Lesson: run the migrations before the deploy")
    >>> run(memory, ["notes.md"]).new
    1
    """
    from ...model.memory import check_list
    from .job import organize

    return organize(
        memory._context, check_list("paths", paths), check_list("clients", clients), by_folder=by_folder,
        dry_run=dry_run, models=check_list("models", models), budget_tokens=budget_tokens, progress=progress,
    )  # fmt: skip


def note_transcript(memory: Limpet, path: str | os.PathLike[str]) -> None:
    """Note the transcript of a session that has ended: the next `run` reads it into this scope.

    >>> note_transcript(memory, "session.jsonl")
    """
    import os

    context = memory._context
    Sources(context.store).announce(context.scope, os.path.abspath(path), context.now())  # noqa: PTH100


# -- the sources that the organizer has read, and those that hooks report

_SOURCE = "scope, path, digest, reached, at"


class Source(NamedTuple):
    """A transcript or a file of notes, as far as it was organized into a scope."""

    scope: str
    path: str
    digest: str | None  # of what was read; None: nothing yet
    reached: str | None  # JSON: how far a model has read each conversation
    at: int


class Sources(Repository):
    """The sources of a store, by scope and path."""

    def get(self, scope: str, path: str) -> Source | None:
        rows = self._database.rows(f"SELECT {_SOURCE} FROM source WHERE scope = ? AND path = ?", (scope, path))
        return Source(*rows[0]) if rows else None

    def keep(self, source: Source) -> None:
        """Note how far a source was read; it waits no more once it has a digest."""
        with self._database.writing() as con:
            con.execute(
                f"INSERT INTO source ({_SOURCE}, waits) VALUES (?1, ?2, ?3, ?4, ?5, 0) ON CONFLICT (scope, path)"
                " DO UPDATE SET digest = ?3, reached = ?4, at = ?5,"
                " waits = CASE WHEN ?3 IS NULL THEN source.waits ELSE 0 END",
                source,
            )

    def announce(self, scope: str, path: str, at: int) -> None:
        """Note a source that is there to read or has grown; earlier notes of it stay."""
        with self._database.writing() as con:
            con.execute(
                "INSERT INTO source (scope, path, at, waits) VALUES (?1, ?2, ?3, 1)"
                " ON CONFLICT (scope, path) DO UPDATE SET waits = 1, at = ?3",
                (scope, path, at),
            )

    def waiting(self, scope: str | None = None) -> list[Source]:
        """Return the waiting sources of one scope or all, in the order they were announced."""
        statement = (
            f"SELECT {_SOURCE} FROM source WHERE waits = 1 AND (?1 IS NULL OR scope = ?1) ORDER BY at, scope, path"
        )
        return [Source(*row) for row in self._database.rows(statement, (scope,))]
