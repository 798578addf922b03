"""Reading and writing other programs' files: whole, atomic, with their mode, through links."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from ...model.errors import BadInput, StoreError

BACKUP = ".before-limpet"
# A settings file is never as large as this.
MAX_BYTES = 64_000_000


def read(path: Path) -> bytes | None:
    """The bytes of a file; None when there is none. Raises BadInput for what is no file, StoreError for no access."""
    try:
        if path.exists() and not path.is_file():
            raise BadInput(f"{path} is not a file", hint="it was left alone")
        if path.is_file() and path.stat().st_size > MAX_BYTES:
            raise BadInput(f"{path} is too large to be a settings file", hint="it was left alone")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None


def write(path: Path, data: bytes, *, like: Path | None = None, mode: int | None = None) -> None:
    """Replace a file by one with this content, in one step. A link stays, and what it leads to is replaced.

    The mode is that of the file that was there, else that of `like`, else `mode`, else the usual one.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        kept = next((one.stat() for one in (target, like) if one is not None and one.exists()), None)
        number, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".tmp", dir=target.parent)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if kept is not None:
                _own_alike(name, kept)
                Path(name).chmod(stat.S_IMODE(kept.st_mode))
            else:
                Path(name).chmod(mode if mode is not None else 0o666 & ~_umask())
            Path(name).replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}", hint="nothing of it was changed") from None


def delete(path: Path, root: Path) -> None:
    """Remove a file, and the folders that it leaves empty, up to `root`."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot remove {path}: {error.strerror}") from None
    for folder in path.parents:
        if folder == root or root not in folder.parents:
            return
        try:
            folder.rmdir()
        except OSError:
            return


def backup_of(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def _own_alike(name: str, kept: os.stat_result) -> None:
    """Root that edits a user's file leaves it the user's."""
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(name, kept.st_uid, kept.st_gid)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
