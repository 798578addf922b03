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
from .start import command_place
from .verbs import find, leave_worker, nearest, open_store, parser_of, rows


def main(argv: list[str]) -> int:
    """Run one command. Returns the exit code; prints no traceback but in Python's development mode."""
    as_json = "--json" in (argv[: argv.index("--")] if "--" in argv else argv)
    try:
        _prepare_streams()
        try:
            return _dispatch(argv)
        finally:
            sys.stdout.flush()
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
        if sys.flags.dev_mode:
            raise
        output.leave(sys.stdout)
        problem = _problem(error)
        output.error(problem, as_json=as_json, typed=argv)
        return problem.exit_code


def _problem(error: Exception) -> LimpetError:
    """Turn an error that is not limpet's own into one that a person understands."""
    if isinstance(error, ModuleNotFoundError) and not str(error.name or "limpet").startswith("limpet"):
        return package_missing(error)
    if isinstance(error, OSError):
        return StoreError(": ".join(str(part) for part in (error.filename, error.strerror) if part) or str(error))
    text = f"internal error: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    problem = LimpetError(text, hint="PYTHONDEVMODE=1 shows where it happened")
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
        words = ["help"]
    elif {"-V", "--version"} & set(before):
        words = ["version"]
    elif before:
        parser_of().parse_args(before, args)
    if not words:
        if args.json:
            raise BadInput("no command given", hint="`limpet --help` lists the commands")
        from .help import first_help

        sys.stdout.write(first_help())
        return 0
    verb, after = find(words)
    options = after[: (*after, "--").index("--")]
    asked_for_help = bool({"-h", "--help"} & set(options))
    if verb.run is None and after and not asked_for_help:
        near = nearest(f"{verb.name} {after[0]}", rows(words[0]))
        hint = f"{near}`limpet help {verb.name}` lists what there is"
        raise BadInput(f"unknown: {verb.name} {after[0][:60]}", hint=hint)
    if asked_for_help or verb.run is None:
        from .help import help_of

        sys.stdout.write(help_of(verb))
        return 0 if asked_for_help else 2
    if verb.name == "tag":  # a word such as -topic is a change, not an option
        after[: len(options)] = [f"\0{word}" if re.match(r"-[^-h]|-h.", word) else word for word in options]
    # Positional arguments and options in any order.
    parser_of(verb).parse_intermixed_args(after, args)
    if verb.name == "tag":
        args.change = [word.removeprefix("\0") for word in args.change]
    if verb.show is None:
        return int(verb.run(args))
    with open_store(args, create=verb.create(args) if callable(verb.create) else verb.create) as memory:
        result = verb.run(memory, args)
        if args.json:
            output.result(result)
        else:
            verb.show(result, memory, args)
        leave_worker(memory)
    return verb.code(result)


def _prepare_streams() -> None:
    """Write UTF-8 with plain line ends, whatever the locale or platform says; discard what goes to a closed stream."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
