"""`limpet start`: what agents have kept on this machine becomes memories, once a person has agreed.

`found.py` looks for histories and says what there is, `reading.py` reads them, newest first, `commands.py` asks. The
readers of transcripts are those of `features/organize`, which takes statements out of the same files. Sessions that end
later are read by whoever works the queue.
"""

from __future__ import annotations

from ...model.ids import session_mark
from ...model.memory import GLOBAL_SCOPE
from ...model.state import cancelled_by
from ...store.records import READ
from ..organize import Source, Sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...api import Limpet, Progress
    from ...context import Context, Time
    from .found import Survey
    from .reading import StartReport

# The scope in which files are noted as read: no real one, whose names the organizer notes.
NOTED = ""
# The session whose begin is the first event of a reading, in the scope that every other one sees.
NAME = "limpet start"
# Microseconds that whoever reads what has ended may take before another one does.
LEASE = 600_000_000


def survey(memory: Limpet, *, only: Sequence[str] = (), since: Time = None, by_folder: bool = True) -> Survey:
    """Look for what agents have kept on this machine, and say what of it is new. Nothing is stored.

    `only`: clients, or "rules" for the files of rules. `by_folder`: each conversation belongs to the scope of the
    folder where its agent worked; otherwise to this one. Raises BadInput.

    >>> survey(memory, only=["codex"], since="2100-01-01").histories
    []
    """
    from .found import find

    return find(memory._context, only, memory._context.time(since), by_folder=by_folder)


def run(
    memory: Limpet, *, only: Sequence[str] = (), since: Time = None, by_folder: bool = True,
    progress: Progress | None = None,
) -> StartReport:  # fmt: skip
    """Read what agents have kept on this machine. The caller has a person's consent: agents are shown what comes of it.

    The arguments are those of `survey`. A run that was killed is continued by the next one, as the same operation:
    `undo` takes all of it back. Raises BadInput, StoreError.

    >>> run(memory, only=["codex"], since="2100-01-01").new
    0
    """
    from .reading import read

    return read(memory._context, only, memory._context.time(since), by_folder=by_folder, progress=progress)


def consent(context: Context) -> Source | None:
    """Return the note of a person's consent, unless what was read is taken back. Its `digest` is the last reading's
    operation, its `reached` not None while that is under way."""
    note = Sources(context.store).get(NOTED, "")
    if note is None or note.digest is None:
        return None
    undone = cancelled_by(context.store.ledger.undone([session_mark(GLOBAL_SCOPE, NAME)]))
    return None if bytes.fromhex(note.digest) in undone else note


def note_ended(memory: Limpet) -> None:
    """Queue the reading of sessions that have ended, if a person has agreed.

    >>> note_ended(memory)
    """
    context = memory._context
    if consent(context) is not None:
        context.store.jobs.enqueue(READ, [0], context.now())


def read_ended(context: Context) -> None:
    """Read the transcripts of sessions that have ended, if a person has agreed and nobody reads them now."""
    now = context.now()
    if context.store.jobs.lease(READ, at=now, until=now + LEASE):
        if consent(context) is not None:
            from .reading import read_waiting

            read_waiting(context)
        context.store.jobs.finish(READ, [0])
