"""A reference store in plain Python: the contract's reads and its write door, slow and obviously right.

It keeps the ledger as a list and answers every question by folding it anew. SQLite is held to it by
tests/property/test_state_machine.py and tests/contract/.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from limpet.model.edges import Edge, live_edges
from limpet.model.errors import AmbiguousId, BadInput, NotFound
from limpet.model.events import Event
from limpet.model.ids import format_id, parse_id, parse_prefix
from limpet.model.memory import Memory
from limpet.model.state import MemoryState, replay, scrub
from limpet.store.contract import Decide, Filter, Page
from limpet.text.describe import describe


class ReferenceStore:
    """`Reads`, `commit`, `page`, `count` and `history` of the contract, in memory."""

    path = ":reference:"
    read_only = False

    def __init__(self) -> None:
        self._ledger: list[Event] = []

    @property
    def graph(self):
        raise NotImplementedError("the reference store keeps links for the write door alone")

    def close(self) -> None:
        pass

    def commit(self, decide: Decide) -> list[Event]:
        written = [replace(event, seq=len(self._ledger) + i) for i, event in enumerate(decide(self), 1)]
        self._ledger += written
        gone = {event.memory for event in written if event.type == "purged"}
        self._ledger = [scrub(event) if event.memory in gone else event for event in self._ledger]
        return written

    # -- reads

    def resolve(self, prefix: str) -> bytes:
        low, high = parse_prefix(prefix)
        found = sorted({event.memory for event in self._ledger if low <= event.memory <= high})
        if not found:
            raise NotFound(prefix)
        if len(found) > 1:
            raise AmbiguousId(prefix, [format_id(id) for id in found])
        return found[0]

    def resolve_event(self, prefix: str) -> bytes:
        low, high = parse_prefix(prefix)
        found = [event.id for event in self._ledger if low <= event.id <= high]
        if len(found) != 1:
            raise NotFound(prefix) if not found else AmbiguousId(prefix, [format_id(id) for id in found])
        return found[0]

    def get(self, id: bytes, *, known_at: int | None = None) -> Memory | None:
        versions = self.history(id)
        if known_at is None:
            return versions[-1] if versions else None
        known = [one for one in versions if one.recorded_at <= known_at]
        return known[-1] if known and (known[-1].retired_at is None or known_at < known[-1].retired_at) else None

    def history(self, id: bytes) -> list[Memory]:
        """Fold every prefix of the memory's events; a version begins wherever the state changes."""
        events = [event for event in self._ledger if event.memory == id and event.type != "linked"]
        purged = next((event for event in events if event.type == "purged"), None)
        if purged is not None:
            state = replay(events)
            return [] if state is None else [_shown(state, purged.at)]
        versions: list[Memory] = []
        last: MemoryState | None = None
        for count, event in enumerate(events, 1):
            state = replay(events[:count])
            if state is None or state == last:
                continue
            if versions:
                versions[-1] = replace(versions[-1], retired_at=event.at)
            versions.append(_shown(state, event.at))
            last = state
        return versions

    def _current(self) -> list[Memory]:
        ids = dict.fromkeys(event.memory for event in self._ledger)
        return [memory for id in ids if (memory := self.get(id))]

    def same_statement(self, scope: str, fingerprint: int, at: int) -> Memory | None:
        for one in self._current():
            if (
                one.scope == scope
                and one.state == "active"
                and (one.valid_to is None or at < one.valid_to)
                and self._mark(one) == fingerprint
            ):
                return one
        return None

    def _mark(self, memory: Memory) -> int | None:
        state = replay([event for event in self._ledger if event.memory == parse_id(memory.id)])
        return None if state is None else describe(state).fingerprint

    def keyed(self, scope: str, key: str) -> list[Memory]:
        found = [one for one in self._current() if one.scope == scope and one.key == key and one.state == "active"]
        return sorted(found, key=lambda one: one.valid_from)

    def next_position(self, scope: str, session: str) -> int:
        taken = [one.position for one in self._current() if (one.scope, one.session) == (scope, session)]
        return max(taken, default=0) + 1

    def events(
        self, *, memory: bytes | None = None, after: int = 0, ids: Sequence[bytes] | None = None
    ) -> Iterator[Event]:
        for event in self._ledger:
            if (memory is None or event.memory == memory) and event.seq > after and (ids is None or event.id in ids):
                yield event

    def operation(self, event: bytes | None) -> list[Event]:
        if not self._ledger:
            return []
        wanted = self._ledger[-1] if event is None else next(one for one in self._ledger if one.id == event)
        return [one for one in self._ledger if one.operation == wanted.operation]

    def edge(self, source: bytes, type: str, target: bytes) -> Edge | None:
        made = self._links(source).get((type, target))
        return made and Edge(source, type, target, made.data.get("weight", 1.0), made.id, made.at)

    def reaches(self, type: str, start: bytes, goal: bytes) -> bool:
        reached, left = {start}, [start]
        while left:
            more = {target for kind, target in self._links(left.pop()) if kind == type} - reached
            reached |= more
            left += more
        return goal in reached

    def links(self, known_at: int | None = None) -> dict[tuple[bytes, str, bytes], float]:
        """(source, type, target) -> weight of every link, as the store knew it then."""
        known = [event for event in self._ledger if known_at is None or event.at <= known_at]
        return {
            (source, type, target): made.data.get("weight", 1.0)
            for source in {event.memory for event in known}
            for (type, target), made in live_edges(event for event in known if event.memory == source).items()
        }

    def _links(self, source: bytes) -> dict[tuple[str, bytes], Event]:
        return live_edges(event for event in self._ledger if event.memory == source)

    def count(self, where: Filter) -> int:
        return sum(self._passes(one, where) for one in self._current())

    def page(self, where: Filter, *, sort: str, limit: int, cursor: str | None, descending: bool = True) -> Page:
        if sort not in ("created", "updated") or cursor is not None:
            raise BadInput("the reference store lists by time, from the start")
        passing = [one for one in self._current() if self._passes(one, where)]
        key = {"created": lambda one: (one.created_at, one.id), "updated": lambda one: (one.recorded_at, one.id)}[sort]
        return Page(memories=sorted(passing, key=key, reverse=descending)[:limit], cursor=None)

    @staticmethod
    def _passes(one: Memory, where: Filter) -> bool:
        return (
            (where.scopes is None or one.scope in where.scopes)
            and one.state in where.states
            and (not where.kinds or one.kind in where.kinds)
            and set(where.topics) <= set(one.topics)
            and (where.session is None or one.session == where.session)
            and (where.since is None or one.valid_from >= where.since)
            and (where.until is None or one.valid_from < where.until)
            and (
                where.as_of is None
                or (one.valid_from <= where.as_of and (one.valid_to is None or where.as_of < one.valid_to))
            )
        )


def _shown(state: MemoryState, recorded_at: int) -> Memory:
    return Memory(
        id=format_id(state.id), scope=state.scope, kind=state.kind, content=state.content or "", topics=state.topics,
        key=state.key, metadata=state.metadata, state=state.state, origin=state.origin, source=state.source,
        session=state.session, speaker=state.speaker, position=state.position, importance=state.importance,
        stated_confidence=state.stated_confidence, observations=state.observations, observed_at=state.observed_at,
        pinned=state.pinned, valid_from=state.valid_from, valid_to=state.valid_to, created_at=state.created_at,
        recorded_at=recorded_at, superseded_by=format_id(state.superseded_by) if state.superseded_by else None,
        reason=state.reason,
    )  # fmt: skip
