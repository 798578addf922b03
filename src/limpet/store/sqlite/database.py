"""One SQLite file as repositories use it: a connection that writes, one that reads, each behind its lock.

Reads inside a thread's own write transaction are from that transaction. Beside the rows are FTS5, which triggers fill,
and chunks of codes, written in place.
"""

from __future__ import annotations

import contextlib
import os
import struct
import threading
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence

import apsw

from ...folders import remove_abandoned
from ...model.errors import StoreError, StoreReadOnly
from ...model.forks import forget_use, is_child, refuse_child
from ..sql import store
from .connection import busy_handler, how_to_write, open_connection, transaction, translated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Texts of one statement: from a hundred on the price of a row is that of its own words.
TEXTS_TOGETHER = 100
_INSERT = "INSERT INTO body (num, content, topics, labels, dates, scope, grams) VALUES (?, ?, ?, ?, ?, ?, ?)"
_VALUES = ", (?, ?, ?, ?, ?, ?, ?)"
# Column of a chunk -> its bytes a code; None: as many as the embedder has dimensions.
_COLUMNS = (("codes", None), ("scales", 4), ("bodies", 8), ("scopes", 4))


class SqliteIndex:
    """Full text and codes of vectors. Needs an open write transaction; another engine's has the same methods."""

    def insert(self, con: apsw.Connection, texts: Sequence[tuple[Any, ...]]) -> None:
        """Insert texts: number, content, topics, labels, dates, scope token, grams. Many rows a statement: FTS5 writes
        out what it holds at every statement that fires a trigger."""
        for start in range(0, len(texts), TEXTS_TOGETHER):
            part = texts[start : start + TEXTS_TOGETHER]
            con.execute(_INSERT + _VALUES * (len(part) - 1), [value for row in part for value in row])

    def describe(self, con: apsw.Connection, num: int, described: tuple[Any, ...]) -> None:
        """Set a text's search fields: topics, labels, dates, grams, scope token."""
        con.execute(
            "UPDATE body SET topics = ?1, labels = ?2, dates = ?3, grams = ?4, scope = ?5 WHERE num = ?6"
            " AND (topics IS NOT ?1 OR labels IS NOT ?2 OR dates IS NOT ?3 OR grams IS NOT ?4 OR scope IS NOT ?5)",
            (*described, num),
        )

    def delete(self, con: apsw.Connection, num: int) -> None:
        """Delete a text and its vectors."""
        self.unembed(con, num)
        con.execute("DELETE FROM body WHERE num = ?", (num,))

    def unembed(self, con: apsw.Connection, num: int) -> None:
        """Delete a text's vectors."""
        for embedder, chunk, slot, dimensions in _vectors_of(con, num):
            for column, size in _COLUMNS:
                wide = size or dimensions
                _overwrite(con, chunk, column, slot * wide, bytes(wide))
            con.execute("DELETE FROM vector WHERE embedder = ? AND body = ?", (embedder, num))

    def move(self, con: apsw.Connection, num: int, scope: int) -> None:
        """Move a text's vectors to another scope."""
        for _, chunk, slot, _ in _vectors_of(con, num):
            _overwrite(con, chunk, "scopes", slot * 4, struct.pack("<i", scope))

    def rebuild(self, con: apsw.Connection) -> None:
        """Index the words of all texts anew."""
        con.execute("INSERT INTO body_fts (body_fts) VALUES ('rebuild')")

    # After a purge: FTS5's secure-delete leaves leaves of the index behind, which no search finds, with words of what
    # was deleted; its `optimize` passes over an index of one segment.
    purged = rebuild

    def tell_anew(self, con: apsw.Connection) -> None:
        """Tell other processes, by the schema's version, that rows were made anew without an event."""
        con.execute("CREATE TABLE rebuilt (at); DROP TABLE rebuilt")


def _vectors_of(con: apsw.Connection, body: int) -> list[tuple[int, int, int, int]]:
    """Return (embedder, chunk, slot, dimensions) of a text's vectors."""
    return con.execute(
        "SELECT v.embedder, v.chunk, v.slot, e.dimensions FROM vector v JOIN embedder e ON e.num = v.embedder"
        " WHERE v.body = ?",
        (body,),
    ).fetchall()


def _overwrite(con: apsw.Connection, chunk: int, column: str, start: int, data: bytes) -> None:
    with con.blob_open("main", "chunk", column, chunk, True) as blob:
        blob.seek(start)
        blob.write(data)
    con.execute("UPDATE chunk SET version = version + 1 WHERE num = ?", (chunk,))


class Database(store.Database):
    """The connections of a store. Thread-safe; several processes may use the file at once."""

    index = SqliteIndex()

    def __init__(
        self, path: str, *, read_only: bool = False, durable: bool = True, create: bool = True, late: bool = False,
        single: bool = False,
    ) -> None:  # fmt: skip
        """Open the file. `late`: the first write makes a missing one; until then an empty store is in memory.
        `single`: one connection reads and writes, for a process that soon ends."""
        self.path = path
        self.begun = not late or os.path.lexists(path)
        self.read_only = read_only
        self._durable = durable
        self._write_lock = threading.RLock()
        self._read_lock = threading.RLock()
        self._writer: apsw.Connection | None = None
        self._reader: apsw.Connection | None = None
        self._writes_in: int | None = None  # the thread that is inside a write transaction
        self._closed = False
        self._snapshot: int | None = None  # the version of the file in this snapshot
        self._file: tuple[int, int] | None = None  # which file the path led to
        # The connection that is needed in any case checks the file: a broken store fails here.
        if read_only:
            self._open_reader()
            return
        writer = self._open_writer(create=create)
        with translated(path):
            self.read_only = bool(writer.readonly("main"))
        self._file = _file_at(path)
        if single or path == ":memory:" or self.read_only or not self.begun:
            # One connection for both, so one lock.
            self._reader = writer if single else None
            self._read_lock = self._write_lock

    def close(self) -> None:
        if is_child():
            return
        with self._write_lock, self._read_lock:
            self._closed = True
            if self._writer is not None and self._writer.total_changes():
                with contextlib.suppress(apsw.Error):
                    self._writer.execute("PRAGMA optimize").fetchall()
            for connection in filter(None, {self._reader, self._writer}):
                connection.close()
                forget_use(connection)
            self._writer = self._reader = None

    @contextlib.contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        refuse_child()
        if self._writes_in == threading.get_ident():
            assert self._writer is not None
            yield self._writer
            return
        with self._read_lock, translated(self.path):
            yield self._reader or self._open_reader()

    @contextlib.contextmanager
    def writing(self, *, wait_ms: int = store.BUSY_TIMEOUT_MS) -> Iterator[apsw.Connection]:
        if self._writes_in == threading.get_ident():
            assert self._writer is not None
            yield self._writer
            return
        with self.maintaining() as con:
            con.set_busy_handler(busy_handler(wait_ms))
            with transaction(con):
                self._writes_in = threading.get_ident()
                try:
                    yield con
                finally:
                    self._writes_in = None

    @contextlib.contextmanager
    def maintaining(self) -> Iterator[apsw.Connection]:
        """Lend the connection that writes, outside any transaction: for statements that cannot be in one."""
        if self.read_only:
            raise StoreReadOnly(f"{self.path} is open read-only", hint=how_to_write(self.path))
        refuse_child()
        with self._write_lock, translated(self.path):
            if not self.begun and not self._closed:  # the file of a store that begins late, in place of what was empty
                empty, self._writer, self.begun = self._writer, None, True
                try:
                    self._open_writer(create=True)
                except BaseException:
                    self._writer, self.begun = empty, False
                    raise
                self._reader, self._file = None, _file_at(self.path)
            self._check_in_place()
            yield self._writer or self._open_writer()

    @contextlib.contextmanager
    def snapshot(self, deadline: float | None = None) -> Iterator[None]:  # noqa: ARG002
        """Give all reads inside one state of the file. A file never falls silent: the deadline is not needed."""
        with self.reading() as con:
            if con.in_transaction:
                yield
                return
            con.execute("BEGIN")
            try:
                # This question fixes the state of the file for all reads until the end.
                self._snapshot = self.version(con)
                yield
            finally:
                self._snapshot = None
                if con.in_transaction:
                    con.execute("COMMIT")

    def version(self, con: apsw.Connection) -> int:
        """Return a value that changes with every commit, by others (read from the file) or by this connection."""
        if self._snapshot is not None and con is not self._writer:
            return self._snapshot
        return int(con.execute("PRAGMA data_version").get) + int(con.total_changes())

    def flush_erased(self, *, seconds: float) -> bool:
        """Fold the write-ahead log into the file and empty it, trying until then; others write meanwhile. Return False
        if a reader of the old state remains."""
        until = time.monotonic() + seconds
        while True:
            with self.maintaining() as con:
                # SQLite's own waiting would keep every writer out.
                con.set_busy_handler(None)
                try:
                    busy, *_ = con.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0]
                except apsw.BusyError:
                    busy = 1
                finally:
                    con.set_busy_handler(busy_handler())
            if not busy or time.monotonic() >= until:
                return not busy
            time.sleep(0.02)

    @staticmethod
    def ids(ids: Iterable[bytes]) -> Any:
        return apsw.carray(tuple(ids))

    @staticmethod
    def numbers(numbers: Iterable[int]) -> Any:
        """Return numbers as an array; of none, one that no row has: SQLite needs an empty array aligned."""
        return apsw.carray(array("q", numbers) or array("q", [-1]))

    def _open_writer(self, *, create: bool = False) -> apsw.Connection:
        if self._writer is None:
            self._check_open()
            path = self.path if self.begun else ":memory:"
            self._writer = open_connection(path, read_only=False, durable=self._durable, create=create, mapped=False)
            if path != ":memory:":
                remove_abandoned(os.path.dirname(os.path.realpath(path)))  # noqa: PTH120
        return self._writer

    def _open_reader(self) -> apsw.Connection:
        if self._reader is None:
            self._check_open()
            if self.path == ":memory:" or not self.begun or (self.read_only and self._writer is not None):
                self._reader = self._open_writer()
            else:
                self._check_in_place()
                self._reader = open_connection(self.path, read_only=self.read_only, durable=self._durable)
        return self._reader

    def _check_in_place(self) -> None:
        """Check that the file still has its name, else writes to it would be lost. One `stat`."""
        if self._file is not None and _file_at(self.path) != self._file:
            raise StoreError(
                f"{self.path} was moved, deleted or replaced while it was open; nothing was stored",
                hint="put it back, or end this process and start it again",
            )

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path} was closed", hint="open it again")


def _file_at(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116  without a Path: at every write
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino)


class SqliteStore(store.Store):
    """A store in one file, or in memory for `:memory:`. Thread-safe; several processes may use the file at once."""

    DATABASE, PACKAGE, PREFIX = Database, __package__, "Sqlite"
