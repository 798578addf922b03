"""What repositories ask of an engine: connections, transactions, and the index that stands beside the rows.

The statements are written once, in SQLite's words. A connection of another engine says them in its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol
else:
    Any = Protocol = object

Row = tuple[Any, ...]


class Found(Protocol):
    """What a statement gives."""

    @property
    def get(self) -> Any:
        """The first row, a single value without its tuple; None: there is none."""

    def fetchall(self) -> list[Any]: ...

    def fetchone(self) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    def execute(self, statement: str, bound: Any = None, /) -> Found: ...

    def executemany(self, statement: str, bound: Iterable[Any], /) -> Any: ...

    def total_changes(self) -> int: ...


class Index(Protocol):
    """Full text and codes of vectors, which each engine keeps in its own way. Needs an open write transaction."""

    def insert(self, con: Any, texts: Sequence[Row]) -> None:
        """Texts arrive: number, content, topics, labels, dates, scope token, grams."""

    def describe(self, con: Any, num: int, described: Row) -> None:
        """What is searched for with a text: topics, labels, dates, grams, scope token."""

    def delete(self, con: Any, num: int) -> None:
        """A text goes, and its vectors."""

    def move(self, con: Any, num: int, scope: int) -> None:
        """The vectors of a text stand in another scope."""

    def rebuild(self, con: Any) -> None:
        """The words of all texts anew."""

    def purged(self, con: Any) -> None:
        """Texts were purged: nothing of their words is left."""

    def tell_anew(self, con: Any) -> None:
        """Rows were made anew without an event that says so: other processes see it."""


class Database(Protocol):
    """The connections of a store. Thread-safe; several processes may use it at once."""

    path: str
    read_only: bool
    begun: bool
    index: Index

    @property
    def signing_key(self) -> bytes | None:
        """What signs the chain of events, if anything does."""

    def reading(self) -> AbstractContextManager[Any]:
        """A connection to read from. What a thread reads inside its own write transaction is read from that."""

    def writing(self) -> AbstractContextManager[Any]:
        """A write transaction: committed at the end, rolled back when anything is raised; inside one, a part of it."""

    def snapshot(self, deadline: float | None = None) -> AbstractContextManager[None]: ...

    def version(self, con: Any) -> int: ...

    def tell(self) -> None:
        """Events were written: whoever waits for that, in whichever process, hears of it, if the engine can say so."""

    def on_change(self, call: Callable[[], None]) -> Callable[[], None]:
        """`Store.on_change`."""

    def rows(self, statement: str, bound: Any = None) -> list[Any]:
        """All rows that a statement reads."""

    def rows_of_each(
        self, statement: str, name: str, values: Sequence[int], bound: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        """All rows that a statement reads with each of some values of a parameter, the value before the others."""

    def cached(self, name: object, ask: Callable[[Any], list[Any]]) -> list[Any]:
        """A small answer that is asked for by every recall: read once for each version of the store."""

    def flush_erased(self, *, seconds: float) -> bool:
        """Erased bytes leave what the engine logs, as far as it can be told to. False: a reader keeps them."""

    def loaded(self, rows: int) -> None:
        """So many rows were written, in bulk perhaps: what the engine knows of its tables follows them."""

    def ids(self, ids: Iterable[bytes]) -> Any:
        """Ids as `carray` takes them."""

    def numbers(self, numbers: Iterable[int]) -> Any:
        """Numbers as `carray` takes them; there may be none."""


class Repository:
    """The statements of one family of tables."""

    def __init__(self, database: Database) -> None:
        self._database = database
