"""Keys of encrypted stores, kept outside of them: in the environment, behind a command, in the system's keyring."""

from __future__ import annotations

import os
from functools import lru_cache

from .model.errors import BadInput

# Under which service and name the system's keyring has the keys of stores, separated by spaces.
KEYRING_SERVICE, KEYRING_USER = "limpet", "store"
KEY_BYTES = 32
COMMAND_SECONDS = 60.0


@lru_cache(maxsize=8)
def _printed(command: str) -> str:
    """Return the first line that a command prints, run once in a process."""
    import shlex
    import subprocess

    try:
        done = subprocess.run(
            shlex.split(command), stdout=subprocess.PIPE, timeout=COMMAND_SECONDS, check=True, encoding="utf-8"
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        why = f"it ended with {error.returncode}" if isinstance(error, subprocess.CalledProcessError) else str(error)
        raise BadInput(f"LIMPET_KEY gives no key: {why}", hint="run it by hand: it must print the key alone") from None
    line = done.stdout.split("\n", 1)[0].rstrip("\r")
    if not line:
        raise BadInput("LIMPET_KEY gives no key: it prints nothing", hint="run it by hand: it must print the key alone")
    return line


def store_keys() -> tuple[str, ...]:
    """Return keys of encrypted stores, the newest first: of LIMPET_KEY, else of the system's keyring. Each is tried; a
    new store gets the first. Raises BadInput."""
    given = os.environ.get("LIMPET_KEY", "")
    # Behind an exclamation mark stands a command that prints them.
    return checked_keys(_printed(given[1:]) if given.startswith("!") else given or kept_keys())


def is_key_given() -> bool:
    """Return whether LIMPET_KEY names a key: then new stores are encrypted."""
    return bool(os.environ.get("LIMPET_KEY"))


@lru_cache(maxsize=1)
def kept_keys() -> str:
    """Return the keys in the system's keyring, read once in a process; none where there is no keyring."""
    try:
        import keyring

        return keyring.get_password(KEYRING_SERVICE, KEYRING_USER) or ""
    except Exception:  # no package, no service, or a locked one: no key
        return ""


def checked_keys(text: str) -> tuple[str, ...]:
    """Return the keys in a text. Raises BadInput."""
    keys = tuple(text.lower().split())
    if any(len(key) != 2 * KEY_BYTES or set(key) - set("0123456789abcdef") for key in keys):
        raise BadInput(
            f"a key of a store is {2 * KEY_BYTES} hexadecimal digits", hint="`openssl rand -hex 32` makes one"
        )
    return keys
