"""Encrypted stores, by SQLite3 Multiple Ciphers (`apsw-sqlite3mc` in the place of `apsw`): opening one, and changing
the key of a file. Loaded for them alone.

The cipher is its default, ChaCha20 with Poly1305 for each page. The key is 32 bytes, and no pass phrase: to stretch one
would cost a quarter of a second a connection.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

import apsw

import limpet

from ...folders import is_url
from ...keys import checked_keys, store_keys
from ...model.errors import BadInput, StoreBusy, StoreDamaged, StoreLocked
from ...settings import read_settings
from ...store.files import partial_file, publish, unguessable, writing
from ...store.sqlite.connection import READ_WRITE, busy_handler, check_place, connect, is_encrypted, translated

# Both packages install the module apsw; where both are, the one that was installed last is there.
INSTALL = "pip install 'limpet[encryption]' && pip install --force-reinstall --no-deps apsw-sqlite3mc"
ALONE_MS = 5_000  # how long a change of the key waits for others to end
BLOCK_BYTES = 1 << 20


def cipher() -> str | None:
    """Return the name and version of the encrypting library; None where apsw has none."""
    return getattr(apsw, "mc_version", None)


def unlocked(path: str, flags: int) -> apsw.Connection:
    """Open a connection to a file that is encrypted, or will be. Raises StoreLocked, BadInput, apsw.Error."""
    if cipher() is None:
        raise StoreLocked(f"{path} is encrypted, and the package that reads it is not installed", hint=INSTALL)
    keys = store_keys()
    if not keys:
        raise StoreLocked(
            f"{path} is encrypted, and there is no key for it",
            hint="set LIMPET_KEY; the keyring has none, or cannot be asked here",
        )
    for key in keys:
        connection = apsw.Connection(path, flags=flags)
        try:
            connection.set_busy_handler(busy_handler())
            connection.execute(f"PRAGMA key='raw:{key}'").fetchall()
            connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
            return connection
        except apsw.NotADBError:
            connection.close()
        except BaseException:
            connection.close()
            raise
    keys_tried = f"none of {len(keys)} keys" if len(keys) > 1 else "the key"
    raise StoreLocked(f"{keys_tried} opens {path}", hint="is it of another store? or the file is damaged")


def change_key(path: str | os.PathLike[str] | None, key: str | None) -> list[str]:
    """Encrypt a store's file with a key of 64 hexadecimal digits, or, with None, write it in plain. Nobody may have it
    open. The key that it has is asked for as `limpet.open` does. Returns the copies of the store that it knows of,
    which stay as they are. Raises BadInput, StoreBusy, StoreLocked, StoreError.
    """
    store = read_settings(path, "global", None).path
    with limpet.open(store, create=False) as memory:
        erasure = memory._context.store.erasure
        copies = [*(copy for copy, _ in erasure.copies()), *map(str, erasure.replaced_stores())]
    if is_url(store):
        raise BadInput("what a server keeps is the server's to encrypt", hint="encrypt the disks that its data is on")
    if store == ":memory:":
        raise BadInput("a store in memory has no file")
    _rewrite(store, None if key is None else checked_keys(key)[0])
    return copies


def _rewrite(path: str, key: str | None) -> None:
    """Write a store's file anew under a key, or with none, in plain; then what was there is overwritten and removed."""
    if key is not None and cipher() is None:
        raise StoreLocked(f"{path} cannot be encrypted: the package that does it is not installed", hint=INSTALL)
    target = Path(os.path.realpath(path))
    with writing(path), translated(path):
        check_place(target, read_only=True)
        with partial_file(unguessable(target.parent)) as file:
            there = connect(str(target), flags=READ_WRITE | apsw.SQLITE_OPEN_URI)
            try:
                _take_alone(there, path)
                events = there.execute("SELECT count(*) FROM event").get
                there.execute("PRAGMA temp_store=MEMORY; PRAGMA secure_delete=ON").fetchall()
                uri = f"file:{quote(file.name)}?key={'' if key is None else f'raw:{key}'}"
                there.execute("VACUUM INTO ?", (uri,))
                _check(file.name, key, events)
                # From here on there is no log that would be taken for one of the new file.
                there.execute("PRAGMA journal_mode=DELETE").fetchall()
                with target.open("r+b") as old:
                    publish(file, target, force=True)
                    _overwrite(old.fileno())
            finally:
                there.close()


def _take_alone(there: apsw.Connection, path: str) -> None:
    """Keep everybody out until the connection is closed. Raises StoreBusy."""
    try:
        there.set_busy_timeout(ALONE_MS)
        there.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()
        there.execute("PRAGMA journal_mode=DELETE").fetchall()
        there.execute("BEGIN EXCLUSIVE; COMMIT").fetchall()
    except apsw.BusyError:
        raise StoreBusy(
            f"other processes have {path} open",
            hint="end them (agents, `limpet mcp`, `limpet mirror watch`), try again",
        ) from None


def _check(path: str, key: str | None, events: int) -> None:
    """Check that the new file is whole and has the log that every store has. Raises StoreDamaged."""
    fresh = apsw.Connection(path)
    try:
        if key is not None:
            fresh.execute(f"PRAGMA key='raw:{key}'").fetchall()
        fresh.execute("PRAGMA journal_mode=WAL").fetchall()
        sound = fresh.execute("PRAGMA quick_check(1)").get == "ok" and is_encrypted(path) == (key is not None)
        if not sound or fresh.execute("SELECT count(*) FROM event").get != events:
            raise StoreDamaged("what was written is not what was read", hint="nothing was changed; `limpet verify`")
        fresh.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        fresh.close()


def _overwrite(file: int) -> None:
    """Overwrite a file that has no name any more. A process that still has it open finds no database in it."""
    left = os.fstat(file).st_size
    os.lseek(file, 0, os.SEEK_SET)
    while left > 0:
        left -= os.write(file, bytes(min(left, BLOCK_BYTES)))
    os.fsync(file)
