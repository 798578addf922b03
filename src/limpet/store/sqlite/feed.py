"""What the arrays of a long process are fed with, from the file: texts with their memories, and the index's word lists.

Only a connection that reads uses it, always the same one, under its lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

import apsw
import numpy as np

from ..arrays.feed_records import Changes, IndexedText, TextColumns, WordLists
from ..records import Filter, UseCounts
from .database import Database
from .filters import carray
from .fulltext import Lexical, allowed, interrupted, topic_expressions
from .sql import statements

_COLUMN = (
    "CASE col WHEN 'content' THEN 0 WHEN 'topics' THEN 1 WHEN 'labels' THEN 2 WHEN 'dates' THEN 3 WHEN 'scope' THEN 4"
    " ELSE 5 END"
)
_ONE = f"SELECT group_concat(place) FROM (SELECT doc * 8 + {_COLUMN} AS place FROM temp.word WHERE term = ? LIMIT ?)"
_AFTER = (
    "SELECT term, count(*), group_concat(place)"
    f" FROM (SELECT term, doc * 8 + {_COLUMN} AS place FROM temp.word WHERE term > ? ORDER BY term LIMIT ?)"
    " GROUP BY term ORDER BY term"
)


class SqliteWordFeed:
    """`WordFeed` from FTS5's own tables."""

    def __init__(self, con: apsw.Connection, tokenizer: Lexical) -> None:
        self._con = con
        self.tokenizer = tokenizer
        con.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.word USING fts5vocab ('main', 'body_fts', 'instance')")

    def totals(self) -> tuple[int, int]:
        counts = varints(self._con.execute("SELECT block FROM body_fts_data WHERE id = 1").get or b"")
        return (counts[0] if counts else 0), sum(counts[1:])

    def frequency(self, word: str) -> int:
        return self._con.execute("SELECT doc FROM body_terms WHERE term = ?", (word,)).get or 0

    def occurrences(self, word: str, *, most: int | None = None) -> np.ndarray:
        return _numbers(self._con.execute(_ONE, (word, -1 if most is None else most)).get)

    def lists_after(self, word: str, *, most: int) -> WordLists:
        rows = self._con.execute(_AFTER, (word, most)).fetchall()
        more = sum(row[1] for row in rows) >= most
        if more and len(rows) == 1:
            return WordLists([rows[0][0]], [most], _numbers(None), more)
        if more:
            rows.pop()  # cut off
        places = _numbers(",".join(row[2] for row in rows))
        return WordLists([row[0] for row in rows], [row[1] for row in rows], places, more)

    def texts(self, text_ids: Iterable[int]) -> Iterable[IndexedText]:
        rows = self._con.execute(
            "SELECT num, content, topics, labels, dates, scope, grams FROM carray(?) CROSS JOIN body ON num = value",
            (carray(text_ids),),
        )
        return map(IndexedText._make, rows)

    def with_topic_words(self, topic: str) -> list[tuple[int, str]]:
        (expression,) = topic_expressions([topic], self.tokenizer.stems)
        return self._con.execute(
            "SELECT f.rowid, b.topics FROM body_fts f JOIN body b ON b.num = f.rowid"
            " WHERE f.body_fts MATCH ? ORDER BY f.rowid",
            (expression,),
        ).fetchall()


class SqliteFeed:
    """`ChangeFeed` from one file. New texts are known by their numbers, changed memories by the ledger."""

    def __init__(self, database: Database, con: apsw.Connection, lexical: Lexical) -> None:
        self._database = database
        self._con = con
        self.words = SqliteWordFeed(con, lexical)
        self.in_pieces = database.path != ":memory:"

    @contextmanager
    def snapshot(self) -> Iterator[int]:
        with self._database.snapshot(), self._database.reading() as con:
            yield self._database.version(con)

    @contextmanager
    def within(self, deadline: float | None) -> Iterator[None]:
        with suppress(apsw.InterruptError), interrupted(self._con, deadline):
            yield

    def changes(self, since: object | None) -> Changes:
        con = self._con
        schema = con.execute("PRAGMA schema_version").get  # a rebuild changes it on purpose, and no event
        event = con.execute("SELECT ifnull(max(seq), 0) FROM event").get
        last = con.execute("SELECT ifnull(max(num), 0) FROM body").get
        used = con.execute("SELECT 1 FROM usage LIMIT 1").get is not None
        anew, text_ids = True, []
        if isinstance(since, tuple) and since[0] == schema:
            rows = con.execute(
                "SELECT type, memory FROM event WHERE seq > ? AND type <> 'remembered'", (since[1],)
            ).fetchall()
            anew = any(type == "purged" for type, _ in rows)
            if rows and not anew:
                ids = apsw.carray(tuple({memory for _, memory in rows}))
                text_ids = [row[0] for row in con.execute(statements()["bodies_of_memories"], {"ids": ids})]
        return Changes((schema, event), last, anew, text_ids, used)

    def texts_after(self, text_id: int, *, most: int) -> TextColumns:
        rows = self._con.execute(statements()["columns_after"], {"after": text_id, "limit": most})
        return _columns(rows.fetchall())

    def texts(self, text_ids: Sequence[int]) -> TextColumns:
        rows = self._con.execute(statements()["columns_of"], {"bodies": carray(text_ids)})
        return _columns(rows.fetchall())

    def uses(self, rows: Sequence[int]) -> dict[int, UseCounts]:
        found = self._con.execute(statements()["usage_of"], {"nums": carray(rows)})
        return {text_id: UseCounts._make(use) for text_id, *use in found}

    def with_topic(self, topic: str) -> list[int]:
        return allowed(self._con, Filter(topics=(topic,), states=()), self.words.tokenizer.stems)

    def scope_number(self, name: str) -> int | None:
        found: int | None = self._con.execute("SELECT num FROM scope WHERE name = ?", (name,)).get
        return found

    def session_numbers(self, name: str) -> list[int]:
        return [row[0] for row in self._con.execute("SELECT num FROM session WHERE name = ?", (name,))]


def _columns(rows: Sequence[tuple[object, ...]]) -> TextColumns:
    if not rows:
        return TextColumns._make(() for _ in TextColumns._fields)
    *columns, sizes = zip(*rows, strict=True)
    return TextColumns._make((*columns, [_length(size) for size in sizes]))


def _length(sizes: bytes | None) -> int:
    """Index terms of a text, from the packed sizes of its columns."""
    return sum(sizes if sizes and max(sizes) < 0x80 else varints(sizes or b""))


def _numbers(listed: str | None) -> np.ndarray:
    return np.fromstring(listed or "", dtype=np.int64, sep=",")


def varints(data: bytes) -> list[int]:
    """SQLite's variable-length integers, as FTS5 packs the sizes of texts."""
    found, value = [], 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            found.append(value)
            value = 0
    return found
