"""The event ledger: appending events, and reading them in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice

from ...model.events import Event
from ...model.ids import short_id
from .memories import scope_list, the_only
from .store import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .store import Store

    # Given the store as it is inside the write transaction, answers with the events to append. It may run more than
    # once (when the lock was lost), so it must not do anything but read and answer.
    Decide = Callable[[Store], Sequence[Event]]

# Events that are read in one go.
PAGE_EVENTS = 2_000
# The last events, from which the short id of an operation is told apart: all would be a scan at each receipt.
TOLD_APART = 2_000
# Events of an import that are looked up and appended together.
BATCH_EVENTS = 500


class Ledger(Repository):
    """The only way to write, and the events in order."""

    def commit(self, decide: Decide) -> list[Event]:
        """Append and project the events that `decide` returns, durably, in one transaction. Return the events.

        Whatever the thread reads inside is read from that transaction.
        """
        from .projection import Projection  # reads need not load it

        with self._database.writing() as con:
            projection = Projection(self._database, con, self._store.describe)
            written = list(decide(self._store))
            purged = {
                event.memory: list(self.events(memory=event.memory)) for event in written if event.type == "purged"
            }
            projection.append(written)
            projection.conclude()
            if purged:
                from . import jobs

                jobs.after_purge(self._database, con, purged)
        if purged:
            jobs.flush(self._database, seconds=0)
        if written:
            self._database.loaded(len(written))
        return written

    def append(self, events: Iterable[Event], progress: Callable[[int], None] | None = None) -> int:
        """Append events that another ledger made (import); skip known ids. Return how many were new."""
        from .projection import Projection  # reads need not load it

        with self._database.writing() as con:
            projection = Projection(self._database, con, self._store.describe)
            new = 0
            coming = iter(events)
            while part := list(islice(coming, BATCH_EVENTS)):
                # A bare look-up first: an event may also be twice in what is imported.
                fresh: dict[bytes, Event] = {}
                for event in part:
                    fresh.setdefault(event.id, event)
                for id in self.known(list(fresh)):
                    del fresh[id]
                projection.append(list(fresh.values()))
                new += len(fresh)
                if progress:
                    progress(new)
            projection.conclude()
        self._database.loaded(new)
        return new

    def known(self, ids: Sequence[bytes]) -> dict[bytes, tuple[str, bytes]]:
        """Return the types and memories of those event ids that the ledger has."""
        rows = self._ask("known_events", ids=self._database.ids(ids)) if ids else []
        return {id: (type, memory) for id, type, memory in rows}

    def events(
        self, *, memory: bytes | None = None, after: int = 0, ids: Sequence[bytes] | None = None
    ) -> Iterator[Event]:
        """Yield the ledger page by page, so that a slow consumer holds no transaction open."""
        if ids is not None:
            if ids:
                yield from self._events("events_by_ids", ids=self._database.ids(set(ids)), after=after)
        elif memory is not None:
            yield from self._events("events_of_memory", memory=memory, after=after)
        else:
            while part := self._events("events_after", after=after, limit=PAGE_EVENTS):
                yield from part
                after = part[-1].seq

    def undone(self, memories: Collection[bytes]) -> list[Event]:
        """Return the `undone` events of some memories, in order."""
        return self._events("undone_events", memories=self._database.ids(memories)) if memories else []

    def operation(self, event: bytes, scopes: Sequence[str] | None = None) -> list[Event]:
        """Return all events of some scopes (None: all) that were committed together with `event`, in order; those of a
        move between scopes, and of its undoing, belong to both."""
        with self._database.reading():
            visible = scope_list(scopes)
            events = list(self.events(ids=[event]))
            if not events:
                return []
            bound = {"operation": events[0].operation}
            seen = self._events("operation_events", **bound, scopes=visible)
            if not seen or self._ask("operation_size", **bound)[0][0] == len(seen):
                return seen
            # A move between scopes is one operation of both, and so is its undoing.
            whole = moved = self._events("operation_events", **bound, scopes=None)
            while moved and not any(move.type == "moved" for move in moved):
                moved = list(
                    self.events(ids=[bytes.fromhex(move.data["undoes"]) for move in moved if move.type == "undone"])
                )
            return whole if moved else seen

    def newest(self, scopes: Sequence[str] | None, *, before: int | None = None, limit: int) -> list[Event]:
        """Return events of some scopes (None: all) before a sequence number (None: the end), the newest first."""
        before = 1 << 62 if before is None else before
        return self._events("newest_events", scopes=scope_list(scopes), before=before, limit=limit)

    def resolve(self, text: str, scopes: Sequence[str] | None = None) -> bytes:
        """Return the one event of some scopes (None: all) that an id, a short id or the beginning of an id names.

        Raises NotFound, AmbiguousId, BadInput.
        """
        named = self._named(text, "events_named")
        if scopes is not None:
            named = [id for id in named if self.operation(id, scopes)]
        return the_only(text, named, "operation", None)

    def abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        """Return each event's short id, long enough to be unique among late events. An ambiguous name is no event."""
        rows = self._ask("events_like", ids=self._database.ids(ids), last=TOLD_APART) if ids else []
        like = [row[0] for row in rows]
        return [short_id(id, like) for id in ids]

    def watermark(self) -> str:
        """Return a text that changes with any event and any counted use, and only then."""
        ((seq, id, changes, uses, used_at),) = self._ask("ledger_watermark")
        return f"{seq}-{(id or b'').hex()}-{changes}-{float(uses)}-{used_at}"

    def _events(self, name: str, **bound: Any) -> list[Event]:
        return list(map(to_event, self._ask(name, **bound)))


def to_event(row: tuple[Any, ...]) -> Event:
    """Return the event of a row of `event` in queries.sql."""
    seq, id, type, memory, at, operation, origin, content, data = row
    return Event(
        id=id, type=type, memory=memory, at=at, operation=operation or id, origin=origin, content=content,
        data=json.loads(data) if data else {}, seq=seq,
    )  # fmt: skip
