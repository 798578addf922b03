"""What a purge leaves is looked for in the store's own files, byte by byte, and taken out of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import apsw

from ..files import REPLACED
from ..sql.erasure import AGE, Erasure, hits_of
from .connection import head_of, is_encrypted


class SqliteErasure(Erasure):
    def is_locked(self, file: Path) -> bool:
        """A store's file is read through SQLite: closing it by itself would take away SQLite's locks."""
        return is_encrypted(file) or head_of(file).startswith(AGE)

    def scour(self, pieces: Sequence[bytes]) -> bool:
        left: set[bytes] = set()
        for file in self.own_files():
            with contextlib.suppress(FileNotFoundError, apsw.Error):
                left |= hits_of(file, pieces)[0]
        if not any(not self._held(one) for one in left):
            return False
        self._store.maintenance.compact()
        return True

    def own_files(self) -> list[Path]:
        path = Path(self._database.path)
        sides = ("", "-wal", "-journal", ".hooks.log", ".mirrors")
        return [] if str(path) == ":memory:" else [path.with_name(path.name + side) for side in sides]

    def replaced_stores(self) -> list[Path]:
        path = Path(os.path.realpath(self._database.path))
        return sorted(one for one in path.parent.glob("*") if one.name.startswith(path.name + REPLACED))

    def _held(self, piece: bytes) -> bool:
        """Whether a row that is there has it: another memory says the same."""
        with self._database.reading() as con:
            tables = con.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
                " AND name NOT LIKE 'body\\_fts\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            ).fetchall()
            for (table,) in tables:
                columns = [row[0] for row in con.execute("SELECT name FROM pragma_table_info(?)", (table,))]
                has = " OR ".join(f'instr(CAST("{one}" AS BLOB), ?1)' for one in columns)
                if con.execute(f'SELECT 1 FROM "{table}" WHERE {has} LIMIT 1', (piece,)).get:
                    return True
        return False
