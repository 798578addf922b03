"""The hash chain over the ledger: it reveals events that were changed, removed, inserted or reordered by hand.

Each event has a place, in the order in which this store appended it (peers' events too, whose order in the ledger is
another), and a link: the hash of its leaf and of the link before it. The leaf is the hash of a random salt and of all
values of the row and its text, so that nobody can guess them from it. An event that a purge erases, or that sync takes
out or renames, leaves its leaf in the table `chain`, without salt; what remains of it gets a new place. After that, and
when the order of the ledger has changed, an entry of `chain` holds the hash of the whole order.

Only writes and `verify` load this module and `verification.py`: a recall need not load hashlib.
"""

from __future__ import annotations

import os
from hashlib import sha256

from .statements import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...model.events import Event
    from .store import Connection

SALT_BYTES = 16
START = bytes(32)
# The values for `leaf_of`, from tables `event v` and `body b`. As bytes: values changed by hand need not be UTF-8.
SAID = (
    "v.id, CAST(v.type AS BLOB), v.memory, v.at, v.operation, CAST(v.origin AS BLOB), CAST(b.content AS BLOB),"
    " CAST(v.data AS BLOB)"
)
END = "SELECT place, link FROM chain_end"


class Chain:
    """The end of the chain on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._con = connection
        self._end: tuple[int, bytes] | None = None
        self.reordered = False  # events have other places in the ledger than they had

    def event_row(self, seq: int, event: Event, body: int | None) -> tuple[Any, ...]:
        """Return the row of an event that is appended now, for `insert_event`."""
        operation = None if event.operation == event.id else event.operation
        values = (event.id, event.type, event.memory, event.at, operation, event.origin)
        data = to_json(event.data)
        content = event.content if body is not None else None
        return (seq, *values, body, data, *self._append((*values, content, data)))

    def take_out(self, event: bytes) -> None:
        """Keep the leaf of an event that will leave the ledger, or change."""
        place, salt, link, *values = self._row(event)
        self._con.execute("INSERT INTO chain VALUES (?, ?, ?, ?)", (place, event, leaf_of(salt, values), link))
        self.reordered = True

    def append_again(self, event: bytes) -> None:
        """Put back an event that was taken out, as its row is now."""
        _, _, _, *values = self._row(event)
        self._con.execute("UPDATE event SET place = ?, salt = ?, link = ? WHERE id = ?", (*self._append(values), event))

    def conclude(self) -> None:
        """Store the end of the chain, once at the end of a transaction. After an erasure, a removal or a new order, the
        order becomes an entry of its own, which costs a look at every event."""
        if self.reordered:
            leaf = order_of(self._con, 1 << 62)
            place, link = self._next(leaf, order=True)
            self._con.execute("INSERT INTO chain VALUES (?, NULL, ?, ?)", (place, leaf, link))
            self.reordered = False
        if self._end is None:
            return
        self._con.execute("UPDATE chain_end SET place = ?, link = ?", self._end)
        self._end = None

    def _append(self, values: Any) -> tuple[int, bytes, bytes]:
        """Append an event of these values. Return its place, salt and link."""
        salt = os.urandom(SALT_BYTES)
        place, link = self._next(leaf_of(salt, values))
        return place, salt, link

    def _next(self, leaf: bytes, *, order: bool = False) -> tuple[int, bytes]:
        place, link = self._end or self._con.execute(END).fetchall()[0]
        self._end = (place + 1, link_of(link, leaf, order=order))
        return self._end

    def _row(self, event: bytes) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self._con.execute(
            f"SELECT v.place, v.salt, v.link, {SAID} FROM event v LEFT JOIN body b ON b.num = v.body WHERE v.id = ?",
            (event,),
        ).fetchall()[0]
        return row


def leaf_of(salt: bytes, values: Any) -> bytes:
    """Return the hash of a salt and of the fields `SAID`, each with its kind and length."""
    digest = salt
    for value in values:
        if value is None:
            digest += b"-"
            continue
        part = value if type(value) is bytes else str(value).encode()
        digest += b"%d:" % len(part) + part
    return sha256(digest).digest()


def link_of(before: bytes, leaf: bytes, *, order: bool = False) -> bytes:
    return sha256(before + leaf + (b"order" if order else b"")).digest()


def order_of(con: Connection, place: int) -> bytes:
    """Return the hash of the order in which the events of all places before one stand in the ledger."""
    digest = sha256()
    for seq, id in con.execute("SELECT seq, id FROM event WHERE place < ? ORDER BY seq", (place,)):
        digest.update(b"%d:%b" % (seq, id))
    return digest.digest()
