"""The default store: one SQLite file, through APSW.

`store.py` names the repositories, a file each; `database.py` lends them connections and transactions, which
`connection.py` opens and guards; `projection.py` makes rows of events. SQL is in `queries.sql` and `schema.sql`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .store import SqliteStore

__all__ = ["SqliteStore"]


def __getattr__(name: str) -> Any:
    """The store itself is imported when it is asked for: the journal needs only a connection."""
    if name == "SqliteStore":
        from .store import SqliteStore

        return SqliteStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
