"""What the store keeps beside beliefs: vectors, names in texts, proposals, journal, sources, receipts, the queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..records import (
    Action,
    EmbedderRow,
    Filter,
    Job,
    Mention,
    NewVector,
    Proposal,
    Source,
    Surfaced,
    UseCount,
    VectorChunk,
)
from . import jobs, journal, mentions, review, search, sources, surfaced, vectors
from .jobs import EMBED
from .sql import statements

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import apsw


class Beside:
    """A mixin of `SqliteStore`."""

    if TYPE_CHECKING:

        def _reading(self) -> AbstractContextManager[apsw.Connection]: ...

        def _writing(self) -> AbstractContextManager[apsw.Connection]: ...

        def _same(self, name: object, ask: Callable[[apsw.Connection], list[Any]]) -> list[Any]: ...

    # -- vectors

    def embedders(self) -> list[EmbedderRow]:
        return self._same("embedders", vectors.embedders)

    def register_embedder(self, fingerprint: str, name: str, dimensions: int) -> EmbedderRow:
        with self._writing() as con:
            return vectors.register(con, fingerprint, name, dimensions)

    def gauge_embedder(self, num: int, gauge: tuple[float, float, float]) -> EmbedderRow:
        with self._writing() as con:
            return vectors.gauge(con, num, gauge)

    def activate_embedder(self, num: int) -> None:
        with self._writing() as con:
            vectors.activate(con, num)

    def unembedded(self, embedder: int, *, limit: int, after: int = 0) -> list[int]:
        with self._reading() as con:
            bound = {"embedder": embedder, "limit": limit, "after": after}
            return [row[0] for row in con.execute(statements()["unembedded"], bound)]

    def bodies_of(self, ids: Sequence[bytes]) -> list[int]:
        with self._reading() as con:
            found = (con.execute(statements()["body_of_memory"], {"id": id}).get for id in ids)
            return [body for body in found if body is not None]

    def texts(self, bodies: Sequence[int]) -> list[tuple[int, str, str | None]]:
        with self._reading() as con:
            return con.execute(statements()["texts"], {"bodies": search.carray(bodies)}).fetchall()

    def add_vectors(
        self,
        embedder: int,
        vectors_: Sequence[NewVector],
        *,
        done: Sequence[int] = (),
        then: str | None = None,
        at: int = 0,
    ) -> int:
        with self._writing() as con:
            stored = vectors.add(con, embedder, vectors_)
            jobs.finish(con, EMBED, done)
            if then is not None:
                jobs.enqueue(con, then, done, at)
            return stored

    def vector_chunks(
        self, embedder: int, known: dict[int, int], *, most: int | None = None
    ) -> tuple[list[VectorChunk], list[int]]:
        with self._reading() as con:
            return vectors.chunks(con, embedder, known, most)

    def exact_vectors(self, embedder: int, bodies: Sequence[int]) -> list[tuple[int, bytes]]:
        with self._reading() as con:
            return vectors.exact(con, embedder, bodies)

    # -- things that texts name

    def note_mentions(self, things: Callable[[str], Sequence[int]]) -> int:
        with self._reading() as con:
            if not mentions.waiting(con):
                return 0
        with self._writing() as con:
            return mentions.note(con, things)

    def named_in(self, bodies: Sequence[int]) -> list[tuple[int, int]]:
        with self._reading() as con:
            return mentions.named_in(con, bodies)

    def naming(self, things: Sequence[int], where: Filter, *, most: int) -> list[Mention]:
        with self._reading() as con:
            return mentions.naming(con, things, where, most)

    # -- review

    def propose(self, proposals: Sequence[Proposal]) -> int:
        with self._writing() as con:
            return review.propose(con, proposals)

    def withdraw(self, kind: str, among: Sequence[bytes]) -> int:
        with self._writing() as con:
            return review.withdraw(con, kind, among)

    def proposals(self, scopes: Sequence[str], *, limit: int, kind: str | None = None) -> list[Proposal]:
        with self._reading() as con:
            return review.waiting(con, scopes, limit, kind)

    def proposals_from(self, prefix: str, scopes: Sequence[str]) -> list[bytes]:
        with self._reading() as con:
            return review.ids_from(con, prefix, scopes)

    def abbreviate_items(self, ids: Sequence[bytes]) -> list[str]:
        with self._reading() as con:
            return review.abbreviate(con, ids)

    # -- journal

    def note_action(self, action: Action) -> None:
        with self._writing() as con:
            journal.note(con, *action)

    def actions(self, scope: str, *, session: str | None = None, limit: int) -> list[Action]:
        with self._reading() as con:
            return [Action(*row) for row in journal.lines(con, scope, session, limit)]

    # -- what was organized

    def source(self, scope: str, path: str) -> Source | None:
        with self._reading() as con:
            return sources.get(con, scope, path)

    def keep_source(self, source: Source) -> None:
        with self._writing() as con:
            sources.keep(con, source)

    def name_source(self, scope: str, path: str, at: int) -> None:
        with self._writing() as con:
            sources.name(con, scope, path, at)

    def named_sources(self, scope: str | None = None) -> list[Source]:
        with self._reading() as con:
            return sources.named(con, scope)

    # -- what was put before agents

    def note_surfaced(self, rows: Sequence[Surfaced], action: Action | None = None) -> None:
        with self._writing() as con:
            if action is not None:
                journal.note(con, *action)
            surfaced.note(con, rows)

    def surfaced(self, scope: str, *, session: str | None = None, limit: int) -> list[Surfaced]:
        with self._reading() as con:
            return surfaced.latest(con, scope, session, limit)

    def use_counts(self, scope: str) -> list[UseCount]:
        with self._reading() as con:
            return surfaced.counts(con, scope)

    # -- work

    def enqueue(self, kind: str, subjects: Sequence[int], at: int) -> int:
        with self._writing() as con:
            return jobs.enqueue(con, kind, subjects, at)

    def lease(self, kind: str, *, limit: int, at: int, until: int, worker: str) -> list[Job]:
        with self._writing() as con:
            return jobs.lease(con, kind, limit=limit, at=at, until=until, worker=worker)

    def lease_these(self, kind: str, subjects: Sequence[int], *, at: int, until: int, worker: str) -> list[Job]:
        with self._writing() as con:
            return jobs.lease_these(con, kind, subjects, at=at, until=until, worker=worker)

    def due(self, at: int, *, first: Sequence[int], most: int) -> list[int]:
        with self._reading() as con:
            return jobs.due(con, at, first, most)

    def finish(self, kind: str, subjects: Sequence[int]) -> None:
        with self._writing() as con:
            jobs.finish(con, kind, subjects)

    def fail(self, kind: str, subjects: Sequence[int], *, error: str, not_before: int, dead: bool) -> None:
        with self._writing() as con:
            jobs.fail(con, kind, subjects, error=error, not_before=not_before, dead=dead)

    def backlog(self, kind: str, at: int, *, most: int | None = None) -> int:
        with self._reading() as con:
            return jobs.backlog(con, kind, at, most)

    def dead_jobs(self) -> list[Job]:
        with self._reading() as con:
            return jobs.dead(con)

    def revive(self) -> int:
        with self._writing() as con:
            return jobs.revive(con)
