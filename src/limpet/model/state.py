"""The fold from events to beliefs: pure, and the only one, used by writes and by `rebuild`.

`apply` gives a memory's next state; `replay` folds a whole history with its undone events left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .clock import MICROSECONDS_PER_DAY
from .dataclass import dataclass, replace
from .events import Event
from .memory import REACHED, TRUST, least_trusted, unlike_topics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryState:
    """A memory as the store believes it between two events; the versioned part of a `Memory`."""

    id: bytes
    scope: str
    kind: str
    content: str | None  # None = purged
    topics: tuple[str, ...]
    key: str | None
    metadata: dict[str, Any]
    state: str
    origin: str
    trust: str  # the least trusted origin that it rests on
    source: str | None
    session: str | None
    speaker: str | None
    position: int
    importance: float
    stated_confidence: float | None  # given by the caller or an import; None = computed from observations
    observations: int
    observed_at: int  # last observation, by the store's own clock
    pinned: bool
    valid_from: int
    valid_to: int | None
    created_at: int
    superseded_by: bytes | None
    reason: str | None

    # As of a `Memory`, whose times without `_us` are datetimes.
    @property
    def valid_from_us(self) -> int:
        return self.valid_from

    @property
    def valid_to_us(self) -> int | None:
        return self.valid_to


@dataclass(frozen=True, slots=True)
class SearchFields:
    """The search fields that the projection derives from a memory's state. Words, separated by spaces."""

    fingerprint: int | None  # of scope, speaker and normalised text: equal for the same statement; int64
    topics: str | None
    labels: str | None  # metadata values and speaker; neither keys nor JSON syntax
    dates: str | None  # the date it is about, in words
    grams: str | None = None  # pairs of characters of what is written without spaces


def initial(event: Event) -> MemoryState:
    """Return the state that a `remembered` event creates."""
    data = event.data
    stated = data.get("confidence")
    return MemoryState(
        id=event.memory,
        scope=data["scope"],
        kind=data["kind"],
        content=event.content,
        topics=tuple(data.get("topics", ())),
        key=data.get("key"),
        metadata=data.get("metadata", {}),
        state="purged" if event.content is None else "quarantined" if "quarantine" in data else "active",
        origin=event.origin,
        trust=_trust(event, event.origin),
        source=data.get("source"),
        session=data.get("session"),
        speaker=data.get("speaker"),
        position=data.get("position", 0),
        importance=data.get("importance", 0.5),
        stated_confidence=stated,
        observations=1,
        observed_at=event.at,
        pinned=data.get("pinned", False),
        valid_from=data.get("valid_from", event.at),
        valid_to=data.get("valid_to"),
        created_at=event.at,
        superseded_by=None,
        reason=data.get("quarantine"),
    )


def apply(state: MemoryState | None, event: Event) -> MemoryState:
    """Return the state after `event`. Pure. An event on a purged memory changes nothing.

    `undone` and `purged` need the whole history: see `replay` and `scrub`.
    """
    if state is None:
        return initial(event)
    if state.state == "purged":
        return state
    if event.type == "remembered":
        # Two devices made the same memory (by one import): the later words, the topics of both.
        return replace(
            state,
            trust=least_trusted([state.trust, _trust(event, event.origin)]),
            content=event.content if event.content is not None else state.content,
            topics=unlike_topics((*state.topics, *event.data.get("topics", ()))),
            metadata=state.metadata | event.data.get("metadata", {}),
        )
    change = _CHANGES.get(event.type)
    return state if change is None else change(state, event)


def replay(events: Sequence[Event]) -> MemoryState | None:
    """Fold one memory's whole history, oldest first, without what was undone.

    A memory whose own `remembered` was undone begins as retracted: it was said, it is not believed.
    """
    cancelled = cancelled_by(events)
    state: MemoryState | None = None
    for event in events:
        if event.type == "remembered" and state is None:
            state = initial(event)
            if event.id in cancelled and state.state != "purged":
                state = replace(state, state="retracted", reason="undone")
        elif state is not None and event.id not in cancelled:
            state = apply(state, event)
    return state


SESSION_EVENTS = frozenset({"session_started", "session_ended"})


def replay_session(events: Sequence[Event]) -> tuple[int | None, str | None]:
    """Return a session's end (None: open) and title, from its events, oldest first, without undone ones. A later start
    reopens it."""
    cancelled = cancelled_by(events)
    ended_at, title = None, None
    for event in events:
        if event.type == "session_started" and event.id not in cancelled:
            ended_at, title = None, event.data.get("title", title)
        elif event.type == "session_ended" and event.id not in cancelled:
            ended_at = event.at
    return ended_at, title


# What the events of a purged memory have at most: structure, never content.
STRUCTURAL = frozenset((
    "scope", "was", "whole", "kind", "trust", "into", "stated_at", "position", "valid_from", "valid_to", "by", "undoes",
    "importance",
))  # fmt: skip


def scrub(event: Event) -> Event:
    """Return an event of a purged memory without its texts. `initial` makes a tombstone of a first one."""
    if event.type in SESSION_EVENTS:
        return replace(event, data={"scope": event.data["scope"], "name": erased_name(event.memory)})
    kept = {
        name: value for name, value in event.data.items() if name in STRUCTURAL or event.type in ("linked", "unlinked")
    }
    return replace(event, content=None, data=kept)


def erased_name(mark: bytes) -> str:
    """Return the name that replaces an erased session name."""
    return f"erased-{mark.hex()[:12]}"


def cancelled_by(events: Iterable[Event]) -> set[bytes]:
    """Return ids of the events that an `undone` event cancels, unless it is cancelled itself."""
    cancelled: set[bytes] = set()
    for event in sorted(events, key=lambda event: event.seq, reverse=True):
        if event.type == "undone" and event.id not in cancelled:
            cancelled.add(bytes.fromhex(event.data["undoes"]))
    return cancelled


def _observed(state: MemoryState, event: Event) -> MemoryState:
    """Return the state after a repetition. A more trusted origin raises its own; a merge only lowers its trust. What
    was stated without a kind gets one.

    `repeats`: from a source or a session that said it before; it has one vote.
    """
    data = event.data
    at = min(data.get("stated_at", event.at), event.at)
    new_day = "repeats" not in data and at // MICROSECONDS_PER_DAY > state.observed_at // MICROSECONDS_PER_DAY
    trust = _trust(event, state.trust)
    raised = "trust" in data and TRUST[state.trust] <= TRUST[trust] and TRUST[state.origin] < TRUST[event.origin]
    return replace(
        state,
        kind=data.get("kind", state.kind),
        observations=state.observations + new_day,
        observed_at=max(state.observed_at, at),
        origin=event.origin if raised else state.origin,
        trust=trust,
        source=data.get("source") if state.source is None else state.source,
        importance=data.get("importance", state.importance),
        stated_confidence=data.get("confidence", state.stated_confidence),
    )


def _edited(state: MemoryState, event: Event) -> MemoryState:
    """Return the state after an edit. `kind`: the words are no longer a belief but an episode; that has no key."""
    return replace(
        state,
        content=event.content if event.content is not None else state.content,
        kind=event.data.get("kind", state.kind),
        key=None if "kind" in event.data else state.key,
    )


def _trust(event: Event, otherwise: str) -> str:
    """Return the trust that an event states, never above that of its origin; `otherwise` when it states none."""
    stated = event.data.get("trust")
    return least_trusted([stated, event.origin]) if stated in TRUST else otherwise


def _bounded(state: MemoryState, event: Event) -> MemoryState:
    return replace(
        state,
        valid_from=event.data.get("valid_from", state.valid_from),
        valid_to=event.data.get("valid_to", state.valid_to),
        reason=REACHED if event.data.get("reached") else state.reason,
    )


_CHANGES: dict[str, Callable[[MemoryState, Event], MemoryState]] = {
    "observed": _observed,
    "edited": _edited,
    # What a purge elsewhere has emptied changes nothing.
    "tagged": lambda s, e: replace(
        s, topics=tuple(e.data.get("topics", s.topics)), metadata=e.data.get("metadata", s.metadata)
    ),
    "keyed": lambda s, e: replace(s, key=e.data.get("key", s.key)),
    "moved": lambda s, e: replace(s, scope=e.data["scope"]),
    "bounded": _bounded,
    "superseded": lambda s, e: replace(s, superseded_by=bytes.fromhex(e.data["by"]), valid_to=e.data["valid_to"]),
    "retracted": lambda s, e: replace(s, state="retracted", reason=e.data.get("why")),
    "archived": lambda s, _: replace(s, state="archived"),
    "restored": lambda s, _: replace(s, state="active", reason=None),
    "quarantined": lambda s, e: replace(s, state="quarantined", reason=e.data.get("why")),
    "merged": lambda s, e: replace(s, state="merged", superseded_by=bytes.fromhex(e.data["into"])),
    "pinned": lambda s, _: replace(s, pinned=True),
    "unpinned": lambda s, _: replace(s, pinned=False),
}
