"""The journal: one insert a line, and the last lines of a scope. `limpet.journal` writes here without the engine."""

from __future__ import annotations

import apsw

INSERT = "INSERT INTO journal (scope, session, at, kind, what) VALUES (?, ?, ?, ?, ?)"


def note(con: apsw.Connection, scope: str, session: str, at: int, kind: str, what: str) -> None:
    con.execute(INSERT, (scope, session, at, kind, what))


def clear(con: apsw.Connection) -> None:
    """Of a purge: what was erased may be quoted in any line."""
    con.execute("DELETE FROM journal")


def lines(con: apsw.Connection, scope: str, session: str | None, limit: int) -> list[tuple[str, str, int, str, str]]:
    """The last lines, oldest first."""
    found = con.execute(
        "SELECT scope, session, at, kind, what FROM journal"
        " WHERE scope = ?1 AND (?2 IS NULL OR session = ?2) ORDER BY num DESC LIMIT ?3",
        (scope, session, limit),
    ).fetchall()
    return found[::-1]


def turn(con: apsw.Connection, scope: str, session: str) -> tuple[tuple[tuple[str, str], ...], bool]:
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
