"""The command that encrypts a store's file, gives it another key, or writes it in plain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import limpet

from ...cli import output
from ...cli.output import line, words
from ...cli.verbs import STORE, Verb, arg
from ...keys import KEY_BYTES, KEYRING_SERVICE, KEYRING_USER, checked_keys, is_key_given, kept_keys, store_keys
from ...model.errors import BadInput
from ...settings import read_settings
from . import change_key

if TYPE_CHECKING:
    from argparse import Namespace


def _encrypt(args: Namespace) -> int:
    """Encrypt the store's file, begin an encrypted store, write it in plain again, or give it another key."""
    path = read_settings(args.store, args.scope, None).path
    file, changes = Path(path), args.off or args.rekey
    is_new = not (file.is_file() and file.stat().st_size)
    with limpet.open(path, create=not changes) as memory:
        encrypted = memory.encrypted
    if changes and not encrypted:
        raise BadInput(f"{path} is not encrypted", hint="`limpet encrypt` does it")
    if encrypted and not changes and not is_new:
        raise BadInput(f"{path} is encrypted already", hint="--rekey gives it another key, --off takes it away")
    keys = store_keys()
    if args.rekey and is_key_given() and len(keys) < 2:
        raise BadInput("which key is the new one?", hint='LIMPET_KEY="NEW OLD" limpet encrypt --rekey')
    copies: list[str] = []
    if not (is_new and encrypted):
        fresh = not keys or (args.rekey and not is_key_given())
        try:
            copies = change_key(path, None if args.off else _make_key() if fresh else keys[0])
        except BaseException:
            if is_new:
                file.unlink(missing_ok=True)
            raise
    if args.json:
        output.result({"path": path, "encrypted": not args.off, "copies": copies})
        return 0
    line(f"{path} is {'not ' * args.off}encrypted now")
    if not args.off:
        where = "LIMPET_KEY" if is_key_given() else "the system's keyring (limpet, store)"
        words(f"its key is that of {where}; without it nobody can read the store: keep a copy of the key")
    if not is_new:
        words("the file as it was is overwritten and removed; snapshots, and cells of an SSD, may still hold it")
    for copy in copies:
        words(f"not changed: {copy}")
    return 0


def _make_key() -> str:
    """Make a new key, which is the keyring's newest from now on. Raises BadInput."""
    import secrets

    key = secrets.token_hex(KEY_BYTES)
    try:
        import keyring

        keyring.set_password(KEYRING_SERVICE, KEYRING_USER, " ".join((key, *checked_keys(kept_keys()))))
    except Exception as error:  # a keyring's own errors, of every kind
        why = "the package keyring is not installed" if isinstance(error, ImportError) else f"{error}"
        raise BadInput(
            f"no keyring keeps a key here: {why}",
            hint="make one with `openssl rand -hex 32`, keep it, and set LIMPET_KEY",
        ) from None
    kept_keys.cache_clear()
    return key


VERBS = (
    Verb(
        name="encrypt", group=STORE, about="encrypt the store's file, or begin an encrypted store", run=_encrypt,
        arguments=(arg("--off", "write it in plain again"), arg("--rekey", "with another key")),
        example="limpet encrypt\nlimpet encrypt --rekey\nlimpet encrypt --off",
    ),
)  # fmt: skip
