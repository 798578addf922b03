"""The client of short-lived processes for a running one, over a Unix socket beside the store; see `recall_server.py`.

Nobody needs a server: if none answers at once, or there are no Unix sockets, the process does the work itself. A
question is sent only to a server that has answered, so that a stopped one does not do late what was done meanwhile.

A hook runs with every message and tool call: this module imports nothing that Python has not loaded already, and at use
`_socket`, which `socket` wraps in four milliseconds of imports. Questions and answers stand after their length, four
bytes, big-endian.
"""

from __future__ import annotations

import os
import stat

from .folders import beside, is_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from typing import Any

    from .settings import Settings

VERSION = 5
# The greeting of a server, and how long it may take: a server that is stopped, or has no thread free, is not worth
# waiting for.
TAKEN, TAKEN_SECONDS = b"!", 0.15
# Seconds that the other side may need beyond its deadline to send its answer.
ANSWER_SECONDS = 0.25
MOST_BYTES = 8_000_000
# A question is a few texts. Longer ones are left to the short-lived process.
MOST_ASKED_BYTES = 1_000_000
# Paths of sockets have 104 bytes on macOS, 108 on Linux.
MOST_PATH_BYTES = 100
# Variables that a hook's answer depends on beside its store and scope: a server with other values does not answer.
ENVIRONMENT = (
    "LIMPET_EMBEDDER", "LIMPET_JUDGE", "LIMPET_DURABILITY", "LIMPET_HOLDOUT", "LIMPET_INCOGNITO",
    "HOME", "COPILOT_HOME",
)  # fmt: skip
# How a hook's answer begins, and that of a server which leaves the event to the hook's process.
ANSWERED, DECLINED = b"+", b"-"


def address_of(store: str) -> str | None:
    """Return the path of a store's socket; None where there cannot be one."""
    if os.name == "nt" or store == ":memory:":
        return None
    path = f"{os.path.realpath(beside(store))}.sock"
    return path if len(os.fsencode(path)) <= MOST_PATH_BYTES else None


def environment() -> list[str]:
    """Return this process's values of ENVIRONMENT."""
    return [os.environ.get(name, "") for name in ENVIRONMENT]


def ask(settings: Settings, verb: str, given: dict[str, Any], *, seconds: float) -> dict[str, Any] | None:
    """Ask a running server; return its answer within `seconds`, or None without one."""
    connection = _connected(settings.path)
    if connection is None:
        return None
    import json

    about = {"version": VERSION, "scope": settings.scope, "embedder": settings.embedder, "verb": verb, "given": given}
    if settings.checkout is not None:
        about["folder"] = str(settings.checkout.folder)
    try:
        connection.settimeout(seconds + ANSWER_SECONDS)
        send(connection, json.dumps(about).encode())
        answer = json.loads(receive(connection) or b"{}").get("answer")
    except (OSError, ValueError, RecursionError, AttributeError):
        return None
    finally:
        connection.close()
    return answer if isinstance(answer, dict) else None


def ask_hook(words: list[str], store: str, raw: bytes) -> bytes | None:
    """Return the output of a hook from a running server; None when the hook's own process must answer.

    `words`: the client, its event and the scope. From the question on the event is the server's: should it end in the
    midst of it, nothing is said, and nothing noted twice.
    """
    try:
        place = store if is_url(store) else os.path.abspath(store)
        fields = [str(VERSION), *words, place, os.getcwd(), *environment()]
    except OSError:  # the folder is gone
        return None
    question = b"\0".join([*map(os.fsencode, fields), raw])
    connection = _connected(store) if len(question) < MOST_ASKED_BYTES else None
    if connection is None:
        return None
    try:
        connection.settimeout(None)  # the hook's own watch ends it
        send(connection, question)
        answer = receive(connection)
    except (OSError, ValueError):
        return b""
    finally:
        connection.close()
    return None if answer.startswith(DECLINED) else answer[1:]


def _connected(store: str) -> socket | None:
    """Return a connection that a server accepts at once, or None."""
    connection = _connection_at(address_of(store))
    if connection is None:
        return None
    try:
        if connection.recv(1) == TAKEN:
            return connection
    except OSError:
        pass
    connection.close()
    return None


def is_served(path: str | None) -> bool:
    """Return whether a running server answers at the path of a store's socket."""
    connection = _connection_at(path)
    if connection is not None:
        connection.close()
    return connection is not None


def _connection_at(path: str | None) -> socket | None:
    if path is None or not is_ours(path):
        return None
    from _socket import AF_UNIX, SOCK_STREAM, socket

    connection = socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.settimeout(TAKEN_SECONDS)
        connection.connect(path)
    except OSError:
        connection.close()
        return None
    return connection


def is_ours(path: str) -> bool:
    """Return whether a socket belongs to this user: nobody else may answer for our memory."""
    try:
        about = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISSOCK(about.st_mode) and about.st_uid == os.getuid()


def send(connection: socket, data: bytes) -> None:
    connection.sendall(len(data).to_bytes(4, "big") + data)


def receive(connection: socket, most: int = MOST_BYTES, until: float | None = None) -> bytes:
    """Receive a whole message by `until` on the monotonic clock. Raises OSError, and ValueError for no message."""
    length = int.from_bytes(_exactly(connection, 4, until), "big")
    if length > most:
        raise ValueError(f"a message of {length} bytes")
    return _exactly(connection, length, until)


def _exactly(connection: socket, length: int, until: float | None) -> bytes:
    import time

    data = bytearray()
    while len(data) < length:
        if until is not None:
            # The time of all pieces, not of each: a byte now and then would hold a connection for ever.
            connection.settimeout(max(until - time.monotonic(), 0.001))
        part = connection.recv(min(65_536, length - len(data)))
        if not part:
            raise ValueError("the other side stopped")
        data += part
    return bytes(data)
