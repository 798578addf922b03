"""The writes of hooks: lines of the journal, and exposures. `agents/hooks/journal.py` writes here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...model.clock import MICROSECONDS_PER_DAY
from .store import Connection, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..records import Action, OutsideRead

# Seconds that a call that drops lines waits for readers of the old state; later the queue does it.
FLUSH_SECONDS = 10.0
INSERT = "INSERT INTO journal (scope, session, at, kind, what) VALUES (?, ?, ?, ?, ?)"
OUTSIDE_READS = (
    "SELECT session, scope, at, origin, what FROM outside_read"
    " WHERE session = ?2 OR (scope = ?1 AND at >= ?3 AND ended = 0 AND (?2 IS NULL OR session = ''))"
    " ORDER BY at DESC LIMIT 50"
)
# How long reads are kept, in microseconds.
KEPT = 30 * MICROSECONDS_PER_DAY
CANNOT_TELL = -1
EXPOSURE = "scope, session, client, at, via, memory, tokens, shown, drawn, used"
INSERT_EXPOSURE = f"INSERT INTO surfaced ({EXPOSURE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Journal(Repository):
    def note(self, action: Action) -> None:
        """Add a line. The journal keeps the last 10,000 lines of the store; a purge removes those that may quote it."""
        with self._database.writing() as con:
            con.execute(INSERT, action)

    def numbered(self, scope: str, *, session: str | None = None, limit: int = 1 << 62) -> list[tuple[int, Action]]:
        """Return the last lines of a scope, or of one of its sessions, oldest first, with their lasting numbers."""
        from ..records import Action

        rows = self._database.rows(
            "SELECT num, scope, session, at, kind, what FROM journal"
            " WHERE scope = ?1 AND (?2 IS NULL OR session = ?2) ORDER BY num DESC LIMIT ?3",
            (scope, session, limit),
        )
        return [(num, Action(*rest)) for num, *rest in reversed(rows)]

    def drop(self, scope: str, numbers: Sequence[int]) -> bool:
        """Erase lines of a scope, also their bytes in the file. False: a reader keeps the bytes until it ends."""
        from . import jobs

        with self._database.writing() as con:
            con.executemany("DELETE FROM journal WHERE scope = ? AND num = ?", [(scope, number) for number in numbers])
            jobs.flush_later(con)
        return jobs.flush(self._database, seconds=FLUSH_SECONDS)

    def typed(self, scope: str, sessions: Iterable[str], since: int, until: int) -> list[str]:
        """Return what the user asked in some sessions, the latest lines first; in all, if one of them is unknown."""
        names = set(sessions)
        rows = self._database.rows(
            "SELECT session, what FROM journal WHERE scope = ? AND kind = 'asked' AND at BETWEEN ? AND ?"
            " ORDER BY num DESC LIMIT 200",
            (scope, since, until),
        )
        known = names <= {session for session, _ in rows}
        return [what for session, what in rows if not known or session in names]

    def outside_reads(self, scope: str, session: str | None, since: int) -> list[OutsideRead]:
        """Return what a session has read from outside, the latest first.

        None: what every session of the scope has read since then that was not ended.
        """
        from ..records import OutsideRead

        rows = self._database.rows(OUTSIDE_READS, (scope, session, since))
        return [OutsideRead(*row) for row in rows]

    def began_with(self, session: str, ids: Iterable[bytes]) -> set[bytes]:
        """Return those of some memories that a session was shown at its start, since it was compacted last, and that
        are unchanged."""
        with self._database.reading() as con:
            return in_front(con, session, ids, "start")


def turn(con: Connection, scope: str, session: str) -> tuple[tuple[tuple[str, str], ...], bool]:
    """Return the lines of a session from the last message on, and whether the scope has remembered anything since.

    journal_session, memory_created.
    """
    row = con.execute(
        "SELECT num, at FROM journal WHERE scope = ? AND session = ? AND kind = 'asked' ORDER BY num DESC LIMIT 1",
        (scope, session),
    ).get
    if row is None:
        return (), False
    since, at = row
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


# The version that was shown is that of the moment. A repetition, a use or a pin is no change to a reader.
_IN_FRONT = """
SELECT 1 FROM surfaced s JOIN memory now ON now.id = s.memory AND now.retired_at IS NULL
WHERE s.session = ?1 AND s.memory = ?2 AND s.shown AND (?3 IS NULL OR s.via = ?3)
  AND s.num > coalesce((SELECT through FROM compacted WHERE session = ?1), 0)
  AND (now.recorded_at <= s.at OR EXISTS (
    SELECT 1 FROM memory was
    WHERE was.id = s.memory AND was.retired_at > s.at AND was.recorded_at <= s.at
      AND was.state = now.state AND was.superseded_by IS NOT DISTINCT FROM now.superseded_by
      AND was.valid_to IS NOT DISTINCT FROM now.valid_to
      AND (SELECT content FROM body WHERE num = was.body)
        IS NOT DISTINCT FROM (SELECT content FROM body WHERE num = now.body)
  ))
LIMIT 1"""
_COMPACT = """
INSERT INTO compacted VALUES (?1, (SELECT coalesce(max(num), 0) FROM surfaced))
ON CONFLICT (session) DO UPDATE SET through = excluded.through"""


def in_front(con: Connection, session: str, ids: Iterable[bytes], via: str | None = None) -> set[bytes]:
    """Return those of some memories that a session was shown since its last compaction and that are unchanged.

    surfaced_session, memory_current, memory_past.
    """
    return {id for id in ids if con.execute(_IN_FRONT, (session, id, via)).get is not None}


def compact(con: Connection, session: str) -> None:
    """Note that the session has lost what it was shown, by a compaction."""
    con.execute(_COMPACT, (session,))


def waiting(con: Connection, scope: str, session: str) -> list[tuple[int, str]]:
    """Return (number, text of its memory) of rows that no end of a turn has judged, of memories that still exist.

    surfaced_waiting, memory_current.
    """
    rows: list[tuple[int, str]] = con.execute(
        "SELECT s.num, b.content FROM surfaced s JOIN memory m ON m.id = s.memory AND m.retired_at IS NULL"
        " JOIN body b ON b.num = m.body WHERE s.scope = ? AND s.session = ? AND s.used IS NULL ORDER BY s.num",
        (scope, session),
    ).fetchall()
    return rows


def judge(con: Connection, verdicts: Iterable[tuple[int, int]]) -> None:
    """Set judgements (used, num): 1, 0, or CANNOT_TELL."""
    con.executemany("UPDATE surfaced SET used = ? WHERE num = ?", verdicts)


def note_outside(con: Connection, read: OutsideRead) -> None:
    """Note that a session has read something from outside; what is older than KEPT is dropped."""
    con.execute("DELETE FROM outside_read WHERE at < ?", (read.at_us - KEPT,))
    con.execute(
        "INSERT INTO outside_read (session, scope, at, origin, what) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (session, what) DO UPDATE SET at = excluded.at, ended = 0",
        read,
    )


def has_read_outside(con: Connection, session: str) -> str:
    """Return the name of what a session has read from outside last; "" for nothing."""
    what = con.execute("SELECT what FROM outside_read WHERE session = ? ORDER BY at DESC LIMIT 1", (session,)).get
    return what or ""


def forget_outside(con: Connection, session: str) -> None:
    """Note that a session's context is new: nothing from outside is in it."""
    con.execute("DELETE FROM outside_read WHERE session = ?", (session,))


def set_ended(con: Connection, session: str, *, ended: bool) -> None:
    """Note whether a session has ended, and what it read is in nobody's context."""
    con.execute("UPDATE outside_read SET ended = ? WHERE session = ?", (int(ended), session))
