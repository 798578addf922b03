"""The SQLite store: the repositories of one file."""

from __future__ import annotations

from functools import cached_property

from ..sql.store import SqlStore
from .database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..contract import Describe
    from .erasure import SqliteErasure
    from .maintenance import SqliteMaintenance
    from .search import SqliteSearch
    from .vectors import SqliteVectors


class SqliteStore(SqlStore):
    """A store in one file, or in memory for `:memory:`. Thread-safe; several processes may use the file at once."""

    _database: Database

    def __init__(
        self, path: str, describe: Describe, *, read_only: bool = False, durable: bool = True, create: bool = True,
        late: bool = False,
    ) -> None:  # fmt: skip
        database = Database(path, read_only=read_only, durable=durable, create=create, late=late)
        super().__init__(database, describe)

    @cached_property
    def search(self) -> SqliteSearch:
        from .search import SqliteSearch

        return SqliteSearch(self._database)

    @cached_property
    def vectors(self) -> SqliteVectors:
        from .vectors import SqliteVectors

        return SqliteVectors(self._database, self.jobs)

    @cached_property
    def maintenance(self) -> SqliteMaintenance:
        from .maintenance import SqliteMaintenance

        return SqliteMaintenance(self._database, self.ledger, self._describe)

    @cached_property
    def erasure(self) -> SqliteErasure:
        from .erasure import SqliteErasure

        return SqliteErasure(self._database, self.maintenance)

    def close(self) -> None:
        if "search" in vars(self):
            self.search.close()
        self._database.close()
