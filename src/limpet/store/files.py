"""Writing files that appear under their name only when they are complete: private, exclusive, never through a link.

Exports, backups, segments, mirrors, tokens and notes beside a store are written here. Settings files of other programs
are not (`features/install/`): they keep their mode and their links.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..folders import partial_name, remove_abandoned
from ..model.errors import BadInput, StoreError

# Suffixes of files beside a store that must never be overwritten, the store itself first.
SIDE_FILES = (
    "", "-wal", "-shm", "-journal", ".sock", ".tokens", ".hooks.log", ".mirrors", ".pause", ".shared",
    ".work",
)  # fmt: skip
# And the stores that restores replaced: this, and when.
REPLACED = ".replaced-"


def write_own(path: Path, content: bytes, *, force: bool = True) -> None:
    """Write a small file of limpet's own, for its owner only. With `force` it replaces a file or link of that name,
    else it is refused. Raises BadInput, StoreError.
    """
    with writing(path), partial_file(unguessable(path.parent)) as file:
        file.write(content)
        publish(file, path, force=force)


def check_place(path: Path, *, store: str) -> None:
    """Check that a file may be made at this path. Raises BadInput."""
    if not path.absolute().parent.is_dir():
        raise BadInput(f"cannot write to {path}", hint="give a path in a folder that is there")
    if store != ":memory:" and _is_of_store(path, store):
        raise BadInput(
            f"{path} is the store, or a file beside it", hint="give another path; force=True does not replace a store"
        )


def _is_of_store(path: Path, store: str) -> bool:
    """Return whether a path leads to a store or a file beside it, by links, by another name, or in other case."""
    own = [base + suffix for base in {os.path.abspath(store), os.path.realpath(store)} for suffix in SIDE_FILES]  # noqa: PTH100
    # The path as named, in its real folder, and where it leads.
    names = {os.path.abspath(path), os.path.join(os.path.realpath(path.parent), path.name), os.path.realpath(path)}  # noqa: PTH100, PTH118
    # Some file systems take names of another case for the same, also of files that are not there yet.
    folded = {name.casefold() for name in names}
    if folded & {name.casefold() for name in own}:
        return True
    if any(name.startswith(f"{base}{REPLACED}".casefold()) for name in folded for base in own[:: len(SIDE_FILES)]):
        return True
    try:
        status = path.stat()
    except OSError:
        return False
    for name in own:
        with contextlib.suppress(OSError):
            if os.path.samestat(status, os.stat(name)):  # noqa: PTH116
                return True
    return False


def unguessable(folder: Path) -> Path:
    """Return a path in a folder of others, where nobody can have put a file or a link before. What killed processes
    left there is removed."""
    remove_abandoned(str(folder))
    return folder / partial_name()


@contextlib.contextmanager
def partial_file(partial: Path) -> Iterator[IO[bytes]]:
    """Open a new, private file in place of any of that name; it is removed at the end, unless it was published.

    Raises OSError.
    """
    partial.unlink(missing_ok=True)
    try:
        # Exclusive, which follows no link; private from the first byte.
        with open(partial, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            yield file
    finally:
        partial.unlink(missing_ok=True)


def publish(file: IO[bytes], path: Path, *, force: bool = False) -> None:
    """Close a complete file and give it its name, in one step. Without `force` nothing that appeared there meanwhile is
    replaced. Raises BadInput, OSError.
    """
    file.flush()
    os.fsync(file.fileno())
    file.close()
    partial = Path(file.name)
    if force:
        partial.replace(path)
    else:
        try:
            _link(partial, path)
        except FileExistsError:
            raise BadInput(f"{path} is there already", hint="give a new name") from None
    sync_folder(path.parent)


def _link(partial: Path, path: Path) -> None:
    """Give a file a name that no other has. Raises FileExistsError."""
    try:
        os.link(partial, path)
    except OSError:
        # There is a file, or no hard links on this file system: then whoever makes the empty file may replace it.
        path.touch(0o600, exist_ok=False)
        partial.replace(path)


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that the names in it last too. Some systems know no such call."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextlib.contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Turn errors of the file system into a StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from None


@contextlib.contextmanager
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


@contextlib.contextmanager
def new_folder(path: Path, *, store: str) -> Iterator[Path]:
    """Make a folder for its owner only, which gets its name at the end; an existing one must be empty. Raises BadInput,
    StoreError."""
    check_place(path, store=store)
    if os.path.lexists(path) and (path.is_symlink() or not path.is_dir() or any(path.iterdir())):
        raise BadInput(
            f"{path} is there already and not empty",
            hint="give the path of a new folder; force=True replaces files only",
        )
    import shutil

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
