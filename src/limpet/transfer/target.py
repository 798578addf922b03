"""Writing files and folders that appear under their name only when they are complete."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..model.errors import BadInput, StoreError


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """A file for its owner only; one of that name is replaced at the end. Raises BadInput, StoreError."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise BadInput(f"cannot write to {path}", hint="give the path of a file in a folder that is there")
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb") as file:
            partial.chmod(0o600)
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder for its owner only; what is there must be an empty one. Raises BadInput, StoreError."""
    if not path.absolute().parent.is_dir():
        raise BadInput(f"cannot write to {path}", hint="give the path of a folder in a folder that is there")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise BadInput(f"{path} is there already and not empty", hint="give the path of a new folder")
    partial = path.with_name(path.name + ".partial")
    try:
        if partial.exists():
            shutil.rmtree(partial)
        partial.mkdir(mode=0o700)
        yield partial
        if path.exists():
            path.rmdir()
        partial.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from None
    finally:
        if partial.exists():
            shutil.rmtree(partial, ignore_errors=True)
