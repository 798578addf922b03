"""What a ledger says by itself: every version of its memories and their links, folded from the events.

Slow and obviously right. The rows of a store, which are made step by step, are compared with it.
"""

from __future__ import annotations

from collections import defaultdict

from limpet.model.dataclass import replace
from limpet.model.edges import live_edges
from limpet.model.ids import format_id
from limpet.model.memory import Memory, caseless
from limpet.model.state import replay


def versions(events):
    """Every version of one memory, oldest first: one begins wherever the state changes."""
    events = [event for event in events if event.type != "linked"]
    purged = next((event for event in events if event.type == "purged"), None)
    if purged is not None:
        state = replay(events)
        return [] if state is None else [_shown(state, purged.at)]
    found, last = [], None
    for count, event in enumerate(events, 1):
        state = replay(events[:count])
        if state is None or (state == last and repr(state.metadata) == repr(last.metadata)):
            continue
        at = event.at if not found else max(event.at, found[-1].recorded_at_us)
        if found:
            found[-1] = replace(found[-1], retired_at_us=at)
        found.append(_shown(state, at))
        last = state
    return found


def memories(store):
    """By id, every version of every memory of a store."""
    events = defaultdict(list)
    for event in store.ledger.events():
        events[event.memory].append(event)
    return {id: made for id, several in events.items() if (made := versions(several))}


def known(made, at):
    """Of the versions of one memory that which the store held at `at` (None: now)."""
    for one in reversed(made):
        if one.retired_at_us is None if at is None else one.recorded_at_us <= at:
            return one if at is None or one.retired_at_us is None or at < one.retired_at_us else None
    return None


def links(store, known_at=None):
    """(source, type, target) -> weight of every link, as the store knew it then."""
    events = defaultdict(list)
    for event in store.ledger.events():
        if known_at is None or event.at <= known_at:
            events[event.memory].append(event)
    return {
        (source, type, target): made.data.get("weight", 1.0)
        for source, several in events.items()
        for (type, target), made in live_edges(several).items()
    }


def passes(one, where):
    """Whether a version passes a filter, whatever it says of the time of knowledge."""
    return (
        (where.scopes is None or one.scope in where.scopes)
        and one.state in where.states
        and (not where.kinds or one.kind in where.kinds)
        and set(map(caseless, where.topics)) <= set(map(caseless, one.topics))
        and where.session in (None, one.session)
        and where.speaker in (None, one.speaker)
        and (where.key is None or caseless(one.key or "") == caseless(where.key))
        and all(_same(one.metadata.get(name), value) for name, value in where.metadata)
        and (where.since is None or one.valid_from_us >= where.since)
        and (where.until is None or one.valid_from_us < where.until)
        and (
            where.as_of is None
            or (one.valid_from_us <= where.as_of and (one.valid_to_us is None or where.as_of < one.valid_to_us))
        )
    )


def _same(held, asked):
    """Whether a value in metadata is the one that is asked for; true is no 1."""
    return held == asked and isinstance(held, bool) == isinstance(asked, bool)


def _shown(state, recorded_at):
    return Memory(
        id=format_id(state.id), scope=state.scope, kind=state.kind, content=state.content or "", topics=state.topics,
        key=state.key, metadata=state.metadata, state=state.state, origin=state.origin, trust=state.trust,
        source=state.source, session=state.session, speaker=state.speaker, position=state.position,
        importance=state.importance, stated_confidence=state.stated_confidence, observations=state.observations,
        observed_at_us=state.observed_at, pinned=state.pinned, valid_from_us=state.valid_from,
        valid_to_us=state.valid_to, created_at_us=state.created_at, recorded_at_us=recorded_at,
        superseded_by=format_id(state.superseded_by) if state.superseded_by else None, reason=state.reason,
    )  # fmt: skip
