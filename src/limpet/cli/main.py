"""The entry point: find the row of a command, build its parser alone, run it, translate what goes wrong.

Exit codes: 0 done, 1 nothing found, 2 bad input, 3 store unavailable or damaged. Read first: verbs.py.
"""

from __future__ import annotations

import argparse
import os
import re
import sys

from ..model.errors import BadInput, LimpetError, StoreError, package_missing
from . import output
from .verbs import Parser, find, global_options, help_of, open_store, parser_of, top_help

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from .verbs import Verb

DESCRIPTION = "Persistent memory for AI agents: one file you own."
EPILOG = """exit codes: 0 done, 1 nothing found, 2 bad input, 3 store unavailable or damaged
`limpet help COMMAND` says more about a command, with examples.

examples:
  limpet remember "Deploys need the VPN" --kind lesson --topic deploy
  limpet recall "why did my deploy hang?"
  limpet list --since "2 weeks ago"
"""


def run(argv: list[str] | None = None) -> NoReturn:
    """Run `limpet ARGV` and leave the process with its exit code."""
    sys.exit(main(sys.argv[1:] if argv is None else argv))


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
    for number, word in enumerate(argv, 1):
        if any("\ud800" <= character <= "\udfff" for character in word):
            raise BadInput(f"argument {number} is not valid UTF-8", hint="set a UTF-8 locale, or pass it on stdin")
    place = 0
    while place < len(argv) and argv[place].startswith("-") and argv[place] != "-":
        place += 2 if argv[place] in ("--store", "--scope") else 1
    before, words = argv[:place], argv[place:]
    args = argparse.Namespace(store=None, scope=None, json=False)
    if before:
        _top_parser().parse_args(before, args)  # --help and --version end here
    if not words:
        if args.json:
            raise BadInput("no command given", hint="`limpet --help` lists the commands")
        sys.stderr.write(top_help(DESCRIPTION, EPILOG))
        return 2
    verb, after = find(words)
    if verb.run is None or any(word in ("-h", "--help") for word in after[: (*after, "--").index("--")]):
        sys.stdout.write(help_of(verb))
        return 2 if verb.run is None and not after else _unknown(verb, after)
    return execute(verb, _parsed(verb, after, args))


def _unknown(verb: Verb, after: list[str]) -> int:
    if verb.run is None and after[0] not in ("-h", "--help"):
        raise BadInput(f"unknown: {verb.name} {after[0][:60]}", hint=f"`limpet help {verb.name}` lists what there is")
    return 0


def _parsed(verb: Verb, words: list[str], args: argparse.Namespace) -> argparse.Namespace:
    """Positional arguments and options in any order; a word such as -topic is a change of `tag`, not an option."""
    if verb.name == "tag":
        end = (*words, "--").index("--")
        words[:end] = [f"\0{word}" if re.match(r"-[^-h]|-h.", word) else word for word in words[:end]]
    parser = parser_of(verb)
    given: argparse.Namespace = parser.parse_intermixed_args(words, args)
    if verb.name == "tag":
        given.change = [word.removeprefix("\0") for word in given.change]
    return given


def execute(verb: Verb, args: argparse.Namespace) -> int:
    """Run a row's function and print its result. Returns the exit code."""
    assert verb.run is not None
    if verb.show is None:
        code: int = verb.run(args)
        return code
    create = verb.create(args) if callable(verb.create) else verb.create
    with open_store(args, create=create) as memory:
        result: Any = verb.run(memory, args)
        if args.json:
            output.result(result)
        else:
            verb.show(result, memory, args)
    return verb.code(result)


class _TopParser(Parser):
    def format_help(self) -> str:
        return top_help(DESCRIPTION, EPILOG)


def _top_parser() -> Parser:
    from .. import __version__

    parser = _TopParser(prog="limpet")
    parser.add_argument("-V", "--version", action="version", version=f"limpet {__version__}", help="print the version")
    global_options(parser)
    return parser


def _prepare_streams() -> None:
    """Data is UTF-8 with plain line ends, whatever the locale or platform says; what was closed leads nowhere."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


if __name__ == "__main__":
    run()
