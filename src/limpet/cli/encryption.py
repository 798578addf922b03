"""Commands about encryption at rest: init, encrypt, decrypt, rekey."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ..keys import is_key_given, make_key, store_keys
from ..model.errors import BadInput
from . import output
from .options import Command, no_options, say_if_empty

OVERWRITTEN = (
    "the file as it was is overwritten and removed; snapshots of the disk, and cells of an SSD, may still hold it"
)


def _init_options(parser: ArgumentParser) -> None:
    parser.add_argument("--encrypt", action="store_true", help="encrypted, with the key of LIMPET_KEY or the keyring")


def _path(args: Namespace) -> str:
    from ..settings import read_settings

    return read_settings(args.store, args.scope, None).path


def _is_encrypted(path: str) -> bool:
    from ..api import open as open_memory

    with open_memory(path, create=False) as memory:
        return memory.encrypted


def _init(args: Namespace) -> int:
    from ..api import open as open_memory

    path = _path(args)
    if Path(path).exists() and Path(path).stat().st_size:
        raise BadInput(f"{path} is there already", hint="`limpet encrypt` encrypts it" if args.encrypt else None)
    say_if_empty(args)
    with open_memory(path) as memory:
        encrypted = memory.encrypted
    if args.encrypt and not encrypted:
        try:
            _change(path, _key())
        except BaseException:
            Path(path).unlink()
            raise
    return _told(path, encrypted or args.encrypt, [], args, made=True)


def _encrypt(args: Namespace) -> int:
    path = _path(args)
    if _is_encrypted(path):
        raise BadInput(f"{path} is encrypted already", hint="`limpet rekey` gives it another key")
    return _told(path, True, _change(path, _key()), args)


def _decrypt(args: Namespace) -> int:
    path = _path(args)
    if not _is_encrypted(path):
        raise BadInput(f"{path} is not encrypted")
    return _told(path, False, _change(path, None), args)


def _rekey(args: Namespace) -> int:
    path = _path(args)
    if not _is_encrypted(path):
        raise BadInput(f"{path} is not encrypted", hint="`limpet encrypt` does it")
    if is_key_given() and len(store_keys()) < 2:
        raise BadInput("which key is the new one?", hint='LIMPET_KEY="NEW OLD" limpet rekey')
    return _told(path, True, _change(path, store_keys()[0] if is_key_given() else make_key()), args)


def _key() -> str:
    keys = store_keys()
    return keys[0] if keys else make_key()


def _change(path: str, key: str | None) -> list[str]:
    from ..api import change_key

    return change_key(path, key)


def _told(path: str, encrypted: bool, copies: list[str], args: Namespace, *, made: bool = False) -> int:
    if args.json:
        output.object_line({"path": path, "encrypted": encrypted, "copies": copies})
        return 0
    state = "encrypted" if encrypted else "not encrypted"
    output.line(f"{path} is made, {state}" if made else f"{path} is {state} now")
    if encrypted:
        where = "LIMPET_KEY or LIMPET_KEY_COMMAND" if is_key_given() else "the system's keyring (limpet, store)"
        output.words(f"its key is that of {where}; without it nobody can read the store: keep a copy of the key")
    if not made:
        output.words(OVERWRITTEN)
    for copy in copies:
        output.words(f"not changed: {copy}")
    return 0


COMMANDS = {
    "init": Command(_init_options, _init, "limpet init --encrypt"),
    "encrypt": Command(no_options, _encrypt, "limpet encrypt"),
    "decrypt": Command(no_options, _decrypt, "limpet decrypt"),
    "rekey": Command(no_options, _rekey, "limpet rekey"),
}
