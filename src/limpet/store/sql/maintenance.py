"""The care of a store, as far as it is the same for every engine with rows: statistics, checks, rebuild."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any

from ...model.errors import BadInput
from ...model.events import Event
from ..records import BackupPlan, Problem, StoreStats
from . import jobs
from .database import Repository
from .projection import Projection

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
     "SELECT max(0, through - (SELECT coalesce(max(num), 0) FROM body)) FROM taken"),
)  # fmt: skip


class Maintenance(Repository, ABC):
    def stats(self) -> StoreStats:
        with self._database.reading() as con:

            def one(sql: str) -> Any:
                return con.execute(sql).get

            held, free = self._bytes(con)
            # One look at every memory; of a large store that is most of the work.
            rows = con.execute(
                "SELECT c.state, c.replaced, c.kind, s.name, c.held FROM"
                " (SELECT state, superseded_by IS NOT NULL AS replaced, kind, scope, count(*) AS held FROM memory"
                " WHERE retired_at IS NULL GROUP BY state, replaced, kind, scope) c JOIN scope s ON s.num = c.scope"
            ).fetchall()
            ((oldest, newest),) = con.execute("SELECT min(at), max(at) FROM event").fetchall()
            by_kind, by_scope, by_state = Counter[str](), Counter[str](), Counter[str]()
            for state, replaced, kind, scope, count in rows:
                by_state["superseded" if replaced and state == "active" else state] += count
                if state == "active":
                    by_kind[kind] += count
                    by_scope[scope] += count
            return StoreStats(
                memories=by_state.total() - by_state["purged"],
                versions=by_state.total() + one("SELECT count(*) FROM memory WHERE retired_at IS NOT NULL"),
                events=one("SELECT count(*) FROM event"),
                sessions=one("SELECT count(*) FROM session"),
                vectors=one("SELECT count(*) FROM vector"),
                waiting_jobs=jobs.waiting(con),
                waiting_checks=one("SELECT count(*) FROM job WHERE state = 'waiting' AND kind <> 'embed'"),
                dead_jobs=one("SELECT count(*) FROM job WHERE state = 'dead'"),
                by_kind=dict(sorted(by_kind.items())),
                by_scope=dict(sorted(by_scope.items())),
                by_state=dict(sorted(by_state.items())),
                file_bytes=held,
                free_bytes=free,
                oldest_us=oldest,
                newest_us=newest,
            )

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Make every projection anew from the ledger; returns the number of events."""
        with self._database.writing() as con:
            events = list(self._store.ledger.events())
            done = Projection(self._database, con, self._store.describe).rebuild(_counted(events, progress))
            jobs.refill(con)
            self._database.index.tell_anew(con)
        self._database.loaded(done)
        return done

    def _may_sign(self, key: bytes | None, *, wanted: bool) -> None:
        if wanted and key is None:
            raise BadInput("there is no key to sign with", hint="set LIMPET_SIGNING_KEY or LIMPET_SIGNING_KEY_COMMAND")

    @abstractmethod
    def verify(self, *, sign: bool = False) -> list[Problem]:
        """`sign`: sign the chain of events as it is, when nothing else is wrong. Raises BadInput."""

    @abstractmethod
    def backup(self, path: str, progress: Callable[[int, int], None] | None = None) -> None:
        """Copy the store to a new file, which appears only when it is complete. Raises BadInput, StoreError."""

    @abstractmethod
    def compact(self) -> dict[str, Any]:
        """Give free pages back and merge the index. Returns sizes in bytes before and after."""

    @abstractmethod
    def encryption(self) -> tuple[bool, str]:
        """Whether the file is encrypted, and the driver that reads it, with its cipher if it has one."""

    @abstractmethod
    def _bytes(self, con: Any) -> tuple[int, int]:
        """What the store takes, and what of it is free."""

    def backup_plan(self) -> BackupPlan | None:
        found = self._database.rows("SELECT folder, every, keep, done_at FROM backup_plan")
        return BackupPlan(*found[0]) if found else None

    def plan_backups(self, plan: BackupPlan | None, *, was: BackupPlan | None) -> bool:
        """Change the plan, if it is still what it was: of several processes one makes the backup that is due."""
        with self._database.writing() as con:
            if self.backup_plan() != was:
                return False
            con.execute("DELETE FROM backup_plan")
            if plan is not None:
                con.execute("INSERT INTO backup_plan VALUES (?, ?, ?, ?)", plan)
            return True


def _counted(events: list[Event], progress: Callable[[int, int], None] | None) -> Iterator[Event]:
    for done, event in enumerate(events, 1):
        yield event
        if progress and (done % 500 == 0 or done == len(events)):
            progress(done, len(events))


def check_rows(con: Any, only: Collection[str] | None = None) -> list[Problem]:
    """How the tables fit together. `only`: the checks to make."""
    checks = [one for one in _CHECKS if only is None or one[0] in only]
    found = ((check, message, con.execute(statement).get) for check, message, statement in checks)
    return [Problem(check=check, message=f"{wrong} {message}") for check, message, wrong in found if wrong]
