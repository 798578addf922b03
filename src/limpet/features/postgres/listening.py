"""Who waits for what others write hears of it at once, by LISTEN and NOTIFY. Nobody relies on it: whoever is not told
looks from time to time, as for a file.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import psycopg

from ...model.errors import StoreError
from .pool import Connection, Pool

# How often is looked whether anyone still waits; the pause after a connection was lost.
LOOK_SECONDS, PAUSE_SECONDS = 1.0, 5.0


def channel_of(tenant: str) -> str:
    from hashlib import sha256

    return f"limpet_{sha256(tenant.encode()).hexdigest()[:32]}"


class Listener:
    """One thread and one connection for all in this process who wait. Thread-safe."""

    def __init__(self, pool: Pool, tenant: str) -> None:
        self._pool, self._tenant = pool, tenant
        self._closed = threading.Event()
        self._calls: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._runs = False

    def add(self, call: Callable[[], None]) -> Callable[[], None]:
        """Returns what ends it."""
        with self._lock:
            self._calls.append(call)
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, name="limpet-listen", daemon=True).start()
        return lambda: self._remove(call)

    def close(self) -> None:
        self._closed.set()

    def _remove(self, call: Callable[[], None]) -> None:
        with self._lock, contextlib.suppress(ValueError):
            self._calls.remove(call)

    def _over(self) -> bool:
        with self._lock:
            self._runs = bool(self._calls) and not self._closed.is_set()
            return not self._runs

    def _run(self) -> None:
        while not self._over():
            with contextlib.suppress(StoreError, psycopg.Error), contextlib.closing(self._pool.made()) as con:
                if not _can_listen(con):
                    return
                con.execute(f"LISTEN {channel_of(self._tenant)}")
                self._tell()  # of what came before anyone listened
                while not self._over():
                    if list(con.notifies(timeout=LOOK_SECONDS, stop_after=1)):
                        self._tell()
            self._closed.wait(PAUSE_SECONDS)

    def _tell(self) -> None:
        with self._lock:
            calls = list(self._calls)
        for call in calls:
            call()


def _can_listen(con: Connection) -> bool:
    """A pooler lends each transaction another connection, and names none of them; a standby tells nothing."""
    pid, standby = con.execute("SELECT pg_backend_pid(), pg_is_in_recovery()").fetchall()[0]
    return bool(pid == con.info.backend_pid and not standby)
