"""Which texts name which things: a projection of the texts, made after the write, in the order of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

import apsw

from ..records import Filter, Mention
from .search import carray, filtered

# Texts named at most in one write transaction: other writers wait meanwhile.
BATCH = 128
# Rows of one thing that are looked at. What so many texts name tells none from the others.
LOOKED_AT = 256


def note(con: apsw.Connection, things: Callable[[str], Sequence[int]]) -> int:
    """Note what the next texts name. Returns how many texts were read; needs a write transaction."""
    rows = con.execute(
        "SELECT num, content FROM body WHERE num > (SELECT through FROM named) ORDER BY num LIMIT ?", (BATCH,)
    ).fetchall()
    if rows:
        con.executemany(
            "INSERT OR IGNORE INTO mention (body, thing) VALUES (?, ?)",
            chain.from_iterable(((num, thing) for thing in things(content)) for num, content in rows),
        )
        con.execute("UPDATE named SET through = ?", (rows[-1][0],))
    return len(rows)


def waiting(con: apsw.Connection) -> bool:
    """Whether any text has not been looked at."""
    return bool(con.execute("SELECT EXISTS (SELECT 1 FROM body WHERE num > (SELECT through FROM named))").get)


def forget(con: apsw.Connection, body: int) -> None:
    """A text is gone. A later one may get its number, and must then be looked at as any new one."""
    con.execute("DELETE FROM mention WHERE body = ?", (body,))
    con.execute("UPDATE named SET through = min(through, (SELECT ifnull(max(num), 0) FROM body))")


def clear(con: apsw.Connection) -> None:
    con.execute("DELETE FROM mention")
    con.execute("UPDATE named SET through = 0")


def named_in(con: apsw.Connection, bodies: Sequence[int]) -> list[tuple[int, int]]:
    """(body, thing) of some texts, in a stable order."""
    found = con.execute(
        "SELECT e.body, e.thing FROM carray(?) c CROSS JOIN mention e ON e.body = c.value ORDER BY e.body, e.thing",
        (carray(bodies),),
    )
    return found.fetchall()


def naming(con: apsw.Connection, things: Sequence[int], where: Filter, most: int) -> list[Mention]:
    """Memories that pass the filter and name some things; none of a thing that more than `most` of them name."""
    statement, bound = filtered("naming", where)
    found: list[Mention] = []
    for thing in sorted(set(things)):
        rows = con.execute(statement, bound | {"thing": thing, "limit": LOOKED_AT, "enough": most + 1}).fetchall()
        if 0 < len(rows) <= most:
            found += [Mention(thing, body, id) for body, id in rows]
    return found
