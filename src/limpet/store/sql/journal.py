"""The journal: one insert a line, and the last lines of a scope. `agents/hooks/journal.py` writes here directly."""

from __future__ import annotations

from .database import Connection, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..records import Action

# How long who drops lines waits for readers of the old state; later the queue sees to it.
FLUSH_SECONDS = 10.0
INSERT = "INSERT INTO journal (scope, session, at, kind, what) VALUES (?, ?, ?, ?, ?)"


class Journal(Repository):
    def note(self, action: Action) -> None:
        """Add a line. The journal keeps the last 10,000 lines of the store, and is emptied by a purge."""
        with self._database.writing() as con:
            con.execute(INSERT, action)

    def lines(self, scope: str, *, session: str | None = None, limit: int) -> list[Action]:
        """The last lines of a scope, or of one of its sessions, oldest first."""
        from ..records import Action

        found = self._database.rows(
            "SELECT scope, session, at, kind, what FROM journal"
            " WHERE scope = ?1 AND (?2 IS NULL OR session = ?2) ORDER BY num DESC LIMIT ?3",
            (scope, session, limit),
        )
        return [Action(*row) for row in reversed(found)]

    def numbered(self, scope: str) -> list[tuple[int, Action]]:
        """All lines of a scope, oldest first, each with the number that it keeps while it is there."""
        from ..records import Action

        found = self._database.rows(
            "SELECT num, scope, session, at, kind, what FROM journal WHERE scope = ? ORDER BY num", (scope,)
        )
        return [(num, Action(*rest)) for num, *rest in found]

    def drop(self, scope: str, numbers: Sequence[int]) -> bool:
        """Erase lines of a scope, also their bytes in the file. False: a reader keeps the bytes until it ends."""
        from . import jobs

        with self._database.writing() as con:
            con.executemany("DELETE FROM journal WHERE scope = ? AND num = ?", [(scope, one) for one in numbers])
            jobs.flush_later(con)
        done = self._database.flush_erased(seconds=FLUSH_SECONDS)
        if done:
            jobs.flushed(self._database)
        return done


def clear(con: Connection) -> None:
    """Of a purge: what was erased may be quoted in any line."""
    con.execute("DELETE FROM journal")


def turn(con: Connection, scope: str, session: str) -> tuple[tuple[tuple[str, str], ...], bool]:
    """The lines of a session from the last message on, and whether the scope has remembered anything since.

    journal_session, memory_created.
    """
    found = con.execute(
        "SELECT num, at FROM journal WHERE scope = ? AND session = ? AND kind = 'asked' ORDER BY num DESC LIMIT 1",
        (scope, session),
    ).get
    if found is None:
        return (), False
    since, at = found
    lines = con.execute(
        "SELECT kind, what FROM journal WHERE scope = ? AND session = ? AND num >= ? ORDER BY num LIMIT 500",
        (scope, session, since),
    ).fetchall()
    remembered = con.execute(
        "SELECT 1 FROM memory WHERE scope IN (SELECT num FROM scope WHERE name IN (?, 'global'))"
        " AND created_at >= ? AND retired_at IS NULL LIMIT 1",
        (scope, at),
    ).get
    return tuple(lines), remembered is not None
