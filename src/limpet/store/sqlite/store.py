"""The SQLite store: the repositories of one file."""

from __future__ import annotations

from ..sql.store import Store
from .database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..sql.database import Describe


class SqliteStore(Store):
    """A store in one file, or in memory for `:memory:`. Thread-safe; several processes may use the file at once."""

    REPOSITORIES = Store.REPOSITORIES | {
        name: (f"{__package__}.{name}", f"Sqlite{name.capitalize()}")
        for name in ("erasure", "maintenance", "search", "vectors")
    }

    def __init__(
        self, path: str, describe: Describe, *, read_only: bool = False, durable: bool = True, create: bool = True,
        late: bool = False,
    ) -> None:  # fmt: skip
        database = Database(path, read_only=read_only, durable=durable, create=create, late=late)
        super().__init__(database, describe)
