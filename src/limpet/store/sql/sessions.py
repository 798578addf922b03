"""Sessions and the places of memories in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...model.ids import session_mark
from ...model.memory import Memory
from ..records import SessionRow, TurnRow
from . import rows
from .database import Connection, Repository
from .statements import statements


class Sessions(Repository):
    def get(self, scope: str, name: str) -> SessionRow | None:
        found = self._database.rows(statements()["session"], {"scope": scope, "name": name})
        return SessionRow._make(found[0]) if found else None

    def latest(self, scopes: Sequence[str], *, limit: int) -> list[SessionRow]:
        """Sessions, the one with the latest memory first."""
        found: list[SessionRow] = []
        for scope in scopes:
            found += map(
                SessionRow._make, self._database.rows(statements()["sessions"], {"scope": scope, "limit": limit})
            )
        return sorted(found, key=lambda one: (-one.last_at_us, one.name))[:limit]

    def memories(self, scope: str, name: str) -> list[Memory]:
        """The active memories of a session, in their order."""
        found = self._database.rows(statements()["session_memories"], {"scope": scope, "name": name})
        return [rows.memory(row) for row in found]

    def turns(self, scope: str, name: str, *, limit: int) -> list[TurnRow]:
        """The last turns of a session, `limit` at most, whatever their state, in their order."""
        found = self._database.rows(statements()["session_turns"], {"scope": scope, "name": name, "limit": limit})
        return [TurnRow._make(row) for row in reversed(found)]

    def next_position(self, scope: str, session: str) -> int:
        """The place that the next memory of a session takes, from 1."""
        ((last,),) = self._database.rows(statements()["last_position"], {"scope": scope, "session": session})
        return (last or 0) + 1


class SessionNumbers:
    """Rows of sessions for one transaction. A session begins at the earliest time of what names it."""

    def __init__(self, con: Connection) -> None:
        self._con = con
        self._known: dict[tuple[int, str], tuple[int, int]] = {}  # (scope, name) -> number, when it began

    def intern(self, scope: int, name: str, at: int) -> int:
        """The number of a session that something of a time names."""
        found = self._known.get((scope, name))
        if found is None:
            known = "SELECT num, started_at FROM session WHERE scope = ? AND name = ?"
            found = self._con.execute(known, (scope, name)).fetchone()
        if found is None:
            made = "INSERT INTO session (scope, name, started_at) VALUES (?, ?, ?) RETURNING num"
            found = self._con.execute(made, (scope, name, at)).get, at
        num, began = found
        if at < began:
            self._con.execute("UPDATE session SET started_at = ? WHERE num = ?", (at, num))
        self._known[scope, name] = num, min(at, began)
        return int(num)

    def forget(self) -> None:
        """Rows were changed by others."""
        self._known.clear()

    def of_memory(self, id: bytes) -> set[int]:
        """Every session that it ever was in."""
        return {row[0] for row in self._con.execute(statements()["sessions_of_memory"], {"id": id})}

    def date(self, sessions: Iterable[int]) -> None:
        """Sessions that something names no longer: they began later, or never."""
        for num in sessions:
            row = self._con.execute(
                "SELECT n.scope, n.name, s.name FROM session n JOIN scope s ON s.num = n.scope WHERE n.num = ?", (num,)
            ).fetchone()
            if row is None:
                continue  # its name was erased with the memory
            scope, name, mark = row
            self._known.pop((scope, name), None)
            began = self._con.execute(
                statements()["session_begins"], {"num": num, "mark": session_mark(mark, name)}
            ).get
            if began is None:
                self._con.execute("DELETE FROM session WHERE num = ?", (num,))
            else:
                self._con.execute("UPDATE session SET started_at = ? WHERE num = ?", (began, num))
