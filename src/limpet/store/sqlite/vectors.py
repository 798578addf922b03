"""Vectors in the file: an exact float16 row each, and int8 codes in chunks that are written in place."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import apsw

from ...model.errors import BadInput
from ..records import EmbedderRow, NewVector, VectorChunk
from .database import Database, Repository
from .filters import carray
from .jobs import EMBED, SqliteJobs
from .sql import statements

# Codes in one chunk: at 384 dimensions a chunk is 384 KiB, read in one go and rewritten a few pages at a time.
CHUNK_SLOTS = 1_024


class SqliteVectors(Repository):
    def __init__(self, database: Database, jobs: SqliteJobs) -> None:
        super().__init__(database)
        self._jobs = jobs

    def embedders(self) -> list[EmbedderRow]:
        return self._database.cached("embedders", _embedders)

    def register(self, fingerprint: str, name: str, dimensions: int) -> EmbedderRow:
        with self._database.writing() as con:
            state = "building" if con.execute("SELECT count(*) FROM embedder WHERE state = 'active'").get else "active"
            con.execute(
                "INSERT INTO embedder (fingerprint, name, dimensions, state) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (fingerprint) DO NOTHING",
                (fingerprint, name, dimensions, state),
            )
            row = next(one for one in _embedders(con) if one.fingerprint == fingerprint)
            if row.dimensions != dimensions:
                raise BadInput(f"embedder {name} has {dimensions} dimensions, its stored vectors {row.dimensions}")
            return row

    def calibrate(self, num: int, calibration: tuple[float, float, float]) -> EmbedderRow:
        with self._database.writing() as con:
            con.execute("UPDATE embedder SET unrelated = ?, related = ?, apart = ? WHERE num = ?", (*calibration, num))
            return next(one for one in _embedders(con) if one.num == num)

    def activate(self, num: int) -> None:
        with self._database.writing() as con:
            con.execute("UPDATE embedder SET state = 'active' WHERE num = ?", (num,))
            con.execute("DELETE FROM vector WHERE embedder <> ?", (num,))
            con.execute("DELETE FROM chunk WHERE embedder <> ?", (num,))
            con.execute("DELETE FROM embedder WHERE num <> ?", (num,))

    def missing(self, embedder: int, *, limit: int, after: int = 0) -> list[int]:
        bound = {"embedder": embedder, "limit": limit, "after": after}
        return [row[0] for row in self._database.rows(statements()["unembedded"], bound)]

    def add(
        self,
        embedder: int,
        vectors: Sequence[NewVector],
        *,
        done: Sequence[int] = (),
        then: str | None = None,
        at: int = 0,
    ) -> int:
        with self._database.writing() as con:
            stored = _add(con, embedder, vectors)
            self._jobs.finish(EMBED, done)
            if then is not None:
                self._jobs.enqueue(then, done, at)
            return stored

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

    def exact(self, embedder: int, bodies: Sequence[int]) -> list[tuple[int, bytes]]:
        return self._database.rows(statements()["exact_vectors"], {"embedder": embedder, "bodies": carray(bodies)})


def _embedders(con: apsw.Connection) -> list[EmbedderRow]:
    return [
        EmbedderRow(num, fingerprint, name, dimensions, state, None if calibration[0] is None else tuple(calibration))
        for num, fingerprint, name, dimensions, state, *calibration in con.execute(
            "SELECT num, fingerprint, name, dimensions, state, unrelated, related, apart FROM embedder ORDER BY num"
        )
    ]


def _add(con: apsw.Connection, embedder: int, vectors: Sequence[NewVector]) -> int:
    """Store vectors of texts that are (still) there and have none yet. Returns how many were stored."""
    dimensions = con.execute("SELECT dimensions FROM embedder WHERE num = ?", (embedder,)).get
    if dimensions is None:
        return 0  # another embedder took over meanwhile
    there = {
        row[0]: int(row[1][1:])
        for row in con.execute(
            "SELECT b.num, b.scope FROM carray(?1) c JOIN body b ON b.num = c.value"
            " WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.embedder = ?2 AND v.body = b.num)",
            (carray(vector.text_id for vector in vectors), embedder),
        )
    }
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
