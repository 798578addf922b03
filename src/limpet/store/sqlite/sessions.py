"""Sessions and the places of memories in them."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.memory import Memory
from ..records import SessionRow
from . import rows
from .database import Repository
from .sql import statements


class SqliteSessions(Repository):
    def get(self, scope: str, name: str) -> SessionRow | None:
        found = self._database.rows(statements()["session"], {"scope": scope, "name": name})
        return SessionRow._make(found[0]) if found else None

    def latest(self, scopes: Sequence[str], *, limit: int) -> list[SessionRow]:
        found: list[SessionRow] = []
        for scope in scopes:
            found += map(
                SessionRow._make, self._database.rows(statements()["sessions"], {"scope": scope, "limit": limit})
            )
        return sorted(found, key=lambda one: (-one.last_at_us, one.name))[:limit]

    def memories(self, scope: str, name: str) -> list[Memory]:
        found = self._database.rows(statements()["session_memories"], {"scope": scope, "name": name})
        return [rows.memory(row) for row in found]

    def next_position(self, scope: str, session: str) -> int:
        ((last,),) = self._database.rows(statements()["last_position"], {"scope": scope, "session": session})
        return (last or 0) + 1
