"""The care of a store: statistics, checks, rebuild, and the part of a purge beyond the rows."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import apsw

from ...model.ids import session_mark
from ..records import Problem, Scan, StoreStats, is_beyond_rebuild
from . import jobs
from .statements import versions_of
from .store import Repository

# Texts are searched for in pieces: SQLite continues a long text on another page, and JSON writes some characters
# otherwise.
PIECE_BYTES, LEAST_BYTES, PIECES = 24, 6, 24
_CUTS = re.compile(r'[\x00-\x1f"\\/]+')
BLOCK_BYTES = 1 << 22
_VERSIONS = versions_of("?1")
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
     " AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.body = b.num AND v.part = 0)"
     " AND NOT EXISTS (SELECT 1 FROM job j WHERE j.kind = 'embed' AND j.subject = b.num)"),
    ("vectors", "texts to come that the queue would pass over",
     "SELECT max(0, through - (SELECT coalesce(max(num), 0) FROM body)) FROM taken"),
)  # fmt: skip


class Maintenance(Repository, ABC):
    def stats(self) -> StoreStats:
        with self._database.reading() as con:

            def number(sql: str) -> Any:
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
                versions=by_state.total() + number("SELECT count(*) FROM memory WHERE retired_at IS NOT NULL"),
                events=number("SELECT count(*) FROM event"),
                sessions=number("SELECT count(*) FROM session"),
                vectors=number("SELECT count(*) FROM vector"),
                waiting_jobs=jobs.waiting(con),
                waiting_checks=number("SELECT count(*) FROM job WHERE state = 'waiting' AND kind <> 'embed'"),
                dead_jobs=number("SELECT count(*) FROM job WHERE state = 'dead'"),
                by_kind=dict(sorted(by_kind.items())),
                by_scope=dict(sorted(by_scope.items())),
                by_state=dict(sorted(by_state.items())),
                file_bytes=held,
                free_bytes=free,
                oldest_us=oldest,
                newest_us=newest,
            )

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Rebuild every projection from the ledger; return the number of events."""
        from .projection import Projection

        with self._database.writing() as con:
            events = list(self._store.ledger.events())
            Projection(self._database, con, self._store.describe).rebuild(events, progress)
            jobs.refill(con)
            self._database.index.tell_anew(con)
        self._database.loaded(len(events))
        return len(events)

    def verify(self) -> list[Problem]:
        """Check the store."""
        problems = self._problems()
        if not any(map(is_beyond_rebuild, problems)):
            from .verification import verify_projection

            with self._database.snapshot(), self._database.reading() as con:
                problems += verify_projection(self._store, con)
        return problems

    @abstractmethod
    def _problems(self) -> list[Problem]:
        """Return every problem but those of the projection."""

    @abstractmethod
    def backup(self, path: str, progress: Callable[[int, int], None] | None = None) -> None:
        """Copy the store to a new file, which appears only when it is complete. Raises BadInput, StoreError."""

    @abstractmethod
    def compact(self) -> dict[str, Any]:
        """Free unused pages and merge the index. Return sizes in bytes before and after."""

    @abstractmethod
    def encryption(self) -> tuple[bool, str]:
        """Return whether the file is encrypted, and the driver that reads it, with its cipher if it has one."""

    @abstractmethod
    def _bytes(self, con: Any) -> tuple[int, int]:
        """Return the bytes that the store takes, and the free ones among them."""


def check_rows(con: Any, only: Collection[str] | None = None) -> list[Problem]:
    """Return the problems in how the tables fit together. `only`: the checks to make."""
    checks = [check for check in _CHECKS if only is None or check[0] in only]
    counts = ((check, message, con.execute(statement).get) for check, message, statement in checks)
    return [Problem(check=check, message=f"{wrong} {message}") for check, message, wrong in counts if wrong]


class Erasure(Repository, ABC):
    """The parts of a purge beyond the rows."""

    # The part of this engine that a purge cannot reach, in words; "" if it reaches all.
    beyond = ""

    def _is_locked(self, file: Path) -> bool:  # noqa: ARG002
        """Return whether a file is encrypted, so that nothing can be looked for in it. Raises OSError."""
        return False

    @abstractmethod
    def scour(self, pieces: Sequence[bytes]) -> bool:
        """Rewrite the file if it has any piece that no row has. Return whether it did."""

    @abstractmethod
    def own_files(self) -> list[Path]:
        """Return the store's file and those beside it, existing or not."""

    @abstractmethod
    def replaced_stores(self) -> list[Path]:
        """Return the stores that were kept when a backup was put in their place."""

    def flush(self, seconds: float) -> bool:
        """Empty the log of what was erased (`jobs.flush`), where it can be written."""
        return self._database.read_only or jobs.flush(self._database, seconds=seconds)

    def flush_waits(self) -> bool:
        return bool(self._database.rows("SELECT 1 FROM job WHERE kind = ?", (jobs.FLUSH,)))

    def replaced_by(self, ids: Sequence[bytes]) -> list[bytes]:
        """Return memories that some others have replaced, or speak for, and that are not purged."""
        rows = self._database.rows(
            "SELECT m.id FROM carray(?) c CROSS JOIN memory m INDEXED BY memory_replaced ON m.superseded_by = c.value"
            " WHERE m.retired_at IS NULL AND m.state <> 'purged' ORDER BY m.created_at, m.id",
            (self._database.ids(ids),),
        )
        return [row[0] for row in rows]

    def sessions_only_of(self, ids: Sequence[bytes]) -> list[bytes]:
        """Return marks of the sessions that hold some memories and no others, and have events of their own."""
        marks = []
        with self._database.reading() as con:
            for num, name, scope in con.execute(
                "SELECT DISTINCT e.num, e.name, s.name FROM carray(?1) c CROSS JOIN memory m ON m.id = c.value"
                f" AND m.num IN {versions_of('c.value')}"
                " CROSS JOIN session e ON e.num = m.session CROSS JOIN scope s ON s.num = e.scope",
                (self._database.ids(ids),),
            ).fetchall():
                others = (row[0] for row in con.execute("SELECT DISTINCT id FROM memory WHERE session = ?", (num,)))
                mark = session_mark(scope, name)
                events = "SELECT 1 FROM event WHERE memory = ? AND memory <> id AND type LIKE 'session%' LIMIT 1"
                if set(others) <= set(ids) and con.execute(events, (mark,)).get:
                    marks.append(mark)
        return marks

    def pieces(self, ids: Sequence[bytes]) -> tuple[list[bytes], list[bytes]]:
        """Return pieces of all texts of some memories, and of their other values in rows (vectors, topics, the names of
        their sessions, ...). Take them before a purge."""
        texts: list[str] = []
        names: list[str] = []
        vectors: list[bytes] = []
        with self._database.reading() as con:
            for id in ids:
                texts += [row[0] for row in con.execute(
                    "SELECT b.content FROM event v JOIN body b ON b.num = v.body WHERE v.id = ?1 AND v.memory = ?1"
                    " UNION SELECT b.content FROM event v JOIN body b ON b.num = v.body"
                    " WHERE v.memory = ?1 AND v.memory <> v.id", (id,)
                )]  # fmt: skip
                vectors += [row[0][16 : 16 + PIECE_BYTES] for row in con.execute(
                    "SELECT x.exact FROM memory m JOIN vector x ON x.body = m.body WHERE m.id = ?1"
                    f" AND m.num IN {_VERSIONS}", (id,)
                )]  # fmt: skip
                # SQLite overwrites a deleted row, but not copies of it that remain on a page after rows were moved to
                # another one.
                for row in con.execute(
                    "SELECT m.topics, m.key, m.metadata, m.source, m.speaker, m.reason, s.name, s.title FROM memory m"
                    f" LEFT JOIN session s ON s.num = m.session WHERE m.num IN {_VERSIONS}", (id,)
                ):  # fmt: skip
                    names += [value for value in row if value is not None]
        rare = (vector for vector in vectors if len(set(vector)) > 2)
        return cut(texts), list(dict.fromkeys([*rare, *cut(run for name in names for run in _CUTS.split(name))]))

    def scan_files(self, pieces: Sequence[bytes], files: Iterable[Path]) -> Scan:
        """Look for pieces in files."""
        scan = Scan(len(pieces), 0, 0, {}, [])
        for file in files:
            try:
                if self._is_locked(file):
                    scan.unread.append(str(file))
                    continue
                hits, size = hits_of(file, pieces)
            except FileNotFoundError:
                continue
            except (apsw.Error, OSError):
                scan.unread.append(str(file))
                continue
            scan = scan._replace(files=scan.files + 1, bytes=scan.bytes + size)
            if hits:
                scan.found[str(file)] = len(hits)
        return scan

    def note_copy(self, path: str, kind: str, at: int) -> None:
        """Note that a copy was written: `export`, `backup`, or the folder of `segments`."""
        if self._database.read_only or self._database.path == ":memory:":
            return
        with self._database.writing() as con:
            gone = [row[0] for row in con.execute("SELECT path FROM copy") if not os.path.lexists(row[0])]
            con.executemany("DELETE FROM copy WHERE path = ?", [(copy,) for copy in gone])
            con.execute(
                "INSERT INTO copy VALUES (?, ?, ?) ON CONFLICT (path)"
                " DO UPDATE SET kind = excluded.kind, at = excluded.at",
                (os.path.realpath(path), kind, at),
            )

    def copies(self) -> list[tuple[str, str]]:
        """Return (path, kind) of each copy."""
        return self._database.rows("SELECT path, kind FROM copy ORDER BY path")


def hits_of(file: Path, pieces: Sequence[bytes]) -> tuple[set[bytes], int]:
    """Return the pieces that a file has, and its length. It is read in blocks that overlap. Raises OSError, apsw.Error.

    It reads through SQLite: if a process closes a database's file itself, SQLite's locks on it are lost.
    """
    hits: set[bytes] = set()
    size = file.stat().st_size
    opened = apsw.VFSFile("", os.path.realpath(file), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        for at in range(0, size, BLOCK_BYTES):
            block = opened.xRead(min(BLOCK_BYTES + PIECE_BYTES, size - at), at)
            hits.update(piece for piece in pieces if piece not in hits and piece in block)
    finally:
        opened.xClose()
    return hits, size


def cut(texts: Iterable[str]) -> list[bytes]:
    """Return evenly taken pieces of texts, which identify a copy of them; none of a text of fewer than six bytes."""
    pieces: dict[bytes, None] = {}
    for text in texts:
        runs = [run.strip().encode("utf-8", "surrogatepass") for run in _CUTS.split(text)]
        runs = [run for run in runs if len(run) >= LEAST_BYTES]
        parts = [
            run[at : at + PIECE_BYTES] for run in runs for at in range(0, max(1, len(run) - LEAST_BYTES), PIECE_BYTES)
        ]
        whole = [part for part in parts if len(part) >= min(PIECE_BYTES, max(map(len, parts)))]
        step = max(1, len(whole) // PIECES)
        pieces.update(dict.fromkeys(whole[::step]))
    return list(pieces)
