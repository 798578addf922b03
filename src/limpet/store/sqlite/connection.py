"""Opening and guarding the file: pragmas, waiting for locks, the schema, and driver errors turned into ours."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count

import apsw

from ...model.errors import (
    BadInput,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreMissing,
    StoreOfAnotherVersion,
    StoreReadOnly,
)
from ...model.forks import is_child, note_use, refuse_child
from ..sql.store import BUSY_TIMEOUT_MS, TimedOut

APPLICATION_ID = 0x6C696D70  # "limp", in the file's header
HEAD_BYTES, MAGIC = 24, b"SQLite format 3\0"
READ_WRITE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
# How often and how long a reader waits for the first bytes of a file that was made, or emptied, just now.
EMPTY_LOOKS, EMPTY_PAUSE_SECONDS = 20, 0.025
MAPPED_BYTES = 2**31 - 2**16  # as much as SQLite takes
# File systems whose locks or shared memory WAL cannot rely on.
NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "9p", "fuse.sshfs", "fuse.rclone", "fuse.s3fs",
     "ceph", "glusterfs", "fuse.glusterfs", "lustre", "davfs", "fuse.davfs"}
)  # fmt: skip
SCHEMA = 11  # the number of schema.sql, in the file's header


def open_connection(
    path: str, *, read_only: bool, durable: bool = True, create: bool = True, mapped: bool = True
) -> apsw.Connection:
    """Open and check a store file, or make one. `:memory:` is a store that ends with its process.

    `mapped`: read from the mapped file, which is resident memory of this process, once for each connection.

    `durable`: fsync at every commit (synchronous=FULL) or only at checkpoints (NORMAL: a power loss may take the last
    writes, a killed process may not). Without `create` no file and no folder is made. Raises StoreError and its kind.
    """
    refuse_child()
    with translated(path):
        if path != ":memory:":
            check_place(path, read_only=read_only or not create)
            if not read_only:
                _make_private(path)
        connection = _connect(path, read_only=read_only)
        note_use(connection)
        try:
            connection.set_busy_handler(busy_handler())
            # Plans do not depend on what is bound: else SQLite, built with STAT4, makes many of them anew at every use.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            # Few pages are kept: of a mapped file each would be there once more.
            connection.execute(
                f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}; PRAGMA secure_delete=ON;"
                f"PRAGMA cache_size=-8000; PRAGMA temp_store=MEMORY; PRAGMA mmap_size={MAPPED_BYTES if mapped else 0}"
            ).fetchall()  # a pragma that answers stops the statements after it until its answer is read
            _check_schema(connection, path, read_only=read_only or connection.readonly("main"))
        except BaseException:
            connection.close()
            raise
        return connection


def check_place(path: str | os.PathLike[str], *, read_only: bool) -> None:
    """Refuse what cannot be a store before SQLite touches it; `read_only`: also what is none yet. Raises StoreError."""
    path = os.fspath(path)
    if os.path.isdir(path):
        raise StoreError(f"{path} is a directory, not a store", hint="give the path of a file, such as memory.db")
    kind = file_system_of(path)
    if kind in NETWORK_FILE_SYSTEMS and os.environ.get("LIMPET_ALLOW_NETWORK_FS") != "1":
        raise StoreError(
            f"{path} is on a network file system ({kind}), where SQLite's write-ahead log is not safe",
            hint="keep the store on a local disk, and copy it with `limpet backup` or `limpet export`",
        )
    if os.path.exists(path):
        if not os.path.isfile(path):
            raise StoreError(f"{path} is not a regular file")
        if (head := head_of(path)) and not (head.startswith(MAGIC) or is_encrypted(path)):
            raise StoreDamaged(f"{path} is not a limpet store (it is not an SQLite file)", hint="it was left untouched")
        if read_only and _stays_empty(path):
            raise StoreDamaged(
                f"{path} is empty (0 bytes): if there was a store, it is lost",
                hint="restore a backup; `limpet remember` begins a new store there",
            )
    elif read_only:
        raise StoreMissing(f"no store at {path}", hint="`limpet remember` makes one there")
    elif not os.path.isdir(folder := os.path.dirname(path) or "."):
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        except OSError as error:
            hint = how_to_write(path) if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else None
            raise StoreError(f"cannot make the folder {folder}: {error.strerror}", hint=hint) from None


def _stays_empty(path: str) -> bool:
    """Return whether a file is empty and stays so: another process may be about to make a store of it."""
    for _ in range(EMPTY_LOOKS):
        try:
            status = os.stat(path)
        except OSError:
            return False
        if status.st_size:
            return False
        if time.time() - status.st_mtime > EMPTY_LOOKS * EMPTY_PAUSE_SECONDS:
            return True
        time.sleep(EMPTY_PAUSE_SECONDS)
    return True


def head_of(path: str | os.PathLike[str]) -> bytes:
    """Return the first bytes of a file; none if it does not exist. Raises apsw.Error.

    It reads through SQLite: if a process closes a database's file itself, SQLite's locks on it are lost.
    """
    real = os.path.realpath(path)
    try:
        if not os.stat(real).st_size:
            return b""
    except FileNotFoundError:
        return b""
    opened = apsw.VFSFile("", real, [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        return bytes(opened.xRead(HEAD_BYTES, 0))
    except apsw.IOError:  # shorter
        return b"?"
    finally:
        opened.xClose()


def is_encrypted(path: str | os.PathLike[str]) -> bool:
    """Return whether SQLite3 Multiple Ciphers made the file: it leaves only these bytes of the header unencrypted."""
    head = head_of(path)
    return head[20:] == b"\x20\x40\x20\x20" and not head.startswith(MAGIC)


def connect(path: str, *, flags: int = READ_WRITE, like: str | None = None) -> apsw.Connection:
    """Open a store's file, with the key if it is encrypted; a new one is if there is a key for it, or if the store
    `like` is. Every connection is made here. Raises StoreLocked, BadInput, apsw.Error."""
    file = path.removeprefix("file://").split("?")[0] if flags & apsw.SQLITE_OPEN_URI else path
    if file == ":memory:":
        return apsw.Connection(path, flags=flags)
    if head := head_of(file):
        wanted = not head.startswith(MAGIC) and is_encrypted(file)
    elif like is not None:
        wanted = is_encrypted(like)
    else:
        from ...keys import is_key_given

        wanted = is_key_given()
    if not wanted:
        return apsw.Connection(path, flags=flags)
    from ...registry import part

    opened: apsw.Connection = part("features.encryption").unlocked(path, flags)
    return opened


def file_system_of(path: str | os.PathLike[str]) -> str | None:
    """Return the type of the file system that holds `path` (Linux), None where that is unknown."""
    if not sys.platform.startswith("linux"):
        return None
    place = os.path.realpath(_folder_of(os.fspath(path)))
    best, kind = "", None
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as mounts:
            for line in mounts:
                _, mount, fs, *_ = line.split(" ")
                mount = mount.replace("\\040", " ")
                inside = place == mount or place.startswith(mount.rstrip("/") + "/")
                if inside and len(mount) >= len(best):
                    best, kind = mount, fs
    except (OSError, ValueError):
        return None
    return kind


# A driver's error -> our error, its words, and what to do next.
_TRANSLATIONS = (
    (UnicodeEncodeError, BadInput, "a text is not valid UTF-8", "it holds half a character (\\ud800 to \\udfff)"),
    ((apsw.BusyError, apsw.LockedError), StoreBusy, "another process has been writing to {path} for too long",
     "try again; `limpet doctor` shows who waits"),
    (apsw.InterruptError, TimedOut, "{path} was not read in time", "try again"),
    (apsw.FullError, StoreError, "the disk that holds {path} is full; nothing was stored",
     "free some space, try again"),
    (apsw.ReadOnlyError, StoreReadOnly, "{path} cannot be written", None),
    ((apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError), StoreError, "cannot open {path}: {error}",
     "check the path and its permissions"),
    ((apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError), StoreDamaged, "{path} is damaged: {error}",
     "restore a backup, or save what can be read with `limpet export jsonl`"),
    (apsw.IOError, StoreError, "cannot read or write {path}: {error}", "is the disk full or failing?"),
    (apsw.Error, StoreError, "the store failed: {error}", ""),
)  # fmt: skip


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn driver errors into limpet's, with a message and a hint."""
    try:
        yield
    except (apsw.Error, UnicodeError) as error:
        for kinds, made, message, hint in _TRANSLATIONS:
            if isinstance(error, kinds):
                what_to_do = how_to_write(path) if hint is None else hint or None
                raise made(message.format(path=path, error=error), hint=what_to_do) from error


def how_to_write(path: str) -> str:
    """Return the advice for a store that cannot be written."""
    there = os.path.exists(path)
    place = os.path.abspath(path)
    while not os.path.exists(place):
        place = os.path.dirname(place)
    if hasattr(os, "statvfs") and os.statvfs(place).f_flag & os.ST_RDONLY:
        why = "its disk is mounted read-only"
    elif there and not _is_unwritable(path):
        return "it was opened to be read: open it without read_only"
    else:
        why = "check the permissions of the file and its folder"
    return (
        f"{why}; or "
        + "`limpet backup NEW` copies it to where you may write, and " * there
        + "--store NEW writes there"
    )


def _connect(path: str, *, read_only: bool) -> apsw.Connection:
    if not read_only and not _is_unwritable(path):
        with contextlib.suppress(apsw.CantOpenError, apsw.ReadOnlyError):
            return connect(path)
    if not read_only and not os.access(path, os.R_OK):
        raise StoreError(f"cannot open {path}", hint=how_to_write(path))
    # A read-only folder has no room for the shared-memory file of WAL: without a log to replay, the file is enough.
    wal = path + "-wal"
    if not os.access(_folder_of(path), os.W_OK) and not (os.path.exists(wal) and os.path.getsize(wal)):
        from pathlib import Path

        uri = Path(path).absolute().as_uri() + "?immutable=1"
        return connect(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    return connect(path, flags=apsw.SQLITE_OPEN_READONLY)


def _is_unwritable(path: str) -> bool:
    """Return whether an existing store cannot be written: its file, or the folder where the log would be made.

    SQLite would open it, and refuse the first read.
    """
    if path == ":memory:" or not os.path.exists(path):
        return False
    has_log = os.path.exists(path + "-wal") and os.path.exists(path + "-shm")
    return not os.access(path, os.W_OK) or not (has_log or os.access(_folder_of(path), os.W_OK))


def _folder_of(path: str) -> str:
    return os.path.dirname(os.path.abspath(path))


def _make_private(path: str) -> None:
    """Make the file private from the first byte, whatever the umask says.

    SQLite gives its log and shared memory the mode of the file, so the file is made first. An existing store keeps its
    mode; a log beside it must not be open to more people than the store.
    """
    real = os.path.realpath(path)
    with contextlib.suppress(OSError):
        with contextlib.suppress(FileExistsError):
            os.close(os.open(real, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        store = os.stat(real)
        if not store.st_size:
            os.chmod(real, 0o600)  # an empty file that becomes a store
        for side_file in (f"{real}-wal", f"{real}-shm"):
            with contextlib.suppress(FileNotFoundError):
                mode = os.lstat(side_file).st_mode
                if stat.S_ISREG(mode) and mode & ~store.st_mode & 0o777:
                    os.chmod(side_file, mode & store.st_mode & 0o777)


def busy_handler(wait_ms: int = BUSY_TIMEOUT_MS) -> Callable[[int], bool]:
    """Wait with jitter, so that several writers do not knock in step: 1 ms at first, up to 50 ms."""
    started = 0.0

    def wait(attempts: int) -> bool:
        import random

        nonlocal started
        if attempts == 0:
            started = time.monotonic()
        if time.monotonic() - started > wait_ms / 1000:
            return False
        time.sleep(random.uniform(0.0005, min(0.05, 0.001 * (attempts + 1))))
        return True

    return wait


def _check_schema(connection: apsw.Connection, path: str, *, read_only: bool) -> None:
    # One statement, one state of the file: another process may be making the store.
    version, application, tables = connection.execute(
        "SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id),"
        " (SELECT count(*) FROM sqlite_schema)"
    ).get
    if tables and application != APPLICATION_ID:
        raise StoreDamaged(f"{path} is an SQLite file of another program", hint="it was left untouched")
    if version == SCHEMA:
        return
    if version:
        raise StoreOfAnotherVersion(path, version, SCHEMA)
    if read_only:
        raise StoreDamaged(f"{path} is not a limpet store")
    # To the write-ahead log. SQLite calls no busy handler for that, so we wait ourselves.
    wait = busy_handler()
    for attempt in count():
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
            break
        except apsw.BusyError:
            if not wait(attempt):
                raise
    with transaction(connection):
        if not connection.execute("PRAGMA user_version").get:  # another process may have made it while we waited
            with open(os.path.join(os.path.dirname(__file__), "schema.sql"), encoding="utf-8") as file:
                connection.execute(file.read())
            connection.execute(f"PRAGMA user_version={SCHEMA}; PRAGMA application_id={APPLICATION_ID}")


@contextlib.contextmanager
def transaction(connection: apsw.Connection) -> Iterator[apsw.Connection]:
    """Open a write transaction: committed at the end, rolled back on an exception."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        refuse_child()  # the process may have been forked meanwhile
        connection.execute("COMMIT")
    except BaseException:
        if not is_child() and connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
