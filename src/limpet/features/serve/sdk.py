"""MCP by its SDK's server, which speaks HTTP and the versions of the protocol without a handshake."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from ... import __version__
from ...agents import protocol
from ...agents.protocol import INSTRUCTIONS, INTERNAL_ERROR, TITLE, Call, Cancelled, ProtocolError, session_of

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from ...agents.protocol import Service
    from .guarded import GrantedService

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
    """Run the service in a thread and return its answer: the loop goes on listening, for a cancellation too."""
    service = usual or (None if ctx.request is None else ctx.request.scope.get(SERVICE))
    if service is None:
        raise MCPError(INTERNAL_ERROR, "nobody answers this request")
    call = Call(session=session_of(ctx.meta, None if ctx.request is None else ctx.request.headers))
    params = dict(ctx.params) if isinstance(ctx.params, Mapping) else {}
    async with anyio.create_task_group() as group:
        group.start_soon(_progress, ctx)
        try:
            # By a client that gives it up the thread is left to itself, and finds at its commit that nobody waits.
            work = partial(service.answer, ctx.method, params, call)
            return answers.model_validate(await anyio.to_thread.run_sync(work, abandon_on_cancel=True))
        except ProtocolError as error:
            refused = MCPError(error.code, error.message)
        except Cancelled:
            refused = MCPError(INTERNAL_ERROR, "cancelled")
        finally:
            call.cancelled.set()
            group.cancel_scope.cancel()
    raise refused


async def _progress(ctx: ServerRequestContext[Any, Any]) -> None:
    """Tell a client that asked for it how long its call has lasted."""
    seconds = 0.0
    while True:
        await anyio.sleep(protocol.PROGRESS_SECONDS)
        seconds += protocol.PROGRESS_SECONDS
        await ctx.session.report_progress(seconds, message=f"working for {seconds:.0f} s")
