"""A store of an engine with rows: the repositories that all of them share, each imported when it is asked for."""

from __future__ import annotations

from functools import cached_property

from .database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..contract import Describe
    from .checkouts import SqlCheckouts
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


class SqlStore:
    """Thread-safe; several processes may use the store at once. An engine adds search, vectors and care."""

    def __init__(self, database: Database, describe: Describe) -> None:
        self._database = database
        self._describe = describe
        self.path = database.path
        self.read_only = database.read_only
        self.snapshot = database.snapshot
        self.on_change = database.on_change

    @property
    def begun(self) -> bool:
        return self._database.begun

    def data_version(self) -> int:
        with self._database.reading() as con:
            return self._database.version(con)

    @cached_property
    def ledger(self) -> SqlLedger:
        from .ledger import SqlLedger

        return SqlLedger(self._database, self, self._describe)  # type: ignore[arg-type]  # an engine makes it a store

    @cached_property
    def memories(self) -> SqlMemories:
        from .memories import SqlMemories

        return SqlMemories(self._database)

    @cached_property
    def sessions(self) -> SqlSessions:
        from .sessions import SqlSessions

        return SqlSessions(self._database)

    @cached_property
    def listings(self) -> SqlListings:
        from .listings import SqlListings

        return SqlListings(self._database, self.memories)

    @cached_property
    def mentions(self) -> SqlMentions:
        from .mentions import SqlMentions

        return SqlMentions(self._database)

    @cached_property
    def edges(self) -> SqlEdges:
        from .graph import SqlEdges

        return SqlEdges(self._database)

    @cached_property
    def graph(self) -> SqlGraph:
        from .graph import SqlGraph

        return SqlGraph(self._database)

    @cached_property
    def jobs(self) -> SqlJobs:
        from .jobs import SqlJobs

        return SqlJobs(self._database)

    @cached_property
    def usage(self) -> SqlUsage:
        from .usage import SqlUsage

        return SqlUsage(self._database)

    @cached_property
    def reviews(self) -> SqlReviews:
        from .reviews import SqlReviews

        return SqlReviews(self._database)

    @cached_property
    def journal(self) -> SqlJournal:
        from .journal import SqlJournal

        return SqlJournal(self._database)

    @cached_property
    def sources(self) -> SqlSources:
        from .sources import SqlSources

        return SqlSources(self._database)

    @cached_property
    def exposures(self) -> SqlExposures:
        from .exposures import SqlExposures

        return SqlExposures(self._database)

    @cached_property
    def checkouts(self) -> SqlCheckouts:
        from .checkouts import SqlCheckouts

        return SqlCheckouts(self._database)

    @cached_property
    def devices(self) -> SqlDevices:
        from .devices import SqlDevices

        return SqlDevices(self._database, self.ledger, self.reviews, self._describe)
