"""The same service behind the SDK's server, which speaks HTTP and the versions of the protocol without a handshake."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from .. import __version__
from . import calls
from .calls import Call, Cancelled, session_of
from .protocol import INSTRUCTIONS, INTERNAL_ERROR, TITLE, ProtocolError
from .subscriptions import Subscriptions

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

# Where a request says who answers it, when that differs by who asks.
SERVICE = "limpet.service"
# A client that takes no notification for so long has gone.
TELL_SECONDS = 10.0
# What each method takes and answers, as the SDK checks it and writes it for each version.
_METHODS: dict[str, tuple[type[types.RequestParams], type[types.Result]]] = {
    "tools/list": (types.PaginatedRequestParams, types.ListToolsResult),
    "tools/call": (types.CallToolRequestParams, types.CallToolResult),
    "resources/list": (types.PaginatedRequestParams, types.ListResourcesResult),
    "resources/templates/list": (types.PaginatedRequestParams, types.ListResourceTemplatesResult),
    "resources/read": (types.ReadResourceRequestParams, types.ReadResourceResult),
    "resources/subscribe": (types.SubscribeRequestParams, types.EmptyResult),
    "resources/unsubscribe": (types.UnsubscribeRequestParams, types.EmptyResult),
    "prompts/list": (types.PaginatedRequestParams, types.ListPromptsResult),
    "prompts/get": (types.GetPromptRequestParams, types.GetPromptResult),
    "completion/complete": (types.CompleteRequestParams, types.CompleteResult),
}


class Answering(Protocol):
    """What `protocol.Service` does."""

    @property
    def subscriptions(self) -> Subscriptions: ...

    def answer(self, method: str, params: dict[str, Any], call: Call) -> dict[str, Any]: ...


def server_of(service: Answering | None) -> Server[Any]:
    """A server of the SDK that answers as `service` does, or as the one in each request's scope (SERVICE); it neither
    closes the store nor starts a thread."""
    server: Server[Any] = Server("limpet", version=__version__, title=TITLE, instructions=INSTRUCTIONS)
    for method, (takes, answers) in _METHODS.items():
        server.add_request_handler(method, takes, partial(_answer, service, answers))
    server.add_request_handler(
        "subscriptions/listen", types.SubscriptionsListenRequestParams, partial(_listen, service)
    )
    return server


def _service(usual: Answering | None, ctx: ServerRequestContext[Any, Any]) -> Answering:
    found = usual or (None if ctx.request is None else ctx.request.scope.get(SERVICE))
    if found is None:
        raise MCPError(INTERNAL_ERROR, "nobody answers this request")
    return found


async def _answer(
    usual: Answering | None, answers: type[types.Result], ctx: ServerRequestContext[Any, Any], _: Any
) -> types.Result:
    """What the service answers, from a thread: the loop goes on listening, for a cancellation too."""
    service = _service(usual, ctx)
    loop = asyncio.get_running_loop()
    session = ctx.session

    def tell(uri: str) -> None:
        _wait_for(loop, lambda: session.send_resource_updated(uri))

    headers = None if ctx.request is None else ctx.request.headers
    client = None if headers is None else headers.get("mcp-session-id")
    call = Call(session=session_of(ctx.meta, headers), client=client, tell=tell)
    params = ctx.params if isinstance(ctx.params, Mapping) else {}
    async with anyio.create_task_group() as group:
        group.start_soon(_progress, ctx)
        try:
            # By a client that gives it up the thread is left to itself, and finds at its commit that nobody waits.
            work = partial(service.answer, ctx.method, dict(params), call)
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
        await anyio.sleep(calls.PROGRESS_SECONDS)
        seconds += calls.PROGRESS_SECONDS
        await ctx.session.report_progress(seconds, message=calls.goes_on(seconds))


async def _listen(
    usual: Answering | None, ctx: ServerRequestContext[Any, Any], params: types.SubscriptionsListenRequestParams
) -> types.SubscriptionsListenResult:
    """Subscriptions of the versions without a handshake: as long as the request is open."""
    service = _service(usual, ctx)
    loop, bus = asyncio.get_running_loop(), InMemorySubscriptionBus()

    def tell(uri: str) -> None:
        _wait_for(loop, lambda: bus.publish(ResourceUpdated(uri=uri)))

    call = Call(client=bus, tell=tell)
    try:
        for uri in params.notifications.resource_subscriptions or ():
            await anyio.to_thread.run_sync(service.answer, "resources/subscribe", {"uri": str(uri)}, call)
        return await ListenHandler(bus)(ctx, params)
    except ProtocolError as error:
        raise MCPError(error.code, error.message) from None
    finally:
        service.subscriptions.remove(bus)


def _wait_for(loop: asyncio.AbstractEventLoop, send: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """From another thread. Raises when the loop has ended, or takes too long."""
    if loop.is_closed():
        raise ConnectionError("the server has ended")
    asyncio.run_coroutine_threadsafe(send(), loop).result(TELL_SECONDS)
