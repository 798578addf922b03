"""A store of an engine with rows: the repositories that all of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .checkouts import SqlCheckouts
from .database import Database
from .devices import SqlDevices
from .exposures import SqlExposures
from .graph import SqlEdges, SqlGraph
from .jobs import SqlJobs
from .journal import SqlJournal
from .ledger import SqlLedger
from .listings import SqlListings
from .memories import SqlMemories
from .mentions import SqlMentions
from .reviews import SqlReviews
from .sessions import SqlSessions
from .sources import SqlSources
from .usage import SqlUsage

if TYPE_CHECKING:
    from ..contract import Describe, Store


class SqlStore:
    """Thread-safe; several processes may use the store at once. An engine adds search, vectors and care."""

    def __init__(self, database: Database, describe: Describe) -> None:
        self._database = database
        self.path = database.path
        self.read_only = database.read_only
        self.snapshot = database.snapshot
        self.on_change = database.on_change
        self.ledger = SqlLedger(database, cast("Store", self), describe)
        self.memories = SqlMemories(database)
        self.sessions = SqlSessions(database)
        self.listings = SqlListings(database, self.memories)
        self.mentions = SqlMentions(database)
        self.edges = SqlEdges(database)
        self.graph = SqlGraph(database)
        self.jobs = SqlJobs(database)
        self.usage = SqlUsage(database)
        self.reviews = SqlReviews(database)
        self.journal = SqlJournal(database)
        self.sources = SqlSources(database)
        self.exposures = SqlExposures(database)
        self.checkouts = SqlCheckouts(database)
        self.devices = SqlDevices(database, self.ledger, self.reviews, describe)

    def data_version(self) -> int:
        with self._database.reading() as con:
            return self._database.version(con)
