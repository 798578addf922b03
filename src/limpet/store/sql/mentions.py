"""Which texts name which things: a projection of the texts, made after the write, in the order of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from ..records import Filter, Mention
from .database import Connection, Repository
from .filters import filtered

# Texts named at most in one write transaction: other writers wait meanwhile.
BATCH = 128
# Rows of one thing that are looked at. What so many texts name tells none from the others.
LOOKED_AT = 256


class Mentions(Repository):
    """Which texts name which things."""

    def note(self, things: Callable[[str], Sequence[int]]) -> int:
        """Note what the next few texts name that nobody has looked at; returns how many, 0 when none is left."""
        waits = "SELECT EXISTS (SELECT 1 FROM body WHERE num > (SELECT through FROM named))"
        if not self._database.rows(waits)[0][0]:
            return 0
        with self._database.writing() as con:
            rows = con.execute(
                "SELECT num, content FROM body WHERE num > (SELECT through FROM named) ORDER BY num LIMIT ?", (BATCH,)
            ).fetchall()
            if rows:
                con.executemany(
                    "INSERT INTO mention (body, thing) VALUES (?, ?) ON CONFLICT DO NOTHING",
                    chain.from_iterable(((num, thing) for thing in things(content)) for num, content in rows),
                )
                con.execute("UPDATE named SET through = ?", (rows[-1][0],))
            return len(rows)

    def named_in(self, bodies: Sequence[int]) -> list[tuple[int, int]]:
        """(text, thing) of some texts, in a stable order."""
        statement = "SELECT e.body, e.thing FROM carray(?) c CROSS JOIN mention e ON e.body = c.value"
        return self._database.rows(f"{statement} ORDER BY e.body, e.thing", (self._database.numbers(bodies),))

    def naming(self, things: Sequence[int], where: Filter, *, most: int) -> list[Mention]:
        """Memories that pass the filter and name some things, by thing; none of a thing that more than `most` name."""
        statement, bound = filtered("naming", where)
        bound |= {"limit": LOOKED_AT, "enough": most + 1}
        several: dict[int, list[Mention]] = {}
        for row in self._database.rows_of_each(statement, "thing", sorted(set(things)), bound):
            several.setdefault(row[0], []).append(Mention._make(row))
        return [one for named in several.values() if len(named) <= most for one in named]


def forget(con: Connection, body: int) -> None:
    """A text is gone. A later one may get its number, and must then be looked at as any new one."""
    con.execute("DELETE FROM mention WHERE body = ?", (body,))
    con.execute("UPDATE named SET through = min(through, (SELECT coalesce(max(num), 0) FROM body))")


def clear(con: Connection) -> None:
    con.execute("DELETE FROM mention")
    con.execute("UPDATE named SET through = 0")
