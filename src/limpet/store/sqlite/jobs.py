"""The queue in the file: leased, so that a killed worker's jobs come back; failed ones wait longer, then lie dead."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from ..contract import Job
from .search import carray
from .sql import statements


def enqueue(con: apsw.Connection, kind: str, subjects: Sequence[int], at: int) -> int:
    before = con.total_changes()
    con.executemany(statements()["insert_job"], [(kind, subject, at) for subject in subjects])
    return con.total_changes() - before


def lease(con: apsw.Connection, kind: str, *, limit: int, at: int, until: int, worker: str) -> list[Job]:
    found = con.execute(
        statements()["lease_jobs"], {"kind": kind, "limit": limit, "at": at, "until": until, "worker": worker}
    ).fetchall()
    return [Job(kind=row[0], subject=row[1], attempts=row[2], error=row[3]) for row in sorted(found)]


def finish(con: apsw.Connection, kind: str, subjects: Sequence[int]) -> None:
    con.execute("DELETE FROM job WHERE kind = ? AND subject IN (SELECT value FROM carray(?))", (kind, carray(subjects)))


def fail(con: apsw.Connection, kind: str, subjects: Sequence[int], *, error: str, not_before: int, dead: bool) -> None:
    con.execute(
        "UPDATE job SET state = ?, error = ?, not_before = ?, leased_until = 0"
        " WHERE kind = ? AND subject IN (SELECT value FROM carray(?))",
        ("dead" if dead else "waiting", error[:500], not_before, kind, carray(subjects)),
    )


def backlog(con: apsw.Connection, kind: str, at: int, most: int | None) -> int:
    """Jobs that a worker could take now, counted up to `most`."""
    return int(
        con.execute(
            "SELECT count(*) FROM (SELECT 1 FROM job WHERE kind = ?1 AND state = 'waiting' AND not_before <= ?2"
            " AND leased_until <= ?2 LIMIT ?3)",
            (kind, at, -1 if most is None else most),
        ).get
    )


def dead(con: apsw.Connection) -> list[Job]:
    return [
        Job(kind=row[0], subject=row[1], attempts=row[2], error=row[3])
        for row in con.execute("SELECT kind, subject, attempts, error FROM job WHERE state = 'dead' LIMIT 100")
    ]


def revive(con: apsw.Connection) -> int:
    con.execute("UPDATE job SET state = 'waiting', attempts = 0, not_before = 0, leased_until = 0 WHERE state = 'dead'")
    return con.changes()
