"""Sessions and the places of memories in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...model.ids import session_mark
from ...model.memory import Memory
from ...model.state import erased_name
from ..records import ALL, SessionRow, TurnRow
from .statements import statements, to_memory
from .store import Connection, Repository


class Sessions(Repository):
    def get(self, scope: str, name: str) -> SessionRow | None:
        rows = self._ask("session", scope=scope, name=name)
        return SessionRow._make(rows[0]) if rows else None

    def latest(self, scopes: Sequence[str], *, limit: int) -> list[SessionRow]:
        """Return sessions, the one with the latest memory first."""
        rows = [SessionRow._make(row) for scope in scopes for row in self._ask("sessions", scope=scope, limit=limit)]
        return sorted(rows, key=lambda row: (-row.last_at_us, row.name))[:limit]

    def memories(self, scope: str, name: str, *, limit: int = ALL) -> list[Memory]:
        """Return the active memories of a session, the last `limit` at most, in their order."""
        return list(map(to_memory, reversed(self._ask("session_memories", scope=scope, name=name, limit=limit))))

    def turns(self, scope: str, name: str, *, limit: int) -> list[TurnRow]:
        """Return the last turns of a session, `limit` at most, whatever their state, in their order."""
        return list(map(TurnRow._make, reversed(self._ask("session_turns", scope=scope, name=name, limit=limit))))

    def next_position(self, scope: str, session: str) -> int:
        """Return the place that the next memory of a session takes, from 1."""
        ((last,),) = self._ask("last_position", scope=scope, name=session)
        return (last or 0) + 1


class SessionNumbers:
    """Rows of sessions for one transaction. A session begins at the earliest time of what names it."""

    def __init__(self, con: Connection) -> None:
        self._con = con
        self._known: dict[tuple[int, str], tuple[int, int]] = {}  # (scope, name) -> number, when it began

    def intern(self, scope: int, name: str, at: int) -> int:
        """Return the number of a session named at a time, adding it if it is new."""
        row = self._known.get((scope, name))
        if row is None:
            known = "SELECT num, started_at FROM session WHERE scope = ? AND name = ?"
            row = self._con.execute(known, (scope, name)).fetchone()
        if row is None:
            made = "INSERT INTO session (scope, name, started_at) VALUES (?, ?, ?) RETURNING num"
            row = self._con.execute(made, (scope, name, at)).get, at
        num, began = row
        if at < began:
            self._con.execute("UPDATE session SET started_at = ? WHERE num = ?", (at, num))
        self._known[scope, name] = num, min(at, began)
        return int(num)

    def erase(self, num: int, name: str, scope: str, mark: bytes, *, purged: bool) -> None:
        """Erase the name and title of a session that was purged itself, or that nothing names any more; of one that
        was purged and still has memories, the title."""
        began = self._con.execute("SELECT min(created_at) FROM memory WHERE session = ?", (num,)).get
        if began is not None:
            if purged:  # its memories still name it
                self._known.clear()
                cleared = "UPDATE session SET title = NULL, ended_at = NULL, started_at = ? WHERE num = ?"
                self._con.execute(cleared, (began, num))
            return
        if not purged and self._con.execute("SELECT 1 FROM event WHERE memory = ? AND memory <> id", (mark,)).get:
            return
        erased = erased_name(mark)
        self._known.clear()
        self._con.execute("UPDATE surfaced SET session = ? WHERE scope = ? AND session = ?", (erased, scope, name))
        self._con.execute("DELETE FROM compacted WHERE session = ?", (name,))
        self._con.execute("DELETE FROM outside_read WHERE session = ?", (name,))
        if purged:
            self._con.execute("UPDATE session SET name = ?, title = NULL WHERE num = ?", (erased, num))
        else:
            self._con.execute("DELETE FROM session WHERE num = ?", (num,))

    def of_memory(self, id: bytes) -> set[int]:
        """Return every session that it ever was in."""
        return {row[0] for row in self._con.execute(statements()["sessions_of_memory"], {"id": id})}

    def date(self, sessions: Iterable[int]) -> None:
        """Update sessions that something no longer names: they began later, or never."""
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
