"""What search asks of the file: full text, filters, and the columns of a process that asks often."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import apsw

from ..records import ALL, Filter, LexicalResult
from ..sql.filters import filtered
from ..sql.search import Search, like_pattern
from .database import Database
from .fulltext import Lexical, allowed, interrupted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..sql.store import Store
    from .feed import SqliteFeed


class SqliteSearch(Search):
    _database: Database

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._full_text: tuple[apsw.Connection, Lexical] | None = None

    def close(self) -> None:
        self._full_text = None
        super().close()

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
            return SqliteFeed(self._store, con, self._lexical(con))

    def stems(self, texts: Iterable[str]) -> dict[str, frozenset[str]]:
        with self._database.reading() as con:
            lexical = self._lexical(con)
            return {text: lexical.stems(text) for text in texts}

    def substring(
        self, text: str, where: Filter, *, limit: int, deadline: float | None = None, newest: int = ALL
    ) -> list[int]:
        pattern = like_pattern(text)
        if pattern is None:
            return []
        statement, bound = filtered("substring", where)
        bound |= {"pattern": pattern, "limit": limit, "newest": newest}
        with (
            self._database.reading() as con,
            interrupted(con, deadline),
            contextlib.suppress(apsw.InterruptError),
        ):
            return [row[0] for row in con.execute(statement, bound)]
        return []

    def allowed(self, where: Filter) -> list[int]:
        with self._database.reading() as con:
            return allowed(con, where, self._lexical(con).stems)
