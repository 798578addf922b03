"""What a hook tells the user, once a session: that the store is not there, or cannot be used.

Not the model, where the client can show it to the user alone; else a model is asked to say what cannot be used.
"""

from __future__ import annotations

import os

from ...folders import beside, shown
from ...text.blocks import plain_line
from .client_adapters import CLIENT_ADAPTERS, SHOWS_NOTICES, Call, notice, shape

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


def unusable(call: Call, store: str, text: str) -> str:
    """That the store is damaged, of a newer limpet or the like; also by a client that shows its user nothing."""
    return notice_of(
        call, store, text, to_model=f"{text} No memory is found or kept: tell the user, who can run `limpet doctor`."
    )


def notice_of(call: Call, store: str, text: str, to_model: str = "") -> str:
    """The text as the client shows it; "" when it cannot, when this session was told, or in the midst of its work.

    `to_model`: what is put before the model of a client that cannot.
    """
    is_told = call.client in SHOWS_NOTICES or (to_model and call.role in CLIENT_ADAPTERS[call.client].answers)
    if not is_told or call.role not in ("start", "message") or not call.session:
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
    return notice(call, plain_line(text, LONGEST)) or shape(call, plain_line(to_model, LONGEST + 100))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)
