"""The care of the file: checks, backup, compaction."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from ...model.errors import BadInput, StoreDamaged
from ..records import BEYOND_REBUILD, Problem, is_beyond_rebuild
from ..sql.maintenance import SIGNATURE, Maintenance, check_rows
from .connection import connect, is_encrypted, open_connection
from .database import Database


class SqliteMaintenance(Maintenance):
    _database: Database

    def verify(self, *, sign: bool = False) -> list[Problem]:
        key = self._database.signing_key
        self._may_sign(key, wanted=sign)
        with self._database.reading() as con:
            problems = verify_file(con, key)
        if not self._database.read_only:
            with self._database.writing() as con:
                problems += _verify_index(con)
                if sign and key is not None and all(one.check == SIGNATURE for one in problems):
                    from ..sql.chain_check import sign_chain

                    problems = sign_chain(con, key)
        return problems

    def encryption(self) -> tuple[bool, str]:
        path = self._database.path
        cipher = getattr(apsw, "mc_version", None)
        driver = f"apsw {apsw.apswversion()}" + (f" with {cipher}" if cipher else ", which encrypts nothing")
        return path != ":memory:" and is_encrypted(path), driver

    def backup(self, path: str, progress: Callable[[int, int], None] | None = None) -> None:
        """Page by page, through the online backup API. What a restore would refuse is no backup: StoreDamaged."""
        from ..files import check_place, partial_file, publish, unguessable, writing
        from .restore import copy_pages

        target = Path(path)
        check_place(target, store=self._database.path)
        if os.path.lexists(target):
            raise BadInput(f"{path} is there already", hint="give a new file name")
        with writing(path), partial_file(unguessable(target.parent)) as file:
            with self._database.reading() as con:
                copy = connect(file.name, like=self._database.path)
                try:
                    copy_pages(con, copy, progress)
                    copy.execute("PRAGMA journal_mode=DELETE").fetchall()
                finally:
                    copy.close()
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
        pages, free, size = (con.execute(f"PRAGMA {one}").get for one in ("page_count", "freelist_count", "page_size"))
        files = [Path(path + suffix) for suffix in ("", "-wal")]
        if path == ":memory:":
            return pages * size, free * size
        return sum(file.stat().st_size for file in files if file.exists()), free * size


def verify_file(con: apsw.Connection, key: bytes | None = None) -> list[Problem]:
    """Everything that can be checked without changing anything: pages, index, and how the tables fit together.

    `key`: of the signature of the chain, if it is to be looked at.
    """
    # FTS5 checks with the structure it has in memory, which only a search brings up to date.
    con.execute("SELECT count(*) FROM body_fts WHERE body_fts MATCH 'limpet'").fetchall()
    problems = _verify_pages(con) + check_rows(con)
    for num, dimensions in con.execute("SELECT num, dimensions FROM embedder").fetchall():
        problems += _verify_chunks(con, num, dimensions)
    return problems + _verify_ledger(con, key)


def _verify_pages(con: apsw.Connection) -> list[Problem]:
    return [
        Problem(check="pages", message=" ".join(str(row[0]).split()))
        for row in con.execute("PRAGMA integrity_check(20)")
        if row[0] != "ok"
    ]


def _verify_ledger(con: apsw.Connection, key: bytes | None = None) -> list[Problem]:
    from ..sql.chain_check import verify_chain

    return verify_chain(con, key) + [
        Problem(check="ledger", message=f"event {row[0]} holds unreadable data")
        for row in con.execute("SELECT seq FROM event WHERE data IS NOT NULL AND NOT json_valid(data) LIMIT 20")
    ]


def first_problem(path: str) -> str | None:
    """What is wrong with a copy that stands for a store or is to become one; None if it is sound, or a rebuild makes
    it so: what follows from the ledger is not looked at."""
    try:
        con = open_connection(path, read_only=True, durable=True, create=False)
        try:
            found = _verify_pages(con) + check_rows(con, BEYOND_REBUILD) + _verify_ledger(con)
            problems = [one for one in found if is_beyond_rebuild(one)]
        finally:
            con.close()
    except (apsw.NotADBError, apsw.CorruptError) as error:
        return str(error)
    except StoreDamaged as error:
        return str(error.__cause__ or error)  # without the name that the copy has for now
    return problems[0].message if problems else None


def _verify_index(con: apsw.Connection) -> list[Problem]:
    """The full-text index against the texts. Needs a write transaction: FTS5 checks by a special insert."""
    try:
        con.execute("INSERT INTO body_fts (body_fts, rank) VALUES ('integrity-check', 1)")
    except apsw.CorruptError:
        return [Problem(check="index", message="the full-text index does not fit the texts; `limpet rebuild` mends it")]
    return []


def _verify_chunks(con: apsw.Connection, embedder: int, dimensions: int) -> list[Problem]:
    """Every code in a chunk belongs to the vector row that points to it, and every vector row to a code."""
    wrong = 0
    stored = {
        (row[0], row[1]): row[2]
        for row in con.execute("SELECT chunk, slot, body FROM vector WHERE embedder = ?", (embedder,))
    }
    for num, used, codes, bodies in con.execute(
        "SELECT num, used, length(codes), bodies FROM chunk WHERE embedder = ?", (embedder,)
    ):
        if codes % dimensions or used * 8 > len(bodies):
            wrong += 1
            continue
        for slot, body in enumerate(struct.unpack(f"<{used}q", bodies[: used * 8])):
            wrong += stored.pop((num, slot), 0) != body
    wrong += len(stored)
    return [Problem(check="vectors", message=f"{wrong} codes do not fit their vectors")] if wrong else []
