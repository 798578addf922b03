"""The write door: append events and project them, in one transaction that the caller has begun."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import apsw

from ...model.edges import live_edges
from ...model.errors import BadInput
from ...model.events import Event
from ...model.state import MemoryState, apply, initial, replay, scrub
from ..contract import Describe
from . import rows
from .reads import Bindings, SqliteReads

EMBED = "embed"


class Ledger(SqliteReads):
    """Appends and projects on one connection. Every method needs an open write transaction."""

    def __init__(self, connection: apsw.Connection, describe: Describe) -> None:
        super().__init__(connection)
        self._describe = describe

    def append(self, event: Event) -> Event:
        """Write one event and project it. Returns it with its place in the ledger."""
        body = None if event.content is None else self._insert_body(event)
        self._con.execute(
            self._sql["insert_event"],
            {
                "id": event.id,
                "type": event.type,
                "memory": event.memory,
                "at": event.at,
                "operation": None if event.operation == event.id else event.operation,
                "origin": event.origin,
                "body": body,
                "data": rows.to_json(event.data),
            },
        )
        written = replace(event, seq=self._con.last_insert_rowid())
        self.project(written, body)
        return written

    def _insert_body(self, event: Event) -> int:
        """Store a text. That of a new memory gets its search fields at once: one index write instead of two."""
        if event.type == "remembered":
            fields = self._describe(initial(event))
            scope = self._intern_scope(event.data["scope"])
            found = (fields.topics, fields.labels, fields.dates)
        else:
            found = (None, None, None)
            scope = self._con.execute(
                "SELECT scope FROM memory WHERE id = ? AND retired_at IS NULL", (event.memory,)
            ).get
        self._con.execute(
            self._sql["insert_body"],
            {
                "content": event.content,
                "topics": found[0],
                "labels": found[1],
                "dates": found[2],
                "scope": f"s{scope}",
            },
        )
        return self._con.last_insert_rowid()

    def project(self, event: Event, body: int | None) -> None:
        """Bring the rows of `event.memory` to the state after the event. `body`: where the event's content is."""
        if event.type in ("linked", "unlinked"):
            self._end_edge(event.memory, event.data["edge"], bytes.fromhex(event.data["target"]), event.at)
            if event.type == "linked":
                self._project_edge(event)
            return
        if event.type == "purged":
            self._erase(event.memory)
            self._project_tombstone(event)
            return
        current = None if event.type == "remembered" else self._state(event.memory)
        if event.type == "undone":
            # Only what had happened by then: a rebuild has the whole future in the ledger already.
            events = [one for one in self.events(memory=event.memory) if one.seq <= event.seq]
            self._project_undone_edges(events, event)
            after = replay(events)
        elif current is None and event.type != "remembered":
            raise BadInput(f"event {event.id.hex()} changes a memory that is not there")
        else:
            after = apply(current, event)
        if after is None or after == current:
            return
        if current is not None:
            self._con.execute(self._sql["retire_memory"], {"id": event.memory, "at": event.at})
        self._insert_version(after, event, body if body is not None else self._body_for(after, event.memory))

    def _state(self, id: bytes) -> MemoryState | None:
        row = self._one("memory_current", {"id": id})
        return rows.state(row) if row else None

    def _body_for(self, state: MemoryState, id: bytes) -> int | None:
        """The body with the state's content: that of the last version, or an earlier one after an undo."""
        if state.content is None:
            return None
        found = self._con.execute(
            "SELECT m.body FROM memory m JOIN body b ON b.num = m.body WHERE m.id = ? AND b.content = ?"
            " AND m.num IN (SELECT num FROM memory WHERE id = ? AND retired_at IS NULL"
            " UNION ALL SELECT num FROM memory WHERE id = ? AND retired_at IS NOT NULL) ORDER BY m.num DESC LIMIT 1",
            (id, state.content, id, id),
        ).get
        if found is None:
            raise BadInput(f"the text of memory {id.hex()} is gone")
        return int(found)

    def _insert_version(self, state: MemoryState, event: Event, body: int | None) -> None:
        fields = self._describe(state)
        scope = self._intern_scope(state.scope)
        bindings: Bindings = {
            "id": state.id,
            "scope": scope,
            "kind": state.kind,
            "body": body,
            "topics": rows.to_json(list(state.topics)),
            "key": state.key,
            "metadata": rows.to_json(state.metadata),
            "state": state.state,
            "origin": state.origin,
            "source": state.source,
            "session": self._intern_session(scope, state.session, event.at) if state.session else None,
            "speaker": state.speaker,
            "position": state.position,
            "importance": state.importance,
            "stated_confidence": state.stated_confidence,
            "observations": state.observations,
            "observed_at": state.observed_at,
            "pinned": state.pinned,
            "valid_from": state.valid_from,
            "valid_to": state.valid_to,
            "created_at": state.created_at,
            "recorded_at": event.at,
            "superseded_by": state.superseded_by,
            "reason": state.reason,
            "fingerprint": fields.fingerprint,
        }
        self._con.execute(self._sql["insert_memory"], bindings)
        if body is None or event.type == "remembered":
            if body is not None:
                self._enqueue(body, event.at)
            return
        self._con.execute(
            "UPDATE body SET topics = ?1, labels = ?2, dates = ?3"
            " WHERE num = ?4 AND (topics IS NOT ?1 OR labels IS NOT ?2 OR dates IS NOT ?3)",
            (fields.topics, fields.labels, fields.dates, body),
        )
        if event.type == "edited":
            self._enqueue(body, event.at)

    def _enqueue(self, body: int, at: int) -> None:
        self._con.execute(
            "INSERT INTO job (kind, subject, not_before) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (EMBED, body, at)
        )

    def _intern_scope(self, name: str) -> int:
        num = self._con.execute("SELECT num FROM scope WHERE name = ?", (name,)).get
        if num is None:
            self._con.execute("INSERT INTO scope (name) VALUES (?)", (name,))
            num = self._con.last_insert_rowid()
        return int(num)

    def _intern_session(self, scope: int, name: str, at: int) -> int:
        num = self._con.execute("SELECT num FROM session WHERE scope = ? AND name = ?", (scope, name)).get
        if num is None:
            self._con.execute("INSERT INTO session (scope, name, started_at) VALUES (?, ?, ?)", (scope, name, at))
            num = self._con.last_insert_rowid()
        return int(num)

    def _project_edge(self, event: Event) -> None:
        self._con.execute(
            "INSERT INTO edge (source, type, target, weight, event, recorded_at) VALUES (?, ?, ?, ?, ?, ?)",
            (
                event.memory,
                event.data["edge"],
                bytes.fromhex(event.data["target"]),
                event.data.get("weight", 1.0),
                event.id,
                event.at,
            ),
        )

    def _end_edge(self, source: bytes, type: str, target: bytes, at: int) -> None:
        self._con.execute(
            "UPDATE edge SET retired_at = ? WHERE source = ? AND type = ? AND target = ? AND retired_at IS NULL",
            (at, source, type, target),
        )

    def _project_undone_edges(self, events: list[Event], undone: Event) -> None:
        """Edges whose event no longer counts end; those that hold again begin anew."""
        if not any(event.type == "linked" for event in events):
            return
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

    def _erase(self, id: bytes) -> None:
        """Take a memory's content out of rows, index, vectors, queue and ledger; its events stay as tombstones."""
        bodies = [row[0] for row in self._con.execute(self._sql["bodies_of_memory"], {"id": id})]
        self._con.execute("DELETE FROM memory WHERE id = ? AND retired_at IS NULL", (id,))
        self._con.execute("DELETE FROM memory WHERE id = ? AND retired_at IS NOT NULL", (id,))
        self._con.execute("DELETE FROM usage WHERE id = ?", (id,))
        for event in list(self.events(memory=id)):
            self._con.execute(
                "UPDATE event SET body = NULL, data = ? WHERE seq = ?", (rows.to_json(scrub(event).data), event.seq)
            )
        for body in bodies:
            self._forget_vectors(body)
            self._con.execute("DELETE FROM job WHERE kind = ? AND subject = ?", (EMBED, body))
            self._con.execute("DELETE FROM body WHERE num = ?", (body,))

    def _forget_vectors(self, body: int) -> None:
        for embedder, chunk, slot, dimensions in self._con.execute(
            "SELECT v.embedder, v.chunk, v.slot, e.dimensions FROM vector v JOIN embedder e ON e.num = v.embedder"
            " WHERE v.body = ?",
            (body,),
        ).fetchall():
            for column, size in (("codes", dimensions), ("scales", 4), ("bodies", 8), ("scopes", 4)):
                with self._con.blob_open("main", "chunk", column, chunk, True) as blob:
                    blob.seek(slot * size)
                    blob.write(bytes(size))
            self._con.execute("UPDATE chunk SET version = version + 1 WHERE num = ?", (chunk,))
            self._con.execute("DELETE FROM vector WHERE embedder = ? AND body = ?", (embedder, body))

    def rebuild(self, events: Iterable[Event]) -> int:
        """Project a whole ledger anew. Texts, vectors and use counts stay. Returns the number of events."""
        self._con.execute("DELETE FROM memory; DELETE FROM edge; DELETE FROM session; DELETE FROM scope")
        bodies = dict(self._con.execute("SELECT seq, body FROM event WHERE body IS NOT NULL"))
        purged = {row[0] for row in self._con.execute("SELECT memory FROM event WHERE type = 'purged'")}
        done = 0
        for event in events:
            done += 1
            if event.memory in purged and event.type not in ("linked", "unlinked"):
                if event.type == "remembered":
                    self._intern_scope(event.data["scope"])
                elif event.type == "purged":
                    self._project_tombstone(event)
                elif event.type == "undone":
                    self._project_undone_edges(
                        [e for e in self.events(memory=event.memory) if e.seq <= event.seq], event
                    )
                continue
            self.project(event, bodies.get(event.seq))
        self._con.execute("INSERT INTO body_fts (body_fts) VALUES ('rebuild')")
        return done

    def _project_tombstone(self, purged: Event) -> None:
        first = next(event for event in self.events(memory=purged.memory) if event.type == "remembered")
        self._insert_version(initial(first), purged, None)
