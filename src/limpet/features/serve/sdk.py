"""MCP by its SDK's server, which speaks HTTP and the versions of the protocol without a handshake; and the service of a
token: limited to its scope, and to the calls that its role may make."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from ... import __version__
from ...agents.arguments import checked, in_words
from ...agents.protocol import INSTRUCTIONS, INTERNAL_ERROR, TITLE, ProtocolError, Service, session_of
from ...agents.tools import TAKES
from ...context import may_change
from ...model.errors import LimpetError
from .tokens import Grant, for_team, own, own_scope

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from ...agents.mcp import Drain
    from ...api import Limpet

# Where a request says who answers it, when that differs by who asks.
SERVICE = "limpet.service"
# What each method takes and answers, as the SDK checks it and writes it for each version.
_METHODS: dict[str, tuple[type[types.RequestParams], type[types.Result]]] = {
    "tools/list": (types.PaginatedRequestParams, types.ListToolsResult),
    "tools/call": (types.CallToolRequestParams, types.CallToolResult),
    "resources/list": (types.PaginatedRequestParams, types.ListResourcesResult),
    "resources/templates/list": (types.PaginatedRequestParams, types.ListResourceTemplatesResult),
    "resources/read": (types.ReadResourceRequestParams, types.ReadResourceResult),
    "prompts/list": (types.PaginatedRequestParams, types.ListPromptsResult),
    "prompts/get": (types.GetPromptRequestParams, types.GetPromptResult),
}


def server_of(service: Service | GrantedService | None) -> Server[Any]:
    """Return an SDK server that answers as `service`, or as the one in the request's scope (SERVICE). It does not close
    the store."""
    server: Server[Any] = Server("limpet", version=__version__, title=TITLE, instructions=INSTRUCTIONS)
    for method, (takes, answers) in _METHODS.items():
        server.add_request_handler(method, takes, partial(_answer, service, answers))
    return server


async def _answer(
    usual: Service | GrantedService | None, answers: type[types.Result], ctx: ServerRequestContext[Any, Any], _: Any
) -> types.Result:
    """Run the service in a thread and return its answer. A call that is cancelled runs to its end, unanswered."""
    service = usual or (None if ctx.request is None else ctx.request.scope.get(SERVICE))
    if service is None:
        raise MCPError(INTERNAL_ERROR, "nobody answers this request")
    session = session_of(ctx.meta, None if ctx.request is None else ctx.request.headers)
    params = dict(ctx.params) if isinstance(ctx.params, Mapping) else {}
    try:
        return answers.model_validate(await anyio.to_thread.run_sync(service.answer, ctx.method, params, session))
    except ProtocolError as error:
        raise MCPError(error.code, error.message) from None


# -- what a token may

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

    def answer(self, method: str, params: dict[str, Any], session: str = "") -> dict[str, Any]:
        """Answer a call. Raises ProtocolError."""
        if method != "tools/call":
            return self._service.answer(method, params, session)
        with may_change(partial(own_scope, self._grant.sees)):
            refused = self._refusal(str(params.get("name")), params.get("arguments"))
            return refused or self._service.answer(method, params, session)

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
