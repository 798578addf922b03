"""The queue in the file: leased, so that a killed worker's jobs come back; failed ones wait longer, then lie dead."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from ..contract import Job
from .search import carray
from .sql import statements


def enqueue(con: apsw.Connection, kind: str, subjects: Sequence[int], at: int) -> int:
    before = con.total_changes()
    con.executemany(
        "INSERT INTO job (kind, subject, not_before) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(kind, subject, at) for subject in subjects],
    )
    return con.total_changes() - before


def lease(con: apsw.Connection, kind: str, *, limit: int, at: int, until: int, worker: str) -> list[Job]:
    found = con.execute(
        statements()["lease_jobs"], {"kind": kind, "limit": limit, "at": at, "until": until, "worker": worker}
    ).fetchall()
    return [Job(num=row[0], kind=row[1], subject=row[2], attempts=row[3], error=row[4]) for row in sorted(found)]


def finish(con: apsw.Connection, jobs: Sequence[int]) -> None:
    con.execute("DELETE FROM job WHERE num IN (SELECT value FROM carray(?))", (carray(jobs),))


def fail(con: apsw.Connection, jobs: Sequence[int], *, error: str, not_before: int, dead: bool) -> None:
    con.execute(
        "UPDATE job SET state = ?, error = ?, not_before = ?, leased_until = 0"
        " WHERE num IN (SELECT value FROM carray(?))",
        ("dead" if dead else "waiting", error[:500], not_before, carray(jobs)),
    )


def backlog(con: apsw.Connection, kind: str, at: int) -> int:
    """Jobs that a worker could take now."""
    return int(
        con.execute(
            "SELECT count(*) FROM job WHERE kind = ? AND state = 'waiting' AND not_before <= ? AND leased_until <= ?",
            (kind, at, at),
        ).get
    )


def dead(con: apsw.Connection) -> list[Job]:
    return [
        Job(num=row[0], kind=row[1], subject=row[2], attempts=row[3], error=row[4])
        for row in con.execute(
            "SELECT num, kind, subject, attempts, error FROM job WHERE state = 'dead' ORDER BY num LIMIT 100"
        )
    ]


def revive(con: apsw.Connection) -> int:
    con.execute("UPDATE job SET state = 'waiting', attempts = 0, not_before = 0, leased_until = 0 WHERE state = 'dead'")
    return con.changes()
