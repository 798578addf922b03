"""The SQLite store: the repositories of one file."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from .checkouts import SqliteCheckouts
from .database import Database
from .devices import SqliteDevices
from .erasure import SqliteErasure
from .exposures import SqliteExposures
from .graph import SqliteEdges, SqliteGraph
from .jobs import SqliteJobs
from .journal import SqliteJournal
from .ledger import SqliteLedger
from .listings import SqliteListings
from .maintenance import SqliteMaintenance
from .memories import SqliteMemories
from .mentions import SqliteMentions
from .reviews import SqliteReviews
from .search import SqliteSearch
from .sessions import SqliteSessions
from .sources import SqliteSources
from .usage import SqliteUsage
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
        self.ledger = SqliteLedger(self._database, self, describe)
        self.memories = SqliteMemories(self._database)
        self.sessions = SqliteSessions(self._database)
        self.listings = SqliteListings(self._database, self.memories)
        self.search = SqliteSearch(self._database)
        self.mentions = SqliteMentions(self._database)
        self.edges = SqliteEdges(self._database)
        self.graph = SqliteGraph(self._database)
        self.jobs = SqliteJobs(self._database)
        self.vectors = SqliteVectors(self._database, self.jobs)
        self.usage = SqliteUsage(self._database)
        self.reviews = SqliteReviews(self._database)
        self.journal = SqliteJournal(self._database)
        self.sources = SqliteSources(self._database)
        self.exposures = SqliteExposures(self._database)
        self.checkouts = SqliteCheckouts(self._database)
        self.devices = SqliteDevices(self._database, self.ledger, self.reviews, describe)
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
