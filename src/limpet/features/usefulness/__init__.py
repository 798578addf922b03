"""What was put before agents, and whether it was of use; which rules a session kept."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...api import Limpet
    from ...history.usefulness import Usefulness
    from .rules_kept import Adherence


def usefulness(memory: Limpet, *, limit: int = 10) -> Usefulness:
    """What was surfaced in this scope, at what cost, how much of it showed up in the work, and what showing it
    changed; shares with their 95 % interval. Raises BadInput.

    >>> usefulness(memory).shown.times
    0
    """
    from . import service

    return service.usefulness(memory._context, limit=limit)


def adherence(memory: Limpet, session: str) -> list[Adherence]:
    """Which rules (preferences, lessons, decisions, corrections) a session kept or broke, by the commands and edits
    of its journal; unknown where these do not say. Asked again later, it says what is known by then.

    >>> _ = memory.remember("Always run make lint before a commit", kind="preference", origin="user")
    >>> [one.verdict for one in adherence(memory, "monday")]
    ['unknown']
    """
    from . import service

    return service.adherence(memory._context, session)
