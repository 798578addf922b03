"""Time: int64 microseconds since 1970 in UTC everywhere inside; ISO 8601 at the edges.

Nothing here sleeps. Times that people and programs type are parsed in `times.py`.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, overload
else:
    Protocol = object

MICROSECONDS_PER_SECOND = 1_000_000
MICROSECONDS_PER_DAY = 86_400 * MICROSECONDS_PER_SECOND
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Clock(Protocol):
    """The source of a store's time."""

    def now(self) -> int:
        """Return microseconds since 1970, UTC."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1000


class FixedClock:
    """A clock that moves only when told to: tests, replays and benchmarks with historic times."""

    def __init__(self, at: str | int | date = "2026-01-01T00:00:00+00:00") -> None:
        self._now = 0
        self.set(at)

    def now(self) -> int:
        return self._now

    def advance(self, *, days: float = 0, hours: float = 0, seconds: float = 0) -> int:
        """Move on and return the new time."""
        self._now += timedelta(days=days, hours=hours, seconds=seconds) // timedelta(microseconds=1)
        return self._now

    def set(self, at: str | int | date) -> None:
        from .times import parse_time

        self._now = parse_time(at, now=self._now)


def from_datetime(moment: datetime) -> int:
    """Convert a datetime to microseconds since 1970, UTC; a naive one counts as UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(microseconds=1)


def to_datetime(at: int) -> datetime:
    return EPOCH + timedelta(microseconds=at)


class Instant:
    """A time as a datetime in UTC. The field of the same name with `_us` has it in microseconds."""

    def __init__(self, field: str) -> None:
        self._field = field

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type) -> Instant: ...
        @overload
        def __get__(self, instance: object, owner: type) -> datetime: ...

    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:
            return self
        at: int | None = getattr(instance, self._field)
        return None if at is None else to_datetime(at)


class MaybeInstant(Instant):
    """An `Instant` that may be None."""

    if TYPE_CHECKING:

        @overload  # type: ignore[override]
        def __get__(self, instance: None, owner: type) -> MaybeInstant: ...
        @overload
        def __get__(self, instance: object, owner: type) -> datetime | None: ...
        def __get__(self, instance: object | None, owner: type) -> Any: ...


def format_time(at: int | datetime | None) -> str | None:
    """Format a time in ISO 8601, UTC, with as many digits as it has: 2026-01-31T09:30:00Z."""
    if at is None:
        return None
    moment = (to_datetime(at) if isinstance(at, int) else at).replace(tzinfo=None)
    return moment.isoformat() + "Z"
