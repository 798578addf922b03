"""Storage of memories. `sql/` has the repositories that engines share; each engine has a folder of its own.

Only this module chooses the engine of a store: a file is SQLite's, a URL is Postgres's. Nothing outside this package
imports a database driver.
"""

from __future__ import annotations

from ..folders import is_url
from ..model.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .sql.store import Describe
    from .sql.store import Store as Store
    from .sqlite.connection import Pen


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


def open_pen(path: str) -> Pen:
    """Open the writer that hooks use; for a URL, its equivalent. Raises StoreError and its kind."""
    if is_url(path):
        from ..registry import part

        pen: Pen = part("features.postgres").Database(path, durable=False)
        return pen
    from .sqlite.connection import Pen

    return Pen(path)
