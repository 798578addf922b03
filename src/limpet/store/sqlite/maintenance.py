"""The care of the file: checks, backup, compaction, and the traces of a purge."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw

from ...model.errors import BadInput, StoreDamaged
from ..files import REPLACED, check_place, partial_file, publish, unguessable, writing
from ..records import BEYOND_REBUILD, Problem, is_beyond_rebuild
from ..sql.maintenance import Erasure, Maintenance, check_rows, hits_of
from ..sql.verification import verify_chain
from .connection import connect, is_encrypted, open_connection
from .database import Database

# How far a code is from its vector, by rounding to int8 and float16; and the vector's squared length from 1.
MOST_APART, MOST_LONG = 0.6, 2e-3


class SqliteMaintenance(Maintenance):
    _database: Database

    def _problems(self) -> list[Problem]:
        with self._database.reading() as con:
            # FTS5 checks with the structure it has in memory, which only a search brings up to date.
            con.execute("SELECT count(*) FROM body_fts WHERE body_fts MATCH 'limpet'").fetchall()
            problems = _verify_pages(con) + check_rows(con)
            for num, dimensions in con.execute("SELECT num, dimensions FROM embedder").fetchall():
                problems += _verify_chunks(con, num, dimensions)
            problems += _verify_ledger(con)
        if not self._database.read_only:
            with self._database.writing() as con:
                try:  # the full-text index against the texts: FTS5 checks by a special insert
                    con.execute("INSERT INTO body_fts (body_fts, rank) VALUES ('integrity-check', 1)")
                except apsw.CorruptError:
                    what = "the full-text index does not fit the texts; `limpet rebuild` mends it"
                    problems.append(Problem(check="index", message=what))
        return problems

    def encryption(self) -> tuple[bool, str]:
        path = self._database.path
        cipher = getattr(apsw, "mc_version", None)
        driver = f"apsw {apsw.apswversion()}" + (f" with {cipher}" if cipher else ", which encrypts nothing")
        return path != ":memory:" and is_encrypted(path), driver

    def backup(self, path: str, progress: Callable[[int, int], None] | None = None) -> None:
        """Back up through the online backup API. Raises StoreDamaged for a copy that a restore would refuse."""
        target = Path(path)
        check_place(target, store=self._database.path)
        if os.path.lexists(target):
            raise BadInput(f"{path} is there already", hint="give a new file name")
        with writing(path), partial_file(unguessable(target.parent)) as file:
            with self._database.reading() as con:
                copy_into(con, file.name, like=self._database.path, progress=progress)
            wrong = first_problem(file.name)
            if wrong:
                raise StoreDamaged(
                    f"{self._database.path} is damaged, no backup was made: {wrong}",
                    hint="`limpet doctor` says what to do; the backups that were made before are all there",
                )
            publish(file, target)

    def compact(self) -> dict[str, Any]:
        with self._database.maintaining() as con:
            before = self.stats().file_bytes
            con.execute("INSERT INTO body_fts (body_fts) VALUES ('optimize')")
            con.execute("VACUUM")
            con.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return {"before_bytes": before, "after_bytes": self.stats().file_bytes}

    def _bytes(self, con: apsw.Connection) -> tuple[int, int]:
        path = self._database.path
        pages, free, size = (con.execute(f"PRAGMA {key}").get for key in ("page_count", "freelist_count", "page_size"))
        files = [Path(path + suffix) for suffix in ("", "-wal")]
        if path == ":memory:":
            return pages * size, free * size
        return sum(file.stat().st_size for file in files if file.exists()), free * size


def copy_pages(
    source: apsw.Connection, target: apsw.Connection, progress: Callable[[int, int], None] | None = None
) -> None:
    with target.backup("main", source, "main") as run:
        while not run.done:
            run.step(1_000)
            if progress:
                progress(run.page_count - run.remaining, run.page_count)


def copy_into(
    source: apsw.Connection, path: str, *, like: str, progress: Callable[[int, int], None] | None = None
) -> None:
    """Copy a store into a file without a log, encrypted if the file `like` is."""
    with contextlib.closing(connect(path, like=like)) as copy:
        copy_pages(source, copy, progress)
        copy.execute("PRAGMA journal_mode=DELETE").fetchall()


def _verify_pages(con: apsw.Connection) -> list[Problem]:
    return [
        Problem(check="pages", message=" ".join(str(row[0]).split()))
        for row in con.execute("PRAGMA integrity_check(20)")
        if row[0] != "ok"
    ]


def _verify_ledger(con: apsw.Connection) -> list[Problem]:
    return verify_chain(con) + [
        Problem(check="ledger", message=f"event {row[0]} holds unreadable data")
        for row in con.execute("SELECT seq FROM event WHERE data IS NOT NULL AND NOT json_valid(data) LIMIT 20")
    ]


def first_problem(path: str) -> str | None:
    """Return the first problem of a copy that replaces a store. Return None if a rebuild repairs everything: what
    follows from the ledger is not checked."""
    try:
        with contextlib.closing(open_connection(path, read_only=True)) as con:
            every = _verify_pages(con) + check_rows(con, BEYOND_REBUILD) + _verify_ledger(con)
            problems = [problem for problem in every if is_beyond_rebuild(problem)]
    except (apsw.NotADBError, apsw.CorruptError) as error:
        return str(error)
    except StoreDamaged as error:
        return str(error.__cause__ or error)  # without the name that the copy has for now
    return problems[0].message if problems else None


def _verify_chunks(con: apsw.Connection, embedder: int, dimensions: int) -> list[Problem]:
    """Check that every code in a chunk is made from the vector row that points to it, and every such row has a code."""
    import numpy as np

    wrong = 0
    rows = con.execute("SELECT chunk, slot, body | (part << 32), exact FROM vector WHERE embedder = ?", (embedder,))
    stored = {(chunk, slot): (body, exact) for chunk, slot, body, exact in rows}
    chunks = con.execute("SELECT num, used, codes, scales, bodies FROM chunk WHERE embedder = ?", (embedder,))
    for num, used, codes, scales, bodies in chunks:
        if len(codes) % dimensions or not len(codes) // dimensions == len(scales) // 4 == len(bodies) // 8 >= used:
            wrong += 1
            continue
        for slot, body in enumerate(np.frombuffer(bodies, "<q", used).tolist()):
            known, exact = stored.pop((num, slot), (0, b""))
            wrong += known != body or (known != 0 and len(exact) != 2 * dimensions)
            if known == body != 0 and len(exact) == 2 * dimensions:
                code = np.frombuffer(codes, np.int8, dimensions, slot * dimensions).astype(np.float32)
                vector = np.frombuffer(exact, "<f2").astype(np.float32)
                with np.errstate(all="ignore"):  # what is broken may be no number
                    apart = np.abs(vector / np.frombuffer(scales, "<f4", 1, slot * 4) - code).max()
                    wrong += not (apart < MOST_APART and abs(vector @ vector - 1.0) < MOST_LONG)
    wrong += len(stored)
    return [Problem(check="vectors", message=f"{wrong} codes do not fit their vectors")] if wrong else []


class SqliteErasure(Erasure):
    def _is_locked(self, file: Path) -> bool:
        return is_encrypted(file)

    def scour(self, pieces: Sequence[bytes]) -> bool:
        left: set[bytes] = set()
        for file in self.own_files():
            with contextlib.suppress(FileNotFoundError, apsw.Error):
                left |= hits_of(file, pieces)[0]
        if not any(not self._held(piece) for piece in left):
            return False
        self._store.maintenance.compact()
        return True

    def own_files(self) -> list[Path]:
        path = Path(self._database.path)
        sides = ("", "-wal", "-journal", ".hooks.log", ".mirrors")
        return [] if str(path) == ":memory:" else [path.with_name(path.name + side) for side in sides]

    def replaced_stores(self) -> list[Path]:
        path = Path(os.path.realpath(self._database.path))
        return sorted(file for file in path.parent.glob("*") if file.name.startswith(path.name + REPLACED))

    def _held(self, piece: bytes) -> bool:
        """Return whether a present row has the piece, because another memory says the same."""
        with self._database.reading() as con:
            tables = con.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
                " AND name NOT LIKE 'body\\_fts\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            ).fetchall()
            for (table,) in tables:
                columns = [row[0] for row in con.execute("SELECT name FROM pragma_table_info(?)", (table,))]
                has = " OR ".join(f'instr(CAST("{column}" AS BLOB), ?1)' for column in columns)
                if con.execute(f'SELECT 1 FROM "{table}" WHERE {has} LIMIT 1', (piece,)).get:
                    return True
        return False
