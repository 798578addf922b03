"""What was put before agents: rows when a hook answers, their verdict when its turn ends, and counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import apsw

from . import journal
from .database import Repository

if TYPE_CHECKING:
    from ..records import Action, ExposureRow, UseCount

CANNOT_TELL = -1
_VERDICTS = {0: False, 1: True}
COLUMNS = "scope, session, client, at, via, memory, tokens, shown, drawn, used"
INSERT = f"INSERT INTO surfaced ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Waiting(NamedTuple):
    """A row that no end of a turn has judged, with the memory's text."""

    num: int
    content: str


class SqliteExposures(Repository):
    def note(self, rows: Sequence[ExposureRow], action: Action | None = None) -> None:
        with self._database.writing() as con:
            if action is not None:
                con.execute(journal.INSERT, action)
            con.executemany(INSERT, rows)

    def latest(self, scope: str, *, session: str | None = None, limit: int) -> list[ExposureRow]:
        from ..records import ExposureRow

        found = self._database.rows(
            f"SELECT {COLUMNS} FROM surfaced WHERE scope = ?1 AND (?2 IS NULL OR session = ?2)"
            " ORDER BY num DESC LIMIT ?3",
            (scope, session, limit),
        )
        return [ExposureRow._make((*row[:7], bool(row[7]), bool(row[8]), _VERDICTS.get(row[9]))) for row in found]

    def counts(self, scope: str) -> list[UseCount]:
        from ..records import UseCount

        found = self._database.rows(
            "SELECT memory, shown, drawn, sum(times), sum(tokens), total(used >= 0), total(used = 1) FROM ("
            "  SELECT memory, shown, drawn, session, count(*) AS times, sum(tokens) AS tokens, max(used) AS used"
            "    FROM surfaced WHERE scope = ? GROUP BY memory, shown, drawn, session"
            ") GROUP BY memory, shown, drawn ORDER BY memory, shown, drawn",
            (scope,),
        )
        return [UseCount(row[0], bool(row[1]), bool(row[2]), *map(int, row[3:])) for row in found]


def waiting(con: apsw.Connection, scope: str, session: str) -> list[Waiting]:
    """Of memories that are still there. surfaced_waiting, memory_current."""
    return [
        Waiting(*row)
        for row in con.execute(
            "SELECT s.num, b.content FROM surfaced s JOIN memory m ON m.id = s.memory AND m.retired_at IS NULL"
            " JOIN body b ON b.num = m.body WHERE s.scope = ? AND s.session = ? AND s.used IS NULL ORDER BY s.num",
            (scope, session),
        )
    ]


def judge(con: apsw.Connection, verdicts: Iterable[tuple[int, int]]) -> None:
    """(used, num): 1, 0, or CANNOT_TELL."""
    con.executemany("UPDATE surfaced SET used = ? WHERE num = ?", verdicts)
