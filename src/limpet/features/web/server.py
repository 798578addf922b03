"""`limpet ui` as a running server: this machine only, until it is interrupted or told to stop."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...model.errors import package_missing

if TYPE_CHECKING:
    from ...api import Limpet


def serve_ui(
    memory: Limpet, *, port: int = 0, read_only: bool = False, words: tuple[str, ...] = (),
    ready: Callable[[str], None],
) -> None:  # fmt: skip
    """Serve until interrupted. `port` 0: any free one. `words`: the options of the command that opened the store, for
    the commands on pages. `ready` gets the link. Raises StoreError for a port in use, LimpetError for a missing
    package."""
    try:
        import uvicorn

        from ..serve.listener import config_of, listening
        from .access import HOST, Access
        from .site import Site, application
        from .views_home import make_ahead
    except ModuleNotFoundError as error:
        raise package_missing(error, "ui") from error
    with listening(HOST, port) as listener:
        access = Access(listener.getsockname()[1])
        site = Site(memory, access, read_only=read_only, words=words)
        server = uvicorn.Server(config_of(application(site), server_header=False))
        threading.Thread(target=make_ahead, args=(site,), name="limpet-page-ahead", daemon=True).start()
        site.stopping = lambda: server.should_exit
        ready(f"http://{HOST}:{listener.getsockname()[1]}/enter?link={access.link}")
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
