"""The check that the rows which a recall reads are what the ledger makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from ...model.events import Event
from ...model.ids import format_id
from ...model.state import SESSION_EVENTS, MemoryState, cancelled_by, initial, replay
from ..records import Problem
from .chain_check import first_of
from .projection import as_heard, to_state
from .statements import statements
from .store import Connection, Store

_FIELDS = MemoryState.__slots__
_DERIVED = (
    "SELECT m.fingerprint, b.topics, b.labels, b.dates, b.grams FROM memory m LEFT JOIN body b ON b.num = m.body"
    " WHERE m.id = ? AND m.retired_at IS NULL"
)
_LINKS = "SELECT source, type, target, event FROM edge WHERE retired_at IS NULL"


def verify_projection(store: Store, con: Connection) -> list[Problem]:
    """Return for each memory and link that differs from the ledger the fields that do."""
    histories: dict[bytes, list[Event]] = {}
    for event in store.ledger.events():
        if event.type not in SESSION_EVENTS:
            histories.setdefault(event.memory, []).append(event)
    return first_of(chain(_memories(store, con, histories), _links(con, histories)))


def _memories(store: Store, con: Connection, histories: dict[bytes, list[Event]]) -> Iterator[Problem]:
    for id, events in histories.items():
        try:
            wanted = _state(con, events)
        except (KeyError, ValueError, TypeError) as error:
            yield Problem("ledger", f"the events of {format_id(id)} cannot be read: {error!r:.80}")
            continue
        row = con.execute(statements()["memory_current"], {"id": id}).fetchone()
        if wanted is None or row is None:
            continue  # `check_rows` counts them
        try:
            state = to_state(row)
        except (ValueError, TypeError):
            state = None
        wrong = [name for name in _FIELDS if state is None or _differ(getattr(state, name), getattr(wanted, name))]
        if not wrong and wanted.content is not None:
            fields = store.describe(wanted, None)
            derived = con.execute(_DERIVED, (id,)).fetchone()
            if derived != (fields.fingerprint, fields.topics, fields.labels, fields.dates, fields.grams):
                wrong = ["search fields"]
        if wrong:
            what = "cannot be read" if state is None else f"differs from the ledger in {', '.join(wrong)}"
            yield Problem("projection", f"memory {format_id(id)} {what}")


def _state(con: Connection, events: list[Event]) -> MemoryState | None:
    """Return what a memory's events make of it."""
    if any(event.type == "purged" for event in events):
        first = next((event for event in events if event.type == "remembered"), None)
        return None if first is None else initial(as_heard(con, first))
    return replay([as_heard(con, event) for event in events])


def _links(con: Connection, histories: dict[bytes, list[Event]]) -> Iterator[Problem]:
    made: dict[bytes, tuple[Any, ...]] = {}
    for events in histories.values():
        cancelled = cancelled_by(events)
        made |= {
            event.id: (event.memory, event.data.get("edge"), event.data.get("target"))
            for event in events
            if event.type == "linked" and event.id not in cancelled
        }
    for source, kind, target, event in con.execute(_LINKS):
        if made.get(event) != (source, kind, target.hex()):
            yield Problem("projection", f"the link {kind} of {format_id(source)} differs from the ledger")


def _differ(value: object, wanted: object) -> bool:
    # 1 and true are equal to Python, and two values to whoever stored them.
    return value != wanted or repr(value) != repr(wanted)
