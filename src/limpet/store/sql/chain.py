"""The hash chain over the ledger: whoever changes, removes, inserts or reorders an event by hand is found.

Each event has a place, in the order in which this store appended it (peers' events too, whose order in the ledger is
another), and a link: the hash of its leaf and of the link before it. The leaf is the hash of a random salt and of all
that the row and its text say, so that neither can be guessed from it. What a purge erases, and what sync takes out or
names anew, leaves its leaf in the table `chain`, without salt; what remains of it gets a new place. After that, and
when the order of the ledger has changed, an entry of `chain` holds the hash of the whole order.

Only writes and `verify` load this module: a recall need not load hashlib.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import islice

from ...model.ids import format_id
from ..records import Problem
from .statements import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...model.events import Event
    from .store import Connection

    # How an engine reads `ENTRIES`, of which there may be more than fit into memory.
    Read = Callable[[], Iterator[Any]]

SALT_BYTES = 16
START = bytes(32)
# What `leaf_of` is given, from tables `event v` and `body b`.
# Bytes, as what was changed by hand need be no UTF-8.
SAID = (
    "v.id, CAST(v.type AS BLOB), v.memory, v.at, v.operation, CAST(v.origin AS BLOB), CAST(b.content AS BLOB),"
    " CAST(v.data AS BLOB)"
)
_END = "SELECT place, link, signed, signature FROM chain_end"
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
# What tells events apart by when they came: their first places, or with other devices the order that all have.
_STEPS = (
    "SELECT id FROM (SELECT v.id, v.seq, s.stamp, ifnull(f.place, v.place) AS place, s.operation, s.place AS rank,"
    " lag(s.stamp) OVER w AS stamp0, lag(ifnull(f.place, v.place)) OVER w AS place0, lag(s.operation) OVER w AS"
    " operation0, lag(s.place) OVER w AS rank0, lag(v.id) OVER w AS id0 FROM event v LEFT JOIN synced s ON s.id = v.id"
    " LEFT JOIN (SELECT event, min(place) AS place FROM chain WHERE event IS NOT NULL GROUP BY event) f"
    " ON f.event = v.id WINDOW w AS (ORDER BY v.seq))"
    " WHERE CASE WHEN stamp IS NULL THEN place0 > place"
    " ELSE (stamp0, operation0, rank0, id0) > (stamp, operation, rank, id) END"
)


class Chain:
    """The end of the chain on one connection."""

    def __init__(self, connection: Connection, key: bytes | None) -> None:
        self._con = connection
        self._key = key  # that signs
        self._end: tuple[int, bytes] | None = None
        self._before: tuple[int, bytes, int | None, bytes | None] = (0, START, None, None)
        self.reordered = False  # events have other places in the ledger than they had

    def event_row(self, seq: int, event: Event, body: int | None) -> tuple[Any, ...]:
        """The row of an event that is appended now, for `insert_event`."""
        operation = None if event.operation == event.id else event.operation
        said = (event.id, event.type, event.memory, event.at, operation, event.origin)
        data = to_json(event.data)
        content = event.content if body is not None else None
        return (seq, *said, body, data, *self._append((*said, content, data)))

    def take_out(self, event: bytes) -> None:
        """An event is about to leave the ledger, or to change: its place keeps its leaf."""
        place, salt, link, *said = self._row(event)
        self._con.execute("INSERT INTO chain VALUES (?, ?, ?, ?)", (place, event, leaf_of(salt, said), link))
        self.reordered = True

    def append_again(self, event: bytes) -> None:
        """An event that was taken out stays, as its row is now."""
        _, _, _, *said = self._row(event)
        self._con.execute("UPDATE event SET place = ?, salt = ?, link = ? WHERE id = ?", (*self._append(said), event))

    def note_order(self) -> None:
        """Once at the end of what erases, takes out or reorders: costs a look at every event."""
        if self.reordered:
            leaf = order_of(self._con, 1 << 62)
            place, link = self._next(leaf, order=True)
            self._con.execute("INSERT INTO chain VALUES (?, NULL, ?, ?)", (place, leaf, link))
            self.reordered = False
        self.flush()

    def flush(self) -> None:
        """Keep where the chain ends. The next use reads it anew."""
        if self._end is None:
            return
        place, link = self._end
        before, link_before, signed, signature = self._before
        # Whether all that stood before this transaction is signed by this key: only `verify` signs what is not.
        if self._key and (before == 0 or (signed == before and signature == sign(self._key, before, link_before))):
            signed, signature = place, sign(self._key, place, link)
        self._con.execute(
            "UPDATE chain_end SET place = ?, link = ?, signed = ?, signature = ?", (place, link, signed, signature)
        )
        self._end = None

    def _append(self, said: Any) -> tuple[int, bytes, bytes]:
        """Place, salt and link of an event that says this."""
        salt = os.urandom(SALT_BYTES)
        place, link = self._next(leaf_of(salt, said))
        return place, salt, link

    def _next(self, leaf: bytes, *, order: bool = False) -> tuple[int, bytes]:
        if self._end is None:
            self._before = self._con.execute(_END).fetchall()[0]
            self._end = self._before[:2]
        place, link = self._end
        self._end = (place + 1, link_of(link, leaf, order=order))
        return self._end

    def _row(self, event: bytes) -> tuple[Any, ...]:
        found: tuple[Any, ...] = self._con.execute(
            f"SELECT v.place, v.salt, v.link, {SAID} FROM event v LEFT JOIN body b ON b.num = v.body WHERE v.id = ?",
            (event,),
        ).fetchall()[0]
        return found


def leaf_of(salt: bytes, said: Any) -> bytes:
    """The hash of a salt and of the fields `SAID`, each with its kind and length."""
    found = salt
    for one in said:
        if one is None:
            found += b"-"
            continue
        part = one if type(one) is bytes else str(one).encode()
        found += b"%d:" % len(part) + part
    return sha256(found).digest()


def link_of(before: bytes, leaf: bytes, *, order: bool = False) -> bytes:
    return sha256(before + leaf + (b"order" if order else b"")).digest()


def order_of(con: Connection, place: int) -> bytes:
    """The hash of the order in which the events of all places before one stand in the ledger."""
    digest = sha256()
    for seq, id in con.execute("SELECT seq, id FROM event WHERE place < ? ORDER BY seq", (place,)):
        digest.update(b"%d:%b" % (seq, id))
    return digest.digest()


def sign(key: bytes, place: int, link: bytes) -> bytes:
    """HMAC-SHA256 over a place and its link, which stands for all before it."""
    from hmac import digest

    return digest(key, b"limpet chain %d:%b" % (place, link), "sha256")


def verify_chain(con: Connection, key: bytes | None = None, *, read: Read | None = None) -> list[Problem]:
    """What is wrong with the chain, and with its signature if there is a key for it. `read`: of an engine whose values
    have the types of their columns."""
    found = _Found(con, read)
    problems = list(islice(found.problems(), MOST + 1))
    if len(problems) > MOST:
        problems[MOST:] = [Problem("chain", "and more")]
    return problems or ([] if key is None else found.signature(key))


def sign_chain(con: Connection, key: bytes, *, read: Read | None = None) -> list[Problem]:
    """Sign the chain up to its end, unless anything is wrong with it. Needs a write transaction."""
    problems = verify_chain(con, read=read)
    if not problems:
        place, link = con.execute("SELECT place, link FROM chain_end").fetchall()[0]
        con.execute("UPDATE chain_end SET signed = ?, signature = ?", (place, sign(key, place, link)))
    return problems


class _Found:
    """What is found from the first place of the chain to the last."""

    def __init__(self, con: Connection, read: Read | None) -> None:
        self._con = con
        self._read = read
        self._place, self._link = 0, START
        self._end: tuple[int, bytes, int | None, bytes | None] = (0, START, None, None)
        self._signed_link = START

    def problems(self) -> Iterator[Problem]:
        ends = self._con.execute(_END).fetchall()
        if len(ends) != 1:
            yield Problem("chain", "where the chain ends is not noted, or several times")
            return
        self._end = ends[0]
        ordered, leaf = 0, b""
        for row in self._con.execute("SELECT place, leaf FROM chain WHERE event IS NULL ORDER BY place DESC LIMIT 1"):
            ordered, leaf = row
        found = list(islice(self._entries(ordered), MOST + 1))
        yield from found
        if len(found) <= MOST:
            yield from self._after_the_end()
        for (id,) in self._con.execute("SELECT id FROM event WHERE place IS NULL ORDER BY seq"):
            yield Problem("chain", f"event {_id(id)} is not in the chain: another program wrote it")
        for (id,) in self._con.execute(_KINDS) if self._read is None else ():
            yield Problem("chain", f"event {_id(id)} was changed: a value of another type")
        if ordered and leaf != order_of(self._con, ordered):
            step = self._con.execute(f"{_STEPS} LIMIT 1").get
            if step is not None or not found:
                which = "events do" if step is None else f"event {_id(step)} does"
                yield Problem("chain", f"{which} not stand in the ledger where place {ordered:,} of the chain says")

    def _entries(self, ordered: int) -> Iterator[Problem]:
        # Events that came after the order was noted stand behind all others, one after the other.
        seq_before = self._con.execute("SELECT ifnull(max(seq), 0) FROM event WHERE place < ?", (ordered,)).get
        before = "the beginning"
        for place, seq, gone, leaf, link, salt, *said in (
            self._con.execute(ENTRIES) if self._read is None else self._read()
        ):
            name = f"event {_id(said[0] if seq is not None else gone)}"
            if seq is None and gone is None:
                name = f"the order noted at place {place:,}"
            if place <= self._place:
                yield Problem("chain", f"{name} has place {place:,} of the chain, which another one has")
                continue
            if place > self._place + 1:
                lost = "an event was" if place == self._place + 2 else f"{place - self._place - 1:,} events were"
                yield Problem("chain", f"{lost} removed between {before} and {name} (place {self._place + 1:,})")
            else:
                found = leaf_of(salt, said) if seq is not None else leaf
                if link != link_of(self._link, found, order=seq is None and gone is None):
                    yield Problem("chain", f"{name} was changed, or stands at another place ({place:,}) than it had")
            if seq is not None and place > ordered:
                if seq != seq_before + 1 and place == self._place + 1:
                    yield Problem("chain", f"{name} does not stand in the ledger where it was appended")
                seq_before = seq
            elif gone is not None and place > ordered:
                yield Problem("chain", f"{name} was taken out of the ledger, by no purge and no sync")
            self._place, self._link, before = place, link, name
            if place == self._end[2]:
                self._signed_link = link

    def _after_the_end(self) -> Iterator[Problem]:
        place, link, _, _ = self._end
        if place > self._place:
            lost = "the last event was" if place == self._place + 1 else f"the last {place - self._place:,} events were"
            yield Problem("chain", f"{lost} removed")
        elif (place, link) != (self._place, self._link):
            yield Problem("chain", "the chain does not end where it is noted to")

    def signature(self, key: bytes) -> list[Problem]:
        place, _, signed, signature = self._end
        if not place:
            return []
        hint = "; `limpet verify --sign` signs what is there"
        if signed is None or signature is None:
            return [Problem("signature", "the chain is not signed" + hint)]
        if signature != sign(key, signed, self._signed_link):
            return [Problem("signature", f"the signature over {signed:,} places is of another key, or another chain")]
        later = place - signed
        return [Problem("signature", f"the last {later:,} places are not signed{hint}")] if later else []


def _id(id: Any) -> str:
    return format_id(id) if isinstance(id, bytes) else repr(id)[:40]
