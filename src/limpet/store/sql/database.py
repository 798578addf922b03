"""What repositories ask of an engine: connections, transactions, and the index that stands beside the rows.

The statements are written once, in SQLite's words. A connection of another engine says them in its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property

from ...keys import signing_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...model.state import MemoryState, SearchFields
    from .store import Store

    # apsw's, or one that answers like it.
    Connection = Any
    # Given to a store when it is opened, so that stores need not know about text.
    # The second argument: the fingerprint, if it is known already.
    Describe = Callable[[MemoryState, int | None], SearchFields]
else:
    Connection = object


class Index(ABC):
    """Full text and codes of vectors, which each engine keeps in its own way. Needs an open write transaction."""

    @abstractmethod
    def insert(self, con: Any, texts: Sequence[tuple[Any, ...]]) -> None:
        """Texts arrive: number, content, topics, labels, dates, scope token, grams."""

    @abstractmethod
    def describe(self, con: Any, num: int, described: tuple[Any, ...]) -> None:
        """What is searched for with a text: topics, labels, dates, grams, scope token."""

    @abstractmethod
    def delete(self, con: Any, num: int) -> None:
        """A text goes, and its vectors."""

    @abstractmethod
    def move(self, con: Any, num: int, scope: int) -> None:
        """The vectors of a text stand in another scope."""

    @abstractmethod
    def rebuild(self, con: Any) -> None:
        """The words of all texts anew."""

    def purged(self, con: Any) -> None:  # noqa: B027
        """Texts were purged: nothing of their words is left."""

    @abstractmethod
    def tell_anew(self, con: Any) -> None:
        """Rows were made anew without an event that says so: other processes see it."""


class Database(ABC):
    """The connections of a store. Thread-safe; several processes may use it at once."""

    path: str
    read_only: bool
    begun: bool
    index: Index
    _cached: tuple[int, dict[Any, Any]] = (-1, {})  # small answers, as of a version

    @cached_property
    def signing_key(self) -> bytes | None:
        """What signs the chain of events, asked for once. Raises BadInput."""
        return signing_key()

    @abstractmethod
    def reading(self) -> AbstractContextManager[Any]:
        """A connection to read from. What a thread reads inside its own write transaction is read from that."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Any]:
        """A write transaction: committed at the end, rolled back when anything is raised; inside one, a part of it."""

    @abstractmethod
    def snapshot(self, deadline: float | None = None) -> AbstractContextManager[None]:
        """All reads inside see one state of the store. `deadline`, on the monotonic clock: a server that says nothing
        until some time after it is a StoreError."""

    @abstractmethod
    def is_writing(self, con: Any) -> bool:
        """Whether a connection is inside a write transaction, which may be rolled back."""

    @abstractmethod
    def version(self, con: Any) -> int:
        """Changes with every commit, by whichever process."""

    def tell(self) -> None:  # noqa: B027
        """Events were written: whoever waits for that, in whichever process, hears of it, if the engine can say so."""

    def on_change(self, call: Callable[[], None]) -> Callable[[], None]:  # noqa: ARG002
        """`call` is called when anyone has written, as soon as the engine says so, which need not be ever: whoever must
        know looks. Returns what ends that."""
        return lambda: None

    def rows(self, statement: str, bound: Any = None) -> list[Any]:
        """All rows that a statement reads."""
        with self.reading() as con:
            found: list[Any] = con.execute(statement, bound).fetchall()
            return found

    def cached(self, name: object, ask: Callable[[Any], list[Any]]) -> list[Any]:
        """A small answer that is asked for by every recall: read once for each version of the store."""
        with self.reading() as con:
            if self.is_writing(con):
                return ask(con)
            version = self.version(con)
            held = self._cached
            if held[0] != version:
                held = self._cached = (version, {})
            if name not in held[1]:
                held[1][name] = ask(con)
            return list(held[1][name])

    @abstractmethod
    def flush_erased(self, *, seconds: float) -> bool:
        """Erased bytes leave what the engine logs, as far as it can be told to. False: a reader keeps them."""

    def loaded(self, rows: int) -> None:  # noqa: B027
        """So many rows were written, in bulk perhaps: what the engine knows of its tables follows them."""

    @staticmethod
    @abstractmethod
    def ids(ids: Iterable[bytes]) -> Any:
        """Ids as `carray` takes them."""

    @staticmethod
    @abstractmethod
    def numbers(numbers: Iterable[int]) -> Any:
        """Numbers as `carray` takes them; there may be none."""

    @abstractmethod
    def close(self) -> None: ...


class Repository:
    """The statements of one family of tables."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._database = store.database
