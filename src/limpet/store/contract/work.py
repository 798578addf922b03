"""Vectors, the job queue, use counts, and the care of the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from ..records import BackupPlan, EmbedderRow, Job, NewVector, Problem, Scan, StoreStats, VectorChunk


class Vectors(Protocol):
    def embedders(self) -> list[EmbedderRow]: ...

    def register(self, fingerprint: str, name: str, dimensions: int) -> EmbedderRow:
        """The row of an embedder, made when it is new. The first one is active at once. Raises BadInput."""
        ...

    def calibrate(self, num: int, calibration: tuple[float, float, float]) -> EmbedderRow:
        """Note how an embedder's cosines lie (vectors/calibration.py)."""
        ...

    def activate(self, num: int) -> None:
        """Make one embedder the active one and forget the vectors of all others."""
        ...

    def missing(self, embedder: int, *, limit: int, after: int = 0) -> list[int]:
        """Texts that have no vector of an embedder, in order."""
        ...

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
        ...

    def chunks(
        self, embedder: int, known: dict[int, int], *, most: int | None = None
    ) -> tuple[list[VectorChunk], list[int]]:
        """Chunks whose version differs from `known`, the newest first and `most` of them, and the numbers of all that
        there are, in order."""
        ...

    def exact(self, embedder: int, text_ids: Sequence[int]) -> list[tuple[int, bytes]]:
        """(text, vector of float16) of those that have one."""
        ...


class Jobs(Protocol):
    def enqueue(self, kind: str, subjects: Sequence[int], at: int) -> int: ...

    def lease(self, kind: str, *, limit: int, at: int, until: int, worker: str) -> list[Job]: ...

    def lease_these(self, kind: str, subjects: Sequence[int], *, at: int, until: int, worker: str) -> list[Job]:
        """Of these jobs those that could be taken now, in the order given."""
        ...

    def due(self, at: int, *, first: Sequence[int], most: int) -> list[int]:
        """Texts whose vectors could be made now, `most` of them: of `first` those that wait, in order, then the
        newest."""
        ...

    def finish(self, kind: str, subjects: Sequence[int]) -> None:
        """Jobs about these subjects are done, or no longer needed."""
        ...

    def fail(self, kind: str, subjects: Sequence[int], *, error: str, not_before: int, dead: bool) -> None: ...

    def backlog(self, kind: str, at: int, *, most: int | None = None) -> int:
        """Jobs that could be taken now, counted up to `most`."""
        ...

    def busy(self, kind: str, at: int) -> bool:
        """Whether somebody is at work on such jobs."""
        ...

    def dead(self) -> list[Job]: ...

    def last_error(self, kind: str) -> str | None:
        """Why the job failed that did last, of those that wait or are dead."""
        ...

    def revive(self) -> int:
        """Let dead jobs, and those that wait longer because they failed, be tried at once; how many these are."""
        ...


class Usage(Protocol):
    def record(self, ids: Sequence[bytes], at: int, verdict: str | None = None) -> None: ...

    def rows(self) -> Iterator[dict[str, Any]]: ...

    def restore(self, rows: Iterable[dict[str, Any]]) -> None: ...


class Erasure(Protocol):
    """What a purge does beyond the rows."""

    @property
    def beyond(self) -> str:
        """What a purge cannot reach of this engine, in words; "" where it reaches all."""
        ...

    def flush(self, seconds: float) -> bool:
        """Empty the log of what was erased, waiting so long for readers of the old state. False: one is still at it,
        and a job of the queue waits to do it."""
        ...

    def flush_waits(self) -> bool: ...

    def replaced_by(self, ids: Sequence[bytes]) -> list[bytes]:
        """Memories that some others have replaced, or speak for, and that are not purged."""
        ...

    def sessions_only_of(self, ids: Sequence[bytes]) -> list[bytes]:
        """Marks of the sessions in which some memories were and no others, and which have events of their own."""
        ...

    def pieces(self, ids: Sequence[bytes]) -> tuple[list[bytes], list[bytes]]:
        """Pieces of all texts of some memories, and of what else rows have of them (vectors, topics, the names of their
        sessions, ...): to be taken before they are purged."""
        ...

    def scour(self, pieces: Sequence[bytes]) -> bool:
        """Write the file anew if it has any piece that no row has. Whether it did."""
        ...

    def found(self, pieces: Sequence[bytes], files: Iterable[Path]) -> Scan:
        """Look for pieces in files."""
        ...

    def own_files(self) -> list[Path]:
        """The store's file and those beside it, there or not."""
        ...

    def replaced_stores(self) -> list[Path]:
        """The stores that were kept when a backup was put in their place."""
        ...

    def note_copy(self, path: str, kind: str, at: int) -> None:
        """A copy of what is stored was written: `export`, `backup`, or the folder of `segments`."""
        ...

    def copies(self) -> list[tuple[str, str]]:
        """(path, kind)"""
        ...


class Maintenance(Protocol):
    def stats(self) -> StoreStats: ...

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Make every projection anew from the ledger; returns the number of events."""
        ...

    def verify(self, *, sign: bool = False) -> list[Problem]:
        """`sign`: sign the chain of events as it is, when nothing else is wrong. Raises BadInput."""
        ...

    def encryption(self) -> tuple[bool, str]:
        """Whether the file is encrypted, and the driver that reads it, with its cipher if it has one."""
        ...

    def backup(self, path: str, progress: Callable[[int, int], None] | None = None) -> None:
        """Copy the store to a new file, which appears only when it is complete. Raises BadInput, StoreError."""
        ...

    def backup_plan(self) -> BackupPlan | None: ...

    def plan_backups(self, plan: BackupPlan | None, *, was: BackupPlan | None) -> bool:
        """Change the plan, if it is still what it was: of several processes one makes the backup that is due."""
        ...

    def compact(self) -> dict[str, Any]:
        """Give free pages back and merge the index. Returns sizes in bytes before and after."""
        ...
