"""The SQLite store: the repositories of one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sql.store import SqlStore
from .database import Database
from .erasure import SqliteErasure
from .maintenance import SqliteMaintenance
from .search import SqliteSearch
from .vectors import SqliteVectors

if TYPE_CHECKING:
    from ..contract import Describe


class SqliteStore(SqlStore):
    """A store in one file, or in memory for `:memory:`. Thread-safe; several processes may use the file at once."""

    _database: Database

    def __init__(
        self, path: str, describe: Describe, *, read_only: bool = False, durable: bool = True, create: bool = True
    ) -> None:
        database = Database(path, read_only=read_only, durable=durable, create=create)
        super().__init__(database, describe)
        self.search = SqliteSearch(database)
        self.vectors = SqliteVectors(database, self.jobs)
        self.maintenance = SqliteMaintenance(database, self.ledger, describe)
        self.erasure = SqliteErasure(database, self.maintenance)

    def close(self) -> None:
        self.search.close()
        self._database.close()
