"""What hooks write with: one connection, which a process pays for at each tool call."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import apsw

from .connection import open_connection, translated

# How long a line waits for other writers.
WAIT_MS = 60_000


class Pen:
    """A connection, and no store. What it writes may be lost with the power."""

    def __init__(self, path: str) -> None:
        self._path = path
        # A file that is there and has no bytes was a store: what is noted beside the work makes no new one of it.
        self._con = open_connection(path, read_only=False, durable=False, create=not os.path.exists(path))  # noqa: PTH110
        with translated(path):
            self.read_only = bool(self._con.readonly("main"))

    @contextlib.contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        with translated(self._path):
            yield self._con

    @contextlib.contextmanager
    def writing(self, *, wait_ms: int = WAIT_MS) -> Iterator[apsw.Connection]:
        """A write transaction. Raises StoreBusy when others write for longer than that."""
        with translated(self._path):
            self._con.set_busy_timeout(wait_ms)
            self._con.execute("BEGIN IMMEDIATE")
            try:
                yield self._con
                self._con.execute("COMMIT")
            except BaseException:
                if self._con.in_transaction:
                    self._con.execute("ROLLBACK")
                raise

    def close(self) -> None:
        self._con.close()
