"""The command of the web page: ui."""

from __future__ import annotations

import sys
from argparse import Namespace

from ...cli import output
from ...cli.verbs import AGENTS, Verb, arg
from ...model.errors import BadInput


def _ui(args: Namespace) -> int:
    if not 0 <= args.port <= 65_535:
        raise BadInput(f"not a port: {args.port}", hint="from 1 to 65535, or 0 for any free one")
    import limpet

    from .server import serve_ui

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


VERBS = (
    Verb(
        name="ui", group=AGENTS, about="a local web page: see, search, correct and review what agents believe", run=_ui,
        arguments=(arg("--port PORT", "of 127.0.0.1; 0: any free one", default=0),
                   arg("--read-only", "show everything, change nothing"),
                   arg("--no-browser", "only print the link, which lets one browser in, once")),
        example="limpet ui\nlimpet ui --read-only --port 8080 --no-browser",
    ),
)  # fmt: skip
