"""What a purge does beyond the rows: what it looks for, copies that were written, and the search of files."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import apsw

from ...model.ids import session_mark
from ..records import Scan
from . import jobs
from .database import Repository

# What is looked for is cut into pieces: SQLite continues a long text on another page, JSON writes some characters
# otherwise.
PIECE_BYTES, LEAST_BYTES, PIECES = 24, 6, 24
AGE = b"age-encryption.org/"  # how a file begins that only its recipients can search
_CUTS = re.compile(r'[\x00-\x1f"\\/]+')
BLOCK_BYTES = 1 << 22


class Erasure(Repository, ABC):
    """What a purge does beyond the rows."""

    # What a purge cannot reach of this engine, in words; "" where it reaches all.
    beyond = ""

    def is_locked(self, file: Path) -> bool:
        """Whether only its recipients can search a file. Raises OSError."""
        with file.open("rb") as opened:
            return opened.read(len(AGE)) == AGE

    @abstractmethod
    def scour(self, pieces: Sequence[bytes]) -> bool:
        """Write the file anew if it has any piece that no row has. Whether it did."""

    @abstractmethod
    def own_files(self) -> list[Path]:
        """The store's file and those beside it, there or not."""

    @abstractmethod
    def replaced_stores(self) -> list[Path]:
        """The stores that were kept when a backup was put in their place."""

    def flush(self, seconds: float) -> bool:
        """Empty the log of what was erased, waiting so long for readers of the old state. False: one is still at it,
        and a job of the queue waits to do it."""
        if self._database.read_only:
            return True
        done = self._database.flush_erased(seconds=seconds)
        if done:
            jobs.flushed(self._database)
        return done

    def flush_waits(self) -> bool:
        return bool(self._database.rows("SELECT 1 FROM job WHERE kind = ?", (jobs.FLUSH,)))

    def replaced_by(self, ids: Sequence[bytes]) -> list[bytes]:
        """Memories that some others have replaced, or speak for, and that are not purged."""
        found = self._database.rows(
            "SELECT m.id FROM carray(?) c CROSS JOIN memory m INDEXED BY memory_replaced ON m.superseded_by = c.value"
            " WHERE m.retired_at IS NULL AND m.state <> 'purged' ORDER BY m.created_at, m.id",
            (self._database.ids(ids),),
        )
        return [row[0] for row in found]

    def sessions_only_of(self, ids: Sequence[bytes]) -> list[bytes]:
        """Marks of the sessions in which some memories were and no others, and which have events of their own."""
        marks = []
        with self._database.reading() as con:
            for num, name, scope in con.execute(
                "SELECT DISTINCT e.num, e.name, s.name FROM carray(?1) c CROSS JOIN memory m ON m.id = c.value AND"
                " m.num IN (SELECT num FROM memory WHERE id = c.value AND retired_at IS NULL UNION ALL"
                " SELECT num FROM memory WHERE id = c.value AND retired_at IS NOT NULL)"
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
        """Pieces of all texts of some memories, and of what else rows have of them (vectors, topics, the names of their
        sessions, ...): to be taken before they are purged."""
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
                    " AND m.num IN (SELECT num FROM memory WHERE id = ?1 AND retired_at IS NULL"
                    " UNION ALL SELECT num FROM memory WHERE id = ?1 AND retired_at IS NOT NULL)", (id,)
                )]  # fmt: skip
                # SQLite writes over a row that goes, and not over copies of it that remain on a page from which rows
                # were moved to another one.
                for row in con.execute(
                    "SELECT m.topics, m.key, m.metadata, m.source, m.speaker, m.reason, s.name, s.title FROM memory m"
                    " LEFT JOIN session s ON s.num = m.session WHERE m.num IN"
                    " (SELECT num FROM memory WHERE id = ?1 AND retired_at IS NULL"
                    " UNION ALL SELECT num FROM memory WHERE id = ?1 AND retired_at IS NOT NULL)", (id,)
                ):  # fmt: skip
                    names += [one for one in row if one is not None]
        rare = (one for one in vectors if len(set(one)) > 2)
        return cut(texts), list(dict.fromkeys([*rare, *cut(run for name in names for run in _CUTS.split(name))]))

    def found(self, pieces: Sequence[bytes], files: Iterable[Path]) -> Scan:
        """Look for pieces in files."""
        scan = Scan(len(pieces), 0, 0, {}, [])
        for file in files:
            try:
                if self.is_locked(file):
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
        """A copy of what is stored was written: `export`, `backup`, or the folder of `segments`."""
        if self._database.read_only or self._database.path == ":memory:":
            return
        with self._database.writing() as con:
            gone = [row[0] for row in con.execute("SELECT path FROM copy") if not os.path.lexists(row[0])]
            con.executemany("DELETE FROM copy WHERE path = ?", [(one,) for one in gone])
            con.execute(
                "INSERT INTO copy VALUES (?, ?, ?) ON CONFLICT (path)"
                " DO UPDATE SET kind = excluded.kind, at = excluded.at",
                (os.path.realpath(path), kind, at),
            )

    def copies(self) -> list[tuple[str, str]]:
        """(path, kind)"""
        return self._database.rows("SELECT path, kind FROM copy ORDER BY path")


def hits_of(file: Path, pieces: Sequence[bytes]) -> tuple[set[bytes], int]:
    """Those pieces that a file has, and how long it is. Raises OSError, apsw.Error."""
    found: set[bytes] = set()
    size = 0
    for block in _blocks(file):
        found.update(one for one in pieces if one not in found and one in block)
        size += min(BLOCK_BYTES, len(block))
    return found, size


def cut(texts: Iterable[str]) -> list[bytes]:
    """Pieces of texts, evenly taken, by which a copy of them is known. None of a text of fewer than six bytes."""
    found: dict[bytes, None] = {}
    for text in texts:
        runs = [run.strip().encode("utf-8", "surrogatepass") for run in _CUTS.split(text)]
        runs = [run for run in runs if len(run) >= LEAST_BYTES]
        parts = [
            run[at : at + PIECE_BYTES] for run in runs for at in range(0, max(1, len(run) - LEAST_BYTES), PIECE_BYTES)
        ]
        whole = [one for one in parts if len(one) >= min(PIECE_BYTES, max(map(len, parts)))]
        step = max(1, len(whole) // PIECES)
        found.update(dict.fromkeys(whole[::step]))
    return list(found)


def _blocks(file: Path) -> Iterator[bytes]:
    """The bytes of a file in blocks that overlap by a piece.

    Through SQLite: a process that closes a database's file by itself takes away the locks that SQLite holds on it.
    """
    size = file.stat().st_size
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB
    opened = apsw.VFSFile("", os.path.realpath(file), [flags, 0])
    try:
        for at in range(0, size, BLOCK_BYTES):
            yield opened.xRead(min(BLOCK_BYTES + PIECE_BYTES, size - at), at)
    finally:
        opened.xClose()
