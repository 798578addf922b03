"""What every call is known by, whichever way it came: whose session it is of, and whether its client gave it up."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from ..model.dataclass import dataclass, field

# A client that hears nothing for some time gives a call up: so often it is told that this one goes on.
PROGRESS_SECONDS = 1.0
# Clients tell a server that they start in which of their sessions it runs: with that, the end of a turn, which a hook
# hears of, judges what a tool surfaced as well. A session that the client changes later is not told.
SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")
# Codex says it with each call; longer names than a hook takes are none.
SESSION_FIELD, LONGEST_SESSION = "sessionId", 120
# Of a server over stdio, which has one client, when that says nothing.
_THIS_PROCESS = f"mcp-{uuid.uuid4().hex[:12]}"

# The session of the call that this thread works for.
caller: ContextVar[str] = ContextVar("caller", default="")


class Cancelled(Exception):
    """The client has given the call up; nothing of it was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request that is being answered."""

    session: str = ""
    # Its client wants no answer any more.
    cancelled: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raises Cancelled."""
        if self.cancelled.is_set():
            raise Cancelled


def session_of(meta: Any, headers: Mapping[str, str] | None) -> str:
    """The client's session, as its hooks name it where they do; "" when nobody says. `headers`: None over stdio."""
    given = meta.get(SESSION_FIELD) if isinstance(meta, Mapping) else None
    if headers is not None:
        given = given or headers.get("mcp-session-id")
    else:
        given = given or next(filter(None, map(os.environ.get, SESSION_VARIABLES)), _THIS_PROCESS)
    return given if isinstance(given, str) and len(given) <= LONGEST_SESSION and given.isprintable() else ""


def goes_on(seconds: float) -> str:
    """What a client that asked for progress is told."""
    return f"working for {seconds:.0f} s"
