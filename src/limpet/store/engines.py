"""Which engine keeps a store: a file is SQLite's, a URL is Postgres's. The one place that chooses."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from ..folders import is_url
from ..model.errors import BadInput

if TYPE_CHECKING:
    from .contract import Describe, Store


class Pen(Protocol):
    """What hooks write with: a connection, and no store. What they write may be lost with the power."""

    read_only: bool

    def reading(self) -> AbstractContextManager[Any]: ...

    def writing(self, *, wait_ms: int = ...) -> AbstractContextManager[Any]:
        """A write transaction. Raises StoreBusy when others write for longer than that."""
        ...

    def close(self) -> None: ...


def open_store(
    path: str, describe: Describe, *, read_only: bool = False, durable: bool = True, create: bool = True
) -> Store:
    """Raises StoreError and its kind, BadInput."""
    if is_url(path):
        from .postgres import PostgresStore

        return PostgresStore(path, describe, read_only=read_only, durable=durable, create=create)
    from .sqlite import SqliteStore

    return SqliteStore(path, describe, read_only=read_only, durable=durable, create=create)


def open_pen(path: str) -> Pen:
    """Raises StoreError and its kind."""
    if is_url(path):
        from .postgres import Database

        return Database(path, durable=False)
    from .sqlite.pen import SqlitePen

    return SqlitePen(path)


def check_is_file(path: str, what: str) -> None:
    """Raises BadInput for a store that is a server's: what is asked for is done by its own tools."""
    if is_url(path):
        raise BadInput(f"{what} is of stores in files", hint="a server's are kept by `pg_dump`, or `limpet copy`")
