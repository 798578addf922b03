"""The SQLite store: the repositories of one file."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ..sql.checkouts import SqlCheckouts
from ..sql.devices import SqlDevices
from ..sql.exposures import SqlExposures
from ..sql.graph import SqlEdges, SqlGraph
from ..sql.jobs import SqlJobs
from ..sql.journal import SqlJournal
from ..sql.ledger import SqlLedger
from ..sql.listings import SqlListings
from ..sql.memories import SqlMemories
from ..sql.mentions import SqlMentions
from ..sql.reviews import SqlReviews
from ..sql.sessions import SqlSessions
from ..sql.sources import SqlSources
from ..sql.usage import SqlUsage
from .database import Database
from .erasure import SqliteErasure
from .maintenance import SqliteMaintenance
from .search import SqliteSearch
from .vectors import SqliteVectors

if TYPE_CHECKING:
    from ..contract import Describe


class SqliteStore:
    """A store in one file, or in memory for `:memory:`. Thread-safe; several processes may use the file at once."""

    def __init__(
        self, path: str, describe: Describe, *, read_only: bool = False, durable: bool = True, create: bool = True
    ) -> None:
        self._database = Database(path, read_only=read_only, durable=durable, create=create)
        self.path = path
        self.read_only = self._database.read_only
        self.ledger = SqlLedger(self._database, self, describe)
        self.memories = SqlMemories(self._database)
        self.sessions = SqlSessions(self._database)
        self.listings = SqlListings(self._database, self.memories)
        self.search = SqliteSearch(self._database)
        self.mentions = SqlMentions(self._database)
        self.edges = SqlEdges(self._database)
        self.graph = SqlGraph(self._database)
        self.jobs = SqlJobs(self._database)
        self.vectors = SqliteVectors(self._database, self.jobs)
        self.usage = SqlUsage(self._database)
        self.reviews = SqlReviews(self._database)
        self.journal = SqlJournal(self._database)
        self.sources = SqlSources(self._database)
        self.exposures = SqlExposures(self._database)
        self.checkouts = SqlCheckouts(self._database)
        self.devices = SqlDevices(self._database, self.ledger, self.reviews, describe)
        self.maintenance = SqliteMaintenance(self._database, self.ledger, describe)
        self.erasure = SqliteErasure(self._database, self.maintenance)

    def snapshot(self) -> AbstractContextManager[None]:
        return self._database.snapshot()

    def data_version(self) -> int:
        with self._database.reading() as con:
            return self._database.version(con)

    def close(self) -> None:
        self.search.close()
        self._database.close()
