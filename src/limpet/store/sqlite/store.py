"""The SQLite store: one connection that writes, one that reads, each behind its lock.

Every method borrows a connection and hands it to the function that does the work. A write retries when its lock was
lost; a read sees one state of the file.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import apsw

from ...model.edges import Edge
from ...model.errors import StoreError, StoreReadOnly
from ...model.events import Event
from ...model.memory import Memory
from ..heap import give_back
from ..records import (
    Candidate,
    Filter,
    Lately,
    LexicalResult,
    Page,
    Problem,
    Proposal,
    SessionRow,
    StoreStats,
)
from . import briefs, jobs, journal, review, search, upkeep
from .beside import Beside
from .connection import open_connection, translated
from .devices import Devices
from .edges import SqliteGraph
from .ledger import Ledger
from .reading import Reading, version_of
from .reads import SqliteReads
from .sql import statements

if TYPE_CHECKING:
    from ..contract import Decide, Describe
    from .columns import SqliteColumns


# How long what is read ahead keeps a recall waiting, in seconds.
AHEAD_SECONDS = 0.005


class SqliteStore(Beside, Devices):
    """A store in one file, or in memory for `:memory:`. Thread-safe; several processes may use the file at once."""

    def __init__(
        self, path: str, describe: Describe, *, read_only: bool = False, durable: bool = True, create: bool = True
    ) -> None:
        self.path = path
        self.read_only = read_only
        self._describe = describe
        self._durable = durable
        self._write_lock = threading.RLock()
        self._read_lock = threading.RLock()
        self._writer: apsw.Connection | None = None
        self._reader: apsw.Connection | None = None
        self._reads: SqliteReads | None = None
        self._lexical: search.Lexical | None = None
        self._columns: SqliteColumns | None = None
        self._ahead: threading.Thread | None = None
        self._asked = False
        self._closed = False
        self._seen: int | None = None  # the version of the file in this snapshot
        self._kept: tuple[int, dict[Any, Any]] = (-1, {})  # small answers, as of a version
        self.graph = SqliteGraph(self._reading)
        # Opening the connection that is surely needed checks the file: a store that cannot work fails here.
        if read_only:
            self._open_reader()
        else:
            self._writer = open_connection(path, read_only=False, durable=durable, create=create)
            with translated(path):
                self.read_only = bool(self._writer.readonly("main"))
            if path == ":memory:" or self.read_only:
                # One connection for both, so one lock.
                self._read_lock = self._write_lock

    def close(self) -> None:
        with self._write_lock, self._read_lock:
            self._closed = True
            self._lexical = self._columns = None
            if self._reader is not None and self._reader is not self._writer:
                self._reader.close()
            if self._writer is not None:
                with contextlib.suppress(apsw.Error):
                    self._writer.execute("PRAGMA optimize").fetchall()
                self._writer.close()
            self._writer = self._reader = self._reads = None

    def _open_reader(self) -> apsw.Connection:
        if self._reader is None:
            if self.path == ":memory:" or (self.read_only and self._writer is not None):
                assert self._writer is not None
                self._reader = self._writer
            else:
                self._reader = open_connection(self.path, read_only=self.read_only, durable=self._durable)
            self._reads = SqliteReads(self._reader)
            self._lexical = search.Lexical(self._reader)
        return self._reader

    def _reading(self) -> Reading:
        return Reading(self)

    def _version(self, con: apsw.Connection) -> int:
        return self._seen if self._seen is not None and con is not self._writer else version_of(con)

    def _same(self, name: object, ask: Callable[[apsw.Connection], list[Any]]) -> list[Any]:
        """A small answer that is asked for by every recall: read once for each version of the file."""
        with self._reading() as con:
            version = self._version(con)
            if self._kept[0] != version:
                self._kept = (version, {})
            if name not in self._kept[1]:
                self._kept[1][name] = ask(con)
            return list(self._kept[1][name])

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path} was closed", hint="open it again")

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._reading() as con:
            if con.in_transaction:
                yield
                return
            con.execute("BEGIN")
            try:
                # Asking takes the state of the file, which is that of all that is read until the end.
                self._seen = version_of(con)
                yield
            finally:
                self._seen = None
                if con.in_transaction:
                    con.execute("COMMIT")

    @contextlib.contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        """A write transaction: committed at the end, rolled back when anything is raised."""
        if self.read_only:
            raise StoreReadOnly(f"{self.path} is open read-only", hint="check the permissions of the file")
        with self._write_lock, translated(self.path):
            self._check_open()
            con = self._writer
            assert con is not None
            con.execute("BEGIN IMMEDIATE")
            try:
                yield con
                con.execute("COMMIT")
            except BaseException:
                if con.in_transaction:
                    con.execute("ROLLBACK")
                raise

    # -- the write door

    def commit(self, decide: Decide) -> list[Event]:
        with self._writing() as con:
            ledger = Ledger(con, self._describe)
            written = ledger.append(decide(ledger))
            purged = any(event.type == "purged" for event in written)
            if purged:
                journal.clear(con)
        if purged:
            self._flush_erased()
        return written

    def _flush_erased(self) -> None:
        """Erased bytes also leave the write-ahead log: fold it into the file and cut it to nothing."""
        with self._write_lock, translated(self.path):
            assert self._writer is not None
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def append_events(self, events: Iterable[Event], progress: Callable[[int], None] | None = None) -> int:
        with self._writing() as con:
            ledger = Ledger(con, self._describe)
            new = 0
            coming = iter(events)
            while part := list(islice(coming, 500)):
                # A bare look-up first: an event may also be twice in what is imported.
                fresh: dict[bytes, Event] = {}
                for event in part:
                    fresh.setdefault(event.id, event)
                for id in _known_events(con, list(fresh)):
                    del fresh[id]
                new += len(ledger.append(list(fresh.values())))
                if progress:
                    progress(new)
            return new

    def known_events(self, ids: Sequence[bytes]) -> dict[bytes, tuple[str, bytes]]:
        with self._reading() as con:
            return _known_events(con, ids)

    # -- reads

    def _reader_reads(self) -> SqliteReads:
        self._open_reader()
        assert self._reads is not None
        return self._reads

    def resolve(self, prefix: str, scopes: Sequence[str] | None = None) -> bytes:
        with self._reading():
            return self._reader_reads().resolve(prefix, scopes)

    def resolve_event(self, prefix: str) -> bytes:
        with self._reading():
            return self._reader_reads().resolve_event(prefix)

    def get(self, id: bytes, *, known_at: int | None = None) -> Memory | None:
        with self._reading():
            return self._reader_reads().get(id, known_at=known_at)

    def same_statement(self, scope: str, fingerprint: int, at: int) -> Memory | None:
        with self._reading():
            return self._reader_reads().same_statement(scope, fingerprint, at)

    def marked(self, fingerprints: Sequence[int]) -> set[int]:
        with self._reading():
            return self._reader_reads().marked(fingerprints)

    def keyed(self, scope: str, key: str, *, known_at: int | None = None) -> list[Memory]:
        with self._reading():
            return self._reader_reads().keyed(scope, key, known_at=known_at)

    def renamed_key(self, scope: str, key: str) -> str | None:
        with self._reading():
            return self._reader_reads().renamed_key(scope, key)

    def keys(self, scope: str) -> list[str]:
        with self._reading():
            return self._reader_reads().keys(scope)

    def next_position(self, scope: str, session: str) -> int:
        with self._reading():
            return self._reader_reads().next_position(scope, session)

    def events(
        self, *, memory: bytes | None = None, after: int = 0, ids: Sequence[bytes] | None = None
    ) -> Iterator[Event]:
        """Read in pages, so that a slow consumer holds no transaction open."""
        if memory is not None or ids is not None:
            with self._reading():
                found = list(self._reader_reads().events(memory=memory, after=after, ids=ids))
            yield from found
            return
        while True:
            with self._reading() as con:
                last = con.execute(
                    "SELECT max(seq) FROM (SELECT seq FROM event WHERE seq > ? ORDER BY seq LIMIT 2000)", (after,)
                ).get
                part = [] if last is None else self._part(after, last)
            if not part:
                return
            yield from part
            after = part[-1].seq

    def _part(self, after: int, last: int) -> list[Event]:
        part = []
        for event in self._reader_reads().events(after=after):
            if event.seq > last:
                break
            part.append(event)
        return part

    def operation(self, event: bytes | None, scopes: Sequence[str] | None = None) -> list[Event]:
        with self._reading():
            return self._reader_reads().operation(event, scopes)

    def edge(self, source: bytes, type: str, target: bytes) -> Edge | None:
        with self._reading():
            return self._reader_reads().edge(source, type, target)

    def reaches(self, type: str, start: bytes, goal: bytes) -> bool:
        with self._reading():
            return self._reader_reads().reaches(type, start, goal)

    def history(self, id: bytes) -> list[Memory]:
        with self._reading():
            return self._reader_reads().history(id)

    def abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        with self._reading():
            return self._reader_reads().abbreviate(ids)

    def proposal(self, id: bytes) -> Proposal | None:
        with self._reading() as con:
            return review.by_id(con, id)

    def session(self, scope: str, name: str) -> SessionRow | None:
        with self._reading():
            return self._reader_reads().session(scope, name)

    def sessions(self, scopes: Sequence[str], *, limit: int) -> list[SessionRow]:
        with self._reading():
            return self._reader_reads().sessions(scopes, limit)

    def session_memories(self, scope: str, name: str) -> list[Memory]:
        with self._reading():
            return self._reader_reads().session_memories(scope, name)

    def scope_numbers(self, names: Sequence[str]) -> list[int]:
        marks = ", ".join("?" * len(names))
        ask = f"SELECT num FROM scope WHERE name IN ({marks})"
        return self._same(("scopes", *names), lambda con: [row[0] for row in con.execute(ask, tuple(names))])

    # -- search signals

    def data_version(self) -> int:
        with self._reading() as con:
            return self._version(con)

    def lexical(self, text: str, where: Filter, *, limit: int | None, deadline: float | None = None) -> LexicalResult:
        with self._reading() as con:
            assert self._lexical is not None
            return self._lexical.search(text, where, limit=limit, version=self._version(con), deadline=deadline)

    def columns(self, deadline: float | None = None, *, build: bool = True) -> SqliteColumns | None:
        """None for the first recall, which would have to read everything: most processes make only one."""
        if self._columns is None and not build:
            return None
        with self._reading() as con:
            if self._columns is None:
                if not self._asked:
                    self._asked = True
                    return None
                from .columns import SqliteColumns

                assert self._lexical is not None
                self._columns = SqliteColumns(con, self._lexical, follows=self.path != ":memory:")
            columns = self._columns
            current = columns.refresh(self._version(con), deadline)
            if not (current and columns.all_read) and self._ahead is None and columns.follows:
                self._ahead = threading.Thread(
                    target=self._read_ahead, args=(columns,), name="limpet-read", daemon=True
                )
                self._ahead.start()
            return columns if current else None

    def _read_ahead(self, columns: SqliteColumns) -> None:
        """Read what recalls would otherwise have to wait for, a few milliseconds at a time, until all is there."""
        with contextlib.suppress(StoreError):  # closed, or damaged: whoever asks is told
            while not columns.all_read:
                with self.snapshot():
                    if self._columns is not columns:
                        break
                    with self._reading() as con:
                        columns.read_ahead(self._version(con), AHEAD_SECONDS)
                time.sleep(0.001)  # whoever waits for the connection gets it
        give_back()
        self._ahead = None

    def stems(self, texts: Iterable[str]) -> dict[str, frozenset[str]]:
        with self._reading():
            assert self._lexical is not None
            return {text: self._lexical.stems(text) for text in texts}

    def substring(self, text: str, where: Filter, *, limit: int, deadline: float | None = None) -> list[int]:
        with self._reading() as con:
            return search.substring(con, text, where, limit, deadline)

    def candidates(self, bodies: Iterable[int], where: Filter) -> list[Candidate]:
        with self._reading() as con:
            return search.candidates(con, bodies, where)

    def neighbours(self, nums: Iterable[int], where: Filter, *, reach: int) -> list[Candidate]:
        with self._reading() as con:
            return search.neighbours(con, nums, where, reach)

    def allowed(self, where: Filter) -> list[int]:
        with self._reading() as con:
            assert self._lexical is not None
            return search.allowed(con, where, self._lexical.stems)

    def recent(self, where: Filter, *, limit: int) -> list[int]:
        with self._reading() as con:
            text, bound = search.filtered("recent", where)
            return [row[0] for row in con.execute(text, bound | {"limit": limit})]

    def memories(self, nums: Sequence[int]) -> list[Memory]:
        with self._reading() as con:
            return upkeep.memories(con, nums)

    # -- listings

    def page(self, where: Filter, *, sort: str, limit: int, cursor: str | None, descending: bool = True) -> Page:
        with self._reading() as con:
            return upkeep.page(con, where, sort=sort, limit=limit, cursor=cursor, descending=descending)

    def count(self, where: Filter) -> int:
        with self._reading() as con:
            text, bound = search.filtered("count", where)
            return int(con.execute(text, bound).get)

    def standing(self, scopes: Sequence[str], *, at: int, limit: int) -> list[tuple[str, int]]:
        with self._reading() as con:
            return briefs.standing(con, scopes, at, limit)

    def lately(self, where: Filter, *, after: int, limit: int) -> list[Lately]:
        with self._reading() as con:
            return briefs.lately(con, where, after, limit)

    def most_used(self, where: Filter, *, limit: int) -> list[int]:
        with self._reading() as con:
            return briefs.most_used(con, where, limit)

    def unseen(self, where: Filter, *, before: int, limit: int) -> list[int]:
        with self._reading() as con:
            return briefs.unseen(con, where, before, limit)

    def count_kinds(self, where: Filter) -> dict[str, int]:
        with self._reading() as con:
            return briefs.count_kinds(con, where)

    def stats(self) -> StoreStats:
        with self._reading() as con:
            return upkeep.stats(con, self.path)

    # -- use

    def disputed(self, scopes: Sequence[str]) -> list[tuple[bytes, int]]:
        with self._reading():
            return self._reader_reads().disputed(scopes)

    def record_use(self, ids: Sequence[bytes], at: int, verdict: str | None = None) -> None:
        flags = {name: int(verdict == name) for name in ("useful", "not_useful", "wrong")}
        used = int(verdict in (None, "useful"))
        with self._writing() as con:
            for id in ids:
                con.execute(statements()["use"], {"id": id, "at": at * used, "used": used, **flags})

    def usage_rows(self) -> Iterator[dict[str, Any]]:
        with self._reading() as con:
            found = upkeep.export_usage(con)
        yield from found

    def ledger_mark(self) -> str:
        with self._reading() as con:
            seq, id, rows, uses, used_at = con.execute(statements()["ledger_mark"]).fetchone()
            return f"{seq}-{(id or b'').hex()}-{rows}-{uses}-{used_at}"

    def next_turn(self, after: int) -> int | None:
        with self._reading() as con:
            return con.execute(statements()["next_turn"], {"after": after}).get

    def restore_usage(self, rows: Iterable[dict[str, Any]]) -> None:
        with self._writing() as con:
            for row in rows:
                con.execute(
                    "INSERT OR REPLACE INTO usage (id, scope, uses, used_at, useful, not_useful, wrong)"
                    " SELECT m.id, m.scope, :uses, :used_at, :useful, :not_useful, :wrong FROM memory m"
                    " WHERE m.id = :id AND m.retired_at IS NULL",
                    row,
                )

    # -- upkeep

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> int:
        with self._writing() as con:
            ledger = Ledger(con, self._describe)
            total = con.execute("SELECT count(*) FROM event").get
            events = list(ledger.events())
            done = ledger.rebuild(_counted(events, total, progress))
            jobs.refill(con)
            # Rows were made anew without an event: other processes see it by the schema's version.
            con.execute("CREATE TABLE rebuilt (at); DROP TABLE rebuilt")
            return done

    def verify(self) -> list[Problem]:
        with self._reading() as con:
            problems = upkeep.verify(con)
        if not self.read_only:
            with self._writing() as con:
                problems += upkeep.verify_index(con)
        return problems

    def backup(self, path: str, progress: Callable[[int, int], None] | None = None) -> None:
        with self._reading() as con:
            upkeep.backup(con, self.path, path, progress)

    def compact(self) -> dict[str, Any]:
        """Give free pages back to the file system and merge the index. Returns sizes in bytes before and after."""
        if self.read_only:
            raise StoreReadOnly(f"{self.path} is open read-only", hint="check the permissions of the file")
        before = self.stats().file_bytes
        with self._write_lock, translated(self.path):
            assert self._writer is not None
            self._writer.execute("INSERT INTO body_fts (body_fts) VALUES ('optimize')")
            self._writer.execute("VACUUM")
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return {"before_bytes": before, "after_bytes": self.stats().file_bytes}


def _counted(events: list[Event], total: int, progress: Callable[[int, int], None] | None) -> Iterator[Event]:
    for done, event in enumerate(events, 1):
        yield event
        if progress and (done % 500 == 0 or done == total):
            progress(done, total)


def _known_events(con: apsw.Connection, ids: Sequence[bytes]) -> dict[bytes, tuple[str, bytes]]:
    if not ids:
        return {}
    found = con.execute(statements()["known_events"], {"ids": apsw.carray(tuple(ids))})
    return {id: (type, memory) for id, type, memory in found}
