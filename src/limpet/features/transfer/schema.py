"""Events that come from outside: what each must look like, and which can follow the history. Nothing is written.

One table of fields judges events of JSONL and of segments alone, so that all devices judge alike. `Lifecycle` judges
events of JSONL against the store. An unknown field stays, within the bounds of metadata: a newer limpet may have
written it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...model.edges import ACYCLIC_TYPES, MAX_WEIGHT
from ...model.errors import BadInput
from ...model.events import Event
from ...model.ids import session_mark
from ...model.memory import (
    MAX_CONTENT_BYTES,
    STATES,
    STORED_TYPES,
    TRUST,
    Filter,
    check_key,
    check_kind,
    check_origin,
    check_scope,
)
from ...model.state import SESSION_EVENTS, STRUCTURAL, erased_name, scrub
from ...model.times import parse_time
from ...remember.validation import check_metadata, check_name, check_text, check_topics

if TYPE_CHECKING:
    from ...store import Store
    from .records import TransferReport


def is_scrubbed(event: Event) -> bool:
    """Return whether an event says no more than one of a purged memory or session may."""
    if event.type in SESSION_EVENTS:
        return scrub(event) == event
    return event.type in ("linked", "unlinked") or (event.content is None and event.data.keys() <= STRUCTURAL)


# Far above the length of any session.
MAX_POSITION = 1 << 30


def _must(be: str, test: Callable[[Any], object]) -> Callable[[Any], object]:
    """Return a check that raises ValueError for a value that does not pass."""

    def check(value: Any) -> None:
        if not test(value):
            raise ValueError(f"must be {be}")

    return check


_instant = _must(
    "microseconds, a whole number", lambda value: type(value) is int and parse_time(value, now=0) is not None
)
_CHECKS: dict[Callable[[Any], object], str] = {
    check_scope: "scope was",
    check_kind: "kind",
    check_key: "key",
    check_origin: "trust",
    _must(f"a number from 0 to {MAX_WEIGHT:g}", lambda value: type(value) in (int, float) and 0 <= value <= MAX_WEIGHT):
        "weight",
    lambda value: check_name("it", value, limit=2_000): "source",
    _must("a list", lambda value: isinstance(value, list) and check_topics(value) is not None): "topics",
    # What is in it is looked at where secrets are taken out of it.
    _must("an object", lambda value: isinstance(value, dict)): "metadata demoted",
    _must("text that is not empty", lambda value: check_name("it", value) is not None): "session speaker name title",
    _must(f"a whole number from 0 to {MAX_POSITION:,}", lambda value: type(value) is int and 0 <= value <= MAX_POSITION)
    : "position times",
    _must("a number from 0 to 1", lambda value: type(value) in (int, float) and 0 <= value <= 1):
        "importance confidence",
    _must("true or false", lambda value: type(value) is bool):
        "whole pinned anyway background settled reached repeats",
    # Words of a person or a program, on any number of lines.
    _must(
        f"text of {MAX_CONTENT_BYTES:,} bytes at most",
        lambda value: isinstance(value, str) and len(value.encode("utf-8")) <= MAX_CONTENT_BYTES,
    ): "quarantine why",
    _must("one short word", lambda value: re.fullmatch(r"[a-z][a-z_]{0,39}", value)): "about",
    _must("an id of 32 hexadecimal digits", lambda value: re.fullmatch(r"[0-9a-f]{32}", value)):
        "by into target over corrects undoes item",
    _must(f"one of {', '.join(STORED_TYPES)}", lambda value: value in STORED_TYPES): "edge",
    _must("accepted or rejected", lambda value: value in ("accepted", "rejected")): "verdict",
    _instant: "valid_from valid_to stated_at",
}  # fmt: skip
FIELDS = {name: check for check, names in _CHECKS.items() for name in names.split()}


def _fields(needed: str = "", others: str = "") -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(needed.split()), frozenset((needed + " " + others).split())


_STATED = "topics metadata source session speaker importance pinned trust"
# type -> (fields that it must have, fields that it may have)
TYPES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "remembered": _fields(
        "scope kind",
        f"{_STATED} key position confidence anyway valid_from valid_to quarantine over corrects why demoted background",
    ),
    # Stated again: what the second statement adds.
    "observed": _fields("", f"{_STATED} kind confidence stated_at repeats"),
    "edited": _fields("", "kind demoted anyway background"),
    "tagged": _fields("topics metadata"),
    "keyed": _fields("key"),
    "moved": _fields("scope was", "whole"),
    "bounded": _fields("", "valid_from valid_to why reached"),
    "superseded": _fields("by valid_to", "why settled"),
    **dict.fromkeys(("retracted", "archived", "restored", "quarantined"), _fields("", "why")),
    "merged": _fields("into", "background"),
    **dict.fromkeys(("pinned", "unpinned", "purged"), _fields()),
    "linked": _fields("edge target", "weight"),
    "unlinked": _fields("edge target"),
    "session_started": _fields("scope name", "title whole"),
    "session_ended": _fields("scope name"),
    "reviewed": _fields("about verdict", "item times"),
    "undone": _fields("undoes", "whole"),
}
# Types that hold a text.
_TEXTS = frozenset({"remembered", "edited"})
# Types that a purge reduces to their STRUCTURAL fields.
_EMPTIED = frozenset({"remembered", "edited", "tagged", "keyed", "reviewed"})


def check_event(event: Event) -> None:
    """Refuse an event that no limpet writes. Raises BadInput."""
    if event.type not in TYPES:
        raise BadInput(f"unknown event type: {event.type!r:.60}")
    check_origin(event.origin)
    data = event.data
    needed, known = TYPES[event.type]
    name = "recorded_at"
    try:
        _instant(event.at)
        others = {}
        for name, value in data.items():
            if name in known:
                FIELDS[name](value)
            elif name in FIELDS:
                raise BadInput("it has none")
            else:
                others[name] = value
    except BadInput as error:
        raise BadInput(f"{name}: {error.message}") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"{name}: {error}") from None
    if others:
        check_metadata(others)
    emptied = is_emptied(event)
    missing = (needed & STRUCTURAL if emptied else needed) - data.keys()
    if missing:
        raise BadInput(f"{min(missing)} is missing")
    if event.type in _TEXTS:
        if event.content is not None or not emptied:
            check_text(event.content)
    elif event.content is not None:
        raise BadInput("it has no content")
    _check_together(event)


def _check_together(event: Event) -> None:
    """Check an event's fields against each other and against the event. Raises BadInput."""
    data = event.data
    trust = data.get("trust")
    if trust is not None and TRUST[trust] > TRUST[event.origin]:
        raise BadInput(f"trust {trust} is above its origin, {event.origin}")
    if "valid_from" in data and "valid_to" in data and data["valid_to"] <= data["valid_from"]:
        raise BadInput("valid_to must be later than valid_from")
    if event.id == event.memory and event.type != "remembered":
        raise BadInput("it has the id of its memory, which is that of the event that makes it")
    itself = event.memory.hex()
    if itself in (data.get("by"), data.get("into"), data.get("target")) or data.get("undoes") == event.id.hex():
        raise BadInput("it speaks of itself")
    if event.type in SESSION_EVENTS:
        name = data["name"]
        erased = name == erased_name(event.memory)
        if not erased and (check_name("name", name) != name or event.memory != session_mark(data["scope"], name)):
            raise BadInput("its id is not that of its session")


def is_emptied(event: Event) -> bool:
    """Return whether a purge has emptied the event."""
    return event.type in _EMPTIED and event.content is None and event.data.keys() <= STRUCTURAL


# -- which events can follow the store and the lines before

# Fields that name another memory.
_OTHERS = ("by", "into", "target")


class Acyclic:
    """Links of the types that may not close a cycle: those of the store, and those that are added here before it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sources: dict[tuple[str, bytes], list[bytes]] = {}  # type, target -> sources

    def add(self, type: str, source: bytes, target: bytes) -> None:
        self._sources.setdefault((type, target), []).append(source)

    def closes(self, type: str, source: bytes, target: bytes) -> bool:
        """Return whether a link would close a cycle because `target` leads to `source` already."""
        # Backwards: a memory that links is mostly newer than its target, so little leads to it.
        leading, seen = {source}, set[bytes]()
        while leading and target not in leading:
            seen |= leading
            before = {earlier for id in leading for earlier in self._sources.get((type, id), ())}
            before |= {edge.source for edge in self._store.edges.of(list(leading), incoming=True, types=[type])}
            leading = before - seen
        return bool(leading)


class Lifecycle:
    """The import of events into the store, part by part: of those that can follow what is there."""

    def __init__(self, store: Store, report: TransferReport) -> None:
        self._store, self._report = store, report
        # Looked up for a part, and noted from earlier lines.
        self._events: dict[bytes, tuple[str, bytes]] = {}  # type, memory
        self._scopes: dict[bytes, str] = {}  # of memories
        self._purged: set[bytes] = set()
        # Operations that undo something: events derived from it are undone too, and may be in no ledger.
        self._undoing: set[bytes] = set()

    def take(self, part: Sequence[tuple[str, Event]]) -> None:
        """Take in some (place, event), in the order of the lines."""
        # Two queries for the whole part.
        events = [event for _, event in part]
        ids = [event.id for event in events]
        ids += [bytes.fromhex(event.data["undoes"]) for event in events if event.type == "undone"]
        self._events = dict(self._store.ledger.known(ids))
        named = {event.memory for event in events}
        named |= {bytes.fromhex(event.data[name]) for event in events for name in _OTHERS if name in event.data}
        memories = self._store.graph.memories(list(named), Filter(states=STATES))
        self._scopes = {id: memory.scope for id, memory in memories.items()}
        self._purged = {id for id, memory in memories.items() if memory.state == "purged"}
        links, fresh = Acyclic(self._store), list[Event]()
        for place, event in part:
            same = self._events.get(event.id)
            if same is not None:
                problem = "" if same == (event.type, event.memory) else "has the id of another event"
            else:
                problem = self._unfit(event)
            if same is None and not problem and event.type == "linked" and event.data["edge"] in ACYCLIC_TYPES:
                link = event.data["edge"], event.memory, bytes.fromhex(event.data["target"])
                if fresh and links.closes(*link):  # what is not stored yet may have ended a link of the cycle
                    self._append(fresh)
                    links, fresh = Acyclic(self._store), []
                if links.closes(*link):
                    problem = "leads in a cycle"
                else:
                    links.add(*link)
            if problem:
                self._report.bad(place, f"{event.type} {problem}")
                continue
            self._note(event)
            if same is None:
                fresh.append(event)
            else:
                self._report.known += 1
        self._append(fresh)

    def _append(self, fresh: list[Event]) -> None:
        new = self._store.ledger.append(fresh)
        self._report.new += new
        self._report.known += len(fresh) - new

    def _unfit(self, event: Event) -> str:
        """Return why the event cannot follow the history so far; "" if it can."""
        scope, data = self._scopes.get(event.memory), event.data
        if event.type in SESSION_EVENTS:
            return ""
        if event.type == "remembered":
            # Two devices can have made one memory. The event with its id came first.
            if scope is not None and (scope != data["scope"] or event.id == event.memory):
                return "has the id of another memory"
        elif scope is None and not (event.type in ("undone", "purged") and self._is_session(event.memory)):
            return "of a memory that is not there"
        if event.memory in self._purged and not is_scrubbed(event):
            return "of a memory that was purged"
        if scope is not None and event.memory not in self._purged and is_emptied(event):
            return "says nothing, and its memory was not purged"
        if any(bytes.fromhex(data[name]) not in self._scopes for name in _OTHERS if name in data):
            return "names a memory that is not there"
        if event.type == "undone":
            type, memory = self._events.get(bytes.fromhex(data["undoes"]), (None, None))
            if type is None:
                return "" if event.operation in self._undoing else "undoes an event that is not there"
            if memory != event.memory:
                return "undoes an event of another memory"
            if type == "purged":
                return "undoes a purge"
        return ""

    def _is_session(self, id: bytes) -> bool:
        if any(memory == id and type in SESSION_EVENTS for type, memory in self._events.values()):
            return True
        return any(event.type in SESSION_EVENTS for event in self._store.ledger.events(memory=id))

    def _note(self, event: Event) -> None:
        """Note the ids of an event that later lines may refer to."""
        self._events[event.id] = (event.type, event.memory)
        if event.type == "remembered":
            if event.content is None and event.memory not in self._scopes:
                self._purged.add(event.memory)
            self._scopes.setdefault(event.memory, event.data["scope"])
        elif event.type == "purged" and event.memory in self._scopes:
            self._purged.add(event.memory)
        elif event.type == "undone":
            self._undoing.add(event.operation)
