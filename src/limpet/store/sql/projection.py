"""From events to rows: append them and project them, in one transaction that the caller has begun."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from operator import attrgetter

from ...model.dataclass import replace
from ...model.errors import BadInput
from ...model.events import Event
from ...model.ids import session_mark
from ...model.state import SESSION_EVENTS, MemoryState, apply, cancelled_by, initial, replay, replay_session, scrub
from .chain import Chain
from .ledger import to_event
from .statements import KNOWN_TRUST, scope_token, statements, to_json, topics_of, versions_of
from .store import Connection, Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .sessions import SessionNumbers
    from .store import Describe

# Later versions are numbered from here on, so that a first one can have its text's number.
FIRST_LATER = 1 << 32
# Fields of a state that its row has as they are.
_AS_THEY_ARE = attrgetter(
    "id", "kind", "key", "state", "origin", "trust", "source", "speaker", "position", "importance", "stated_confidence",
    "observations", "observed_at", "pinned", "valid_from", "valid_to", "created_at", "superseded_by", "reason",
)  # fmt: skip
_SESSION = "SELECT e.name, s.name FROM session e JOIN scope s ON s.num = e.scope WHERE e.num = ?"
# Events that may be of a session, or stand before the memory that they speak of.
_OF_ANYTHING = SESSION_EVENTS | {"linked", "unlinked", "undone"}


class Projection:
    """A projection of events on one connection of a database. Every method needs an open write transaction."""

    def __init__(self, database: Database, connection: Connection, describe: Describe) -> None:
        self._database = database
        self._index = database.index
        self._con = connection
        self._sql = statements()
        self._describe = describe
        self._chain = Chain(connection)
        # Numbers of names, for the length of this transaction.
        self._scopes: dict[str, int] = {}
        self._numbers: SessionNumbers | None = None
        self._told_anew = self._rebuilding = False

    def append(self, events: Sequence[Event]) -> None:
        """Write events and project them, in order. Memories that are new one after the other, which is most of what a
        batch is, are written together."""
        made: set[bytes] = set()
        new: list[Event] = []
        known = "SELECT 1 FROM memory WHERE id = ? AND retired_at IS NULL"
        for event in events:
            # Another device may have made the memory before under this id; not if the event has the memory's id, which
            # it got because no event had it.
            if event.type == "remembered" and event.memory not in made and (
                event.id == event.memory or self._con.execute(known, (event.memory,)).get is None
            ):  # fmt: skip
                made.add(event.memory)
                new.append(event)
                continue
            self._append_new(new)
            new = []
            self._append_change(event)
        self._append_new(new)

    def _note_renaming(self, events: Sequence[Event]) -> None:
        """Note which scope has a new name, from a memory's events: the first one of a move of a whole scope."""
        cancelled = cancelled_by(events)
        for event in events:
            if event.type == "moved" and event.data.get("whole") and event.operation == event.id:
                if event.id in cancelled:
                    self._con.execute("DELETE FROM renamed WHERE event = ?", (event.id,))
                else:
                    row = (event.id, event.at, event.data["was"], event.data["scope"])
                    self._con.execute("INSERT INTO renamed VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", row)

    @property
    def _sessions(self) -> SessionNumbers:
        """Numbers of sessions, for the length of this transaction."""
        if self._numbers is None:
            from .sessions import SessionNumbers

            self._numbers = SessionNumbers(self._con)
        return self._numbers

    def conclude(self) -> None:
        """Finish the transaction, once, after its last `append`."""
        self._chain.conclude()

    def _append_new(self, events: list[Event]) -> None:
        """Append new memories: text with its search fields, event and first version, a statement for each table."""
        if not events:
            return
        body, first = self._con.execute(self._sql["next_numbers"]).fetchone()
        later = 0  # the number of a version without a text
        texts, ledger, versions = [], [], []
        for seq, event in enumerate(events, first):
            state = initial(event)
            fields = self._describe(state, event.mark)
            scope = self._intern_scope(state.scope)
            num = None
            if event.content is None:
                later = later + 1 if later else self._next_later()
            else:
                num, body = body, body + 1
                texts.append(
                    (num, event.content, fields.topics, fields.labels, fields.dates, scope_token(scope), fields.grams)
                )
            ledger.append(self._chain.event_row(seq, event, num))
            versions.append(self._version(num or later, state, event.at, num, fields.fingerprint))
        self._index.insert(self._con, texts)
        self._con.executemany(self._sql["insert_event"], ledger)
        self._con.executemany(self._sql["insert_memory"], versions)

    def _append_change(self, event: Event) -> None:
        body = None
        if event.type not in _OF_ANYTHING:
            there = self._con.execute(
                "SELECT scope, state FROM memory WHERE id = ? AND retired_at IS NULL", (event.memory,)
            ).fetchone()
            if event.type == "purged" and there is None and self._is_session(event.memory):
                there = (0, "active")
            if there is None:
                raise BadInput(f"event {event.id.hex()} changes a memory that is not there")
            if there[1] == "purged":
                event = scrub(event)
            if event.content is not None:
                body = self._next("body", "num")
                text = (body, event.content, None, None, None, scope_token(there[0]), None)
                self._index.insert(self._con, [text])
        seq = self._next("event", "seq")
        self._con.execute(self._sql["insert_event"], self._chain.event_row(seq, event, body))
        self.project(replace(event, seq=seq), body)

    def _next(self, table: str, column: str) -> int:
        return int(self._con.execute(f"SELECT coalesce(max({column}), 0) + 1 FROM {table}").get)

    def _next_later(self) -> int:
        return max(FIRST_LATER, self._next("memory", "num"))

    def project(self, event: Event, body: int | None) -> None:
        """Update the rows of `event.memory` to the state after the event. `body`: where the event's content is."""
        if event.type in ("linked", "unlinked"):
            self._end_edge(event.memory, event.data["edge"], bytes.fromhex(event.data["target"]), event.at)
            if event.type == "linked":
                self._project_edge(event)
            return
        if event.type in SESSION_EVENTS:
            self._project_session(event)
            return
        if event.type == "reviewed":
            self._project_verdict(event, event.data.get("verdict"), event.at)
        if event.type == "moved":
            self._note_renaming([event])
        if event.type == "purged":
            sessions = self._erase(event.memory)
            if not self._is_session(event.memory):
                self._project_tombstone(event)
            self._sessions.date(sessions - self._sessions.of_memory(event.memory))
            return
        current = self._state(event.memory)
        if event.type == "undone":
            # Only events up to this one: during a rebuild the ledger already has all later ones.
            events = [past for past in self._events_of(event.memory) if past.seq <= event.seq]
            if any(past.type in SESSION_EVENTS for past in events):
                self._project_session(event)
            if current is None:
                return
            self._project_undone_edges(events, event)
            self._project_undone_verdicts(events)
            self._note_renaming(events)
            after = replay(events)
        elif current is None and event.type != "remembered":
            return  # in the order of all devices it comes before its memory
        else:
            after = apply(current, event)
        self._look_again(event)
        # Python takes 1 and true for equal; whoever stored them does not.
        if after is None or (after == current and repr(after.metadata) == repr(current.metadata)):
            return
        at, first = event.at, current is None
        if not first:
            at = int(self._con.execute(self._sql["retire_memory"], {"id": event.memory, "at": at}).get)
        if body is None or after.content != event.content:
            body = self._body_for(after, event.memory)
        self._insert_version(after, at, body, first=first)
        if current is not None:
            self._follow(body, current, after)

    def _look_again(self, event: Event) -> None:
        """Have the code of a memory looked at again that is said again in a checkout (features/code)."""
        if event.type == "observed" and "code" in event.data and not self._rebuilding:
            self._con.execute(self._sql["look_again"], (event.memory,))

    def _is_session(self, id: bytes) -> bool:
        """Return whether an id is a session's mark and no memory's: a stranger's event may have made it both."""
        types = {event.type for event in self._events_of(id)}
        return bool(types & SESSION_EVENTS) and "remembered" not in types

    def _state(self, id: bytes) -> MemoryState | None:
        row = self._con.execute(self._sql["memory_current"], {"id": id}).fetchone()
        return to_state(row) if row else None

    def _events_of(self, memory: bytes) -> list[Event]:
        return list(map(to_event, self._con.execute(self._sql["events_of_memory"], {"memory": memory, "after": 0})))

    def _body_for(self, state: MemoryState, id: bytes) -> int | None:
        """Return the text with the state's content: that of the last version, or an earlier one after an undo."""
        if state.content is None:
            return None
        num = self._con.execute(
            "SELECT m.body FROM memory m JOIN body b ON b.num = m.body WHERE m.id = ?1 AND b.content = ?2"
            f" AND m.num IN {versions_of('?1')} ORDER BY m.num DESC LIMIT 1",
            (id, state.content),
        ).get
        if num is None:
            raise BadInput(f"the text of memory {id.hex()} is gone")
        return int(num)

    def _insert_version(self, state: MemoryState, at: int, body: int | None, *, first: bool = False) -> None:
        fields = self._describe(state, None)
        num = body if first and body is not None else self._next_later()
        self._con.execute(self._sql["insert_memory"], self._version(num, state, at, body, fields.fingerprint))
        if body is not None:
            token = scope_token(self._intern_scope(state.scope))
            self._index.describe(self._con, body, (fields.topics, fields.labels, fields.dates, fields.grams, token))

    def _version(
        self, num: int, state: MemoryState, at: int, body: int | None, fingerprint: int | None
    ) -> tuple[Any, ...]:
        """Return a row for `insert_memory`, in the order of its columns."""
        scope = self._intern_scope(state.scope)
        session = self._sessions.intern(scope, state.session, state.created_at) if state.session else None
        topics, metadata = to_json(state.topics), to_json(state.metadata)
        return (num, scope, body, topics, metadata, session, at, fingerprint, *_AS_THEY_ARE(state))

    def _intern_scope(self, name: str) -> int:
        num = self._scopes.get(name)
        if num is None:
            num = self._con.execute("SELECT num FROM scope WHERE name = ?", (name,)).get
            if num is None:
                num = self._con.execute("INSERT INTO scope (name) VALUES (?) RETURNING num", (name,)).get
            self._scopes[name] = int(num)
        return int(num)

    def _project_session(self, event: Event) -> None:
        """Update a session's row to its events up to this one; its number stays, memories point to it."""
        events = [past for past in self._events_of(event.memory) if past.seq <= event.seq]
        own = [past for past in events if past.type in SESSION_EVENTS]
        named = own[-1].data  # for a purged session, all have what is left of its name
        scope = self._intern_scope(named["scope"])
        num = self._sessions.intern(scope, named["name"], min(past.at for past in own))
        self._con.execute("UPDATE session SET ended_at = ?, title = ? WHERE num = ?", (*replay_session(events), num))

    def _project_verdict(self, event: Event, verdict: str | None, at: int | None) -> None:
        if "item" in event.data:
            self._con.execute(
                "UPDATE review SET verdict = ?, decided_at = ? WHERE id = ?",
                (verdict, at, bytes.fromhex(event.data["item"])),
            )

    def _project_undone_verdicts(self, events: list[Event]) -> None:
        """Make a decision wait again if it no longer counts; decide again if it counts again."""
        cancelled = cancelled_by(events)
        for event in events:
            if event.type == "reviewed":
                counts = event.id not in cancelled
                verdict = event.data.get("verdict") if counts else None
                self._project_verdict(event, verdict, event.at if counts else None)

    def _project_edge(self, event: Event) -> None:
        type, target = event.data["edge"], bytes.fromhex(event.data["target"])
        self._con.execute(
            "INSERT INTO edge (source, type, target, weight, event, recorded_at) VALUES (?, ?, ?, ?, ?, ?)",
            (event.memory, type, target, event.data.get("weight", 1.0), event.id, event.at),
        )

    def _end_edge(self, source: bytes, type: str, target: bytes, at: int) -> None:
        self._con.execute(
            "UPDATE edge SET retired_at = max(?, recorded_at)"
            " WHERE source = ? AND type = ? AND target = ? AND retired_at IS NULL",
            (at, source, type, target),
        )

    def _project_undone_edges(self, events: list[Event], undone: Event) -> None:
        """End edges whose event no longer counts, and begin anew those that hold again."""
        if not any(event.type == "linked" for event in events):
            return
        from ...model.edges import live_edges

        wanted = live_edges(events)
        there = self._con.execute(
            "SELECT type, target, event FROM edge WHERE source = ? AND retired_at IS NULL", (undone.memory,)
        ).fetchall()
        kept = {(type, target) for type, target, event in there if (e := wanted.get((type, target))) and e.id == event}
        for type, target, _ in there:
            if (type, target) not in kept:
                self._end_edge(undone.memory, type, target, undone.at)
        for slot, event in wanted.items():
            if slot not in kept:
                self._project_edge(replace(event, at=undone.at))

    def _follow(self, body: int | None, was: MemoryState, now: MemoryState) -> None:
        """Forget what a memory said the same as, or solved, in other words, have its text embedded anew, and update the
        rows with the number of its scope."""
        id = now.id
        if was.content != now.content:
            self._con.execute("DELETE FROM anchor WHERE memory = ?1", (id,))
            read = "DELETE FROM relation WHERE relation IN ('same', 'solves') AND (older = ?1 OR newer = ?1)"
            self._con.execute(read, (id,))
        if body and (was.topics, was.key) != (now.topics, now.key) and not self._rebuilding:
            self._index.unembed(self._con, body)  # its vector was made with these
            self._con.execute(self._sql["insert_job"], ("embed", body, 0))
        if was.scope == now.scope:
            return
        num = self._intern_scope(now.scope)
        self._con.execute("INSERT INTO scope_left VALUES (?) ON CONFLICT DO NOTHING", (self._intern_scope(was.scope),))
        self._con.execute("UPDATE usage SET scope = ? WHERE id = ?", (num, id))
        self._con.execute("UPDATE review SET scope = ? WHERE memory = ?", (num, id))
        if body is not None:
            self._index.move(self._con, body, num)
        if not self._told_anew:
            self._told_anew = True
            self._index.tell_anew(self._con)

    def _erase(self, id: bytes) -> set[int]:
        """Remove a memory's content from rows, index, vectors, queue and ledger; its events stay as tombstones.

        Returns its sessions.
        """
        numbers = self._sessions.of_memory(id)
        bodies = [row[0] for row in self._con.execute(self._sql["bodies_of_memory"], {"id": id})]
        # (number, name, scope) of the sessions that it was ever in, or of a session itself.
        sessions = {(num, *named) for num in numbers for named in self._con.execute(_SESSION, (num,)).fetchall()}
        for old in self._events_of(id):
            if old.type in SESSION_EVENTS:
                num = self._sessions.intern(self._intern_scope(old.data["scope"]), old.data["name"], old.at)
                sessions.add((num, old.data["name"], old.data["scope"]))
        self._delete_versions(id)
        self._con.execute("DELETE FROM usage WHERE id = ?", (id,))
        self._con.execute("DELETE FROM review WHERE memory = ?1 OR other = ?1", (id,))
        self._con.execute("DELETE FROM relation WHERE older = ?1 OR newer = ?1", (id,))
        self._con.execute("DELETE FROM anchor WHERE memory = ?1", (id,))
        is_session = self._is_session(id)
        for event in self._events_of(id):
            if event.type in SESSION_EVENTS and not is_session:
                continue  # a memory that a stranger gave the id of a session: that stays
            left = scrub(event)
            if left.content == event.content and left.data == event.data:
                continue
            self._chain.take_out(event.id)
            self._con.execute("UPDATE event SET body = NULL, data = ? WHERE seq = ?", (to_json(left.data), event.seq))
            self._chain.append_again(event.id)
        for body in bodies:
            self._forget_body(body)
        for num, name, scope in sessions:
            mark = session_mark(scope, name)
            if mark != id or is_session:  # of one that was purged elsewhere the name tells no mark any more
                self._sessions.erase(num, name, scope, id if is_session else mark, purged=is_session)
        if is_session:  # under what is left of its name
            self._project_session([event for event in self._events_of(id) if event.type in SESSION_EVENTS][-1])
        return numbers

    def _delete_versions(self, id: bytes) -> None:
        self._con.execute(f"DELETE FROM memory WHERE num IN {versions_of('?1')}", (id,))

    def _forget_body(self, body: int) -> None:
        self._index.delete(self._con, body)
        from .jobs import forget

        forget(self._con, body)

    def rebuild(self, events: Sequence[Event], progress: Callable[[int, int], None] | None = None) -> None:
        """Project a whole ledger anew. Texts, vectors and use counts stay."""
        # Scopes keep their numbers: texts, vectors, use counts and the review list know them by these.
        for table in ("memory", "edge", "session", "renamed"):
            self._con.execute(f"DELETE FROM {table}")
        self._numbers, self._rebuilding = None, True
        bodies = dict(self._con.execute("SELECT seq, body FROM event WHERE body IS NOT NULL"))
        purged = {row[0] for row in self._con.execute("SELECT memory FROM event WHERE type = 'purged'")}
        for done, event in enumerate(events, 1):
            if event.memory in purged:
                self._project_purged(event)
            else:
                self.project(event, bodies.get(event.seq))
            if progress and (done % 500 == 0 or done == len(events)):
                progress(done, len(events))
        self._index.rebuild(self._con)

    def _project_purged(self, event: Event) -> None:
        """Apply an event of a memory that is purged, now or later: only its links and its tombstone are made."""
        if event.type in ("linked", "unlinked") or event.type in SESSION_EVENTS:
            self.project(event, None)
        elif event.type == "purged" and not self._is_session(event.memory):
            self._project_tombstone(event)
        elif event.type == "moved":
            self._note_renaming([event])
        elif event.type == "undone":
            before = [past for past in self._events_of(event.memory) if past.seq <= event.seq]
            if any(past.type in SESSION_EVENTS for past in before):
                self._project_session(event)
            self._project_undone_edges(before, event)
            self._note_renaming(before)

    def _project_tombstone(self, purged: Event) -> None:
        first = next(event for event in self._events_of(purged.memory) if event.type == "remembered")
        # Purged on two devices: the last purge counts.
        self._con.execute("DELETE FROM memory WHERE id = ? AND retired_at IS NULL", (purged.memory,))
        self._insert_version(initial(first), purged.at, None)


def to_state(row: tuple[Any, ...]) -> MemoryState:
    """Return the state in a row of `columns` in queries.sql."""
    values = [*row[1:9], row[9], KNOWN_TRUST.get(row[28], "import"), *row[10:22], row[24], row[25]]
    known = dict(zip(MemoryState.__slots__, values, strict=True))
    known |= {"topics": topics_of(row[5]), "metadata": json.loads(row[7]) if row[7] else {}, "pinned": bool(row[18])}
    return MemoryState(**known)
