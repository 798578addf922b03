"""Storage of memories. `sql/` has the repositories that engines share; each engine has a folder of its own.

Only this module chooses the engine of a store: a file is SQLite's, a URL is Postgres's. Nothing outside this package
imports a database driver.
"""

from __future__ import annotations

import os

from ..folders import is_url
from ..model.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .sql.store import Database, Describe
    from .sql.store import Store as Store


def open_store(
    path: str, describe: Describe, *, read_only: bool = False, durable: bool = True, create: bool = True,
    late: bool = False,
) -> Store:  # fmt: skip
    """Open a store. `late`: the first write makes a missing file. Raises StoreError and its kind, BadInput."""
    if is_url(path):
        from ..registry import part

        store: Store = part("features.postgres").PostgresStore(
            path, describe, read_only=read_only, durable=durable, create=create
        )
        return store
    from .sqlite.database import SqliteStore

    if path == ":memory:" and read_only:
        raise BadInput("a store in memory cannot be read only: it begins empty")
    return SqliteStore(path, describe, read_only=read_only, durable=durable, create=create, late=late)


def open_database(path: str) -> Database:
    """Open a store's connections alone, for a hook that writes a line: its last writes may be lost with the power.

    Raises StoreError and its kind.
    """
    if is_url(path):
        from ..registry import part

        database: Database = part("features.postgres").Database(path, durable=False)
        return database
    from .sqlite import database as sqlite

    # An existing file without bytes was a store: a line beside the work makes no new one of it.
    return sqlite.Database(path, durable=False, create=not os.path.exists(path), single=True)  # noqa: PTH110
