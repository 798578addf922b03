"""Commands for shells and people who look around: completion, help, version."""

from __future__ import annotations

import sys

from ..model.errors import package_missing
from . import output
from .verbs import PLUMBING, Verb, arg, find, help_of, top_help, whole_parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

SHELLS = ("bash", "zsh", "fish", "tcsh")


def _completion(args: Namespace) -> int:
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


def _help(args: Namespace) -> int:
    from .main import DESCRIPTION, EPILOG

    sys.stdout.write(help_of(find(args.command, whole=True)[0]) if args.command else top_help(DESCRIPTION, EPILOG))
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
