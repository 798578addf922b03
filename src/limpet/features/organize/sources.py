"""The sources that the organizer has read, and those that hooks report."""

from __future__ import annotations

from ...model.dataclass import NamedTuple
from ...store.sql.store import Repository

_SOURCE = "scope, path, digest, reached, at"


class Source(NamedTuple):
    """A transcript or a file of notes, as far as it was organized into a scope."""

    scope: str
    path: str
    digest: str | None  # of what was read; None: nothing yet
    reached: str | None  # JSON: how far a model has read each conversation
    at: int


class Sources(Repository):
    """The sources of a store, by scope and path."""

    def get(self, scope: str, path: str) -> Source | None:
        rows = self._database.rows(f"SELECT {_SOURCE} FROM source WHERE scope = ? AND path = ?", (scope, path))
        return Source(*rows[0]) if rows else None

    def keep(self, source: Source) -> None:
        """Note how far a source was read; it waits no more once it has a digest."""
        with self._database.writing() as con:
            con.execute(
                f"INSERT INTO source ({_SOURCE}, waits) VALUES (?1, ?2, ?3, ?4, ?5, 0) ON CONFLICT (scope, path)"
                " DO UPDATE SET digest = ?3, reached = ?4, at = ?5,"
                " waits = CASE WHEN ?3 IS NULL THEN source.waits ELSE 0 END",
                source,
            )

    def announce(self, scope: str, path: str, at: int) -> None:
        """Note a source that is there to read or has grown; earlier notes of it stay."""
        with self._database.writing() as con:
            con.execute(
                "INSERT INTO source (scope, path, at, waits) VALUES (?1, ?2, ?3, 1)"
                " ON CONFLICT (scope, path) DO UPDATE SET waits = 1, at = ?3",
                (scope, path, at),
            )

    def waiting(self, scope: str | None = None) -> list[Source]:
        """Return the waiting sources of one scope or all, in the order they were announced."""
        statement = (
            f"SELECT {_SOURCE} FROM source WHERE waits = 1 AND (?1 IS NULL OR scope = ?1) ORDER BY at, scope, path"
        )
        return [Source(*row) for row in self._database.rows(statement, (scope,))]
