"""The Postgres store: the repositories of one tenant of a database."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ...store.sql.store import SqlStore
from .database import Database
from .search import PostgresSearch

if TYPE_CHECKING:
    from ...store.contract import Describe
    from .erasure import PostgresErasure
    from .maintenance import PostgresMaintenance
    from .vectors import PostgresVectors


class PostgresStore(SqlStore):
    """One tenant of a database, at a URL: `postgresql://...?tenant=name`."""

    _database: Database

    def __init__(
        self, url: str, describe: Describe, *, read_only: bool = False, durable: bool = True, create: bool = True
    ) -> None:
        database = Database(url, read_only=read_only, durable=durable, create=create)
        super().__init__(database, describe)
        self.search = PostgresSearch(database)

    @cached_property
    def vectors(self) -> PostgresVectors:
        from .vectors import PostgresVectors

        return PostgresVectors(self._database, self.jobs)

    @cached_property
    def maintenance(self) -> PostgresMaintenance:
        from .maintenance import PostgresMaintenance

        return PostgresMaintenance(self._database, self.ledger, self._describe)

    @cached_property
    def erasure(self) -> PostgresErasure:
        from .erasure import PostgresErasure

        return PostgresErasure(self._database)

    def close(self) -> None:
        self.search.close()
        self._database.close()
