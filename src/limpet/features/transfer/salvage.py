"""Recovery of events from a damaged store's file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw

from ...model.clock import format_time
from ...model.events import Event
from ...model.ids import format_id
from ...store.sql.ledger import to_event
from ...store.sqlite.connection import open_connection

# The most row numbers that are tried one by one to get past damage: an upper page leads to ten thousands of rows.
MOST_TRIES = 200_000
LATER_VERSIONS = 1 << 32  # the numbers of these rows of `memory` begin there


class Salvaged(NamedTuple):
    """The rows that could be read. `statements`: memories whose first event is lost, in the form of `remember --batch`.
    `lost`: the number of unreadable events."""

    events: list[Event]
    statements: list[dict[str, Any]]
    lost: int


def salvage(path: str) -> Salvaged:
    """Read a damaged store as far as that goes. Raises StoreError if it cannot even be opened."""
    con = open_connection(path, read_only=True, durable=True)
    try:
        columns = "seq, id, type, memory, at, operation, origin, body, data"
        rows = _Rows(con, f"SELECT {columns} FROM event NOT INDEXED", "seq")
        events = []
        for row in rows:
            content = None if row[7] is None else _text(con, row[7])
            if row[7] is not None and content is None:
                rows.lost += 1
                continue
            events.append(to_event((*row[:7], content, row[8])))
        begun = {event.memory for event in events if event.type == "remembered"}
        statements = list(_statements(con, begun))
        alone = {statement["id"] for statement in statements}
        return Salvaged([event for event in events if format_id(event.memory) not in alone], statements, rows.lost)
    finally:
        con.close()


def _statements(con: apsw.Connection, begun: set[bytes]) -> Iterator[dict[str, Any]]:
    scopes = dict(_Rows(con, "SELECT num, name FROM scope NOT INDEXED", "num"))
    sessions = dict(_Rows(con, "SELECT num, name FROM session NOT INDEXED", "num"))
    current = (
        "SELECT num, id, body, scope, kind, topics, key, metadata, importance, pinned, valid_from, valid_to, source,"
        " origin, session, speaker, stated_confidence, state, retired_at FROM memory NOT INDEXED"
    )
    for row in _Rows(con, current, "num"):
        _, id, body, scope, kind, topics, key, metadata, importance, pinned, start, end, source, origin = row[:14]
        session, speaker, confidence, state, retired = row[14:]
        content = None if body is None else _text(con, body)
        if id in begun or content is None or state != "active" or retired is not None:
            continue
        texts = {
            "id": format_id(id), "content": content, "kind": kind, "scope": scopes.get(scope), "key": key,
            "topics": json.loads(topics) if topics else None, "metadata": json.loads(metadata) if metadata else None,
            "importance": importance, "pin": bool(pinned) or None, "valid_from": format_time(start),
            "valid_to": None if end is None else format_time(end), "source": source, "origin": origin,
            "session": sessions.get(session), "speaker": speaker, "confidence": confidence,
        }  # fmt: skip
        yield {name: value for name, value in texts.items() if value is not None}


class _Rows:
    """The rows of a table by their numbers; what cannot be read is passed over and counted."""

    def __init__(self, con: apsw.Connection, statement: str, number: str) -> None:
        self._con = con
        self._statement = f"{statement} WHERE {number} > ? ORDER BY {number}"
        self.lost = 0

    def __iter__(self) -> Iterator[Any]:
        after = tries = 0
        while True:
            try:
                for row in self._con.execute(self._statement, (after,)):
                    after = row[0]
                    self.lost, tries = self.lost + tries, 0
                    yield row
                self.lost += tries > 0  # at the end nobody can say how many there were
                return
            except (apsw.CorruptError, apsw.NotADBError):
                after += 1
                tries += 1
            if tries >= MOST_TRIES:
                self.lost += 1
                if after > LATER_VERSIONS:
                    return
                after, tries = LATER_VERSIONS, 0


def _text(con: apsw.Connection, num: int) -> str | None:
    """Return a text by its number; None: it cannot be read."""
    try:
        text: str | None = con.execute("SELECT content FROM body WHERE num = ?", (num,)).get
    except (apsw.CorruptError, apsw.NotADBError):
        return None
    return text
