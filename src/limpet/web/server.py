"""`limpet ui` as a running server: this machine only, until it is interrupted or told to stop."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..model.errors import LimpetError, StoreError
from .access import HOST, Access

if TYPE_CHECKING:
    import uvicorn

    from ..api import Limpet


def serve_ui(
    memory: Limpet, *, port: int = 0, read_only: bool = False, words: tuple[str, ...] = (),
    ready: Callable[[str], None], link: str | None = None,
) -> None:  # fmt: skip
    """Serve until interrupted. `port` 0: any free one. `words`: the options of the command that opened the store, for
    the commands that pages show. `ready` is given the link. `link`: its secret, instead of a random one, for tests.

    Raises StoreError when the port is taken, LimpetError when a package is missing.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            raise StoreError(f"cannot listen on {HOST}:{port}: {error.strerror}", hint="choose another port") from error
        listener.listen(64)
        access = Access(listener.getsockname()[1], link=link)
        server = _server(memory, access, read_only=read_only, words=words)
        ready(f"http://{HOST}:{listener.getsockname()[1]}/enter?link={access.link}")
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


def _server(memory: Limpet, access: Access, *, read_only: bool, words: tuple[str, ...]) -> uvicorn.Server:
    try:
        import uvicorn

        from ..agents import connections as limits
        from .site import Site, application
        from .views_home import make_ahead
    except ModuleNotFoundError as error:
        raise missing(error) from error

    connections = limits.Connections()
    site = Site(memory, access, read_only=read_only, words=words)
    app = limits.limited(application(site), connections)
    config = uvicorn.Config(
        app, http=limits.protocol_of(connections), log_level="warning", lifespan="on", ws="none",
        server_header=False, timeout_graceful_shutdown=limits.STOP_SECONDS,
    )  # fmt: skip
    server = uvicorn.Server(config)
    threading.Thread(target=make_ahead, args=(site,), name="limpet-page-ahead", daemon=True).start()
    site.stopping = lambda: server.should_exit
    return server


def missing(error: ModuleNotFoundError) -> LimpetError:
    problem = LimpetError(f"the package {error.name} is not installed, which the page needs", hint=INSTALL)
    problem.code = "package_missing"
    return problem


INSTALL = "pip install 'limpet[ui]'"
