"""One tenant of a Postgres database as repositories use it: pooled connections, transactions by thread.

A thread reads from its own write transaction. Writers of a tenant go one by one: each counts up the version in the
tenant's row of `store`, so the ledger has no gaps.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import psycopg
from psycopg.pq import TransactionStatus

from ...model.errors import LimpetError, StoreBusy, StoreError, StoreMissing, StoreOfAnotherVersion, StoreReadOnly
from ...model.forks import is_child, note_use
from ...store.sql import store
from .connection import Ids, Numbers, Session, place_of, translated
from .index import LATER, PostgresIndex
from .pool import Connection, Pool, Silent

SCHEMA = 4  # the number of schema.sql
# How long beyond its deadline a recall waits for recalls of other threads.
TURN_SECONDS = 30.0
# Rows of a bulk load after which statistics are made, and how long that waits for another session. Before the server
# makes its own (autovacuum), it plans for empty tables, and the first recalls of 10,000 memories take minutes.
BULK_ROWS, ANALYZE_WAITS_MS = 1_000, 1_000
_MAKING = 0x6C696D70  # the number of the lock of who makes the schema

# All tables by name, and how many events the planner believes in: -1 before the first statistics.
_STATISTICS = (
    "SELECT string_agg(CAST(CAST(oid AS regclass) AS text), ', ' ORDER BY relname),"
    " max(reltuples) FILTER (WHERE relname = 'event')"
    " FROM pg_class WHERE relnamespace = CAST('limpet_rows' AS regnamespace) AND relkind = 'r'"
)


class Database(store.Database):
    """The connections of a tenant. Thread-safe."""

    index = PostgresIndex()
    begun = True

    def __init__(self, url: str, *, read_only: bool = False, durable: bool = True, create: bool = True) -> None:
        note_use(self)
        self._mine = threading.local()
        self._turn = threading.Lock()
        place = place_of(url)
        self.path = place.shown
        self.tenant = place.tenant
        self.read_only = read_only = read_only or place.replica
        literal = psycopg.sql.Literal(self.tenant).as_string()
        # SET LOCAL, as a function: it ends with its transaction, so that a pooler may lend the connection to others.
        self._as_tenant = (
            f"SELECT set_config('limpet.tenant', {literal}, true), set_config('search_path', 'limpet', true)"
        )
        self._begin_writing = (
            f"BEGIN; {self._as_tenant}; {'' if durable else 'SET LOCAL synchronous_commit = off;'}"
            f" SET LOCAL lock_timeout = {{wait}};"
            f" UPDATE store SET version = {LATER} RETURNING pg_backend_pid()"
        )
        self._pool = Pool(place)
        self._loaded, self._bulk = 0, BULK_ROWS
        with self._connection() as con:
            self._check_schema(con, create=create and not read_only)

    def close(self) -> None:
        if not is_child():
            self._pool.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Session]:
        """Lend a connection to read from for a `with`; outside of transactions each statement is one."""
        session = self._current()
        if session is not None:
            with translated(self.path):
                yield session
            return
        with self._connection() as con:
            yield Session(con, self._as_tenant)

    @contextlib.contextmanager
    def writing(self, *, wait_ms: int = store.BUSY_TIMEOUT_MS) -> Iterator[Session]:
        """Open a write transaction: committed at the end, rolled back on an exception; inside one, a part of it."""
        if self.read_only:
            raise StoreReadOnly(f"{self.path} is open read-only")
        session = getattr(self._mine, "writer", None)
        if session is not None:
            yield session
            return
        with self._connection() as con:
            begun = con.execute(self._begin_writing.replace("{wait}", str(wait_ms)))
            while begun.nextset():  # the last of several statements tells who serves; nothing without a store
                pass
            con.prepared.served_by(con, *(begun.fetchone() or (None,)))
            self._mine.writer = session = Session(con, prepared=con.prepared)
            try:
                yield session
                self._commit(con, session)
            except BaseException:
                if con.info.transaction_status not in (TransactionStatus.IDLE, TransactionStatus.UNKNOWN):
                    con.execute("ROLLBACK")
                raise
            finally:
                self._mine.writer = None

    def _commit(self, con: Connection, session: Session) -> None:
        """Send the statements that wait, and commit. Raises StoreError if the write is not known to be stored."""
        con.warned = False
        hint = "look whether it is there before you write it again"
        try:
            status = session.send("COMMIT")
        except (psycopg.OperationalError, Silent):
            if not con.closed:
                raise
            lost = f"the connection to {self.path} was lost while a write was committed"
            raise StoreError(f"{lost}: whether it is stored is not known", hint=hint) from None
        if status != "COMMIT":
            # A statement had failed, and the caller went on.
            raise StoreError(f"{self.path} rolled a write back; nothing was stored", hint="try again")
        if con.warned:  # it was told to wait for no standby any more
            raise StoreError(f"{self.path} has stored a write that no standby has confirmed", hint=hint)

    @contextlib.contextmanager
    def maintaining(self) -> Iterator[Connection]:
        """Lend a connection outside any transaction, for statements that cannot be in one."""
        with self._connection() as con:
            con.patient = True
            yield con

    @contextlib.contextmanager
    def snapshot(self, deadline: float | None = None) -> Iterator[None]:
        """Give all reads inside one state of the store. Raises StoreError if the server is silent beyond the deadline.

        Snapshots of a process go one by one, as with a file: arrays follow the store from one to the next. The first
        read waits for the transaction to begin, so the caller may do something else before.
        """
        if self._current() is not None:
            yield
            return
        left = -1.0 if deadline is None else max(0.0, deadline - time.monotonic()) + TURN_SECONDS
        if not self._turn.acquire(timeout=left):
            raise StoreBusy(f"other recalls of {self.path} have taken too long", hint="try again")
        try:
            with self._connection(deadline) as con:
                con.post(
                    f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {self._as_tenant};"
                    " SELECT version, pg_backend_pid() FROM store"
                )
                self._mine.beginning, self._mine.reader = con, Session(con, prepared=con.prepared)
                try:
                    yield
                finally:
                    self._mine.beginning = self._mine.reader = self._mine.version = None
                    if not con.closed:
                        con.finish()
                        con.post("COMMIT")
        finally:
            self._turn.release()

    def version(self, con: Session) -> int:
        """Return a value that changes with every commit, by any process."""
        known = getattr(self._mine, "version", None)
        if known is not None and con is getattr(self._mine, "reader", None):
            return int(known)
        return int(con.execute("SELECT version FROM store").get or 0)

    def flush_erased(self, *, seconds: float) -> bool:  # noqa: ARG002
        """Overwrite deleted rows by VACUUM, except those that a transaction still sees or the server's log and backups
        keep."""
        with self.maintaining() as con:
            con.execute(
                "VACUUM limpet_rows.body, limpet_rows.event, limpet_rows.memory, limpet_rows.posting,"
                " limpet_rows.journal, limpet_rows.slot, limpet_rows.session"
            )
        return True

    def loaded(self, rows: int) -> None:
        """Analyse the tables when they have grown by half, unless another session does. A role that does not own them
        may not: the server only warns."""
        self._loaded += rows
        if self._loaded < self._bulk or self._current() is not None:
            return
        grown, self._loaded = self._loaded, 0
        with contextlib.suppress(LimpetError), self._connection() as con:
            tables, known = con.execute(_STATISTICS).fetchall()[0]
            con.patient = True
            # No standby is waited for: they are statistics.
            con.execute(
                f"BEGIN; SET LOCAL synchronous_commit = off; SET LOCAL lock_timeout = {ANALYZE_WAITS_MS};"
                f" ANALYZE {tables}; COMMIT"
            )
            self._bulk = max(BULK_ROWS, (int(known) + grown) // 2)

    @staticmethod
    def ids(ids: Iterable[bytes]) -> Ids:
        return Ids(ids)

    @staticmethod
    def numbers(numbers: Iterable[int]) -> Numbers:
        return Numbers(numbers)

    def _current(self) -> Session | None:
        """Return the transaction that this thread is in."""
        beginning = getattr(self._mine, "beginning", None)
        if beginning is not None:
            # The beginning of a snapshot has given the store's version, 0 without a store, and who serves.
            self._mine.beginning = None
            *_, last = beginning.finish()
            version, pid = (int(last.get_value(0, place) or 0) for place in (0, 1)) if last.ntuples else (0, None)
            self._mine.version = version
            beginning.prepared.served_by(beginning, pid)
        return getattr(self._mine, "writer", None) or getattr(self._mine, "reader", None)

    @contextlib.contextmanager
    def _connection(self, deadline: float | None = None) -> Iterator[Connection]:
        with translated(self.path), self._pool.lent(deadline) as con:
            yield con

    def _check_schema(self, con: Connection, *, create: bool) -> None:
        missing = StoreMissing(f"no store at {self.path}", hint="`limpet remember` makes one there")
        if not self._has_schema(con):
            if not create:
                raise missing
            con.patient = True
            with con.transaction():
                con.execute(f"SELECT pg_advisory_xact_lock({_MAKING})")
                if not self._has_schema(con):  # nobody made it while we waited
                    con.execute(Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))
                    con.execute(f"INSERT INTO limpet_rows.schema_version (version) VALUES ({SCHEMA})")
        con.execute("BEGIN")
        con.execute(self._as_tenant)
        if con.execute("SELECT 1 FROM store").fetchone() is None:
            if not create:
                raise missing
            for table in ("store", "taken", "sealed", "chain_end"):
                con.execute(f"INSERT INTO {table} DEFAULT VALUES ON CONFLICT DO NOTHING")
        con.execute("COMMIT")

    def _has_schema(self, con: Connection) -> bool:
        """Check the schema. Raises StoreOfAnotherVersion."""
        if con.execute("SELECT to_regclass('limpet_rows.schema_version')").fetchone() == (None,):
            return False
        ((version,),) = con.execute("SELECT max(version) FROM limpet_rows.schema_version").fetchall()
        if version != SCHEMA:
            raise StoreOfAnotherVersion(self.path, version, SCHEMA)
        return True


class PostgresStore(store.Store):
    """One tenant of a database, at a URL: `postgresql://...?tenant=name`."""

    DATABASE, PACKAGE, PREFIX = Database, __package__, "Postgres"
