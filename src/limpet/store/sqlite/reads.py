"""Questions about memories and events: the `Reads` half of the contract, over one connection."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import apsw

from ...model.edges import Edge
from ...model.errors import AmbiguousId, NotFound
from ...model.events import Event
from ...model.ids import format_id, parse_prefix, shortest_unique
from ...model.memory import Memory
from ..records import Proposal, SessionRow
from . import review, rows
from .search import carray
from .sql import statements

Bindings = dict[str, Any]
_SESSION = ("name", "scope", "started_at", "ended_at", "title", "memories", "last_at")


class SqliteReads:
    """Reads on a connection; inside a write they see the write's own transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._con = connection
        self._sql = statements()

    def _one(self, name: str, bindings: Bindings) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._con.execute(self._sql[name], bindings).fetchone()
        return row

    def resolve(self, prefix: str, scopes: Sequence[str] | None = None) -> bytes:
        low, high = parse_prefix(prefix)
        bound: Bindings = {"low": low, "high": high, "scopes": _names(scopes)}
        found = [row[0] for row in self._con.execute(self._sql["ids_from_prefix"], bound)]
        return _only(prefix, found, "memory", scopes)

    def resolve_event(self, prefix: str) -> bytes:
        low, high = parse_prefix(prefix)
        found = [row[0] for row in self._con.execute(self._sql["events_by_prefix"], {"low": low, "high": high})]
        return _only(prefix, found, "event", None)

    def get(self, id: bytes, *, known_at: int | None = None) -> Memory | None:
        if known_at is None:
            row = self._one("memory_current", {"id": id})
        else:
            row = self._one("memory_known_at", {"id": id, "known_at": known_at})
        return rows.memory(row) if row else None

    def same_statement(self, scope: str, fingerprint: int, at: int) -> Memory | None:
        found = self._con.execute(self._sql["same_statement"], {"fingerprint": fingerprint, "at": at}).fetchall()
        if not found:
            return None
        _, first = min(found)
        row = self._one("memories_by_num", {"nums": carray([first])})
        return rows.memory(row) if row and row[2] == scope else None

    def marked(self, fingerprints: Sequence[int]) -> set[int]:
        return {row[0] for row in self._con.execute(self._sql["marked"], {"marks": carray(fingerprints)})}

    def keyed(self, scope: str, key: str, *, known_at: int | None = None) -> list[Memory]:
        bound: Bindings = {"scope": scope, "key": key}
        if known_at is not None:
            bound["known_at"] = known_at
        found = self._con.execute(self._sql["keyed" if known_at is None else "keyed_known_at"], bound)
        return [rows.memory(row) for row in found]

    def keys(self, scope: str) -> list[str]:
        return [row[0] for row in self._con.execute(self._sql["keys"], {"scope": scope})]

    def renamed_key(self, scope: str, key: str) -> str | None:
        row = self._one("renamed_key", {"scope": scope, "key": key})
        return str(row[0]) if row else None

    def disputed(self, scopes: Sequence[str]) -> list[tuple[bytes, int]]:
        return self._con.execute(self._sql["disputed"], {"scopes": _names(scopes)}).fetchall()

    def next_position(self, scope: str, session: str) -> int:
        row = self._one("last_position", {"scope": scope, "session": session})
        return (row[0] if row and row[0] else 0) + 1

    def proposal(self, id: bytes) -> Proposal | None:
        return review.by_id(self._con, id)

    def session(self, scope: str, name: str) -> SessionRow | None:
        row = self._one("session", {"scope": scope, "name": name})
        return SessionRow(**dict(zip(_SESSION, row, strict=True))) if row else None

    def sessions(self, scopes: Sequence[str], limit: int) -> list[SessionRow]:
        found = []
        for scope in scopes:
            rows_ = self._con.execute(self._sql["sessions"], {"scope": scope, "limit": limit})
            found += [SessionRow(**dict(zip(_SESSION, row, strict=True))) for row in rows_]
        return sorted(found, key=lambda one: (-one.last_at, one.name))[:limit]

    def session_memories(self, scope: str, name: str) -> list[Memory]:
        found = self._con.execute(self._sql["session_memories"], {"scope": scope, "name": name})
        return [rows.memory(row) for row in found]

    def events(
        self, *, memory: bytes | None = None, after: int = 0, ids: Sequence[bytes] | None = None
    ) -> Iterator[Event]:
        if ids is not None:
            if ids:
                wanted: Bindings = {"ids": apsw.carray(tuple(set(ids))), "after": after}
                for row in self._con.execute(self._sql["events_by_ids"], wanted).fetchall():
                    yield rows.event(row)
            return
        name = "events_after" if memory is None else "events_of_memory"
        bindings: Bindings = {"after": after} if memory is None else {"after": after, "memory": memory}
        for row in self._con.execute(self._sql[name], bindings):
            yield rows.event(row)

    def operation(self, event: bytes | None, scopes: Sequence[str] | None = None) -> list[Event]:
        bound: Bindings = {"scopes": _names(scopes)}
        row = self._one("last_event", bound) if event is None else (event,)
        found = self._one("event_by_id", {"id": row[0]}) if row else None
        if found is None:
            return []
        operation = rows.event(found).operation
        bound["operation"] = operation
        return [rows.event(one) for one in self._con.execute(self._sql["operation_events"], bound)]

    def edge(self, source: bytes, type: str, target: bytes) -> Edge | None:
        row = self._one("edge_live", {"source": source, "type": type, "target": target})
        return Edge(*row) if row else None

    def reaches(self, type: str, start: bytes, goal: bytes) -> bool:
        return self._one("edge_reaches", {"type": type, "start": start, "goal": goal}) is not None

    def history(self, id: bytes) -> list[Memory]:
        return [rows.memory(row) for row in self._con.execute(self._sql["memory_versions"], {"id": id})]

    def abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        if not ids:
            return []
        found = self._con.execute(self._sql["ids_around"], {"ids": apsw.carray(tuple(ids))})
        return [shortest_unique(id, [one for one in near if one]) for id, *near in found]


def _names(scopes: Sequence[str] | None) -> str | None:
    return None if scopes is None else json.dumps(list(scopes))


def _only(prefix: str, found: list[bytes], what: str, scopes: Sequence[str] | None) -> bytes:
    if not found:
        place = "" if scopes is None else f" in {' or '.join(scopes)}"
        raise NotFound(
            f"no {what} with the id {prefix}{place}", hint="`limpet list` shows ids, --scope looks elsewhere"
        )
    if len(found) > 1:
        raise AmbiguousId(prefix, [format_id(id) for id in found])
    return found[0]
