"""The command of the web page, and its server: for this machine only, until it is interrupted."""

from __future__ import annotations

import contextlib
import sys
import threading
from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...cli import output
from ...cli.verbs import AGENTS, Verb, arg
from ...model.errors import BadInput, package_missing

if TYPE_CHECKING:
    from ...api import Limpet


def _ui(args: Namespace) -> int:
    if not 0 <= args.port <= 65_535:
        raise BadInput(f"not a port: {args.port}", hint="from 1 to 65535, or 0 for any free one")
    import limpet

    words = ("--store", args.store) if args.store else ()
    with limpet.open(args.store, scope=args.scope, read_only=args.read_only, create=False) as memory:
        serve_ui(memory, port=args.port, read_only=args.read_only, words=words, ready=lambda link: _ready(args, link))
    return 0


def _ready(args: Namespace, link: str) -> None:
    output.result({"link": link}) if args.json else output.line(link)
    if not args.json:
        output.words("open this link: it lets one browser in, once. Ctrl-C ends the page")
    sys.stdout.flush()
    if not args.no_browser and not args.json and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(link)


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
        ready(f"http://{HOST}:{listener.getsockname()[1]}/enter?link={access.link}")
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


VERBS = (
    Verb(
        name="ui", group=AGENTS, about="a local web page: see, search, correct and review what agents believe", run=_ui,
        arguments=(arg("--port PORT", "of 127.0.0.1; 0: any free one", default=0),
                   arg("--read-only", "show everything, change nothing"),
                   arg("--no-browser", "only print the link, which lets one browser in, once")),
        example="limpet ui\nlimpet ui --read-only --port 8080 --no-browser",
    ),
)  # fmt: skip
