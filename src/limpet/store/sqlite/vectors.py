"""Vectors in the file: an exact float16 row each, and int8 codes in chunks that are written in place."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import apsw

from ..records import NewVector, VectorChunk
from ..sql.statements import statements
from ..sql.vectors import CHUNK_SLOTS, Vectors


class SqliteVectors(Vectors):
    def chunks(
        self, embedder: int, known: dict[int, int], *, most: int | None = None
    ) -> tuple[list[VectorChunk], list[int]]:
        with self._database.reading() as con:
            versions = con.execute(statements()["chunks_changed"], {"embedder": embedder}).fetchall()
            dimensions = con.execute("SELECT dimensions FROM embedder WHERE num = ?", (embedder,)).get or 0
            changed = []
            for num in [num for num, version in reversed(versions) if known.get(num) != version][:most]:
                version, used, codes, scales, bodies, scopes = con.execute(
                    "SELECT version, used, codes, scales, bodies, scopes FROM chunk WHERE num = ?", (num,)
                ).fetchone()
                changed.append(
                    VectorChunk(
                        num=num,
                        version=version,
                        used=used,
                        codes=codes[: used * dimensions],
                        scales=scales[: used * 4],
                        text_ids=bodies[: used * 8],
                        scopes=scopes[: used * 4],
                    )
                )
            return changed, [num for num, _ in versions]

    def _add(self, con: apsw.Connection, embedder: int, vectors: Sequence[NewVector]) -> int:
        dimensions = con.execute("SELECT dimensions FROM embedder WHERE num = ?", (embedder,)).get
        if dimensions is None:
            return 0  # another embedder took over meanwhile
        there = self._without(con, embedder, vectors)
        fresh = [vector for vector in vectors if vector.text_id in there]
        start = 0
        while start < len(fresh):
            chunk, used = free_slots(con, embedder, dimensions)
            part = fresh[start : start + CHUNK_SLOTS - used]
            columns = (
                ("codes", dimensions, b"".join(vector.code for vector in part)),
                ("scales", 4, struct.pack(f"<{len(part)}f", *(vector.scale for vector in part))),
                ("bodies", 8, struct.pack(f"<{len(part)}q", *(vector.text_id for vector in part))),
                ("scopes", 4, struct.pack(f"<{len(part)}i", *(there[vector.text_id] for vector in part))),
            )
            for column, size, data in columns:
                with con.blob_open("main", "chunk", column, chunk, True) as blob:
                    blob.seek(used * size)
                    blob.write(data)
            con.execute("UPDATE chunk SET used = used + ?, version = version + 1 WHERE num = ?", (len(part), chunk))
            con.executemany(
                "INSERT INTO vector (embedder, body, chunk, slot, exact) VALUES (?, ?, ?, ?, ?)",
                [(embedder, vector.text_id, chunk, used + i, vector.exact) for i, vector in enumerate(part)],
            )
            start += len(part)
        return len(fresh)


def free_slots(con: apsw.Connection, embedder: int, dimensions: int) -> tuple[int, int]:
    """The newest chunk that has room, and how much of it is used."""
    row = con.execute(
        "SELECT num, used FROM chunk WHERE embedder = ? ORDER BY num DESC LIMIT 1", (embedder,)
    ).fetchone()
    if row and row[1] < CHUNK_SLOTS:
        return row[0], row[1]
    con.execute(
        "INSERT INTO chunk (embedder, version, used, codes, scales, bodies, scopes)"
        " VALUES (?1, 1, 0, zeroblob(?2 * ?3), zeroblob(?2 * 4), zeroblob(?2 * 8), zeroblob(?2 * 4))",
        (embedder, CHUNK_SLOTS, dimensions),
    )
    return con.last_insert_rowid(), 0
