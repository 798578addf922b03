"""How a store's reading connection is borrowed, and how it tells that the file has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from .connection import translated, translation

if TYPE_CHECKING:
    from .store import SqliteStore


class Reading:
    """The reading connection under its lock, driver errors translated. No generator: a recall enters it often."""

    __slots__ = ("_store",)

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def __enter__(self) -> apsw.Connection:
        store = self._store
        store._read_lock.acquire()
        try:
            store._check_open()
            if store._reader is not None:
                return store._reader
            with translated(store.path):
                return store._open_reader()
        except BaseException:
            store._read_lock.release()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._store._read_lock.release()
        if isinstance(error, apsw.Error):
            raise translation(error, self._store.path) from error


def version_of(con: apsw.Connection) -> int:
    """Changes with every commit: by others, read from the file itself, and by this connection."""
    return int(con.execute("PRAGMA data_version").get) + int(con.total_changes())
