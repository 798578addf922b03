"""The checks of `verify` in every engine.

The hash chain of events, which `chain.py` makes, is whole; and the rows that a recall reads are what the ledger makes
of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

from ...model.events import Event
from ...model.ids import format_id
from ...model.state import SESSION_EVENTS, MemoryState, cancelled_by, initial, replay
from ..records import Problem
from .chain import END, SAID, START, leaf_of, link_of, order_of
from .projection import to_state
from .statements import statements
from .store import Connection, Store

# How an engine reads `ENTRIES`, of which there may be more than fit into memory.
Read = Callable[[], Iterator[Any]]

# Findings that are told one by one.
MOST = 20
# LIMIT keeps SQLite from sorting whole rows. Another engine has to be told the order once more.
ENTRIES = (
    f"SELECT o.place, o.seq, c.event, c.leaf, ifnull(c.link, v.link), v.salt, {SAID} FROM"
    " (SELECT place, seq FROM event WHERE place IS NOT NULL UNION ALL SELECT place, NULL FROM chain"
    " ORDER BY 1 LIMIT -1) o"
    " LEFT JOIN event v ON v.seq = o.seq LEFT JOIN body b ON b.num = v.body"
    " LEFT JOIN chain c ON o.seq IS NULL AND c.place = o.place"
)
_KINDS = (
    "SELECT v.id FROM event v LEFT JOIN body b ON b.num = v.body WHERE typeof(v.type) <> 'text' OR"
    " typeof(v.origin) <> 'text' OR typeof(v.at) <> 'integer' OR typeof(v.id) <> 'blob' OR typeof(v.memory) <> 'blob'"
    " OR typeof(v.operation) NOT IN ('blob', 'null') OR typeof(v.data) NOT IN ('text', 'null')"
    " OR typeof(b.content) NOT IN ('text', 'null')"
)
# The order in which events came: by their first places, or with other devices the common order.
_STEPS = (
    "SELECT id FROM (SELECT v.id, v.seq, s.stamp, ifnull(f.place, v.place) AS place, s.operation, s.place AS rank,"
    " lag(s.stamp) OVER w AS stamp0, lag(ifnull(f.place, v.place)) OVER w AS place0, lag(s.operation) OVER w AS"
    " operation0, lag(s.place) OVER w AS rank0, lag(v.id) OVER w AS id0 FROM event v LEFT JOIN synced s ON s.id = v.id"
    " LEFT JOIN (SELECT event, min(place) AS place FROM chain WHERE event IS NOT NULL GROUP BY event) f"
    " ON f.event = v.id WINDOW w AS (ORDER BY v.seq))"
    " WHERE CASE WHEN stamp IS NULL THEN place0 > place"
    " ELSE (stamp0, operation0, rank0, id0) > (stamp, operation, rank, id) END"
)


def verify_chain(con: Connection, *, read: Read | None = None) -> list[Problem]:
    """Return the problems of the chain. `read`: for an engine whose values have the types of their columns."""
    return first_of(_ChainCheck(con, read).problems())


def first_of(problems: Iterator[Problem]) -> list[Problem]:
    """Return the first problems of a check; a last one stands for the rest."""
    first = list(islice(problems, MOST + 1))
    if len(first) > MOST:
        first[MOST] = first[MOST]._replace(message="and more")
    return first


class _ChainCheck:
    """A check of the chain from its first place to the last."""

    def __init__(self, con: Connection, read: Read | None) -> None:
        self._con = con
        self._read = read
        self._place, self._link = 0, START

    def problems(self) -> Iterator[Problem]:
        ends = self._con.execute(END).fetchall()
        if len(ends) != 1:
            yield Problem("chain", "where the chain ends is not noted, or several times")
            return
        ordered, leaf = 0, b""
        for row in self._con.execute("SELECT place, leaf FROM chain WHERE event IS NULL ORDER BY place DESC LIMIT 1"):
            ordered, leaf = row
        problems = list(islice(self._entries(ordered), MOST + 1))
        yield from problems
        if len(problems) <= MOST:
            place, link = ends[0]
            if place > self._place:
                lost = "event was" if place == self._place + 1 else f"{place - self._place:,} events were"
                yield Problem("chain", f"the last {lost} removed")
            elif (place, link) != (self._place, self._link):
                yield Problem("chain", "the chain does not end where it is noted to")
        for (id,) in self._con.execute("SELECT id FROM event WHERE place IS NULL ORDER BY seq"):
            yield Problem("chain", f"event {_id(id)} is not in the chain: another program wrote it")
        for (id,) in self._con.execute(_KINDS) if self._read is None else ():
            yield Problem("chain", f"event {_id(id)} was changed: a value of another type")
        if ordered and leaf != order_of(self._con, ordered):
            step = self._con.execute(f"{_STEPS} LIMIT 1").get
            if step is not None or not problems:
                which = "events do" if step is None else f"event {_id(step)} does"
                yield Problem("chain", f"{which} not stand in the ledger where place {ordered:,} of the chain says")

    def _entries(self, ordered: int) -> Iterator[Problem]:
        # Events that came after the order was noted stand behind all others, one after the other.
        seq_before = self._con.execute("SELECT ifnull(max(seq), 0) FROM event WHERE place < ?", (ordered,)).get
        before = "the beginning"
        for place, seq, gone, leaf, link, salt, *values in (
            self._con.execute(ENTRIES) if self._read is None else self._read()
        ):
            name = f"event {_id(values[0] if seq is not None else gone)}"
            if seq is None and gone is None:
                name = f"the order noted at place {place:,}"
            if place <= self._place:
                yield Problem("chain", f"{name} has place {place:,} of the chain, which another one has")
                continue
            if place > self._place + 1:
                lost = "an event was" if place == self._place + 2 else f"{place - self._place - 1:,} events were"
                yield Problem("chain", f"{lost} removed between {before} and {name} (place {self._place + 1:,})")
            else:
                expected = leaf_of(salt, values) if seq is not None else leaf
                if link != link_of(self._link, expected, order=seq is None and gone is None):
                    yield Problem("chain", f"{name} was changed, or stands at another place ({place:,}) than it had")
            if seq is not None and place > ordered:
                if seq != seq_before + 1 and place == self._place + 1:
                    yield Problem("chain", f"{name} does not stand in the ledger where it was appended")
                seq_before = seq
            elif gone is not None and place > ordered:
                yield Problem("chain", f"{name} was taken out of the ledger, by no purge and no sync")
            self._place, self._link, before = place, link, name


def _id(id: Any) -> str:
    return format_id(id) if isinstance(id, bytes) else repr(id)[:40]


# -- the rows

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
            wanted = _state(events)
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
        wrong = [
            name
            for name in MemoryState.__slots__
            if state is None or _differ(getattr(state, name), getattr(wanted, name))
        ]
        if not wrong and wanted.content is not None:
            fields = store.describe(wanted, None)
            derived = con.execute(_DERIVED, (id,)).fetchone()
            if derived != (fields.fingerprint, fields.topics, fields.labels, fields.dates, fields.grams):
                wrong = ["search fields"]
        if wrong:
            what = "cannot be read" if state is None else f"differs from the ledger in {', '.join(wrong)}"
            yield Problem("projection", f"memory {format_id(id)} {what}")


def _state(events: list[Event]) -> MemoryState | None:
    """Return what a memory's events make of it."""
    if any(event.type == "purged" for event in events):
        first = next((event for event in events if event.type == "remembered"), None)
        return None if first is None else initial(first)
    return replay(events)


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
