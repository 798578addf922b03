"""The feed of a long process's arrays from the file: texts with their memories, and the index's word lists.

Only a connection that reads uses it, always the same one, under its lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import apsw
import numpy as np

from .. import lexical
from ..sql.feed import ChangeFeed, IndexedText, WordFeed, WordLists
from ..sql.search import Tokenizer
from ..sql.statements import scope_token
from ..sql.store import Store
from .database import Database
from .search import count, of_scopes, quoted, totals

_COLUMN = (
    "CASE col WHEN 'content' THEN 0 WHEN 'topics' THEN 1 WHEN 'labels' THEN 2 WHEN 'dates' THEN 3 WHEN 'scope' THEN 4"
    " ELSE 5 END"
)
_ONE = f"SELECT group_concat(place) FROM (SELECT doc * 8 + {_COLUMN} AS place FROM temp.word WHERE term = ? LIMIT ?)"
_AFTER = (
    "SELECT CAST(term AS BLOB), count(*), group_concat(place)"
    f" FROM (SELECT term, doc * 8 + {_COLUMN} AS place FROM temp.word WHERE term > ? ORDER BY term LIMIT ?)"
    " GROUP BY term ORDER BY term"
)


class SqliteWordFeed(WordFeed):
    """A word feed from FTS5's own tables."""

    def __init__(self, con: apsw.Connection, tokenizer: Tokenizer) -> None:
        self._con = con
        self.tokenizer = tokenizer
        con.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.word USING fts5vocab ('main', 'body_fts', 'instance')")

    def totals(self) -> tuple[int, int]:
        return totals(self._con)

    def frequency(self, word: str) -> int:
        return self._con.execute("SELECT doc FROM body_terms WHERE term = ?", (word,)).get or 0

    def frequencies(self, terms: Mapping[str, str], scopes: Sequence[int]) -> dict[str, int]:
        seen = of_scopes(0, map(scope_token, scopes))
        return {stem: count(self._con, seen, quoted(word)) for stem, word in terms.items()}

    def occurrences(self, word: str, *, most: int | None = None) -> np.ndarray:
        return _numbers(self._con.execute(_ONE, (word, -1 if most is None else most)).get)

    def lists_after(self, word: str, *, most: int) -> WordLists:
        rows = self._con.execute(_AFTER, (word, most)).fetchall()
        # Replace: FTS5 cuts a very long word within a character. No query has such a term.
        terms = [row[0].decode(errors="replace") for row in rows]
        more = sum(row[1] for row in rows) >= most
        if more and len(rows) == 1:
            return WordLists(terms, [most], _numbers(None), more)
        if more:
            rows.pop()  # cut off
            terms.pop()
        places = _numbers(",".join(row[2] for row in rows))
        return WordLists(terms, [row[1] for row in rows], places, more)

    def texts(self, text_ids: Iterable[int]) -> Iterable[IndexedText]:
        rows = self._con.execute(
            "SELECT num, content, topics, labels, dates, scope, grams FROM carray(?) CROSS JOIN body ON num = value",
            (Database.numbers(text_ids),),
        )
        return map(IndexedText._make, rows)

    def with_topic_words(self, topic: str) -> list[tuple[int, str]]:
        return self._con.execute(
            "SELECT f.rowid, b.topics FROM body_fts f JOIN body b ON b.num = f.rowid"
            " WHERE f.body_fts MATCH ? ORDER BY f.rowid",
            (f"topics : {quoted(topic)}",),
        ).fetchall()


class SqliteFeed(ChangeFeed):
    """A change feed from one file."""

    length, lengths = "d.sz", "LEFT JOIN body_fts_docsize d ON d.id = b.num"

    def __init__(self, store: Store, con: apsw.Connection, tokenizer: Tokenizer) -> None:
        super().__init__(store, SqliteWordFeed(con, tokenizer))
        self._con = con

    def _making(self) -> object:
        """Return the schema's version, which a rebuild changes on purpose, and no event."""
        return self._con.execute("PRAGMA schema_version").get

    def terms_of(self, kept: bytes | None) -> int:
        """Return the number of terms, from the packed sizes of a text's columns."""
        return lexical.added(kept or b"")


def _numbers(listed: str | None) -> np.ndarray:
    return np.fromstring(listed or "", dtype=np.int64, sep=",")
