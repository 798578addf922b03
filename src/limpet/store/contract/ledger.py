"""The event ledger: the one way to write, and the events in their order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from ...model.events import Event
from ...model.state import MemoryState, SearchFields

if TYPE_CHECKING:
    from . import Store

# Given the store as it is inside the write transaction, answers with the events to append. It may run more than once
# (when the lock was lost), so it must not do anything but read and answer.
Decide = Callable[["Store"], Sequence[Event]]
# Given to a store when it is opened, so that stores need not know about text.
# The second argument: the fingerprint, if it is known already.
Describe = Callable[[MemoryState, int | None], SearchFields]


class Ledger(Protocol):
    def commit(self, decide: Decide) -> list[Event]:
        """Append and project what `decide` answers, durably, in one transaction. Returns the events with their places.

        Whatever the thread reads inside is read from that transaction.
        """
        ...

    def append(self, events: Iterable[Event], progress: Callable[[int], None] | None = None) -> int:
        """Append events that another ledger made (import): known ids are skipped. Returns how many were new."""
        ...

    def known(self, ids: Sequence[bytes]) -> dict[bytes, tuple[str, bytes]]:
        """Those of some event ids that the ledger has: their types and memories."""
        ...

    def events(
        self, *, memory: bytes | None = None, after: int = 0, ids: Sequence[bytes] | None = None
    ) -> Iterator[Event]:
        """Events in order: of one memory, after a sequence number, or of given ids. Holds no transaction open."""
        ...

    def undone(self, memories: Collection[bytes]) -> list[Event]:
        """The `undone` events of some memories, in order."""
        ...

    def operation(self, event: bytes | None, scopes: Sequence[str] | None = None) -> list[Event]:
        """All events of some scopes (None: all) that were committed together with `event`, in order; those of a move
        between scopes, and of its undoing, belong to both.

        `event` None: the last operation that has any.
        """
        ...

    def newest(self, scopes: Sequence[str] | None, *, before: int | None = None, limit: int) -> list[Event]:
        """Events of some scopes (None: all), the newest first, of those before a sequence number (None: of all)."""
        ...

    def resolve(self, text: str) -> bytes:
        """The one event that an id, a short id or the beginning of an id names.

        Raises NotFound, AmbiguousId, BadInput.
        """
        ...

    def abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        """For each event its short id, as long as it takes to be no other's of late. What names several is no event."""
        ...

    def watermark(self) -> str:
        """Another text after any event and any counted use; the same as long as nothing is told."""
        ...
