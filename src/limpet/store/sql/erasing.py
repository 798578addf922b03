"""The part of the projection that takes content out of the rows: of a memory, a text, a vector, a session."""

from __future__ import annotations

from ...model.ids import session_mark
from ...model.state import SESSION_EVENTS, erased_name, scrub
from . import jobs, rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.events import Event
    from .chain import Chain
    from .database import Connection, Index
    from .sessions import SessionNumbers


class Erasing:
    """Every method needs an open write transaction."""

    _con: Connection
    _index: Index
    _sql: dict[str, str]
    _sessions: SessionNumbers
    _chain: Chain

    if TYPE_CHECKING:

        def _events_of(self, memory: bytes) -> list[Event]: ...
        def _intern_scope(self, name: str) -> int: ...
        def _is_session(self, id: bytes) -> bool: ...

    def _erase(self, id: bytes) -> set[int]:
        """Take a memory's content out of rows, index, vectors, queue and ledger; its events stay as tombstones.

        Returns the sessions that it was in.
        """
        numbers = self._sessions.of_memory(id)
        bodies = [row[0] for row in self._con.execute(self._sql["bodies_of_memory"], {"id": id})]
        sessions = self._sessions_of(id)
        self._con.execute("DELETE FROM memory WHERE id = ? AND retired_at IS NULL", (id,))
        self._con.execute("DELETE FROM memory WHERE id = ? AND retired_at IS NOT NULL", (id,))
        self._con.execute("DELETE FROM usage WHERE id = ?", (id,))
        self._con.execute("DELETE FROM review WHERE memory = ?1 OR other = ?1", (id,))
        is_session = self._is_session(id)
        for event in self._events_of(id):
            if event.type in SESSION_EVENTS and not is_session:
                continue  # a memory that a stranger gave the id of a session: that stays
            left = scrub(event)
            if left.content == event.content and left.data == event.data:
                continue
            self._chain.take_out(event.id)
            self._con.execute(
                "UPDATE event SET body = NULL, data = ? WHERE seq = ?", (rows.to_json(left.data), event.seq)
            )
            self._chain.append_again(event.id)
        for body in bodies:
            self._forget_body(body)
        for num, name, scope, mark in sessions:
            if mark != id or is_session:
                self._forget_session(num, name, scope, mark, purged=mark == id)
        return numbers

    def _sessions_of(self, id: bytes) -> list[tuple[int, str, str, bytes]]:
        """(number, name, scope, mark) of the sessions that a memory was ever in, or of a session itself."""
        found = self._con.execute(
            "SELECT e.num, e.name, s.name FROM session e JOIN scope s ON s.num = e.scope WHERE e.num IN ("
            "SELECT session FROM memory WHERE id = ?1 AND retired_at IS NULL AND session IS NOT NULL UNION"
            " SELECT session FROM memory WHERE id = ?1 AND retired_at IS NOT NULL AND session IS NOT NULL)",
            (id,),
        ).fetchall()
        for one in self._events_of(id):
            if one.type in SESSION_EVENTS:
                num = self._sessions.intern(self._intern_scope(one.data["scope"]), one.data["name"], one.at)
                found.append((num, one.data["name"], one.data["scope"]))
        return [(num, name, scope, session_mark(scope, name)) for num, name, scope in dict.fromkeys(found)]

    def _forget_session(self, num: int, name: str, scope: str, mark: bytes, *, purged: bool) -> None:
        """The name and title of a session that was purged itself, or that nothing names any more."""
        if self._con.execute("SELECT 1 FROM memory WHERE session = ? LIMIT 1", (num,)).get:
            return
        if not purged and self._con.execute("SELECT 1 FROM event WHERE memory = ? AND memory <> id", (mark,)).get:
            return
        erased = erased_name(mark)
        self._sessions.forget()
        self._con.execute("UPDATE surfaced SET session = ? WHERE scope = ? AND session = ?", (erased, scope, name))
        self._con.execute("DELETE FROM compacted WHERE session = ?", (name,))
        if purged:
            self._con.execute("UPDATE session SET name = ?, title = NULL WHERE num = ?", (erased, num))
        else:
            self._con.execute("DELETE FROM session WHERE num = ?", (num,))

    def _forget_body(self, body: int) -> None:
        self._index.delete(self._con, body)
        jobs.forget(self._con, body)
