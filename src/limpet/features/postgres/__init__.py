"""The store of a team: a Postgres database, through psycopg (`pip install 'limpet[postgres]'`).

The repositories are those of `store/sql/`. Here are transactions (`database.py`), the translation of statements
(`statements.py`), full text and vectors (`index.py`, `search.py`), and the schema (`schema.sql`).
"""

try:
    import psycopg  # noqa: F401
except ImportError:
    from ...model.errors import StoreError

    raise StoreError("Postgres needs a package", hint="pip install 'limpet[postgres]'") from None

from .database import Database, PostgresStore

__all__ = ["Database", "PostgresStore"]
