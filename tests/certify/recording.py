"""What SQLite does to a store's files, recorded step by step, and failing when asked to: for `limpet certify` only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from limpet.store.sqlite.connection import open_connection, translated


class Step(NamedTuple):
    """One call of SQLite's that changes a file. `file`: its name; `kind`: write, truncate, sync or delete."""

    kind: str
    file: str
    offset: int = 0  # of a truncate: the new size
    data: bytes = b""


class DiskFull(apsw.FullError):  # type: ignore[misc]  # the driver's stubs are passed over
    """What a file system says that has no room."""


class DiskFails(apsw.IOError):  # type: ignore[misc]
    """What a disk says that cannot write or flush."""


@contextmanager
def recorded(seen: Callable[[Step], None]) -> Iterator[None]:
    """Every store that is opened inside goes through `seen`, before each step. A DiskFull or DiskFails that it raises
    is what SQLite gets; of a write half is done then. One at a time in a process."""
    vfs = _Recording(apsw.vfs_names()[0], seen)
    try:
        yield
    finally:
        vfs.unregister()


class _Recording(apsw.VFS):  # type: ignore[misc]
    def __init__(self, base: str, seen: Callable[[Step], None]) -> None:
        self._base, self._seen = base, seen
        super().__init__("limpet-recording", base, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        if name is None:
            return apsw.VFSFile(self._base, name, flags)
        return _RecordedFile(self._base, name, flags, self._seen)

    def xDelete(self, name: str, syncdir: bool) -> None:
        self._seen(Step("delete", Path(name).name))
        super().xDelete(name, syncdir)


class _RecordedFile(apsw.VFSFile):  # type: ignore[misc]
    def __init__(self, base: str, name: Any, flags: list[int], seen: Callable[[Step], None]) -> None:
        self._seen = seen
        self._name = Path(name.filename() if isinstance(name, apsw.URIFilename) else name).name
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        try:
            self._seen(Step("write", self._name, offset, bytes(data)))
        except apsw.Error:
            super().xWrite(bytes(data)[: len(data) // 2], offset)
            raise
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self._seen(Step("truncate", self._name, size))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self._seen(Step("sync", self._name))
        super().xSync(flags)


def events_in(path: str, memory: bytes | None) -> tuple[int, str | None]:
    """How many events a store has as it is found, and the text of one memory; the files are left as they are.

    Raises StoreError and its kind.
    """
    connection = open_connection(path, read_only=True, durable=True)
    try:
        with translated(path):
            return connection.execute(
                "SELECT (SELECT count(*) FROM event), (SELECT b.content FROM memory m JOIN body b ON b.num = m.body"
                " WHERE m.id = ? AND m.retired_at IS NULL)",
                (memory,),
            ).get
    finally:
        connection.close()
