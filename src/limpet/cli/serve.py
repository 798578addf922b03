"""Commands around the store: the MCP server, the completion script of a shell; help and version."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from ..model.errors import BadInput, package_missing
from . import output
from .options import Command, no_options

SHELLS = ("bash", "zsh", "fish", "tcsh")


def _mcp_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--http", type=int, metavar="PORT",
        help="serve 127.0.0.1:PORT with a bearer token, instead of stdin and stdout",
    )  # fmt: skip


def _mcp(args: Namespace) -> int:
    import gc

    if args.http is None and (sys.stdin is None or sys.__stdout__ is None):
        raise BadInput("stdin or stdout is closed", hint="a client that starts this server speaks with it over both")

    if args.http is None and sys.stdin.isatty():
        output.words(
            "this is limpet's MCP server: agent clients start it and speak JSON-RPC with it over stdin and stdout\n"
            "  `limpet install` sets a client up; Ctrl-C or Ctrl-D ends it"
        )
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
    from .main import whole_parser

    if args.shell == "fish":
        sys.stdout.write(_fish(whole_parser()))
        return 0
    try:
        import shtab
    except ModuleNotFoundError as error:
        raise package_missing(error, "completion") from error
    sys.stdout.write(shtab.complete(whole_parser(), args.shell) + "\n")
    return 0


def _fish(parser: ArgumentParser) -> str:
    """A line for each command, option and choice, as fish's `complete` takes them."""

    def quoted(text: str) -> str:
        return "'" + " ".join(text.split()).replace("\\", "\\\\").replace("'", "\\'") + "'"

    def options(of: ArgumentParser, condition: str) -> Iterator[str]:
        for action in of._actions:
            names = [f"-{'l' if name.startswith('--') else 's'} {name.lstrip('-')}" for name in action.option_strings]
            choices = " ".join(map(str, action.choices or ())) if not isinstance(action.choices, dict) else ""
            if names or choices:
                takes = " -r" if names and action.nargs != 0 else ""
                given = f" -f -a {quoted(choices)}" if choices else ""
                help = (action.help or "").replace("%%", "%")
                yield f"complete -c limpet -n {quoted(condition)} {' '.join(names)}{takes}{given} -d {quoted(help)}"

    (commands,) = (action for action in parser._actions if isinstance(action.choices, dict))
    lines = ["complete -c limpet -e", *options(parser, "__fish_use_subcommand")]
    for name, command in commands.choices.items():  # type: ignore[union-attr]
        lines.append(f"complete -c limpet -f -n __fish_use_subcommand -a {name} -d {quoted(command.description or '')}")
        lines += options(command, f"__fish_seen_subcommand_from {name}")
    return "\n".join(lines) + "\n"


def _help_options(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="COMMAND", nargs="?", help="the command that you want to know more about")


def _help(args: Namespace) -> int:
    from .main import command_help, top_help

    sys.stdout.write(top_help() if args.name is None else command_help(args.name))
    return 0


def _version(args: Namespace) -> int:
    from .. import __version__

    output.object_line({"version": __version__}) if args.json else output.line(f"limpet {__version__}")
    return 0


COMMANDS = {
    "mcp": Command(_mcp_options, _mcp, "claude mcp add limpet -- limpet mcp\nlimpet mcp --http 8765"),
    "completion": Command(
        _completion_options,
        _completion,
        "limpet completion bash > ~/.local/share/bash-completion/completions/limpet\n"
        "limpet completion fish > ~/.config/fish/completions/limpet.fish",
    ),
    "help": Command(_help_options, _help, "limpet help\nlimpet help recall"),
    "version": Command(no_options, _version, "limpet version"),
}
