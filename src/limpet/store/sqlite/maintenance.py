"""The care of the file: statistics, checks, rebuild, backup, compaction."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from ...model.errors import BadInput
from ...model.events import Event
from ..records import BackupPlan, Problem, StoreStats
from . import jobs
from .connection import CHAINED, connect, is_encrypted
from .database import Database
from .ledger import SqliteLedger
from .projection import Projection, tell_anew

if TYPE_CHECKING:
    from ..contract import Describe

SIGNATURE = "signature"  # the check that `sign` makes good
# Checks of `verify`: what is wrong when the statement counts anything.
_CHECKS = (
    ("current", "memories with several current versions",
     "SELECT count(*) FROM (SELECT id FROM memory WHERE retired_at IS NULL GROUP BY id HAVING count(*) > 1)"),
    ("ledger", "memories without the event that made them",
     "SELECT count(*) FROM memory m WHERE NOT EXISTS"
     " (SELECT 1 FROM event v WHERE v.id = m.id AND v.memory = m.id AND v.type = 'remembered') AND NOT EXISTS"
     " (SELECT 1 FROM event v WHERE v.memory = m.id AND v.memory <> v.id AND v.type = 'remembered')"),
    ("projection", "events without a memory",
     "SELECT count(*) FROM event v WHERE v.type = 'remembered' AND NOT EXISTS"
     " (SELECT 1 FROM memory m WHERE m.id = v.memory AND m.retired_at IS NULL)"),
    ("links", "links without the event that made them",
     "SELECT count(*) FROM edge e WHERE NOT EXISTS (SELECT 1 FROM event v WHERE v.id = e.event)"),
    ("text", "versions whose text is gone",
     "SELECT count(*) FROM memory m WHERE m.body IS NOT NULL AND NOT EXISTS"
     " (SELECT 1 FROM body b WHERE b.num = m.body)"),
    ("text", "purged memories that still have a text",
     "SELECT count(*) FROM memory m WHERE m.state = 'purged' AND m.body IS NOT NULL"),
    ("text", "texts that are searched for in another scope than that of their memory",
     "SELECT count(*) FROM memory m JOIN body b ON b.num = m.body"
     " WHERE m.retired_at IS NULL AND b.scope <> char(57344) || m.scope"),
    ("vectors", "vectors of texts that are gone",
     "SELECT count(*) FROM vector v WHERE NOT EXISTS (SELECT 1 FROM body b WHERE b.num = v.body)"),
    ("vectors", "texts with neither a vector nor a job to make one",
     "SELECT count(*) FROM body b WHERE b.num <= (SELECT through FROM taken)"
     " AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.body = b.num)"
     " AND NOT EXISTS (SELECT 1 FROM job j WHERE j.kind = 'embed' AND j.subject = b.num)"),
    ("vectors", "texts to come that the queue would pass over",
     "SELECT max(0, through - (SELECT ifnull(max(num), 0) FROM body)) FROM taken"),
)  # fmt: skip


class SqliteMaintenance:
    def __init__(self, database: Database, ledger: SqliteLedger, describe: Describe) -> None:
        self._database = database
        self._ledger = ledger
        self._describe = describe

    def stats(self) -> StoreStats:
        path = self._database.path
        with self._database.reading() as con:

            def one(sql: str) -> Any:
                return con.execute(sql).get

            def table(sql: str) -> dict[str, int]:
                return dict(con.execute(sql).fetchall())

            pages, free, size = one("PRAGMA page_count"), one("PRAGMA freelist_count"), one("PRAGMA page_size")
            files = [Path(path + suffix) for suffix in ("", "-wal")]
            on_disk = (
                sum(file.stat().st_size for file in files if file.exists()) if path != ":memory:" else pages * size
            )
            return StoreStats(
                memories=one("SELECT count(*) FROM memory WHERE retired_at IS NULL AND state <> 'purged'"),
                versions=one("SELECT count(*) FROM memory"),
                events=one("SELECT count(*) FROM event"),
                sessions=one("SELECT count(*) FROM session"),
                vectors=one("SELECT count(*) FROM vector"),
                waiting_jobs=jobs.waiting(con),
                waiting_checks=one("SELECT count(*) FROM job WHERE state = 'waiting' AND kind <> 'embed'"),
                dead_jobs=one("SELECT count(*) FROM job WHERE state = 'dead'"),
                by_kind=table(
                    "SELECT kind, count(*) FROM memory WHERE retired_at IS NULL AND state = 'active' GROUP BY kind"
                ),
                by_scope=table(
                    "SELECT s.name, count(*) FROM memory m JOIN scope s ON s.num = m.scope"
                    " WHERE m.retired_at IS NULL AND m.state = 'active' GROUP BY s.name"
                ),
                by_state=table(
                    "SELECT iif(state = 'active' AND superseded_by IS NOT NULL, 'superseded', state) AS said, count(*)"
                    " FROM memory WHERE retired_at IS NULL GROUP BY said"
                ),
                file_bytes=on_disk,
                free_bytes=free * size,
                oldest_us=one("SELECT min(at) FROM event"),
                newest_us=one("SELECT max(at) FROM event"),
            )

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> int:
        with self._database.writing() as con:
            events = list(self._ledger.events())
            done = Projection(con, self._describe, None).rebuild(_counted(events, progress))
            jobs.refill(con)
            tell_anew(con)
            return done

    def verify(self, *, sign: bool = False) -> list[Problem]:
        key = self._database.signing_key
        if sign and key is None:
            raise BadInput("there is no key to sign with", hint="set LIMPET_SIGNING_KEY or LIMPET_SIGNING_KEY_COMMAND")
        with self._database.reading() as con:
            problems = verify_file(con, key)
        if not self._database.read_only:
            with self._database.writing() as con:
                problems += _verify_index(con)
                if sign and key is not None and all(one.check == SIGNATURE for one in problems):
                    from .chain_check import sign_chain

                    problems = sign_chain(con, key)
        return problems

    def encryption(self) -> tuple[bool, str]:
        path = self._database.path
        cipher = getattr(apsw, "mc_version", None)
        driver = f"apsw {apsw.apswversion()}" + (f" with {cipher}" if cipher else ", which encrypts nothing")
        return path != ":memory:" and is_encrypted(path), driver

    def backup(self, path: str, progress: Callable[[int, int], None] | None = None) -> None:
        """Page by page, through the online backup API."""
        from ..files import check_place, partial_file, publish, unguessable, writing
        from .restore import copy_pages

        target = Path(path)
        check_place(target, store=self._database.path)
        if os.path.lexists(target):
            raise BadInput(f"{path} is there already", hint="give a new file name")
        with (
            self._database.reading() as con,
            writing(path),
            partial_file(unguessable(target.parent)) as file,
        ):
            copy = connect(file.name, like=self._database.path)
            try:
                copy_pages(con, copy, progress)
                copy.execute("PRAGMA journal_mode=DELETE").fetchall()
            finally:
                copy.close()
            publish(file, target)

    def backup_plan(self) -> BackupPlan | None:
        found = self._database.rows("SELECT folder, every, keep, done_at FROM backup_plan")
        return BackupPlan(*found[0]) if found else None

    def plan_backups(self, plan: BackupPlan | None, *, was: BackupPlan | None) -> bool:
        with self._database.writing() as con:
            if self.backup_plan() != was:
                return False
            con.execute("DELETE FROM backup_plan")
            if plan is not None:
                con.execute("INSERT INTO backup_plan VALUES (?, ?, ?, ?)", plan)
            return True

    def compact(self) -> dict[str, Any]:
        with self._database.maintaining() as con:
            before = self.stats().file_bytes
            con.execute("INSERT INTO body_fts (body_fts) VALUES ('optimize')")
            con.execute("VACUUM")
            con.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return {"before_bytes": before, "after_bytes": self.stats().file_bytes}


def _counted(events: list[Event], progress: Callable[[int, int], None] | None) -> Iterator[Event]:
    for done, event in enumerate(events, 1):
        yield event
        if progress and (done % 500 == 0 or done == len(events)):
            progress(done, len(events))


def verify_file(con: apsw.Connection, key: bytes | None = None) -> list[Problem]:
    """Everything that can be checked without changing anything: pages, index, and how the tables fit together.

    `key`: of the signature of the chain, if it is to be looked at.
    """
    # FTS5 checks with the structure it has in memory, which only a search brings up to date.
    con.execute("SELECT count(*) FROM body_fts WHERE body_fts MATCH 'limpet'").fetchall()
    problems = [
        Problem(check="pages", message=str(row[0]))
        for row in con.execute("PRAGMA integrity_check(20)")
        if row[0] != "ok"
    ]
    for check, message, statement in _CHECKS:
        wrong = con.execute(statement).get
        if wrong:
            problems.append(Problem(check=check, message=f"{wrong} {message}"))
    for num, dimensions in con.execute("SELECT num, dimensions FROM embedder").fetchall():
        problems += _verify_chunks(con, num, dimensions)
    if con.execute("PRAGMA user_version").get >= CHAINED:  # an older one that is only read has none
        from .chain_check import verify_chain

        problems += verify_chain(con, key)
    problems += [
        Problem(check="ledger", message=f"event {row[0]} holds unreadable data")
        for row in con.execute("SELECT seq FROM event WHERE data IS NOT NULL AND NOT json_valid(data) LIMIT 20")
    ]
    return problems


def _verify_index(con: apsw.Connection) -> list[Problem]:
    """The full-text index against the texts. Needs a write transaction: FTS5 checks by a special insert."""
    try:
        con.execute("INSERT INTO body_fts (body_fts, rank) VALUES ('integrity-check', 1)")
    except apsw.CorruptError:
        return [Problem(check="index", message="the full-text index does not fit the texts; `limpet rebuild` mends it")]
    return []


def _verify_chunks(con: apsw.Connection, embedder: int, dimensions: int) -> list[Problem]:
    """Every code in a chunk belongs to the vector row that points to it, and every vector row to a code."""
    wrong = 0
    stored = {
        (row[0], row[1]): row[2]
        for row in con.execute("SELECT chunk, slot, body FROM vector WHERE embedder = ?", (embedder,))
    }
    for num, used, codes, bodies in con.execute(
        "SELECT num, used, length(codes), bodies FROM chunk WHERE embedder = ?", (embedder,)
    ):
        if codes % dimensions or used * 8 > len(bodies):
            wrong += 1
            continue
        for slot, body in enumerate(struct.unpack(f"<{used}q", bodies[: used * 8])):
            wrong += stored.pop((num, slot), 0) != body
    wrong += len(stored)
    return [Problem(check="vectors", message=f"{wrong} codes do not fit their vectors")] if wrong else []
