"""The Postgres store: the repositories of one tenant of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...store.sql.store import Store
from .database import Database

if TYPE_CHECKING:
    from ...store.sql.database import Describe


class PostgresStore(Store):
    """One tenant of a database, at a URL: `postgresql://...?tenant=name`."""

    REPOSITORIES = Store.REPOSITORIES | {
        name: (f"{__package__}.{name}", f"Postgres{name.capitalize()}")
        for name in ("erasure", "maintenance", "search", "vectors")
    }

    def __init__(
        self, url: str, describe: Describe, *, read_only: bool = False, durable: bool = True, create: bool = True
    ) -> None:
        super().__init__(Database(url, read_only=read_only, durable=durable, create=create), describe)
