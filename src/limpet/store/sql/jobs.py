"""The queue in the file: leased, so that a killed worker's jobs come back; failed ones wait longer, then lie dead.

A text that no worker has come for has no row yet: it waits because its number is above `taken.through`, and a write
need not touch the queue.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..records import ALL, INTERRUPTED, Job
from .database import Connection, Database, Repository
from .statements import statements

EMBED = "embed"
FLUSH = "flush"  # empty the log of what was purged: a reader kept it
# Texts that wait without a row of their own; those that were put in by hand as well have one.
_UNTAKEN = (
    "SELECT b.num FROM body b WHERE b.num > (SELECT through FROM taken)"
    f" AND NOT EXISTS (SELECT 1 FROM job j WHERE j.kind = '{EMBED}' AND j.subject = b.num)"
)


class Jobs(Repository):
    def enqueue(self, kind: str, subjects: Sequence[int], at: int) -> int:
        with self._database.writing() as con:
            before = con.total_changes()
            con.executemany(statements()["insert_job"], [(kind, subject, at) for subject in subjects])
            return con.total_changes() - before

    def lease(self, kind: str, *, limit: int, at: int, until: int, worker: str) -> list[Job]:
        bound = {"kind": kind, "limit": limit, "at": at, "until": until, "worker": worker}
        return self._leased("lease_jobs", bound, limit=limit)

    def lease_these(self, kind: str, subjects: Sequence[int], *, at: int, until: int, worker: str) -> list[Job]:
        """Of these jobs those that could be taken now, in the order given."""
        bound = {"kind": kind, "subjects": self._database.numbers(subjects), "at": at, "until": until, "worker": worker}
        place = {subject: i for i, subject in enumerate(subjects)}
        leased = self._leased("lease_these_jobs", bound, through=max(subjects, default=0))
        return sorted(leased, key=lambda job: place[job.subject])

    def _leased(self, name: str, bound: dict[str, object], **taken: int) -> list[Job]:
        with self._database.writing() as con:
            if bound["kind"] == EMBED:
                _take(con, **taken)
            rows = con.execute(statements()[name], bound).fetchall()
        return [Job(*row) for row in sorted(rows)]

    def due(self, at: int, *, first: Sequence[int], most: int) -> list[int]:
        """Texts whose vectors could be made now, `most` of them: of `first` those that wait, in order, then the
        newest."""
        waits = (
            f"SELECT subject AS num FROM job WHERE kind = '{EMBED}' AND state = 'waiting' AND not_before <= ?1"
            f" AND leased_until <= ?1 UNION ALL {_UNTAKEN}"
        )
        found = self._database.rows(
            f"SELECT num FROM ({waits}) AS due ORDER BY num IN (SELECT value FROM carray(?2)) DESC, num DESC LIMIT ?3",
            (at, self._database.numbers(first), most),
        )
        place = {num: i for i, num in enumerate(first)}
        return sorted((row[0] for row in found), key=lambda num: place.get(num, len(place)))

    def unchecked(self, rows: Sequence[int]) -> list[int]:
        """Those of some rows of memories whose texts wait for a vector or to be compared."""
        found = self._database.rows(
            "SELECT m.num FROM memory m WHERE m.num IN (SELECT value FROM carray(?)) AND"
            " (m.body > (SELECT through FROM taken) OR EXISTS (SELECT 1 FROM job j WHERE j.subject = m.body"
            " AND j.kind IN ('embed', 'duplicates') AND j.state = 'waiting'))",
            (self._database.numbers(rows),),
        )
        return [row[0] for row in found]

    def finish(self, kind: str, subjects: Sequence[int]) -> None:
        """Jobs about these subjects are done, or no longer needed."""
        with self._database.writing() as con:
            if kind == EMBED and subjects:
                _take(con, through=max(subjects))
            done = "DELETE FROM job WHERE kind = ? AND subject IN (SELECT value FROM carray(?))"
            con.execute(done, (kind, self._database.numbers(subjects)))

    def fail(self, kind: str, subjects: Sequence[int], *, error: str, not_before: int, dead: bool) -> None:
        with self._database.writing() as con:
            con.execute(
                "UPDATE job SET state = ?, error = ?, not_before = ?, leased_until = 0"
                " WHERE kind = ? AND subject IN (SELECT value FROM carray(?))",
                ("dead" if dead else "waiting", error[:500], not_before, kind, self._database.numbers(subjects)),
            )

    def backlog(self, kind: str, at: int, *, most: int | None = None) -> int:
        """Jobs that could be taken now, counted up to `most`."""
        with self._database.reading() as con:
            untaken = f" UNION ALL {_UNTAKEN}" if kind == EMBED else ""
            return int(
                con.execute(
                    "SELECT count(*) FROM (SELECT subject FROM job WHERE kind = ?1 AND state = 'waiting'"
                    f" AND not_before <= ?2 AND leased_until <= ?2{untaken} LIMIT ?3) AS due",
                    (kind, at, ALL if most is None else most),
                ).get
            )

    def busy(self, kind: str, at: int) -> bool:
        """Whether somebody is at work on such jobs."""
        leased = "SELECT subject FROM job WHERE kind = ? AND state = 'waiting' AND leased_until > ? LIMIT 1"
        return bool(self._database.rows(leased, (kind, at)))

    def dead(self) -> list[Job]:
        rows = self._database.rows("SELECT kind, subject, attempts, error FROM job WHERE state = 'dead' LIMIT 100")
        return [Job(*row) for row in rows]

    def last_error(self, kind: str) -> str | None:
        """Why the job failed that did last, of those that wait or are dead."""
        with self._database.reading() as con:
            found = con.execute(
                "SELECT error FROM job WHERE kind = ? AND error IS NOT NULL AND error <> ?"
                " ORDER BY not_before DESC, subject LIMIT 1",
                (kind, INTERRUPTED),
            ).get
            return None if found is None else str(found)

    def revive(self) -> int:
        """Let dead jobs, and those that wait longer because they failed, be tried at once; how many these are."""
        with self._database.writing() as con:
            before = con.total_changes()
            con.execute(
                "UPDATE job SET state = 'waiting', attempts = 0, not_before = 0, leased_until = 0"
                " WHERE state = 'dead' OR (error IS NOT NULL AND not_before > 0 AND leased_until = 0)"
            )
            return con.total_changes() - before


def _take(con: Connection, *, limit: int = ALL, through: int | None = None) -> None:
    """Give rows to texts that wait without one: to the next `limit`, or to all up to `through`."""
    last = con.execute(
        "SELECT max(num) FROM (SELECT num FROM body WHERE num > (SELECT through FROM taken)"
        " AND num <= ? ORDER BY num LIMIT ?) AS next",
        (ALL if through is None else through, limit),
    ).get
    if last is None:
        return
    con.execute(
        "INSERT INTO job (kind, subject, not_before) SELECT ?, num, 0 FROM body"
        " WHERE num > (SELECT through FROM taken) AND num <= ? ON CONFLICT DO NOTHING",
        (EMBED, last),
    )
    con.execute("UPDATE taken SET through = ?", (last,))


def forget(con: Connection, body: int) -> None:
    """A text is gone. A later one may get its number, and must then wait as any new one does."""
    con.execute("DELETE FROM job WHERE kind = ? AND subject = ?", (EMBED, body))
    con.execute("UPDATE taken SET through = min(through, (SELECT coalesce(max(num), 0) FROM body))")


def refill(con: Connection) -> None:
    """Jobs for exactly the texts that lack a vector of some embedder; what was tried already keeps its row."""
    con.execute(
        "INSERT INTO job (kind, subject, not_before) SELECT ?, num, 0 FROM body"
        " WHERE num <= (SELECT through FROM taken) ON CONFLICT DO NOTHING",
        (EMBED,),
    )
    con.execute(
        "DELETE FROM job WHERE kind = ? AND EXISTS (SELECT 1 FROM embedder)"
        " AND NOT EXISTS (SELECT 1 FROM embedder e WHERE NOT EXISTS"
        " (SELECT 1 FROM vector v WHERE v.embedder = e.num AND v.body = job.subject))",
        (EMBED,),
    )


def waiting(con: Connection) -> int:
    """Texts that wait for their vectors, now or later."""
    rows = "SELECT subject FROM job WHERE kind = ? AND state = 'waiting'"
    return int(con.execute(f"SELECT count(*) FROM ({rows} UNION ALL {_UNTAKEN}) AS waiting", (EMBED,)).get)


def after_purge(database: Database, con: Connection) -> None:
    """In the transaction of a purge: the index is made anew; whoever works the queue empties the log, if need be."""
    flush_later(con)
    database.index.purged(con)


def flush_later(con: Connection) -> None:
    """Whoever works the queue empties the log, unless who erases can: `flushed` says so."""
    con.execute("INSERT INTO job (kind, subject, not_before) VALUES (?, 0, 0) ON CONFLICT DO NOTHING", (FLUSH,))


def flushed(database: Database) -> None:
    if database.rows("SELECT 1 FROM job WHERE kind = ?", (FLUSH,)):
        with database.writing() as con:
            con.execute("DELETE FROM job WHERE kind = ?", (FLUSH,))
