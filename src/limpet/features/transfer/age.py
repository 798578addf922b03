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
        try:
            recipients = [pyrage.x25519.Recipient.from_str(name) for name in named]
        except pyrage.RecipientError as error:
            raise BadInput(f"not recipients of age: {' '.join(named)[:200]!r} ({error})") from None
        return bytes(pyrage.encrypt(content, recipients))
    phrase = None if recipients_only else age_passphrase()
    if phrase is None:
        raise BadInput(
            "nobody is named who could read it",
            hint="set LIMPET_AGE_RECIPIENTS (age1..., separated by spaces)"
            + ("" if recipients_only else ", or LIMPET_AGE_PASSPHRASE"),
        )
    return bytes(pyrage.passphrase.encrypt(content, phrase))


def decrypt(content: bytes, name: str) -> bytes:
    """The content of a file of that name. Raises BadInput."""
    pyrage = _pyrage()
    file = os.environ.get("LIMPET_AGE_IDENTITY")
    try:
        if file:
            lines = [line.strip() for line in Path(file).read_text(encoding="utf-8").splitlines()]
            identities = [pyrage.x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#")]
            return bytes(pyrage.decrypt(content, identities))
        phrase = age_passphrase()
        if phrase is not None:
            return bytes(pyrage.passphrase.decrypt(content, phrase))
    except (OSError, UnicodeDecodeError, pyrage.IdentityError) as error:
        raise BadInput(f"cannot read the identities in {file}: {error}") from None
    except pyrage.DecryptError as error:
        raise BadInput(f"{name} cannot be decrypted: {error}", hint="is it for this identity or pass phrase?") from None
    raise BadInput(
        f"{name} is encrypted", hint="set LIMPET_AGE_IDENTITY (a file of identities) or LIMPET_AGE_PASSPHRASE"
    )


def is_encrypted(content: bytes) -> bool:
    return content.startswith(HEAD)


def _pyrage() -> Any:
    try:
        import pyrage
    except ImportError:
        raise BadInput(
            "the package that reads and writes age files is not installed", hint="pip install 'limpet[encryption]'"
        ) from None
    return pyrage
