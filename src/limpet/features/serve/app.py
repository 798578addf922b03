"""The ASGI application: who asks, may they, and which part answers: probes, MCP, the web page."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from ...model.errors import LimpetError, NotFound, StoreError
from .listener import know
from .sdk import SERVICE, Services
from .tokens import Grant, Tokens, for_team, now_us, status_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ...api import Limpet

# How often an open stream asks whether its token still holds.
LOOK_SECONDS = 1.0
# A store that answers nothing in this time is not ready.
READY_SECONDS = 5.0
PATHS = ("/mcp", "/healthz", "/readyz")
log = logging.getLogger("limpet.features.serve")


class App:
    """The application. `urls`: for clients, the public one first."""

    def __init__(
        self, memory: Limpet, mcp: ASGIApp, services: Services, tokens: Tokens, *, urls: list[str], page: bool = False
    ) -> None:  # fmt: skip
        self._memory, self._mcp, self._services, self._tokens = memory, mcp, services, tokens
        places = [urlsplit(url) for url in urls]
        self._local = TransportSecurityMiddleware(
            TransportSecuritySettings(
                allowed_hosts=[place.netloc for place in places],
                allowed_origins=[f"{place.scheme}://{place.netloc}" for place in places],
            )
        )
        self.stopping: Callable[[], bool] = lambda: False
        self._probing = anyio.CapacityLimiter(1)  # a thread that no call has
        self._probe: asyncio.Future[Any] | None = None
        self._page: ASGIApp | None = None
        if page:
            from .page import page_of

            self._page = page_of(memory, urls, tokens.find, self._holds, services.drain.wake)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._mcp(scope, receive, send)
            return
        request = Request(scope, receive)
        path, started, who = request.url.path, time.monotonic(), ""
        status = 499  # the client went before it was answered

        async def tell(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            if self._page is not None and path not in PATHS:
                await self._page(scope, receive, tell)
                who = getattr(scope.get("visitor"), "id", "")
                return
            answer = await self._open(path, request)
            if answer is None:
                grant = self._grant(request)
                know(scope)
                who = grant.id
                if path != "/mcp":
                    raise NotFound("there is nothing at this path", hint="MCP is at /mcp")
                await self._stream(grant, scope, receive, tell)
                return
            await answer(scope, receive, tell)
        except ClientDisconnect:
            pass  # the body did not come whole: nothing was done
        except Exception as error:
            await self._refused(error)(scope, receive, tell)
        finally:
            seconds = time.monotonic() - started
            # Log neither requests nor answers, and no name of a scope.
            fields = {"method": request.method, "path": _shown(path), "status": status, "ms": round(seconds * 1_000, 1)}
            log.info("request", extra={"fields": fields | ({"token": who} if who else {})})

    async def _open(self, path: str, request: Request) -> Response | None:
        """Answer the requests that need no token: probes, under any host name."""
        if path == "/healthz":
            return PlainTextResponse("ok\n")
        if path == "/readyz":
            return await self._ready()
        return await self._local.validate_request(request)

    async def _ready(self) -> Response:
        """Ask the store once, however many want to know."""
        probe = self._probe
        if probe is None or probe.done():
            look = anyio.to_thread.run_sync(lambda: self._memory.list(limit=1), limiter=self._probing)
            self._probe = probe = asyncio.ensure_future(look)
        try:
            with anyio.fail_after(READY_SECONDS):
                await asyncio.shield(probe)
                self._tokens.grants()
        except (LimpetError, TimeoutError) as error:
            log.warning("not ready: %s", error)
            return PlainTextResponse("the store does not answer\n", 503)
        return PlainTextResponse("stopping\n" if self.stopping() else "ready\n", 503 if self.stopping() else 200)

    def _grant(self, request: Request) -> Grant:
        """Return the grant of a request. Raises _Unknown, StoreError."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        grant = self._tokens.find(token) if kind.lower() == "bearer" and token else None
        if grant is None:
            raise _Unknown
        return grant

    def _holds(self, grant: Grant) -> bool:
        try:
            return any(row.id == grant.id and row.holds(now_us()) for row in self._tokens.grants())
        except StoreError:
            return False

    async def _stream(self, grant: Grant, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer MCP; a stream ends when the token does, and an endless one when the server stops."""
        asked = Request(scope).query_params.get("scope")
        of = grant.scope(asked, self._memory.scope)
        scope[SERVICE] = self._services.of(grant, of)
        # A session belongs to its token: to others the SDK says that there is none.
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=f"{grant.id} {of}", scopes=[grant.role]))
        began = ended = False

        async def tell(message: Message) -> None:
            nonlocal began, ended
            began = began or message["type"] == "http.response.start"
            ended = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        async def watch() -> None:
            while self._holds(grant) and not (self.stopping() and scope["method"] == "GET"):
                await anyio.sleep(LOOK_SECONDS)
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            await self._mcp(scope, receive, tell)
            group.cancel_scope.cancel()
        if began and not ended:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _refused(self, error: Exception) -> Response:
        """Return an error as JSON. Those of the store and of the program are logged instead: they may name paths."""
        if isinstance(error, _Unknown):
            answer = {"error": "unauthorized", "message": "the token is missing, wrong, revoked or expired"}
            return JSONResponse(answer, 401, {"WWW-Authenticate": 'Bearer realm="limpet"'})
        if isinstance(error, LimpetError):
            return JSONResponse(for_team(error).as_dict(), status_of(error) or 503)
        log.error("internal error: %s: %s", type(error).__name__, error)
        return JSONResponse({"error": "internal_error", "message": "limpet failed; its log says how"}, 500)


class _Unknown(Exception):
    """A request without a valid token."""


def _shown(path: str) -> str:
    """Return a path as it is logged: unknown ones, which a client may make up, are not."""
    return path if path in PATHS else "other"
