"""The MCP server over streamable HTTP, for clients that cannot start a process: this machine only, and with a token."""

from __future__ import annotations

import os
import secrets
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..folders import beside
from ..model.errors import BadInput, StoreError, message_of
from ..store.files import write_own

if TYPE_CHECKING:
    import uvicorn
    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

HOST = "127.0.0.1"
TOKEN_VARIABLE = "LIMPET_MCP_TOKEN"
# Shorter ones can be guessed.
TOKEN_CHARACTERS = 16


def token_for(store: str) -> tuple[str, str]:
    """The token of a store's server, and where it is from: the environment, or a file of the owner's beside the store.

    Raises BadInput for one that is too short, StoreError when the file cannot be read or made.
    """
    given = os.environ.get(TOKEN_VARIABLE)
    if given is not None:
        if len(given) < TOKEN_CHARACTERS:
            raise BadInput(f"{TOKEN_VARIABLE} is shorter than {TOKEN_CHARACTERS} characters")
        return given, TOKEN_VARIABLE
    path = Path(f"{beside(store)}.token")
    try:
        kept = _kept(path)
        if kept is not None:
            return kept, str(path)
        made = secrets.token_urlsafe(32)
        write_own(path, f"{made}\n".encode("ascii"), force=False)
    except (OSError, UnicodeDecodeError, BadInput) as error:
        raise StoreError(
            f"the token file {path} cannot be used: {message_of(error)}", hint=f"set {TOKEN_VARIABLE}"
        ) from error
    return made, str(path)


def _kept(path: Path) -> str | None:
    """The token in a file that nobody else can have written or read. Raises StoreError, OSError, UnicodeDecodeError."""
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    with os.fdopen(number, encoding="ascii") as file:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is no regular file")
        if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
            raise StoreError(f"the token file {path} belongs to somebody else", hint="remove it; a new one is made")
        if hasattr(os, "geteuid") and status.st_mode & 0o077:
            raise StoreError(
                f"the token file {path} can be read or written by others", hint="remove it; a new one is made"
            )
        kept = file.read(1_000).strip()
    if len(kept) >= TOKEN_CHARACTERS:
        return kept
    path.unlink()
    return None


def serve_http(server: Server[Any], port: int, token: str) -> None:
    """Serve until interrupted. Raises StoreError when the port is taken."""
    import uvicorn

    from . import connections as limits

    with listening(HOST, port) as listener:
        app = server.streamable_http_app(
            host=HOST,
            session_idle_timeout=limits.SESSION_SECONDS, max_sessions=limits.SESSIONS,
        )  # fmt: skip
        guard = guarded(app, listener.getsockname()[1], token)
        uvicorn.Server(config_of(guard, stop_seconds=limits.STOP_SECONDS)).run(sockets=[listener])


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Raises StoreError when that cannot be listened on."""
    # The protocol is named: asyncio sends what is written to it at once (TCP_NODELAY) for sockets that say TCP.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise StoreError(f"cannot listen on {host}:{port}: {error.strerror}", hint="choose another port") from error
        listener.listen(64)
        yield listener


def config_of(app: ASGIApp, **given: Any) -> uvicorn.Config:
    """How `app` is served, within the limits. Clients are known by their address: no header may change it."""
    import uvicorn

    from . import connections as limits

    connections = limits.Connections()
    stop_seconds = given.pop("stop_seconds")
    return uvicorn.Config(
        limits.limited(app, connections), http=limits.protocol_of(connections), log_level="warning", lifespan="on",
        ws="none", proxy_headers=False, timeout_graceful_shutdown=stop_seconds, **given,
    )  # fmt: skip


def guarded(app: ASGIApp, port: int, token: str) -> ASGIApp:
    """`app` behind three questions, asked before anything is routed: our Host, no foreign Origin, the token.

    A page in a browser that lets its name point to this machine (DNS rebinding) fails the first two.
    """
    from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse, Response

    hosts = [f"{name}:{port}" for name in (HOST, "localhost")]
    origins = [f"http://{host}" for host in hosts]
    local = TransportSecurityMiddleware(TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins))
    wanted = b"Bearer " + token.encode()

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        refusal: Response | None = None
        if scope["type"] != "lifespan":
            request = Request(scope)
            refusal = await local.validate_request(request)
            given = request.headers.get("authorization", "").encode("latin-1")
            if refusal is None and not secrets.compare_digest(given, wanted):
                refusal = PlainTextResponse("the token is missing or wrong", 401, {"WWW-Authenticate": "Bearer"})
        await (refusal or app)(scope, receive, send)

    return guard
