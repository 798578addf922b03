"""The files and folders that are written: what is there is replaced only when it is asked for, the store never."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ...model.errors import BadInput
from ...store.files import check_place, partial_file, publish, sync_folder, unguessable, writing


@contextmanager
def new_file(path: Path, *, store: str, force: bool = False) -> Iterator[IO[bytes]]:
    """Open a new file for its owner only (0600), which gets its name at the end. `store`: the store's path, which is
    never replaced, nor are files beside it. `force`: replace another file of that name. Raises BadInput, StoreError."""
    check_place(path, store=store)
    if path.exists() and not path.is_file():
        raise BadInput(f"cannot write to {path}: it is no regular file", hint="give the path of a file")
    if not force and os.path.lexists(path):
        raise BadInput(f"{path} is there already", hint="give a new name, or force=True to replace it")
    with writing(path), partial_file(unguessable(path.parent)) as file:
        yield file
        publish(file, path, force=force)


@contextmanager
def new_folder(path: Path, *, store: str) -> Iterator[Path]:
    """Make a folder for its owner only, which gets its name at the end; an existing one must be empty. Raises BadInput,
    StoreError."""
    check_place(path, store=store)
    if os.path.lexists(path) and (path.is_symlink() or not path.is_dir() or any(path.iterdir())):
        raise BadInput(
            f"{path} is there already and not empty",
            hint="give the path of a new folder; force=True replaces files only",
        )
    partial = unguessable(path.parent)
    with writing(path):
        partial.mkdir(mode=0o700)
        try:
            yield partial
            if path.is_dir():
                path.rmdir()
            partial.rename(path)
            sync_folder(path.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
