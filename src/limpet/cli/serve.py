"""Commands for programs around limpet: the MCP server, and the completion script of a shell."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from .options import Command

SHELLS = ("bash", "zsh", "tcsh")


def _no_options(_: ArgumentParser) -> None:
    pass


def _mcp(args: Namespace) -> int:
    from ..agents.mcp import serve

    serve(args.store, args.scope)
    return 0


def _completion_options(parser: ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def _completion(args: Namespace) -> int:
    import shtab

    from .main import whole_parser

    sys.stdout.write(shtab.complete(whole_parser(with_options=True), args.shell) + "\n")
    return 0


COMMANDS = {
    "mcp": Command(_no_options, _mcp, "claude mcp add limpet -- limpet mcp"),
    "completion": Command(
        _completion_options, _completion, "limpet completion bash > ~/.local/share/bash-completion/completions/limpet"
    ),
}
