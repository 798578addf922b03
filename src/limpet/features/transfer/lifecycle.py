"""Which events of another ledger can follow what is there: in the store, and on the lines before.

An event alone is judged by `schema.py`. Here: whether the memories and events that it speaks of are there, and are what
it takes them for. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...model.edges import ACYCLIC_TYPES
from ...model.events import Event
from ...model.memory import STATES
from ...model.state import SESSION_EVENTS, is_scrubbed
from ...store.records import Filter
from .schema import is_emptied

if TYPE_CHECKING:
    from ...store import Store

# Fields that name another memory.
_OTHERS = ("by", "into", "target")
_ANY = Filter(states=STATES)


class Judged(NamedTuple):
    """What becomes of some lines."""

    fresh: list[Event]
    known: int
    bad: list[tuple[int, str]]  # line, why
    left: Sequence[tuple[int, Event]]  # to be judged again when `fresh` is in the store


class _Memory(NamedTuple):
    scope: str
    purged: bool


class Lifecycle:
    """Judges the events of one import, part by part. `keep`: no part is stored before the next (a dry run)."""

    def __init__(self, store: Store, *, keep: bool) -> None:
        self._store = store
        self._keep = keep
        # What was looked up, and what came with lines that are not stored yet.
        self._memories: dict[bytes, _Memory] = {}
        self._events: dict[bytes, tuple[str, bytes]] = {}  # type, memory
        self._sessions: set[bytes] = set()
        self._begun: set[bytes] = set()
        self._links: dict[tuple[str, bytes], list[bytes]] = {}  # type, target -> sources
        # Operations that undo something. What follows from it is undone with it, and may be in no ledger any more.
        self._undoing: set[bytes] = set()

    def judge(self, part: Sequence[tuple[int, Event]]) -> Judged:
        """Some (line number, event), in the order of the lines."""
        if not self._keep:
            for found in (self._memories, self._events, self._sessions, self._begun, self._links):
                found.clear()
        self._look_up([event for _, event in part])
        fresh: list[Event] = []
        bad: list[tuple[int, str]] = []
        known = 0
        for place, (number, event) in enumerate(part):
            same = self._events.get(event.id)
            reason = None if same in (None, (event.type, event.memory)) else "has the id of another event"
            if same is None:
                reason = self._unfit(event)
                if reason is None and self._closes_cycle(event):
                    if fresh and not self._keep:
                        # What is not stored yet may have ended a link of the cycle.
                        return Judged(fresh, known, bad, part[place:])
                    reason = "leads in a cycle"
            if reason is not None:
                bad.append((number, f"{event.type} {reason}"))
                continue
            self._note(event)
            if same is None:
                fresh.append(event)
            else:
                known += 1
        return Judged(fresh, known, bad, ())

    def _look_up(self, events: Sequence[Event]) -> None:
        """Two questions for all of them: what is known needs no further look."""
        asked = [event.id for event in events]
        asked += [bytes.fromhex(event.data["undoes"]) for event in events if event.type == "undone"]
        self._events |= self._store.ledger.known([id for id in asked if id not in self._events])
        named: set[bytes] = set()
        for event in events:
            if event.id not in self._events:
                named.add(event.memory)
                named.update(bytes.fromhex(event.data[name]) for name in _OTHERS if name in event.data)
        for id, memory in self._store.graph.memories(list(named - self._memories.keys()), _ANY).items():
            self._memories[id] = _Memory(memory.scope, memory.state == "purged")

    def _unfit(self, event: Event) -> str | None:
        """Why the event cannot follow what is there, if it cannot."""
        if event.type in SESSION_EVENTS:
            return None
        there = self._memories.get(event.memory)
        if event.type == "remembered":
            # Two devices can have made one memory. The event that has its id was there first.
            if there is not None and (there.scope != event.data["scope"] or event.id == event.memory):
                return "has the id of another memory"
        elif there is None and not (event.type in ("undone", "purged") and self._is_session(event.memory)):
            return "of a memory that is not there"
        if there is not None and there.purged and not is_scrubbed(event):
            return "of a memory that was purged"
        if there is not None and not there.purged and is_emptied(event):
            return "says nothing, and its memory was not purged"
        if any(bytes.fromhex(event.data[name]) not in self._memories for name in _OTHERS if name in event.data):
            return "names a memory that is not there"
        return self._unfit_undo(event) if event.type == "undone" else None

    def _unfit_undo(self, event: Event) -> str | None:
        type, memory = self._events.get(bytes.fromhex(event.data["undoes"]), (None, None))
        if type is None:
            return None if event.operation in self._undoing else "undoes an event that is not there"
        if memory != event.memory:
            return "undoes an event of another memory"
        return "undoes a purge" if type == "purged" else None

    def _is_session(self, id: bytes) -> bool:
        if id not in self._sessions and any(one.type in SESSION_EVENTS for one in self._store.ledger.events(memory=id)):
            self._sessions.add(id)
        return id in self._sessions

    def _closes_cycle(self, event: Event) -> bool:
        if event.type != "linked" or event.data["edge"] not in ACYCLIC_TYPES:
            return False
        type, goal = event.data["edge"], event.memory
        # Backwards: what links is mostly newer than what it links to, so that little or nothing leads to it.
        target, leading, seen = bytes.fromhex(event.data["target"]), {goal}, set[bytes]()
        while leading:
            if target in leading:
                return True
            seen |= leading
            before = {source for one in leading for source in self._links.get((type, one), ())}
            stored = list(leading - self._begun)
            if stored:
                before |= {edge.source for edge in self._store.edges.of(stored, incoming=True, types=[type])}
            leading = before - seen
        return False

    def _note(self, event: Event) -> None:
        """What later lines may speak of."""
        self._events[event.id] = (event.type, event.memory)
        if event.type == "remembered" and event.memory not in self._memories:
            self._memories[event.memory] = _Memory(event.data["scope"], event.content is None)
            self._begun.add(event.memory)
        elif event.type in SESSION_EVENTS:
            self._sessions.add(event.memory)
        elif event.type == "purged" and event.memory in self._memories:
            self._memories[event.memory] = self._memories[event.memory]._replace(purged=True)
        elif event.type == "undone":
            self._undoing.add(event.operation)
        elif event.type == "linked":
            slot = (event.data["edge"], bytes.fromhex(event.data["target"]))
            self._links.setdefault(slot, []).append(event.memory)
