"""What the arrays of a long process are fed with, as far as it is the same for every engine with rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ..arrays.feed_records import Changes, TextColumns
from ..contract.feed import WordFeed
from ..records import UseCounts
from .database import Database, Repository
from .statements import statements


class SqlFeed(Repository, ABC):
    """`ChangeFeed`. New texts are known by their numbers, changed memories by the ledger."""

    def __init__(self, database: Database, words: WordFeed) -> None:
        super().__init__(database)
        self.words = words
        self.in_pieces = database.path != ":memory:"

    @contextmanager
    def snapshot(self) -> Iterator[int]:
        with self._database.snapshot(), self._database.reading() as con:
            yield self._database.version(con)

    @abstractmethod
    def within(self, deadline: float | None) -> AbstractContextManager[None]: ...

    @abstractmethod
    def _making(self) -> object:
        """What changes when rows were made anew without an event."""

    # How many index terms a text has: what is selected, and the join that it takes.
    length: str
    lengths: str
    joins, joined = "LEFT JOIN memory m ON m.num =", ""

    @abstractmethod
    def terms_of(self, kept: Any) -> int:
        """Index terms of a text, from `length`."""

    def texts_after(self, text_id: int, *, most: int) -> TextColumns:
        return self._columns("columns_after", {"after": text_id, "limit": most})

    def texts(self, text_ids: Sequence[int]) -> TextColumns:
        return self._columns("columns_of", {"bodies": self._database.numbers(text_ids)})

    def _columns(self, name: str, bound: dict[str, Any]) -> TextColumns:
        statement = statements()[name]
        for part in ("length", "lengths", "joins", "joined"):
            statement = statement.replace("{" + part + "}", getattr(self, part))
        rows = self._database.rows(statement, bound)
        if not rows:
            return TextColumns._make(() for _ in TextColumns._fields)
        *columns, kept = zip(*rows, strict=True)
        return TextColumns._make((*columns, list(map(self.terms_of, kept))))

    @abstractmethod
    def with_topic(self, topic: str) -> list[int]: ...

    def changes(self, since: object | None) -> Changes:
        making = self._making()
        with self._database.reading() as con:
            event = con.execute("SELECT seq, id FROM event ORDER BY seq DESC LIMIT 1").get or (0, b"")
            last = con.execute("SELECT coalesce(max(num), 0) FROM body").get
            used = con.execute("SELECT 1 FROM usage LIMIT 1").get is not None
            anew, text_ids = True, []
            if isinstance(since, tuple) and since[0] == making and _stands(con, since[1]):
                rows = con.execute(
                    "SELECT type, memory FROM event WHERE seq > ? AND type <> 'remembered'", (since[1][0],)
                ).fetchall()
                anew = any(type == "purged" for type, _ in rows)
                if rows and not anew:
                    ids = self._database.ids({memory for _, memory in rows})
                    text_ids = [row[0] for row in con.execute(statements()["bodies_of_memories"], {"ids": ids})]
        return Changes((making, event), last, anew, text_ids, used)

    def uses(self, rows: Sequence[int]) -> dict[int, UseCounts]:
        found = self._database.rows(statements()["usage_of"], {"nums": self._database.numbers(rows)})
        return {text_id: UseCounts._make(use) for text_id, *use in found}

    def scope_number(self, name: str) -> int | None:
        found = self._database.rows("SELECT num FROM scope WHERE name = ?", (name,))
        return found[0][0] if found else None

    def session_numbers(self, name: str) -> list[int]:
        return [row[0] for row in self._database.rows("SELECT num FROM session WHERE name = ?", (name,))]


def _stands(con: Any, event: tuple[int, bytes]) -> bool:
    """Whether the ledger still has it there: a standby that took over need not have all that its primary had."""
    return event[0] == 0 or con.execute("SELECT id FROM event WHERE seq = ?", (event[0],)).get == event[1]


def varints(data: bytes) -> list[int]:
    """Variable-length integers as SQLite writes them: FTS5 packs the sizes of texts so, Postgres is given counts so."""
    found, value = [], 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            found.append(value)
            value = 0
    return found
