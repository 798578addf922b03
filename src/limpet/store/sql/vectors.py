"""Vectors of texts and their embedders. How codes are kept is the engine's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ...model.errors import BadInput
from ..records import EmbedderRow, NewVector, VectorChunk
from .database import Repository
from .jobs import EMBED
from .statements import statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .database import Connection

# Codes in one chunk: at 384 dimensions a chunk is 384 KiB, read in one go.
CHUNK_SLOTS = 1_024


class Vectors(Repository, ABC):
    def embedders(self) -> list[EmbedderRow]:
        return self._database.cached("embedders", _embedders)

    def register(self, fingerprint: str, name: str, dimensions: int) -> EmbedderRow:
        """The row of an embedder, made when it is new. The first one is active at once. Raises BadInput."""
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
        """Note how an embedder's cosines lie (vectors/calibration.py)."""
        with self._database.writing() as con:
            con.execute("UPDATE embedder SET unrelated = ?, related = ?, apart = ? WHERE num = ?", (*calibration, num))
            return next(one for one in _embedders(con) if one.num == num)

    def activate(self, num: int) -> None:
        """Make one embedder the active one and forget the vectors of all others."""
        with self._database.writing() as con:
            con.execute("UPDATE embedder SET state = 'active' WHERE num = ?", (num,))
            con.execute("DELETE FROM vector WHERE embedder <> ?", (num,))
            con.execute("DELETE FROM chunk WHERE embedder <> ?", (num,))
            con.execute("DELETE FROM embedder WHERE num <> ?", (num,))

    def missing(self, embedder: int, *, limit: int, after: int = 0) -> list[int]:
        """Texts that have no vector of an embedder, in order."""
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
        """Store vectors of texts that are still there; in the same transaction the embedding jobs of the texts `done`
        end, and the jobs `then` about them begin. Returns how many were stored."""
        with self._database.writing() as con:
            stored = self._add(con, embedder, vectors)
            self._store.jobs.finish(EMBED, done)
            if then is not None:
                self._store.jobs.enqueue(then, done, at)
        self._database.loaded(stored)
        return stored

    def exact(self, embedder: int, bodies: Sequence[int]) -> list[tuple[int, bytes]]:
        """(text, vector of float16) of those that have one."""
        return self._database.rows(
            statements()["exact_vectors"], {"embedder": embedder, "bodies": self._database.numbers(bodies)}
        )

    @abstractmethod
    def chunks(
        self, embedder: int, known: dict[int, int], *, most: int | None = None
    ) -> tuple[list[VectorChunk], list[int]]:
        """Chunks whose version differs from `known`, the newest first and `most` of them, and the numbers of all that
        there are, in order."""

    @abstractmethod
    def _add(self, con: Any, embedder: int, vectors: Sequence[NewVector]) -> int:
        """Store vectors of texts that are (still) there and have none yet. Returns how many were stored."""

    def _without(self, con: Connection, embedder: int, vectors: Sequence[NewVector]) -> dict[int, int]:
        """Of the texts of some vectors those that are there and have none yet, with the numbers of their scopes."""
        found = con.execute(
            "SELECT b.num, b.scope FROM carray(?1) c JOIN body b ON b.num = c.value"
            " WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.embedder = ?2 AND v.body = b.num)",
            (self._database.numbers(vector.text_id for vector in vectors), embedder),
        )
        return {row[0]: int(row[1][1:]) for row in found}


def _embedders(con: Connection) -> list[EmbedderRow]:
    return [
        EmbedderRow(num, fingerprint, name, dimensions, state, None if calibration[0] is None else tuple(calibration))
        for num, fingerprint, name, dimensions, state, *calibration in con.execute(
            "SELECT num, fingerprint, name, dimensions, state, unrelated, related, apart FROM embedder ORDER BY num"
        )
    ]
