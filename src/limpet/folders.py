"""The user's folder for limpet's data, as platformdirs names it, and the names of stores and of unfinished files."""

from __future__ import annotations

import contextlib
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# An unfinished file that nobody has written to for so long is nobody's, whatever process has its number by now.
ABANDONED_SECONDS = 86_400.0


def user_folder() -> str:
    """Return limpet's data folder; it need not be there.

    On Linux without platformdirs, whose import takes a tenth of a short command: $XDG_DATA_HOME, as the XDG base
    directory specification has it.
    """
    if sys.platform == "linux" and "ANDROID_DATA" not in os.environ:
        named = os.environ.get("XDG_DATA_HOME", "").strip()
        return os.path.join(named if named.startswith("/") else os.path.expanduser("~/.local/share"), "limpet")
    import platformdirs

    return platformdirs.user_data_dir("limpet", appauthor=False)


def default_path() -> str:
    """Return the default path of a store: `memory.db` in the platform's folder for data."""
    return os.path.join(user_folder(), "memory.db")


def is_url(store: str) -> bool:
    """Return whether a store is a server's and no file."""
    return "://" in store


def shown(store: str) -> str:
    """Return a store's name for print and log: a URL without its password."""
    if not is_url(store):
        return store
    from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

    parts = urlsplit(store)
    login, at, host = parts.netloc.rpartition("@")
    given = [arg for arg in parse_qsl(parts.query, keep_blank_values=True) if arg[0] not in ("password", "sslpassword")]
    return urlunsplit(parts._replace(netloc=f"{login.partition(':')[0]}{at}{host}", query=urlencode(given)))


def absolute(store: str) -> str:
    """Return a store's name that is the same in any folder, for print and log."""
    return shown(store) if is_url(store) else os.path.abspath(store)


def resolved(store: str) -> str:
    """Return a store's one name, with links resolved."""
    return shown(store) if is_url(store) else os.path.realpath(store)


def is_there(store: str) -> bool:
    """Return whether a store exists, as far as is known without asking a server."""
    return is_url(store) or os.path.exists(store)


def beside(store: str) -> str:
    """Return the prefix of the files beside a store; for one on a server they are in the user's data folder."""
    if not is_url(store):
        return store
    from hashlib import sha256

    folder = user_folder()
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return os.path.join(folder, f"store-{sha256(shown(store).encode()).hexdigest()[:16]}")


@contextlib.contextmanager
def locked(path: str, *, wait: bool = False) -> Iterator[bool]:
    """Hold the lock of a file, made if need be; a link there is not followed. Yields False if another process holds it,
    unless `wait`. On Windows nobody is kept out. Raises OSError."""
    # Without waiting for the other end of a pipe; nothing is cut off.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(path, flags, 0o600), "ab") as file:
        free = True
        with contextlib.suppress(ImportError):
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except OSError:
                free = False
        yield free


def partial_name() -> str:
    """Return a name for a file that this process writes: nobody can have put a file or a link there before."""
    return f".limpet-{_processes()}-{os.getpid()}-{os.urandom(8).hex()}.partial"


def partials(folder: str) -> list[str]:
    """Return the paths of unfinished files in a folder, and of what SQLite put beside them."""
    names = os.listdir(folder) if os.access(folder, os.R_OK) else ()
    return [os.path.join(folder, name) for name in names if name.startswith(".limpet-") and ".partial" in name]


def remove_abandoned(folder: str) -> None:
    """Remove what killed processes have left unfinished in a folder; what another one still writes stays."""
    for path in partials(folder):
        with contextlib.suppress(OSError, ValueError):
            processes, number = os.path.basename(path).split("-")[1:3]
            ended = processes == _processes() and not _runs(int(number))
            if ended or time.time() - os.lstat(path).st_mtime > ABANDONED_SECONDS:
                import shutil

                (shutil.rmtree if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)


def _processes() -> str:
    """Return a token for the processes whose numbers this one can look up: of this machine, and of one container."""
    from zlib import crc32

    space = os.readlink("/proc/self/ns/pid") if os.path.lexists("/proc/self/ns/pid") else ""
    return f"{crc32(f'{os.uname().nodename} {space}'.encode()) if hasattr(os, 'uname') else 0:08x}"


def _runs(process: int) -> bool:
    """Return whether a process runs; on Windows, where the question would end it, always True."""
    with contextlib.suppress(PermissionError):
        try:
            os.kill(process, 0) if os.name != "nt" else None
        except ProcessLookupError:
            return False
    return True
