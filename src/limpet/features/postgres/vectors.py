"""Vectors as rows: a slot of a chunk each, with its code and its float16. A chunk's row has its version alone."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ...store.records import NewVector, VectorChunk
from ...store.sql.statements import statements
from ...store.sql.vectors import CHUNK_SLOTS, Vectors
from .connection import Session
from .index import LATER

_CHUNK = (
    "SELECT c.version, c.used, string_agg(s.code, ''::bytea ORDER BY s.slot),"
    " string_agg(s.scale, ''::bytea ORDER BY s.slot), array_agg(s.body ORDER BY s.slot),"
    " array_agg(s.scope ORDER BY s.slot) FROM chunk c JOIN slot s ON s.embedder = c.embedder AND s.chunk = c.num"
    " WHERE c.num = ? GROUP BY c.version, c.used"
)
_SLOT = "INSERT INTO slot (embedder, chunk, slot, body, scope, code, scale, exact) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


class PostgresVectors(Vectors):
    def chunks(
        self, embedder: int, known: dict[int, int], *, most: int | None = None
    ) -> tuple[list[VectorChunk], list[int]]:
        with self._database.snapshot(), self._database.reading() as con:
            versions = con.execute(statements()["chunks_changed"], {"embedder": embedder}).fetchall()
            changed = []
            for num in [num for num, version in reversed(versions) if known.get(num) != version][:most]:
                version, used, codes, scales, bodies, scopes = con.execute(_CHUNK, (num,)).fetchone()
                changed.append(
                    VectorChunk(
                        num=num,
                        version=version,
                        used=used,
                        codes=codes,
                        scales=scales,
                        text_ids=struct.pack(f"<{used}q", *bodies),
                        scopes=struct.pack(f"<{used}i", *scopes),
                    )
                )
            return changed, [num for num, _ in versions]

    def _add(self, con: Session, embedder: int, vectors: Sequence[NewVector]) -> int:
        if con.execute("SELECT 1 FROM embedder WHERE num = ?", (embedder,)).get is None:
            return 0  # another embedder took over meanwhile
        there = self._without(con, embedder, vectors)
        fresh = [vector for vector in vectors if vector.text_id in there]
        start = 0
        while start < len(fresh):
            chunk, used = _free_slots(con, embedder)
            part = fresh[start : start + CHUNK_SLOTS - used]
            con.execute(f"UPDATE chunk SET used = used + ?, version = {LATER} WHERE num = ?", (len(part), chunk))
            places = [(one.text_id, there[one.text_id], one.code, _scale(one), one.exact) for one in part]
            con.executemany(_SLOT, [(embedder, chunk, used + i, *place) for i, place in enumerate(places)])
            start += len(part)
        return len(fresh)


def _scale(vector: NewVector) -> bytes:
    return struct.pack("<f", vector.scale)


def _free_slots(con: Session, embedder: int) -> tuple[int, int]:
    """The newest chunk that has room, and how much of it is used."""
    row = con.execute(
        "SELECT num, used FROM chunk WHERE embedder = ? ORDER BY num DESC LIMIT 1", (embedder,)
    ).fetchone()
    if row and row[1] < CHUNK_SLOTS:
        return row[0], row[1]
    return con.execute("INSERT INTO chunk (embedder) VALUES (?) RETURNING num", (embedder,)).get, 0
