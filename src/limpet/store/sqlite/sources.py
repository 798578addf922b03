"""What the organizer has read, and what hooks say is there to read."""

from __future__ import annotations

import apsw

from ..records import Source

_FIELDS = "scope, path, digest, reached, at"


def get(con: apsw.Connection, scope: str, path: str) -> Source | None:
    row = con.execute(f"SELECT {_FIELDS} FROM source WHERE scope = ? AND path = ?", (scope, path)).fetchone()
    return Source(*row) if row else None


def keep(con: apsw.Connection, one: Source) -> None:
    con.execute(
        f"INSERT INTO source ({_FIELDS}, waits) VALUES (?1, ?2, ?3, ?4, ?5, 0) ON CONFLICT (scope, path) DO UPDATE SET"
        " digest = ?3, reached = ?4, at = ?5, waits = CASE WHEN ?3 IS NULL THEN waits ELSE 0 END",
        one,
    )


def name(con: apsw.Connection, scope: str, path: str, at: int) -> None:
    con.execute(
        "INSERT INTO source (scope, path, at, waits) VALUES (?1, ?2, ?3, 1)"
        " ON CONFLICT (scope, path) DO UPDATE SET waits = 1, at = ?3",
        (scope, path, at),
    )


def named(con: apsw.Connection, scope: str | None) -> list[Source]:
    rows = con.execute(
        f"SELECT {_FIELDS} FROM source WHERE waits AND (?1 IS NULL OR scope = ?1) ORDER BY at, scope, path", (scope,)
    )
    return [Source(*row) for row in rows]
