"""The journal without the engine: a line costs a connection and an insert, for a hook pays it after each tool call.

The second place that names a concrete store, beside `engine.py`.
"""

from __future__ import annotations

from .settings import Settings
from .store.sqlite.connection import open_connection
from .store.sqlite.journal import note


def note_action(settings: Settings, *, session: str, at: int, kind: str, what: str) -> None:
    """Add a line to the journal. The last lines may be lost with the power, not with the process. Raises StoreError."""
    connection = open_connection(settings.path, read_only=False, durable=False)
    try:
        note(connection, settings.scope, session, at, kind, what)
    finally:
        connection.close()
