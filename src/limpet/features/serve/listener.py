"""A listening socket, and limits for each client: connections, time, bytes. The team's server and the web page use it.

A connection is a stranger's until a request on it has shown a token. Above the limit of strangers the oldest
is closed for a new one, whatever it is at; above that of the others the one that has been idle the longest. Idle is a
connection before the head of a request has come and after the answer, and it is closed after a time.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn
from h11 import LocalProtocolError
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...model.dataclass import dataclass
from ...model.errors import StoreError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONNECTIONS, STRANGERS = 128, 256
# When many come at once, so many strangers are kept until each of them had so long to show a token.
STRANGERS_AT_ONCE, SHOW_SECONDS = 768, 0.5
# Until the head of a request is there; and its body.
IDLE_SECONDS, REQUEST_SECONDS = 10.0, 30.0
# Sessions at once, and how long one is kept that nothing is asked in.
SESSIONS, SESSION_SECONDS = 100, 1_800.0
# How long a server that stops waits for answers and streams.
STOP_SECONDS = 2
# The key, in a request's scope, of the function to call once it has shown who it is.
KNOWN = "limpet.known"

HOST = "127.0.0.1"
Peer = tuple[str, int]


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Listen on an address. Raises StoreError when that is impossible."""
    # With the protocol named, asyncio sends at once (TCP_NODELAY).
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise StoreError(f"cannot listen on {host}:{port}: {error.strerror}", hint="choose another port") from error
        listener.listen(64)
        yield listener


def config_of(app: ASGIApp, *, stop_seconds: int = STOP_SECONDS, **given: Any) -> uvicorn.Config:
    """Return the server's configuration for `app`. Clients are known by their address: no header may change it."""
    connections = Connections()
    return uvicorn.Config(
        limited(app, connections), http=protocol_of(connections), log_level="warning", lifespan="on", ws="none",
        proxy_headers=False, timeout_graceful_shutdown=stop_seconds, **given,
    )  # fmt: skip


class TooLarge(Exception):
    """A body over the limit."""


def know(scope: Scope) -> None:
    """Note that a request has shown a token."""
    scope.get(KNOWN, lambda: None)()


async def read_request(request: Request, most: int) -> bytes:
    """Return the body of a request. Raises TooLarge as soon as it has more bytes than that."""
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > most:
            raise TooLarge
    return bytes(content)


@dataclass(slots=True)
class _Open:
    transport: asyncio.Transport
    requests: int = 0  # that are being answered: the next may come before the last is tidied up
    timer: asyncio.TimerHandle | None = None


class Connections:
    """The open connections, by the client's address, which the server tells with each request. Of the loop's thread."""

    def __init__(self) -> None:
        self._open: dict[Peer, _Open] = {}
        self._strangers: dict[Peer, None] = {}  # the oldest first
        self._idle: dict[Peer, None] = {}  # of the others, the one that has been idle the longest first

    def add(self, peer: Peer, transport: asyncio.Transport) -> None:
        self._close_strangers(STRANGERS_AT_ONCE - 1)
        self._open[peer] = _Open(transport)
        self._strangers[peer] = None
        self._wait(peer)
        if len(self._strangers) > STRANGERS:
            asyncio.get_running_loop().call_later(SHOW_SECONDS, self._close_strangers, STRANGERS)

    def _close_strangers(self, most: int) -> None:
        while len(self._strangers) > most:
            self.close(next(iter(self._strangers)))

    def begin(self, peer: Peer) -> None:
        """Note that a request has come."""
        connection = self._open.get(peer)
        if connection is not None:
            connection.requests += 1
            self._idle.pop(peer, None)
            if connection.timer is not None:
                connection.timer.cancel()

    def know(self, peer: Peer) -> None:
        """Note that it is no stranger's, or close it where all others are being answered."""
        if peer in self._strangers:
            del self._strangers[peer]
            if len(self._open) - len(self._strangers) > CONNECTIONS:
                self.close(next(iter(self._idle), peer))

    def end(self, peer: Peer) -> None:
        """Note that it has been answered."""
        connection = self._open.get(peer)
        if connection is not None:
            connection.requests -= 1
            if not connection.requests:
                self._wait(peer)

    def remove(self, peer: Peer) -> _Open | None:
        self._idle.pop(peer, None)
        self._strangers.pop(peer, None)
        connection = self._open.pop(peer, None)
        if connection is not None and connection.timer is not None:
            connection.timer.cancel()
        return connection

    def close(self, peer: Peer) -> None:
        connection = self.remove(peer)
        if connection is not None:
            connection.transport.abort()

    def _wait(self, peer: Peer) -> None:
        if peer not in self._strangers:
            self._idle[peer] = None
        self._open[peer].timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.close, peer)


def protocol_of(connections: Connections) -> type[asyncio.Protocol]:
    """Return the server's protocol, which tells `connections` of each connection."""

    class Counted(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.peer: Peer | None = transport.get_extra_info("peername")
            if self.peer is None:
                transport.abort()  # it has gone already
            else:
                connections.add(self.peer, transport)

        def connection_lost(self, exc: Exception | None) -> None:
            if self.peer is not None:
                connections.remove(self.peer)
            super().connection_lost(exc)

    return Counted


def limited(app: ASGIApp, connections: Connections) -> ASGIApp:
    """Limit the size and the time of a request's body for `app`, and tell `connections` when requests begin and end."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
            return
        peer: Any = tuple(scope["client"] or ())
        connections.begin(peer)
        scope[KNOWN] = partial(connections.know, peer)
        until, whole = asyncio.get_running_loop().time() + REQUEST_SECONDS, False

        async def take() -> Message:
            nonlocal whole
            if whole:
                return await receive()
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                # The application sees a client that stopped sending as one that has gone.
                connections.close(peer)
                return {"type": "http.disconnect"}
            whole = message["type"] != "http.request" or not message.get("more_body", False)
            return message

        async def tell(message: Message) -> None:
            try:
                await send(message)
            except LocalProtocolError:
                connections.close(peer)  # what came after the head was no HTTP; the server has answered so already

        try:
            await app(scope, take, tell)
        finally:
            connections.end(peer)

    return serve
