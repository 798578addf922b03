"""Commands for programs around limpet: the MCP server, and the completion script of a shell."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from ..model.errors import BadInput
from .options import Command

SHELLS = ("bash", "zsh", "tcsh")


def _mcp_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--http", type=int, metavar="PORT",
        help="serve 127.0.0.1:PORT with a bearer token, instead of stdin and stdout",
    )  # fmt: skip


def _mcp(args: Namespace) -> int:
    import gc

    if args.http is None and (sys.stdin is None or sys.__stdout__ is None):
        raise BadInput("stdin or stdout is closed", hint="a client that starts this server speaks with it over both")

    # What is imported stays: looking through it for garbage would take a tenth of the start.
    gc.disable()
    from ..agents.mcp import serve

    gc.freeze()
    gc.enable()
    if args.http is not None and not 1 <= args.http <= 65_535:
        raise BadInput(f"not a port: {args.http}", hint="from 1 to 65535")
    serve(args.store, args.scope, port=args.http)
    return 0


def _completion_options(parser: ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def _completion(args: Namespace) -> int:
    import shtab

    from .main import whole_parser

    sys.stdout.write(shtab.complete(whole_parser(with_options=True), args.shell) + "\n")
    return 0


COMMANDS = {
    "mcp": Command(_mcp_options, _mcp, "claude mcp add limpet -- limpet mcp\nlimpet mcp --http 8765"),
    "completion": Command(
        _completion_options, _completion, "limpet completion bash > ~/.local/share/bash-completion/completions/limpet"
    ),
}
