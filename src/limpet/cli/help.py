"""Help, shell completion and the version, made from the rows of all commands."""

from __future__ import annotations

import argparse
import sys

from ..model.errors import package_missing
from . import output
from .verbs import PLUMBING, Parser, Verb, arg, filled, find, parser_of, rows, table, terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

DESCRIPTION = "Persistent memory for AI agents: one file you own."
EXAMPLES = """examples:
  limpet remember "Deploys need the VPN" --kind lesson --topic deploy
  limpet recall "why did my deploy hang?"
  limpet list --since "2 weeks ago"
"""
EPILOG = f"""exit codes: 0 done, 1 nothing found, 2 bad input, 3 store unavailable or damaged
`limpet help COMMAND` says more about a command, with examples.

{EXAMPLES}"""
# The first screen: what a person does first, and every day.
FIRST = ("install", "remember", "recall", "list", "show", "correct", "forget", "undo", "doctor")


def _texts(verb: Verb) -> dict[str, Any]:
    """Return help's words above the arguments of a command, and below them."""
    lines = verb.example.splitlines()
    heading = f"example{'s' * (len(lines) > 1)}:\n"
    about = f"{verb.about[0].upper()}{verb.about[1:]}."
    return {"description": about, "epilog": heading + "\n".join("  " + line for line in lines) if lines else None}


def whole_parser() -> Parser:
    """Make the tree of all commands, for shell completion."""
    top = parser_of()
    places: dict[str, Any] = {"": top.add_subparsers(title="commands", metavar="COMMAND", dest="command")}
    verbs = list(table())
    for verb in verbs:
        above, _, last = verb.name.rpartition(" ")
        made = filled(places[above].add_parser(last, help=verb.about, **_texts(verb)), verb)
        if any(other.name.startswith(f"{verb.name} ") for other in verbs):
            places[verb.name] = made.add_subparsers(metavar="ACTION", dest="action", required=False)
    return top


def help_of(verb: Verb) -> str:
    """Write what `limpet NAME --help` prints; for a row with subcommands, these too."""
    below = [row for row in rows(verb.name.split()[0]).values() if row.name.startswith(f"{verb.name} ")]
    listed = "".join(_line(row.name[len(verb.name) + 1 :], row.about) for row in below)
    return parser_of(verb, **_texts(verb)).format_help() + (f"\nsubcommands:\n{listed}" if listed else "")


def first_help() -> str:
    """Write what `limpet` alone prints: the commands of every day, and how to see the others."""
    by_name = {verb.name: verb.about for verb in table()}
    listed = "".join(_line(name, by_name[name]) for name in FIRST if name in by_name)
    more = "`limpet help` lists all commands, `limpet help COMMAND` says more about one."
    return f"usage: limpet COMMAND ...\n\n{DESCRIPTION}\n\n{listed}\n{EXAMPLES}\n{more}\n"


def top_help() -> str:
    """Write what `limpet --help` prints: the commands in groups, those of every day first."""
    text, group = f"usage: limpet COMMAND ...\n\n{DESCRIPTION}\n", ""
    for verb in table():
        if verb.group != group:
            text, group = f"{text}\n{verb.group}:\n", verb.group
        if " " not in verb.name:
            text += _line(verb.name, verb.about)
    shared = parser_of(add_help=False, usage=argparse.SUPPRESS)
    return f"{text}\n{shared.format_help().strip()}\n\n{EPILOG}"


def _line(name: str, about: str) -> str:
    import textwrap

    width = terminal_width() or 100
    return textwrap.fill(about, width, initial_indent=f"  {name:<16} ", subsequent_indent=" " * 19) + "\n"


SHELLS = ("bash", "zsh", "fish", "tcsh")


def _completion(args: Namespace) -> int:
    try:
        import shtab
    except ModuleNotFoundError as error:
        raise package_missing(error, "completion") from error
    sys.stdout.write(shtab.complete(whole_parser(), args.shell) + "\n")
    return 0


def _help(args: Namespace) -> int:
    sys.stdout.write(help_of(find(args.command, whole=True)[0]) if args.command else top_help())
    return 0


def _version(args: Namespace) -> int:
    from .. import __version__

    output.result({"version": __version__}) if args.json else output.line(f"limpet {__version__}")
    return 0


VERBS = (
    Verb(
        name="completion", group=PLUMBING, about="print the completion script of a shell", run=_completion,
        arguments=(arg("SHELL", ", ".join(SHELLS), choices=SHELLS),),
        example="limpet completion bash > ~/.local/share/bash-completion/completions/limpet\n"
        "limpet completion fish > ~/.config/fish/completions/limpet.fish",
    ),
    Verb(name="help", group=PLUMBING, about="what limpet can do, or one command", run=_help,
         arguments=(arg("[COMMAND...]", "the command that you want to know more about"),),
         example="limpet help\nlimpet help recall\nlimpet help graph path"),
    Verb(name="version", group=PLUMBING, about="print the version", run=_version, example="limpet version"),
)  # fmt: skip
