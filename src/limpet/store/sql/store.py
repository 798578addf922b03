"""A store: repositories, one a family of tables, over the connections of an engine.

Statements are written once, in SQLite's SQL; a connection of another engine translates them. There is one way to
write beliefs: `ledger.commit(decide)`. `records.py` has the rows that a store takes and returns; `tests/contract/`
tests every engine by the same suite.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from importlib import import_module

from ...model.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from ...model.memory import Filter
    from ...model.state import MemoryState, SearchFields
    from .checkouts import Checkouts
    from .graph import Edges, Graph
    from .jobs import Jobs, Relations, Reviews
    from .journal import Journal
    from .ledger import Ledger
    from .listings import Listings
    from .maintenance import Erasure, Maintenance
    from .memories import Memories, Usage
    from .search import Search, Vectors
    from .sessions import Sessions

    # apsw's, or one that answers like it.
    Connection = Any
    # Given to a store when it is opened, so that stores need not know about text.
    # The second argument: the fingerprint, if it is known already.
    Describe = Callable[[MemoryState, int | None], SearchFields]
else:
    Connection = object

# Where each repository is: a process imports those that it uses. The last four are the engine's own.
MODULES = {
    "checkouts": "checkouts", "edges": "graph", "graph": "graph",
    "jobs": "jobs", "journal": "journal", "ledger": "ledger", "listings": "listings", "memories": "memories",
    "relations": "jobs", "reviews": "jobs", "sessions": "sessions", "usage": "memories",
    "erasure": "maintenance", "maintenance": "maintenance", "search": "search", "vectors": "search",
}  # fmt: skip
OWN = ("erasure", "maintenance", "search", "vectors")


# Milliseconds that a write waits for others before it gives up.
BUSY_TIMEOUT_MS = 60_000


class TimedOut(StoreError):
    """A statement was ended at its deadline."""


class Database(ABC):
    """The connections of a store. Thread-safe; several processes may use it at once."""

    path: str
    read_only: bool
    begun: bool  # False: a file that the first write will make; until then everything answers as in an empty store
    index: Any  # full text and codes beside the rows: what it does is said in `SqliteIndex`

    @abstractmethod
    def reading(self) -> AbstractContextManager[Any]:
        """Lend a connection to read from. Inside a thread's own write transaction it is that one."""

    @abstractmethod
    def writing(self, *, wait_ms: int = BUSY_TIMEOUT_MS) -> AbstractContextManager[Any]:
        """Open a write transaction: committed at the end, rolled back on an exception; inside one, a part of it.

        Raises StoreBusy when others write for longer than `wait_ms`.
        """

    @abstractmethod
    def snapshot(self, deadline: float | None = None) -> AbstractContextManager[None]:
        """Give all reads inside one state of the store. `deadline`, on the monotonic clock: a server silent until some
        time after it is a StoreError."""

    @abstractmethod
    def version(self, con: Any) -> int:
        """Return a value that changes with every commit, by any process."""

    def rows(self, statement: str, bound: Any = None) -> list[Any]:
        """Return all rows that a statement reads."""
        with self.reading() as con:
            rows: list[Any] = con.execute(statement, bound).fetchall()
            return rows

    @abstractmethod
    def flush_erased(self, *, seconds: float) -> bool:
        """Remove erased bytes from the engine's log, as far as it allows. Return False if a reader keeps them."""

    def loaded(self, rows: int) -> None:  # noqa: B027
        """Note that so many rows were written, perhaps in bulk, for the engine's statistics."""

    @staticmethod
    @abstractmethod
    def ids(ids: Iterable[bytes]) -> Any:
        """Return ids as `carray` takes them."""

    @staticmethod
    @abstractmethod
    def numbers(numbers: Iterable[int]) -> Any:
        """Return numbers as `carray` takes them; there may be none."""

    @abstractmethod
    def close(self) -> None: ...


class Repository:
    """The statements of one family of tables."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._database = store.database

    def _ask(self, name: str, where: Filter | None = None, /, **bound: Any) -> list[Any]:
        """Return all rows that a named statement reads, with the filter filled in."""
        from .statements import filtered

        statement, condition = filtered(name, where)
        return self._database.rows(statement, bound | condition)

    def _change(self, statement: str, bound: Any = None, *, many: bool = False) -> int:
        """Run a statement that writes, with each of many bindings or with these. Return how many rows it changed."""
        with self._database.writing() as con:
            before = con.total_changes()
            (con.executemany if many else con.execute)(statement, bound)
            return int(con.total_changes() - before)

    def _named(self, text: str, name: str, **bound: Any) -> list[bytes]:
        """Return what a statement finds by an id, a short id or an id's beginning, a dozen at most. Raises BadInput."""
        from ...model.ids import named_by
        from .statements import statements

        def ask(how: str, low: bytes, high: bytes) -> list[bytes]:
            statement = statements()[name].replace("{part}", "id" if how == "prefix" else "substr(id, 12)")
            return [row[0] for row in self._database.rows(statement, bound | {"low": low, "high": high})]

        return named_by(text, ask)


class Store:
    """A store. Thread-safe; several processes may use one at once. An engine adds what it stores in its own form."""

    # The engine's connections, and where its own repositories are.
    DATABASE: ClassVar[Callable[..., Database]]
    PACKAGE, PREFIX = "", ""

    checkouts: Checkouts
    edges: Edges
    erasure: Erasure
    graph: Graph
    jobs: Jobs
    journal: Journal
    ledger: Ledger
    listings: Listings
    maintenance: Maintenance
    memories: Memories
    relations: Relations
    reviews: Reviews
    search: Search
    sessions: Sessions
    usage: Usage
    vectors: Vectors

    def __init__(self, path: str, describe: Describe, **options: bool) -> None:
        """Open the engine's `Database`. `options`: its own."""
        self.database = self.DATABASE(path, **options)
        self.describe = describe
        self.path, self.read_only = self.database.path, self.database.read_only
        self.snapshot = self.database.snapshot

    def __getattr__(self, name: str) -> Any:
        """Return a repository, made when it is first asked for."""
        if name not in MODULES:
            raise AttributeError(f"a store has no {name}")
        package, prefix = (self.PACKAGE, self.PREFIX) if name in OWN else (__package__, "")
        repository = getattr(import_module(f"{package}.{MODULES[name]}"), prefix + name.capitalize())
        return self.__dict__.setdefault(name, repository(self))

    def data_version(self) -> int:
        """Return a number that changes with any commit, by any process."""
        with self.database.reading() as con:
            return self.database.version(con)

    def close(self) -> None:
        if "search" in vars(self):
            self.search.arrays.close()
        self.database.close()
