"""What search asks of the file: full text, filters, and the columns of a process that asks often."""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import apsw

from ..arrays.following import FollowingArrays
from ..records import Candidate, Filter, LexicalResult
from .database import Database
from .filters import carray, filtered, was_left
from .fulltext import Lexical, allowed, interrupted
from .sql import statements

if TYPE_CHECKING:
    from .feed import SqliteFeed


class SqliteSearch:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._full_text: tuple[apsw.Connection, Lexical] | None = None
        self.arrays = FollowingArrays(self._feed)

    def close(self) -> None:
        """Let go of what follows the file."""
        self._full_text = None
        self.arrays.close()

    def _lexical(self, con: apsw.Connection) -> Lexical:
        if self._full_text is None or self._full_text[0] is not con:
            self._full_text = con, Lexical(con)
        return self._full_text[1]

    def lexical(self, text: str, where: Filter, *, limit: int | None, deadline: float | None = None) -> LexicalResult:
        with self._database.reading() as con:
            version = self._database.version(con)
            return self._lexical(con).search(text, where, limit=limit, version=version, deadline=deadline)

    def _feed(self) -> SqliteFeed:
        from .feed import SqliteFeed

        with self._database.reading() as con:
            return SqliteFeed(self._database, con, self._lexical(con))

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

    def was_left(self, scopes: Sequence[str]) -> bool:
        with self._database.reading() as con:
            return bool(scopes) and was_left(con, scopes)

    def scope_numbers(self, names: Sequence[str]) -> list[int]:
        marks = ", ".join("?" * len(names))
        statement = f"SELECT num FROM scope WHERE name IN ({marks})"
        return self._database.cached(
            ("scopes", *names), lambda con: [row[0] for row in con.execute(statement, tuple(names))]
        )
