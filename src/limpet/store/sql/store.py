"""A store: repositories, one a family of tables. `tests/contract/` holds every engine to the same suite.

There is one way to write beliefs: `ledger.commit(decide)`. What a store gives and takes is in `records.py`.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .checkouts import Checkouts
    from .database import Database, Describe
    from .devices import Devices
    from .erasure import Erasure
    from .exposures import Exposures
    from .graph import Edges, Graph
    from .jobs import Jobs
    from .journal import Journal
    from .ledger import Ledger
    from .listings import Listings
    from .maintenance import Maintenance
    from .memories import Memories
    from .reviews import Reviews
    from .search import Search
    from .sessions import Sessions
    from .sources import Sources
    from .usage import Usage
    from .vectors import Vectors


class Store:
    """Thread-safe; several processes may use a store at once. An engine adds what it keeps in its own way."""

    checkouts: Checkouts
    devices: Devices
    edges: Edges
    erasure: Erasure
    exposures: Exposures
    graph: Graph
    jobs: Jobs
    journal: Journal
    ledger: Ledger
    listings: Listings
    maintenance: Maintenance
    memories: Memories
    reviews: Reviews
    search: Search
    sessions: Sessions
    sources: Sources
    usage: Usage
    vectors: Vectors

    # Where each repository is: a process imports those that it uses.
    REPOSITORIES = {
        name: (f"{__package__}.{name}", name.capitalize())
        for name in (
            "checkouts", "devices", "exposures", "graph", "jobs", "journal", "ledger", "listings", "memories",
            "reviews", "sessions", "sources", "usage",
        )
    } | {"edges": (f"{__package__}.graph", "Edges")}  # fmt: skip

    def __init__(self, database: Database, describe: Describe) -> None:
        self.database = database
        self.describe = describe
        self.path = database.path
        self.snapshot = database.snapshot
        self.on_change = database.on_change

    def __getattr__(self, name: str) -> Any:
        """A repository, made when it is first asked for."""
        if name not in self.REPOSITORIES:
            raise AttributeError(f"a store has no {name}")
        module, repository = self.REPOSITORIES[name]
        return self.__dict__.setdefault(name, getattr(import_module(module), repository)(self))

    @property
    def read_only(self) -> bool:
        return self.database.read_only

    @property
    def begun(self) -> bool:
        """False: a file that the first write will make. Until then everything answers as in an empty store."""
        return self.database.begun

    def data_version(self) -> int:
        """A number that changes when anything was committed, by whichever process."""
        with self.database.reading() as con:
            return self.database.version(con)

    def close(self) -> None:
        if "search" in vars(self):
            self.search.close()
        self.database.close()
