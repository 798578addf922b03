"""What stands beside the rows of the file: FTS5, which triggers fill, and chunks of codes, written in place."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import apsw

from ..sql.database import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Texts of one statement: from a hundred on the price of a row is that of its own words.
TEXTS_TOGETHER = 100
_INSERT = "INSERT INTO body (num, content, topics, labels, dates, scope, grams) VALUES (?, ?, ?, ?, ?, ?, ?)"
_VALUES = ", (?, ?, ?, ?, ?, ?, ?)"
_REBUILD = "INSERT INTO body_fts (body_fts) VALUES ('rebuild')"
# Column of a chunk -> its bytes a code; None: as many as the embedder has dimensions.
_COLUMNS = (("codes", None), ("scales", 4), ("bodies", 8), ("scopes", 4))


class SqliteIndex(Index):
    def insert(self, con: apsw.Connection, texts: Sequence[tuple[Any, ...]]) -> None:
        """Many rows a statement: FTS5 writes out what it holds at every statement that fires a trigger."""
        for start in range(0, len(texts), TEXTS_TOGETHER):
            part = texts[start : start + TEXTS_TOGETHER]
            con.execute(_INSERT + _VALUES * (len(part) - 1), [value for row in part for value in row])

    def describe(self, con: apsw.Connection, num: int, described: tuple[Any, ...]) -> None:
        con.execute(
            "UPDATE body SET topics = ?1, labels = ?2, dates = ?3, grams = ?4, scope = ?5 WHERE num = ?6"
            " AND (topics IS NOT ?1 OR labels IS NOT ?2 OR dates IS NOT ?3 OR grams IS NOT ?4 OR scope IS NOT ?5)",
            (*described, num),
        )

    def delete(self, con: apsw.Connection, num: int) -> None:
        for embedder, chunk, slot, dimensions in _vectors_of(con, num):
            for column, size in _COLUMNS:
                wide = size or dimensions
                _overwrite(con, chunk, column, slot * wide, bytes(wide))
            con.execute("DELETE FROM vector WHERE embedder = ? AND body = ?", (embedder, num))
        con.execute("DELETE FROM body WHERE num = ?", (num,))

    def move(self, con: apsw.Connection, num: int, scope: int) -> None:
        for _, chunk, slot, _ in _vectors_of(con, num):
            _overwrite(con, chunk, "scopes", slot * 4, struct.pack("<i", scope))

    def purged(self, con: apsw.Connection) -> None:
        """FTS5's secure-delete leaves leaves of the index behind, which no search finds, with words of what was
        deleted; its `optimize` passes over an index of one segment."""
        con.execute(_REBUILD)

    def rebuild(self, con: apsw.Connection) -> None:
        con.execute(_REBUILD)

    def tell_anew(self, con: apsw.Connection) -> None:
        """By the schema's version."""
        con.execute("CREATE TABLE rebuilt (at); DROP TABLE rebuilt")


def _vectors_of(con: apsw.Connection, body: int) -> list[tuple[int, int, int, int]]:
    """(embedder, chunk, slot, dimensions)"""
    return con.execute(
        "SELECT v.embedder, v.chunk, v.slot, e.dimensions FROM vector v JOIN embedder e ON e.num = v.embedder"
        " WHERE v.body = ?",
        (body,),
    ).fetchall()


def _overwrite(con: apsw.Connection, chunk: int, column: str, start: int, data: bytes) -> None:
    with con.blob_open("main", "chunk", column, chunk, True) as blob:
        blob.seek(start)
        blob.write(data)
    con.execute("UPDATE chunk SET version = version + 1 WHERE num = ?", (chunk,))
