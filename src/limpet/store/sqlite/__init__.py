"""The default store: one SQLite file, through APSW.

`store.py` is the door; `connection.py` opens and guards the file; `ledger.py` writes; `reads.py`, `search.py`,
`vectors.py`, `jobs.py` and `upkeep.py` answer. SQL is in `queries.sql` and `migrations/`.
"""

from .store import SqliteStore

__all__ = ["SqliteStore"]
