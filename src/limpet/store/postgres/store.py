"""The Postgres store: the repositories of one tenant of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sql.store import SqlStore
from .database import Database
from .erasure import PostgresErasure
from .maintenance import PostgresMaintenance
from .search import PostgresSearch
from .vectors import PostgresVectors

if TYPE_CHECKING:
    from ..contract import Describe


class PostgresStore(SqlStore):
    """One tenant of a database, at a URL: `postgresql://...?tenant=name`."""

    _database: Database

    def __init__(
        self, url: str, describe: Describe, *, read_only: bool = False, durable: bool = True, create: bool = True
    ) -> None:
        database = Database(url, read_only=read_only, durable=durable, create=create)
        super().__init__(database, describe)
        self.search = PostgresSearch(database)
        self.vectors = PostgresVectors(database, self.jobs)
        self.maintenance = PostgresMaintenance(database, self.ledger, describe)
        self.erasure = PostgresErasure(database)

    def close(self) -> None:
        self.search.close()
        self._database.close()
