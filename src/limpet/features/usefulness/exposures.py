"""What was put before agents, kept and counted. Hooks write such rows by themselves (`agents/hooks/journal.py`)."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.dataclass import NamedTuple
from ...store.records import Action
from ...store.sql.journal import EXPOSURE, INSERT, INSERT_EXPOSURE
from ...store.sql.store import Repository

# What the column says -> whether it was used; of other values nobody knows.
_VERDICTS = {0: False, 1: True}


class ExposureRow(NamedTuple):
    """A memory that was put before an agent, or held out of what it was shown. `at` in microseconds UTC."""

    scope: str
    session: str
    client: str
    at: int
    via: str  # message, start or compact: the hook; recall or prepare: the MCP tool
    memory: bytes
    tokens: int
    shown: bool = True
    drawn: bool = False  # whether showing it was randomized
    used: bool | None = None  # whether it showed up in the work; None: not known, or it cannot be told


class UseCount(NamedTuple):
    """How often a memory was surfaced (or, `shown` False, held out) and used. Judged and used: once a session."""

    memory: bytes
    shown: bool
    drawn: bool
    times: int
    tokens: int
    judged: int
    used: int


class Exposures(Repository):
    """Rows of `surfaced`."""

    def note(self, rows: Sequence[ExposureRow], action: Action | None = None) -> None:
        """Keep what was shown, and the journal's line that it answers, in one transaction. The last 50,000 stay."""
        with self._database.writing() as con:
            if action is not None:
                con.execute(INSERT, action)
            con.executemany(INSERT_EXPOSURE, [(*row[:9], None if row.used is None else int(row.used)) for row in rows])

    def latest(
        self, scope: str, *, session: str | None = None, memory: bytes | None = None, limit: int
    ) -> list[ExposureRow]:
        """The last ones of a scope, or of one of its sessions, newest first; or of a memory, in whatever scope."""
        found = self._database.rows(
            f"SELECT {EXPOSURE} FROM surfaced WHERE CASE WHEN ?4 IS NULL"
            " THEN scope = ?1 AND (?2 IS NULL OR session = ?2) ELSE memory = ?4 END ORDER BY num DESC LIMIT ?3",
            (scope, session, limit, memory),
        )
        return [ExposureRow._make((*row[:7], bool(row[7]), bool(row[8]), _VERDICTS.get(row[9]))) for row in found]

    def counts(self, scope: str) -> list[UseCount]:
        """All of a scope, counted by memory and by whether it was shown and drawn; ordered by them. A memory that came
        several times in a session is one observation: what it is used for is one work. Of what was drawn the first time
        counts: what is shown is shown once, and what is held out must not be looked for more often than that."""
        found = self._database.rows(
            "SELECT memory, shown, drawn, sum(times), sum(tokens),"
            " sum(CASE WHEN used >= 0 THEN 1 ELSE 0 END), sum(CASE WHEN used = 1 THEN 1 ELSE 0 END) FROM ("
            "  SELECT memory, shown, drawn, session, count(*) AS times, sum(tokens) AS tokens,"
            "         max(CASE WHEN num = first OR NOT drawn THEN used END) AS used"
            "    FROM (SELECT *, min(num) OVER (PARTITION BY memory, shown, drawn, session) AS first"
            "            FROM surfaced WHERE scope = ?) AS numbered GROUP BY memory, shown, drawn, session"
            ") AS runs GROUP BY memory, shown, drawn ORDER BY memory, shown, drawn",
            (scope,),
        )
        return [UseCount(row[0], bool(row[1]), bool(row[2]), *map(int, row[3:])) for row in found]
