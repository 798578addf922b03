"""Putting a copy in the place of a store.

A copy is checked before, put page by page into the live file, and what it replaces is kept. The file stays the same,
so that processes that have it open go on with what was put back.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import apsw

from ..folders import is_url
from ..model.errors import BadInput, NotFound, StoreBusy, StoreDamaged
from ..settings import read_settings
from ..store.files import REPLACED, partial_file, publish, unguessable, writing
from ..store.sqlite.connection import check_place, connect, head_of, is_encrypted, open_connection, translated
from ..store.sqlite.maintenance import copy_into, copy_pages, first_problem
from ..store.sqlite.search import new_chunk

Progress = Callable[[int, int], None]
# Tries when others write while what is replaced is copied.
TRIES = 5


def restore_backup(
    path: str | os.PathLike[str] | None = None,
    file: str | os.PathLike[str] | None = None,
    *,
    progress: Progress | None = None,
) -> str | None:
    """Make a store what a backup of it is, checked before; processes that have it open go on with that. Without `file`
    the last restore is undone. `path`: as for `open`. Returns where the store that was replaced is kept, if any was.

    Raises BadInput for what is no file or the store itself, NotFound, StoreDamaged for one that is not sound,
    StoreError.
    """
    store = read_settings(path, "global", None).path
    if is_url(store):
        raise BadInput("a store on a server is restored by its own tools", hint="`pg_restore`, or `limpet copy`")
    return _undo(store, progress) if file is None else _restore(store, os.fspath(file), progress)


def _restore(path: str, source: str, progress: Progress | None) -> str | None:
    """Put the file `source` in the place of the store at `path`."""
    if path == ":memory:":
        raise BadInput("a store in memory has no file")
    taken = Path(source)
    if not taken.is_file():
        raise BadInput(f"no file {source}")
    target = Path(os.path.realpath(path))
    if target.exists() and target.samefile(taken):
        raise BadInput(f"{source} is the store itself")
    check_place(target.with_name(target.name + REPLACED), read_only=False)  # makes the folder
    if target.exists() and head_of(target) and is_encrypted(target) != is_encrypted(source):
        which, other = (source, path) if is_encrypted(source) else (path, source)
        raise BadInput(
            f"{which} is encrypted and {other} is not", hint="`limpet encrypt`, with --off or without, makes both alike"
        )
    with writing(path), translated(path), partial_file(unguessable(target.parent)) as file:
        _take_over(source, file, store=path)
        if not target.exists():
            publish(file, target)
            return None
        kept = target.with_name(f"{target.name}{REPLACED}{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
        try:
            with translated(path):
                _into_place(file.name, str(target), kept, progress)
        except StoreDamaged:
            # No database any more: it is set aside with what lies beside it.
            for side in ("-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    target.with_name(target.name + side).rename(kept.with_name(kept.name + side))
            target.rename(kept)
            publish(file, target)
    return str(kept)


def _undo(path: str, progress: Progress | None) -> str | None:
    """Put back what the last restore replaced; the file that it was kept in is gone then."""
    target = Path(os.path.realpath(path))
    moment = f"{'?' * 8}T{'?' * 12}Z"
    files = sorted(target.parent.glob(glob.escape(target.name + REPLACED) + moment))
    if not files:
        raise NotFound(f"no restore of {path} to undo")
    kept = _restore(path, str(files[-1]), progress)
    for side in ("", "-wal", "-shm"):
        files[-1].with_name(files[-1].name + side).unlink(missing_ok=True)
    return kept


def _take_over(source: str, file: IO[bytes], *, store: str) -> None:
    """Copy and check what is to be put back, before anything that is there is touched.

    What is wrong is said of `source`: who reads it of the live store throws the good one away.
    """
    as_it_was = f"{store} was not changed; try an older backup"
    try:
        given = open_connection(source, read_only=True, durable=True)
        try:
            copy_into(given, file.name, like=source)
        finally:
            given.close()
        wrong = first_problem(file.name)
    except (apsw.NotADBError, apsw.CorruptError) as error:
        wrong = str(error)
    except StoreDamaged as error:
        raise StoreDamaged(error.message, hint=as_it_was) from None
    finally:
        for side in ("-wal", "-shm"):
            Path(file.name + side).unlink(missing_ok=True)
    if wrong:
        raise StoreDamaged(f"{source} is not sound: {wrong}", hint=as_it_was)


def _into_place(copy: str, path: str, kept: Path, progress: Progress | None) -> None:
    """Keep what is there, then replace it, in one transaction of its own."""
    there = open_connection(path, read_only=False, durable=True, create=False)
    fresh = connect(copy)
    try:
        for _ in range(TRIES):
            before = there.execute("PRAGMA data_version").get
            with partial_file(unguessable(kept.parent)) as file:
                copy_into(there, file.name, like=path)
                publish(file, kept)
            if there.execute("PRAGMA data_version").get == before:
                break
            kept.unlink()
        else:
            raise StoreBusy(f"others write to {path} all the time", hint="end them, and try again")
        with fresh:
            _renumber(fresh, there)
        copy_pages(fresh, there, progress)
        there.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        fresh.close()
        there.close()


def _renumber(fresh: apsw.Connection, there: apsw.Connection) -> None:
    """Renumber the chunks: processes know vectors in memory by these numbers, which must not come again."""
    if fresh.execute("SELECT count(*) FROM embedder").get == 0:
        for row in there.execute("SELECT * FROM embedder"):
            fresh.execute("INSERT INTO embedder VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    for (embedder,) in fresh.execute("SELECT num FROM embedder").fetchall():
        if fresh.execute("SELECT 1 FROM chunk WHERE embedder = ? LIMIT 1", (embedder,)).get is None:
            new_chunk(fresh, embedder)  # the next has a number above it
    last = [con.execute("SELECT ifnull(max(num), 0) FROM chunk").get for con in (fresh, there)]
    fresh.execute("UPDATE chunk SET num = num + ?", (max(last),))
    fresh.execute("UPDATE vector SET chunk = chunk + ?", (max(last),))
