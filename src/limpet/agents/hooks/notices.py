"""What a hook tells the user and not the model, once a session: that the store is not there, or cannot be used."""

from __future__ import annotations

import os

from ...folders import beside, shown
from ...text.blocks import plain_line
from .client_adapters import SHOWS_NOTICES, Call, notice

# Beside the store: the sessions that were told, a line each. It begins anew when it has grown long.
SUFFIX, MOST_BYTES = ".told", 20_000
LONGEST = 400


def missing(call: Call, store: str) -> str:
    """That there is no store."""
    return notice_of(
        call, store, f"limpet has no memory at {store} yet: it begins with the first thing that is remembered. "
        "If there was one, `limpet doctor` helps to find it.",
    )  # fmt: skip


def read_only(store: str) -> str:
    """That the store can be read and not written."""
    text = f"limpet can read its memory at {shown(store)} and cannot write it: nothing of this session is remembered."
    return plain_line(text, LONGEST)


def notice_of(call: Call, store: str, text: str) -> str:
    """The text as the client shows it; "" when it cannot, when this session was told, or in the midst of its work."""
    if call.client not in SHOWS_NOTICES or call.role not in ("start", "message") or not call.session:
        return ""
    path = beside(store) + SUFFIX
    try:
        with open(path, "a+", encoding="utf-8", opener=_private) as file:
            file.seek(0)
            if call.session in file.read(MOST_BYTES * 2).splitlines():
                return ""
            if file.tell() > MOST_BYTES:
                file.truncate(0)
            file.write(f"{call.session}\n")
    except OSError:
        # Where nothing can be noted, the session is told at its beginning.
        if call.role != "start":
            return ""
    return notice(call, plain_line(text, LONGEST))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)
