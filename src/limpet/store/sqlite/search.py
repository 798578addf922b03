"""What search asks of the file: full text, filters, and the columns of a process that asks often."""

from __future__ import annotations

import contextlib
import threading
import time
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import apsw

from ...model.errors import StoreError
from ..heap import give_back
from ..records import Candidate, Filter, LexicalResult
from .database import Database
from .filters import carray, filtered
from .fulltext import Lexical, allowed, interrupted
from .sql import statements

if TYPE_CHECKING:
    from .columns import SqliteColumns

# How long what is read ahead keeps a recall waiting, in seconds.
AHEAD_SECONDS = 0.005


class SqliteSearch:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._full_text: tuple[apsw.Connection, Lexical] | None = None
        self._columns: SqliteColumns | None = None
        self._ahead: threading.Thread | None = None
        self._asked = False

    def close(self) -> None:
        """Let go of what follows the file."""
        self._full_text = self._columns = None

    def _lexical(self, con: apsw.Connection) -> Lexical:
        if self._full_text is None or self._full_text[0] is not con:
            self._full_text = con, Lexical(con)
        return self._full_text[1]

    def lexical(self, text: str, where: Filter, *, limit: int | None, deadline: float | None = None) -> LexicalResult:
        with self._database.reading() as con:
            version = self._database.version(con)
            return self._lexical(con).search(text, where, limit=limit, version=version, deadline=deadline)

    def columns(self, deadline: float | None = None, *, build: bool = True) -> SqliteColumns | None:
        """None for the first recall, which would have to read everything: most processes make only one."""
        if self._columns is None and not build:
            return None
        with self._database.reading() as con:
            if self._columns is None:
                if not self._asked:
                    self._asked = True
                    return None
                from .columns import SqliteColumns

                self._columns = SqliteColumns(con, self._lexical(con), follows=self._database.path != ":memory:")
            columns = self._columns
            current = columns.refresh(self._database.version(con), deadline)
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
                with self._database.snapshot(), self._database.reading() as con:
                    if self._columns is not columns:
                        break
                    columns.read_ahead(self._database.version(con), AHEAD_SECONDS)
                time.sleep(0.001)  # whoever waits for the connection gets it
        give_back()
        self._ahead = None

    def stems(self, texts: Iterable[str]) -> dict[str, frozenset[str]]:
        with self._database.reading() as con:
            lexical = self._lexical(con)
            return {text: lexical.stems(text) for text in texts}

    def substring(self, text: str, where: Filter, *, limit: int, deadline: float | None = None) -> list[int]:
        literal = text.strip()[:200].replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        if not literal:
            return []
        statement, bound = filtered("substring", where)
        bound |= {"pattern": f"%{literal}%", "limit": limit}
        with (
            self._database.reading() as con,
            interrupted(con, deadline),
            contextlib.suppress(apsw.InterruptError),
        ):
            return [row[0] for row in con.execute(statement, bound)]
        return []

    def candidates(self, bodies: Iterable[int], where: Filter) -> list[Candidate]:
        wanted = array("q", bodies)
        if not wanted:
            return []
        statement, bound = filtered("candidates", where)
        with self._database.reading() as con:
            return list(map(Candidate._make, con.execute(statement, bound | {"bodies": apsw.carray(wanted)})))

    def neighbours(self, nums: Iterable[int], where: Filter, *, reach: int) -> list[Candidate]:
        wanted = array("q", nums)
        if not wanted:
            return []
        statement, bound = filtered("neighbours", where)
        bound |= {"nums": apsw.carray(wanted), "reach": reach}
        with self._database.reading() as con:
            return list(map(Candidate._make, con.execute(statement, bound)))

    def allowed(self, where: Filter) -> list[int]:
        with self._database.reading() as con:
            return allowed(con, where, self._lexical(con).stems)

    def texts(self, bodies: Sequence[int]) -> list[tuple[int, str, str | None]]:
        with self._database.reading() as con:
            return con.execute(statements()["texts"], {"bodies": carray(bodies)}).fetchall()

    def texts_of(self, ids: Sequence[bytes]) -> list[int]:
        with self._database.reading() as con:
            found = (con.execute(statements()["body_of_memory"], {"id": id}).get for id in ids)
            return [body for body in found if body is not None]

    def scope_numbers(self, names: Sequence[str]) -> list[int]:
        marks = ", ".join("?" * len(names))
        statement = f"SELECT num FROM scope WHERE name IN ({marks})"
        return self._database.cached(
            ("scopes", *names), lambda con: [row[0] for row in con.execute(statement, tuple(names))]
        )
