"""Exports and segments that only their recipients can read: files of age (age-encryption.org), by pyrage.

To whom: the recipients in LIMPET_AGE_RECIPIENTS, else a pass phrase. Read with the identities in the file
LIMPET_AGE_IDENTITY, else with that pass phrase.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...keys import age_passphrase
from ...model.errors import BadInput

HEAD = b"age-encryption.org/"
SUFFIX = ".age"
# What one file may hold: it is in memory as a whole.
MAX_BYTES = 1 << 30


def encrypt(content: bytes, *, recipients_only: bool = False) -> bytes:
    """`recipients_only`: for what is made of many files, as a pass phrase takes a second or more for each.

    Raises BadInput.
    """
    pyrage = _pyrage()
    named = os.environ.get("LIMPET_AGE_RECIPIENTS", "").split()
    if named:
        return bytes(pyrage.encrypt(content, [_recipient(pyrage, one) for one in named]))
    phrase = None if recipients_only else age_passphrase()
    if phrase is None:
        raise BadInput(
            "nobody is named who could read it",
            hint="set LIMPET_AGE_RECIPIENTS (age1..., separated by spaces)"
            + ("" if recipients_only else ", or LIMPET_AGE_PASSPHRASE"),
        )
    return bytes(pyrage.passphrase.encrypt(content, phrase))


def decrypt(content: bytes, name: str) -> bytes:
    """Raises BadInput."""
    pyrage = _pyrage()
    file = os.environ.get("LIMPET_AGE_IDENTITY")
    try:
        if file:
            return bytes(pyrage.decrypt(content, _identities(pyrage, Path(file))))
        phrase = age_passphrase()
        if phrase is not None:
            return bytes(pyrage.passphrase.decrypt(content, phrase))
    except pyrage.DecryptError as error:
        raise BadInput(f"{name} cannot be decrypted: {error}", hint="is it for this identity or pass phrase?") from None
    raise BadInput(
        f"{name} is encrypted", hint="set LIMPET_AGE_IDENTITY (a file of identities) or LIMPET_AGE_PASSPHRASE"
    )


def is_encrypted(content: bytes) -> bool:
    return content.startswith(HEAD)


def _recipient(pyrage: Any, said: str) -> Any:
    try:
        return pyrage.x25519.Recipient.from_str(said)
    except pyrage.RecipientError as error:
        raise BadInput(f"not a recipient of age: {said[:80]!r} ({error})") from None


def _identities(pyrage: Any, file: Path) -> list[Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read the identities in {file}: {error}") from None
    try:
        lines = [line.strip() for line in text.splitlines()]
        return [pyrage.x25519.Identity.from_str(one) for one in lines if one and not one.startswith("#")]
    except pyrage.IdentityError as error:
        raise BadInput(f"{file} holds no identities of age: {error}") from None


def _pyrage() -> Any:
    try:
        import pyrage
    except ImportError:
        raise BadInput(
            "the package that reads and writes age files is not installed", hint="pip install 'limpet[encryption]'"
        ) from None
    return pyrage
