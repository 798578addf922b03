"""Memory measured on one's own history: `run` replays recall over past sessions and counts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from ...api import Limpet, Progress
    from ...context import Time
    from .service import Evaluation


def run(
    memory: Limpet, transcripts: Iterable[str | os.PathLike[str]] = (), *, since: Time = None, until: Time = None,
    worst: int = 10, progress: Progress | None = None,
) -> Evaluation:  # fmt: skip
    """Replay recall over the sessions of this scope: those of its journal, and of transcripts where they are given.

    `worst`: how many misses are explained.
    Raises BadInput, NotFound, StoreError.

    >>> run(memory).moments
    0
    """
    from . import service

    return service.evaluate(memory, transcripts, since=since, until=until, worst=worst, progress=progress)
