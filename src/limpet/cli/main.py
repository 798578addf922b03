"""The entry point: find the row of a command, build its parser alone, run it, translate what goes wrong.

Exit codes: 0 done, 1 nothing found, 2 bad input, 3 store unavailable or damaged. Read first: verbs.py.
"""

from __future__ import annotations

import argparse
import os
import re
import sys

from ..model.errors import BadInput, LimpetError, StoreError, package_missing
from . import output, verbs
from .start import command_place
from .verbs import PLUMBING, Verb, arg, find, help_of, open_store, top_help, whole_parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

DESCRIPTION = "Persistent memory for AI agents: one file you own."
EPILOG = """exit codes: 0 done, 1 nothing found, 2 bad input, 3 store unavailable or damaged
`limpet help COMMAND` says more about a command, with examples.

examples:
  limpet remember "Deploys need the VPN" --kind lesson --topic deploy
  limpet recall "why did my deploy hang?"
  limpet list --since "2 weeks ago"
"""


def main(argv: list[str]) -> int:
    """Run one command. Returns the exit code; prints no traceback unless LIMPET_DEBUG=1."""
    as_json = "--json" in (argv[: argv.index("--")] if "--" in argv else argv)
    try:
        _prepare_streams()
        try:
            code = _dispatch(argv)
        finally:
            sys.stdout.flush()
        return code
    except LimpetError as error:
        if error.hint:  # arguments of the API in it are options here
            argument = r'\b(every|force|forget|keep|scope|session)=(?:True|"?(\w+)"?)'
            error.hint = re.sub(argument, r"--\1 \2", error.hint).replace("  ", " ")
        output.error(error, as_json=as_json, typed=argv)
        return error.exit_code
    except KeyboardInterrupt as stopped:
        more = stopped.args or ("the same import goes on from there",) * ("import" in argv)
        output.words("; ".join(["limpet: interrupted", *map(str, more)]))
        return 130
    except BrokenPipeError:
        output.leave(sys.stdout)
        return 141
    except Exception as error:
        if os.environ.get("LIMPET_DEBUG") == "1":
            raise
        output.leave(sys.stdout)
        problem = _problem(error)
        output.error(problem, as_json=as_json, typed=argv)
        return problem.exit_code


def _problem(error: Exception) -> LimpetError:
    """What a person is told of an error that is not limpet's own."""
    if isinstance(error, ModuleNotFoundError) and not str(error.name or "limpet").startswith("limpet"):
        return package_missing(error)
    if isinstance(error, OSError):
        return StoreError(": ".join(str(part) for part in (error.filename, error.strerror) if part) or str(error))
    text = f"internal error: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    problem = LimpetError(text, hint="LIMPET_DEBUG=1 shows where it happened")
    problem.code = "internal_error"
    return problem


def _dispatch(argv: list[str]) -> int:
    """Find the row of a command, parse its words, run it and print the result. Returns the exit code."""
    for number, word in enumerate(argv, 1):
        try:
            word.encode()
        except UnicodeEncodeError:
            hint = "set a UTF-8 locale, or pass it on stdin"
            raise BadInput(f"argument {number} is not valid UTF-8", hint=hint) from None
    place = command_place(argv)
    before, words = argv[:place], argv[place:]
    args = argparse.Namespace(store=None, scope=None, json=False)
    if {"-h", "--help"} & set(before):
        sys.stdout.write(top_help(DESCRIPTION, EPILOG))
        return 0
    if {"-V", "--version"} & set(before):
        return _version(args)
    if before:
        verbs.parser_of().parse_args(before, args)
    if not words:
        if args.json:
            raise BadInput("no command given", hint="`limpet --help` lists the commands")
        sys.stderr.write(top_help(DESCRIPTION, EPILOG))
        return 2
    verb, after = find(words)
    options = after[: (*after, "--").index("--")]
    if {"-h", "--help"} & set(options):
        sys.stdout.write(help_of(verb))
        return 0
    if verb.run is None:
        if after:
            hint = f"`limpet help {verb.name}` lists what there is"
            raise BadInput(f"unknown: {verb.name} {after[0][:60]}", hint=hint)
        sys.stdout.write(help_of(verb))
        return 2
    if verb.name == "tag":  # a word such as -topic is a change, not an option
        after[: len(options)] = [f"\0{word}" if re.match(r"-[^-h]|-h.", word) else word for word in options]
    # Positional arguments and options in any order.
    verbs.parser_of(verb).parse_intermixed_args(after, args)
    if verb.name == "tag":
        args.change = [word.removeprefix("\0") for word in args.change]
    if verb.show is None:
        code: int = verb.run(args)
        return code
    with open_store(args, create=verb.create(args) if callable(verb.create) else verb.create) as memory:
        result = verb.run(memory, args)
        if args.json:
            output.result(result)
        else:
            verb.show(result, memory, args)
    return verb.code(result)


def _prepare_streams() -> None:
    """Data is UTF-8 with plain line ends, whatever the locale or platform says; what was closed leads nowhere."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


# -- commands for shells and people who look around

SHELLS = ("bash", "zsh", "fish", "tcsh")


def _completion(args: Namespace) -> int:
    try:
        import shtab
    except ModuleNotFoundError as error:
        raise package_missing(error, "completion") from error
    sys.stdout.write(shtab.complete(whole_parser(), args.shell) + "\n")
    return 0


def _help(args: Namespace) -> int:
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
