"""The MCP service of a token: limited to its scope, and to the calls that its role may make."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from ...agents.arguments import checked, in_words
from ...agents.protocol import Call, Service
from ...agents.tools import TAKES
from ...context import may_change
from ...model.errors import LimpetError
from .tokens import Grant, for_team, own, own_scope

if TYPE_CHECKING:
    from ...agents.mcp import Drain
    from ...api import Limpet

# Sessions of an agent and keyed facts that are only read.
_READING = ("list", "show", "journal")
_REVIEWS = ("accept", "reject")
_READS = ("recall", "prepare", "explain")
# Scopes whose services are kept; with `*` a client may name any.
MOST_SCOPES = 1_000


class Services:
    """A service for each scope that was asked for, over one open store. Thread-safe."""

    def __init__(self, memory: Limpet, drain: Drain) -> None:
        self._memory, self.drain = memory, drain
        self._services: dict[str, tuple[Limpet, Service]] = {}
        self._lock = threading.Lock()

    def of(self, grant: Grant, scope: str) -> GrantedService:
        with self._lock:
            if scope not in self._services:
                if len(self._services) >= MOST_SCOPES:
                    del self._services[next(iter(self._services))]
                seen = self._memory.in_scope(scope)
                expose = partial(self.drain.add, seen=seen)
                self._services[scope] = seen, Service(seen, self.drain.wake, expose, self.drain.called, reword=for_team)
            return GrantedService(*self._services[scope], grant)


class GrantedService:
    """A `Service` limited to a grant."""

    def __init__(self, memory: Limpet, service: Service, grant: Grant) -> None:
        self._memory, self._service, self._grant = memory, service, grant

    def answer(self, method: str, params: dict[str, Any], call: Call) -> dict[str, Any]:
        """Answer a call. Raises ProtocolError, Cancelled."""
        if method != "tools/call":
            return self._service.answer(method, params, call)
        with may_change(partial(own_scope, self._grant.sees)):
            refused = self._refusal(str(params.get("name")), params.get("arguments"))
            return refused or self._service.answer(method, params, call)

    def _refusal(self, name: str, given: Any) -> dict[str, Any] | None:
        """Return a tool's error, which its model can read, unlike a protocol error."""
        if name not in TAKES:
            return None  # there is no such tool
        try:
            # Parsed as the tool will parse it, to know what the call will do.
            given = checked(given or {}, TAKES[name], of=name)
            self._grant.need(role_of(name, given))
            named = name == "correct" and given["action"] not in _REVIEWS  # these may name a pair
            merged = [given["other"]] if named and given["action"] == "merge" and "other" in given else []
            for id in given["ids"] if name == "feedback" else [given["id"], *merged] if named else ():
                own(self._memory, self._grant.sees, id)
        except LimpetError as error:
            return {"content": [{"type": "text", "text": in_words(for_team(error))}], "isError": True}
        return None


def role_of(tool: str, given: dict[str, Any]) -> str:
    """Return the role that a call takes; an unknown call takes write."""
    if tool in _READS or (tool == "session" and given.get("action") in _READING):
        return "read"
    if tool == "fact" and given.get("value", "") == "" and not given.get("end"):
        return "read"
    return "review" if tool == "correct" and given.get("action") in _REVIEWS else "write"
