"""Sync: the events of several devices in one ledger, in the order of `merge_order.py`, in the caller's transaction.
Local events get their place (`seal`), others' are taken in (`merge`), and what changes is projected anew."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ...model.events import Event
from ...model.state import SESSION_EVENTS, scrub
from ...store.records import Proposal
from ...store.sql.projection import Projection
from ...store.sql.statements import scope_token, to_json
from .known_devices import IN_PART, SegmentRow
from .merge_order import Conflict, SequencedEvent, in_merge_order, payload, variant

if TYPE_CHECKING:
    from ...store import Store
    from ...store.sql.store import Connection
    from .records import TransferReport

# A segment is closed at this many events, or characters of text.
SEGMENT_EVENTS = 5_000
SEGMENT_CHARACTERS = 4_000_000


class Sync(Projection):
    """The projection with what is known of other devices. Every method needs an open write transaction."""

    def __init__(self, store: Store, connection: Connection) -> None:
        super().__init__(store.database, connection, store.describe)
        self._ledger = store.ledger
        self._reviews = store.reviews
        # Changed so far by a merge: new events, memories and sessions, and the first stamp whose order changed.
        self._new = 0
        self._touched: set[bytes] = set()
        self._first: int | None = None

    # -- this device

    def seal(self, device: bytes) -> None:
        """Stamp the events since the last time, and put them into segments of this device."""
        fresh = list(self._ledger.events(after=self._con.execute("SELECT through FROM sealed").get))
        if not fresh:
            return
        stamp = self._con.execute("SELECT coalesce(max(stamp), 0) FROM synced").get
        seen = {
            bytes(id).hex(): number
            for id, number in self._con.execute(
                "SELECT device, max(number) FROM segment WHERE digest NOT LIKE ? GROUP BY device", (f"{IN_PART}%",)
            )
        }
        number = seen.get(device.hex(), 0)
        segment, count, size = None, 0, 0
        for _, run in groupby(fresh, lambda event: event.operation):
            for place, event in enumerate(run):
                if place == 0:
                    stamp = max(stamp + 1, event.at)
                if segment is None or count >= SEGMENT_EVENTS or size >= SEGMENT_CHARACTERS:
                    number += 1
                    known = {"limpet_segment": 1, "device": device.hex(), "number": number}
                    header = known | {"first": stamp, "seen": seen}
                    segment, count, size = self._add_segment(device, number, "", header), 0, 0
                count, size = count + 1, size + len(event.content or "") + len(to_json(event.data) or "")
                self._place(SequencedEvent(event, stamp, place, segment))
        self._note_sealed()
        self._derive_merge_order({event.memory for event in fresh})

    def _add_segment(self, device: bytes, number: int, digest: str, header: dict[str, Any]) -> int:
        # A unique digest until its file is written.
        made = self._con.execute(
            "INSERT INTO segment (device, number, digest, header) VALUES (?, ?, ?, ?) RETURNING num",
            (device, number, digest or f"unwritten {device.hex()} {number}", to_json(header)),
        )
        return int(made.get)

    # -- others' events

    def merge(
        self, segments: Sequence[SegmentRow], lines: Sequence[SequencedEvent], report: TransferReport
    ) -> set[int]:
        """Take in segments. `SequencedEvent.segment` is the place in `segments`. Return what `Devices.merge` returns.

        An event of an unknown memory is held back: its segment is read again later.
        """
        # What was written here came before what arrives now.
        self.seal(self._con.execute("SELECT id FROM device ORDER BY num DESC LIMIT 1").get)
        # What was purged anywhere comes back nowhere.
        gone = {line.event.memory for line in lines if line.event.type == "purged"}
        gone |= self._purged({line.event.memory for line in lines})
        lines = [line._replace(event=scrub(line.event)) if line.event.memory in gone else line for line in lines]
        begun, held = self._with_beginning(lines)
        numbers = [self.register(row, whole=place not in held) for place, row in enumerate(segments)]
        wanted = [line._replace(segment=numbers[line.segment]) for line in begun]
        wanted.sort(key=lambda line: line.order)
        # First, because arriving events are compared with those here. Sessions after memories.
        purges = {line.event.memory for line in wanted if line.event.type == "purged"}
        purges -= self._purged(purges)
        sessions = {num for id in sorted(purges, key=self._is_session) for num in self._erase(id)}
        for line in wanted:
            self._take(line)
        if self._first is not None:
            self._resequence(self._first)
            self.reproject(self._touched, sessions)
        self._note_sealed()
        report.new += self._new
        report.known += len(wanted) - self._new
        report.conflicts += self._derive_merge_order(self._touched)
        report.purged += len(purges)
        edited = sum(self._edited_at_once(line, segments) for line in lines if line.event.type == "edited")
        later = "edited on two devices at once: the later words hold, `limpet show ID --history` has all"
        report.note(later, edited)
        return held

    def _edited_at_once(self, line: SequencedEvent, segments: Sequence[SegmentRow]) -> bool:
        """Return whether another device changed the text before this edit's device had heard of it."""
        row = segments[line.segment]
        seen = row.header.get("seen", {})
        others = self._con.execute(self._sql["edits"], {"id": line.event.memory}).fetchall()
        return any(
            device != row.device and content != line.event.content and number > seen.get(bytes(device).hex(), 0)
            for device, number, content in others
        )

    def register(self, segment: SegmentRow, *, whole: bool) -> int:
        """Return the number of an arriving segment; one that comes again, or was written again, keeps its number."""
        digest = segment.digest if whole else IN_PART + segment.digest
        before = [*segment.header.get("replaces", ()), segment.digest]
        row = self._con.execute(
            "SELECT num FROM segment WHERE device = ? AND number = ? AND digest IN (SELECT value FROM json_each(?))",
            (segment.device, segment.number, json.dumps(before + [IN_PART + old for old in before])),
        ).get
        if row is None:
            return self._add_segment(segment.device, segment.number, digest, segment.header)
        self._con.execute(
            "UPDATE segment SET digest = ?, header = ? WHERE num = ?", (digest, to_json(segment.header), row)
        )
        return int(row)

    def _purged(self, memories: Iterable[bytes]) -> set[bytes]:
        statement = "SELECT 1 FROM event WHERE memory = ? AND memory <> id AND type = 'purged' LIMIT 1"
        return {id for id in memories if self._con.execute(statement, (id,)).get is not None}

    def _with_beginning(self, lines: Sequence[SequencedEvent]) -> tuple[list[SequencedEvent], set[int]]:
        """Return events of memories and sessions begun here or in the lines, and the segments that have others too."""
        begun = {line.event.memory for line in lines if line.event.type == "remembered"}
        sessions = {line.event.memory for line in lines if line.event.type in SESSION_EVENTS}
        asked: dict[bytes, tuple[bool, bool]] = {}

        def waits(event: Event) -> bool:
            if event.type in SESSION_EVENTS or (event.memory in begun and event.type != "purged"):
                return False
            if event.memory not in asked:
                types = {row.type for row in self._events_of(event.memory)}
                session = event.memory in sessions or not types.isdisjoint(SESSION_EVENTS)
                asked[event.memory] = ("remembered" in types or event.memory in begun, session)
            remembered, session = asked[event.memory]
            if remembered and session:  # the work of a stranger, and no purge is of both
                return event.type == "purged"
            return not (remembered or (event.type in ("undone", "purged") and session))

        held = {place for place, line in enumerate(lines) if waits(line.event)}
        return [line for place, line in enumerate(lines) if place not in held], {lines[place].segment for place in held}

    def _touch(self, memory: bytes, stamp: int) -> None:
        self._touched.add(memory)
        self._first = stamp if self._first is None else min(self._first, stamp)

    def _take(self, line: SequencedEvent) -> None:
        """Put an event into the ledger, at its end, or note that it comes earlier than was known."""
        event = line.event
        known = self._event(event.id)
        if known is not None and payload(known) != payload(event):
            # Two events of one id: a file imported on two devices. All devices decide alike which keeps it: first the
            # one that makes that memory.
            if min(known, event, key=lambda event: (event.id != event.memory, payload(event))) is known:
                self._take(line._replace(event=variant(event)))
                return
            self._touch(known.memory, self._rename(known, variant(known)))
            known = None
        if known is not None:
            stamp, place, segment = self._place_of(event.id)
            if not segment or (line.stamp, line.place) < (stamp, place):
                self._con.execute(
                    "UPDATE synced SET stamp = ?, place = ?, segment = ? WHERE id = ?",
                    (line.stamp, line.place, segment or line.segment, event.id),
                )
                self._touch(event.memory, min(stamp, line.stamp))
            return
        body = None
        if event.content is not None:
            body = self._next("body", "num")
            # A text has the scope token of its memory's first event.
            scope = event.data.get("scope")
            if scope is None:
                begun = next((row for row in self._events_of(event.memory) if row.type == "remembered"), None)
                scope = begun.data["scope"] if begun else None
            token = None if scope is None else scope_token(self._intern_scope(scope))
            self._index.insert(self._con, [(body, event.content, None, None, None, token, None)])
        self._append(line, body)
        self._touch(event.memory, line.stamp)
        self._new += 1

    def _event(self, id: bytes) -> Event | None:
        return next(iter(self._ledger.events(ids=[id])), None)

    def _rename(self, event: Event, other: Event) -> int:
        """Change an event's id; the event takes the place of one that has the id already. Return the stamp."""
        twin = self._event(other.id)
        if twin is not None:
            self._take_out(twin.id)
        self._chain.take_out(event.id)
        self._con.execute("UPDATE event SET id = ?, operation = ? WHERE id = ?", (other.id, other.operation, event.id))
        self._chain.append_again(other.id)
        return int(self._con.execute("UPDATE synced SET id = ? WHERE id = ? RETURNING stamp", (other.id, event.id)).get)

    def _take_out(self, event: bytes) -> None:
        self._chain.take_out(event)
        body = self._con.execute("DELETE FROM event WHERE id = ? RETURNING body", (event,)).get
        self._con.execute("DELETE FROM synced WHERE id = ?", (event,))
        if body is not None:
            self._forget_body(body)

    def _append(self, line: SequencedEvent, body: int | None) -> None:
        """Put an event at the end of the ledger, with its place in the order of all devices."""
        row = self._chain.event_row(self._next("event", "seq"), line.event, body)
        self._con.execute(self._sql["insert_event"], row)
        self._place(line)

    def _place(self, line: SequencedEvent) -> None:
        self._con.execute(
            "INSERT INTO synced (id, stamp, operation, place, segment) VALUES (?, ?, ?, ?, ?)",
            (line.event.id, line.stamp, line.event.operation, line.place, line.segment),
        )

    def _place_of(self, event: bytes) -> Any:
        """Return its stamp, place and segment."""
        return self._con.execute("SELECT stamp, place, segment FROM synced WHERE id = ?", (event,)).fetchone()

    def _note_sealed(self) -> None:
        """Note that all events of the ledger have their place."""
        self._con.execute("UPDATE sealed SET through = (SELECT coalesce(max(seq), 0) FROM event)")

    # -- one order, and what follows from it

    def _resequence(self, stamp: int) -> None:
        """Sort the ledger from a stamp on into the order of all devices."""
        tail = self._con.execute(
            "SELECT v.seq FROM synced s CROSS JOIN event v ON v.id = s.id WHERE s.stamp >= ?"
            " ORDER BY s.stamp, s.operation, s.place, s.id",
            (stamp,),
        ).fetchall()
        now = [row[0] for row in tail]
        moves = [(there, seq) for seq, there in zip(now, sorted(now), strict=True) if seq != there]
        if moves:
            self._chain.reordered = True
        self._con.executemany("UPDATE event SET seq = -? WHERE seq = ?", moves)
        self._con.executemany("UPDATE event SET seq = ?1 WHERE seq = -?1", [(there,) for there, _ in moves])

    def reproject(self, memories: Iterable[bytes], sessions: Iterable[int] = ()) -> None:
        """Make the rows of some memories and sessions anew from their events. `sessions`: others that lost memories."""
        left = set(sessions)
        for id in sorted(memories):
            events = self._events_of(id)
            if not events:
                continue
            if any(event.type in SESSION_EVENTS for event in events):
                self._project_session(events[-1])
            if any(event.type == "remembered" for event in events):
                left |= self._sessions.of_memory(id)
                purged = any(event.type == "purged" for event in events)
                bodies = {} if purged else dict(self._con.execute(self._sql["bodies_of_events"], {"id": id}))
                self._delete_versions(id)
                self._con.execute("DELETE FROM edge WHERE source = ?", (id,))
                for event in events:
                    if purged:
                        self._project_purged(event)
                    else:
                        self.project(event, bodies.get(event.seq))
        self._sessions.date(left)
        self._index.tell_anew(self._con)

    def _derive_merge_order(self, touched: Iterable[bytes]) -> int:
        """Derive the merge order anew for every key that some memories ever had. Return the new conflicts."""
        members = self._key_mates(touched)
        if not members:
            return 0
        history, before = [], {}
        for id in members:
            for event in self._events_of(id):
                line = SequencedEvent(event, *self._place_of(event.id))
                if line.segment:
                    history.append(line)
                else:
                    before[event.id] = line
        derived, conflicts = in_merge_order(sorted(history, key=lambda line: line.order))
        after = {line.event.id: line for line in derived}
        gone = [line for id, line in before.items() if id not in after]
        come = [line for id, line in after.items() if id not in before and self._event(id) is None]
        for line in gone:
            self._take_out(line.event.id)
        for line in come:
            self._append(line, None)
        if come:
            self._resequence(min(line.stamp for line in come))
        if gone or come:
            self.reproject({line.event.memory for line in (*gone, *come)})
            self._note_sealed()
        return self._propose(conflicts, members)

    def _key_mates(self, touched: Iterable[bytes]) -> set[bytes]:
        """Return memories that share a key, past or present, with some memories, and so on. A purged one has lost its
        key: it counts with those that it replaced."""
        coming = set(touched)
        erased = "SELECT body IS NULL FROM memory WHERE id = ? AND retired_at IS NULL"
        members = {id for id in coming if self._con.execute(erased, (id,)).get}
        replaced = "SELECT id FROM memory WHERE superseded_by = ?"
        coming.update(bytes(row[0]) for id in members for row in self._con.execute(replaced, (id,)))
        keys: set[tuple[int, str]] = set()
        while coming:
            rows = (row for id in coming for row in self._con.execute(self._sql["keys_of_memory"], {"id": id}))
            new = {(scope, key) for scope, key in rows} - keys
            keys |= new
            holds = "SELECT DISTINCT id FROM memory WHERE scope = ? AND key = ?"
            mates = {bytes(row[0]) for slot in new for row in self._con.execute(holds, slot)}
            coming = mates - members
            members |= mates
        return members

    def _propose(self, conflicts: Sequence[Conflict], members: Iterable[bytes]) -> int:
        """Add conflicts to the review list and remove those that no longer exist. A person's decision about one
        stands."""
        standing = self._database.ids([conflict.id for conflict in conflicts] or [b""])
        for id in members:
            self._con.execute(
                "DELETE FROM review WHERE memory = ? AND kind = 'concurrent'"
                " AND id NOT IN (SELECT value FROM carray(?))",
                (id, standing),
            )
        reason = "given on two devices at once"
        proposals = [
            Proposal(row.id, "concurrent", row.scope, row.memory, row.other, reason, 1.0, row.at) for row in conflicts
        ]
        new = self._reviews.propose(proposals)
        for proposal in proposals:
            for event in self._events_of(proposal.memory):
                if event.type == "undone":
                    self._project_undone_verdicts([e for e in self._events_of(proposal.memory) if e.seq <= event.seq])
                elif event.type == "reviewed":
                    self._project_verdict(event, event.data.get("verdict"), event.at)
        return new
