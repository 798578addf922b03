"""The command of the web page: ui."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from ...cli import output
from ...cli.options import Command
from ...model.errors import BadInput


def _ui_options(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--port", type=int, default=0, metavar="PORT", help="of 127.0.0.1 (default: any free one)")
    add("--read-only", action="store_true", help="show everything, change nothing")
    add("--no-browser", action="store_true", help="only print the link, which lets one browser in, once")


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
    if args.json:
        output.object_line({"link": link})
    else:
        output.line(link)
        output.words("open this link: it lets one browser in, once. Ctrl-C ends the page")
    sys.stdout.flush()
    if not args.no_browser and not args.json and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(link)


COMMANDS = {"ui": Command(_ui_options, _ui, "limpet ui\nlimpet ui --read-only --port 8080 --no-browser")}
