"""Connections of a process: lent to one thread at a time, and made again after the server went away.

A process that had a connection tries again with growing pauses. A silent server is given up at the caller's deadline.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
import weakref
from collections.abc import Generator, Iterator
from typing import Any

import psycopg
from psycopg.generators import fetch_many
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

from ...model.errors import StoreBusy, StoreError
from ...model.forks import refuse_child
from .connection import Place, configure, unreachable
from .statements import Prepared

# Connections of a process; how long an idle one is trusted without a check; how long connecting may take.
MOST_CONNECTIONS, TRUSTED_SECONDS, CONNECT_SECONDS = 16, 5.0, 10
# How long a process that had a connection tries to get another one; first and longest pause between tries.
RETURN_SECONDS, FIRST_PAUSE, LONGEST_PAUSE = 30.0, 0.05, 1.0
# How long a silent server is waited for: without a deadline, and beyond one.
SILENT_SECONDS, BEYOND_SECONDS = 300.0, 1.0
# Options for libpq unless the URL sets them: a lost machine is noticed within half a minute.
USUAL: dict[str, Any] = {
    "connect_timeout": CONNECT_SECONDS, "application_name": "limpet", "keepalives_idle": 10, "keepalives_interval": 5,
    "keepalives_count": 3, "tcp_user_timeout": 25_000,
}  # fmt: skip


class Silent(StoreError):
    """An error: the server has not answered for too long."""


class Connection(psycopg.Connection[Any]):
    """A connection that gives up waiting: psycopg waits forever, and the server's own limit ends with the server."""

    shown = ""
    deadline: float | None = None
    patient = False  # of statements that take as long as they take
    warned = False
    posted = False  # something was sent, and nobody has read yet what it gave

    def __init__(self, pgconn: PGconn) -> None:
        super().__init__(pgconn)
        self.prepared = Prepared()

    def note(self, notice: psycopg.errors.Diagnostic) -> None:
        self.warned |= notice.severity_nonlocalized == "WARNING"

    def post(self, statement: str) -> None:
        """Send what nobody waits for. Whoever has the connection next reads what it gave."""
        self.pgconn.send_query(statement.encode())
        self.pgconn.flush()
        self.posted = True

    def finish(self) -> list[PGresult]:
        """Read the results of the statements sent so far. Raises the server's error if one failed."""
        if not self.posted:
            return []
        results: list[PGresult] = self.wait(fetch_many(self.pgconn))
        self.posted = False
        for result in results:
            if result.status == ExecStatus.FATAL_ERROR:
                raise psycopg.errors.error_from_result(result)
        return results

    def wait(self, gen: Generator[Any, Any, Any], *given: Any, **named: Any) -> Any:
        now = time.monotonic()
        silent = SILENT_SECONDS if self.deadline is None else max(0.0, self.deadline - now) + BEYOND_SECONDS
        try:
            return super().wait(gen if self.patient else _until(gen, now + silent), *given, **named)
        except TimeoutError:
            self.close()
            raise Silent(
                f"{self.shown} has not answered for {silent:.0f} seconds", hint="does the server hang, or its network?"
            ) from None


def _until(gen: Generator[Any, Any, Any], end: float) -> Generator[Any, Any, Any]:
    """Run psycopg's wait until a time. Raises TimeoutError. Its driver looks several times a second."""
    try:
        waiting = next(gen)
        while True:
            ready = yield waiting
            if not ready and time.monotonic() > end:
                raise TimeoutError
            waiting = gen.send(ready)
    except StopIteration as last:
        return last.value


# Idle connections by URL, with the pools that share them. A transaction names its tenant, so hundreds need few.
_SHARED: dict[str, tuple[list[tuple[float, Connection]], weakref.WeakSet[Pool]]] = {}
_SHARING = threading.Lock()


class Pool:
    """The connections of a tenant; idle ones are shared with other tenants of its server. Thread-safe."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._closed = False
        self._key = place.conninfo
        # Connections are made when there is none, so that the caller sees what is wrong.
        with _SHARING:
            self._idle, users = _SHARED.setdefault(self._key, ([], weakref.WeakSet()))
            users.add(self)
        self._places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._had_one = False

    def close(self) -> None:
        self._closed = True
        with _SHARING:
            if self._key not in _SHARED:
                return
            users = _SHARED[self._key][1]
            users.discard(self)
            if users:
                return
            del _SHARED[self._key]
        while self._idle:
            con = self._idle.pop()[1]
            con.deadline = time.monotonic()
            with contextlib.suppress(psycopg.Error, Silent):
                con.finish()  # what was sent is done, and not only on its way
            con.close()

    @contextlib.contextmanager
    def lent(self, deadline: float | None = None) -> Iterator[Connection]:
        """Lend a connection outside of a transaction. `deadline`, on the monotonic clock: the borrower's."""
        refuse_child()
        left = SILENT_SECONDS if deadline is None else max(0.0, deadline - time.monotonic()) + BEYOND_SECONDS
        if not self._places.acquire(timeout=left):
            raise StoreBusy(f"all {MOST_CONNECTIONS} connections to {self._place.shown} are in use", hint="try again")
        try:
            if self._closed:
                raise StoreError(f"{self._place.shown} was closed", hint="open it again")
            con = self._idle_connection(deadline) or self.made(deadline)
            con.deadline, con.shown, self._had_one = deadline, self._place.shown, True
            try:
                yield con
            finally:
                if (con.posted or con.info.transaction_status == TransactionStatus.IDLE) and not self._closed:
                    con.deadline, con.patient = None, False
                    self._idle.append((time.monotonic(), con))
                else:
                    con.close()
        finally:
            self._places.release()

    def _idle_connection(self, deadline: float | None) -> Connection | None:
        while self._idle:
            since, con = self._idle.pop()
            trusted = time.monotonic() - since <= TRUSTED_SECONDS
            con.deadline = deadline if trusted else time.monotonic()
            try:
                con.finish()
            except Silent:
                if trusted:  # it has been waited for as long as for any answer
                    raise
            except psycopg.Error:
                con.close()
            with contextlib.suppress(psycopg.Error, Silent):
                for _ in range(2):  # whether the server has ended it, without asking: its last words, then the end
                    con.pgconn.consume_input()
                if not trusted:
                    con.execute("SELECT 1")
                if not con.closed and con.info.transaction_status == TransactionStatus.IDLE:
                    return con
            con.close()
        return None

    def made(self, deadline: float | None = None) -> Connection:
        """Make a connection. Raises StoreError."""
        wait = self._place.wait if self._place.wait is not None else RETURN_SECONDS if self._had_one else 0.0
        end, pause = time.monotonic() + wait, FIRST_PAUSE
        options = {name: value for name, value in USUAL.items() if name not in self._place.given}
        if deadline is not None:
            end = min(end, deadline)
        while True:
            try:
                con = Connection.connect(self._place.conninfo, **options)
            except psycopg.OperationalError as error:
                if time.monotonic() + pause > end:
                    raise unreachable(error, self._place.shown, wait) from None
                time.sleep(pause * random.uniform(0.5, 1.0))  # not all at the same time
                pause = min(2 * pause, LONGEST_PAUSE)
                continue
            configure(con)
            con.add_notice_handler(con.note)
            con.shown = self._place.shown
            self._had_one = True
            return con
