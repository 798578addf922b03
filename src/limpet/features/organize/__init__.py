"""The organizer: memories from what already happened, agents' transcripts and folders of notes.

Read first: `transcripts.py` (what a reader yields), `extract.py` and `lessons.py` (what is worth remembering), `job.py`
(find, skip, store). With a language model: `reading.py`. Never on a read path, and never without somebody having asked
for it.
"""

from __future__ import annotations

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

    from .sources import Sources

    context = memory._context
    Sources(context.store).announce(context.scope, os.path.abspath(path), context.now())  # noqa: PTH100
