"""The entry point: find the command, build its parser alone, run it, translate whatever goes wrong.

A command is a `Command` in the table COMMANDS of its group's module, imported only when it is called: a cold `limpet`
has a budget of 8 bare Python starts. Exit codes: 0 done, 1 not found, 2 bad input, 3 store unavailable or damaged.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import NoReturn, cast

from ..model import old_names
from ..model.errors import BadInput, LimpetError, StoreError
from . import names, output
from .options import Command, Parser, global_options

# Command: (module of its group, what it does in one line), in the order of --help.
COMMANDS = {
    "remember": ("write", "store a statement, or a batch of them"),
    "recall": ("read", "find the memories that matter for a question, best first"),
    "prepare": ("briefing", "the brief for an agent before it answers a message"),
    "show": ("read", "one memory in full, and the memory counts as used"),
    "list": ("read", "memories page by page, newest first"),
    "related": ("read", "what is near a memory in meaning and words"),
    "count": ("read", "how many memories there are"),
    "topics": ("read", "the topics there are, the most used first"),
    "threads": ("read", "topics that several sessions worked on, the latest first"),
    "entities": ("read", "the things that memories name, the most named first"),
    "stats": ("read", "counts and sizes of the whole store, every scope"),
    "edit": ("write", "better words for the same belief"),
    "tag": ("write", "add and remove topics, set metadata values"),
    "pin": ("write", "exempt a memory from decay"),
    "unpin": ("write", "let a memory decay again"),
    "correct": ("write", "replace a belief by a new one; the old one stays readable as of then"),
    "retract": ("write", "no longer believe a memory, with the reason why"),
    "archive": ("write", "take a memory out of recall; it stays in the store"),
    "restore": ("write", "bring an archived or retracted memory back"),
    "reach": ("write", "a goal is reached: it leaves the open goals, and says so"),
    "promote": ("write", "make a belief of what a rule kept as an episode"),
    "purge": ("write", "erase a memory's content for good; a dry run unless --confirm"),
    "log": ("write", "what was done, the newest first: when, what, to which text, by whom"),
    "undo": ("write", "take back what was done last, each time one step further, or one operation of `log`"),
    "redo": ("write", "do again what was undone last"),
    "fact": ("beliefs", "a keyed fact: read it, set it, end it, see its history"),
    "audit": ("beliefs", "what is believed about something: how sure, since when, from whom, against what"),
    "review": ("beliefs", "what waits for a person; accept or reject it"),
    "sweep": ("beliefs", "today's rules over yesterday's memories: what would not be stored so today"),
    "retention": ("beliefs", "what is old and nobody used: list it, sum its sessions up, take it out of recall"),
    "session": ("beliefs", "runs of an agent: start, end, list, show, compress into an episode"),
    "feedback": ("write", "say whether a recalled memory was useful"),
    "link": ("graph", "say how two memories belong together: A caused_by B, A supports B, ..."),
    "unlink": ("graph", "end a link; that it held stays on record"),
    "why": ("graph", "what a memory rests on, back to the facts"),
    "impact": ("graph", "what rests on a memory, decisions first, and what would remain of their reasons"),
    "path": ("graph", "the shortest way from one memory to another along links"),
    "timeline": ("graph", "memories along time: around one, of a key, about something"),
    "contradictions": ("graph", "pairs of memories that cannot both hold"),
    "gaps": ("graph", "weak places: decisions without reasons, thin foundations, stale beliefs"),
    "diff": ("graph", "what the store came to believe and stopped believing between two moments"),
    "graph": (
        "graph",
        "any query over the graph: chain, context, pattern, centrality, ground, revise, analogy, consolidate, these",
    ),
    "import": ("transfer", "read memories from a file"),
    "export": ("transfer", "write the whole store to a file, lossless"),
    "mirror": ("mirror", "a folder of Markdown that people read and edit: init, sync, status, watch, read"),
    "organize": (
        "organize",
        "transcripts of agents and notes into memories; by rules, and with a model if you give one",
    ),
    "backup": ("upkeep", "copy the live store to a new file"),
    "verify": ("upkeep", "check that file, ledger, index and vectors are sound"),
    "doctor": ("upkeep", "is everything as it should be, and what to do where it is not"),
    "gc": ("upkeep", "give free space back to the file system; deletes no memory"),
    "work": ("upkeep", "drain the queue: make the vectors of what was stored since"),
    "reembed": ("upkeep", "give every memory a vector of the current embedder"),
    "rebuild": ("upkeep", "make every index and projection anew from the ledger"),
    "models": ("upkeep", "the embedders this store knows, and those that are installed"),
    "install": ("agents", "put limpet into an agent client: MCP server, hooks, instructions"),
    "uninstall": ("agents", "take limpet out of an agent client again"),
    "exposures": ("usefulness", "what was put before agents: when, to whom, at how many tokens, and was it used"),
    "hook": ("agents", "what agent clients call at their events; always ends with 0"),
    "mcp": ("serve", "serve the store to an agent over stdin and stdout (Model Context Protocol)"),
    "completion": ("serve", "print the completion script of a shell"),
}
DESCRIPTION = "Persistent memory for AI agents: one file you own."
EPILOG = """exit codes: 0 done, 1 not found, 2 bad input, 3 store unavailable or damaged
`limpet COMMAND --help` says more about a command.

example:
  limpet remember "Deploys need the VPN" --kind lesson --topic deploy
  limpet recall "why did my deploy hang?\""""


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
        output.error(error, as_json=as_json, typed=argv)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        output.leave(sys.stdout)
        return 141
    except Exception as error:
        if os.environ.get("LIMPET_DEBUG") == "1":
            raise
        output.leave(sys.stdout)
        if isinstance(error, OSError):
            problem: LimpetError = StoreError(
                ": ".join(str(one) for one in (error.filename, error.strerror) if one) or str(error)
            )
        else:
            said = " ".join(str(error).split())[:300]
            problem = LimpetError(
                f"internal error: {type(error).__name__}: {said}", hint="LIMPET_DEBUG=1 shows where it happened"
            )
            problem.code = "internal_error"
        output.error(problem, as_json=as_json, typed=argv)
        return problem.exit_code


def _dispatch(argv: list[str]) -> int:
    for place, word in enumerate(argv, 1):
        if any("\ud800" <= character <= "\udfff" for character in word):
            raise BadInput(f"argument {place} is not valid UTF-8", hint="set a UTF-8 locale, or pass the text on stdin")
    before, name, after = split(argv)
    args = argparse.Namespace(store=None, scope=None, json=False)
    if name is None:
        parser = whole_parser(with_options=False)
        parser.parse_args(before)  # --help, --version and wrong options end here
        if args.json or "--json" in argv:
            raise BadInput("no command given", hint="`limpet --help` lists the commands")
        parser.print_help(sys.stderr)
        return 2
    if name not in COMMANDS:
        name = old_names.COMMANDS.get(name, name)
    if name not in COMMANDS:
        raise BadInput(f"unknown command: {name[:60]!r}", hint=_near(name))
    if before:
        _top_parser().parse_args(before, args)
    command = find(name)
    parser = command_parser(name, command)
    if parser.get_default("gone") is not None:
        after = names.arrange(after)
    parser.parse_args(command.arrange(after), args)
    return command.run(args)


def split(argv: list[str]) -> tuple[list[str], str | None, list[str]]:
    """Words before the command, the command, words after it."""
    place = 0
    while place < len(argv):
        word = argv[place]
        if not word.startswith("-") or word == "-":
            return argv[:place], word, argv[place + 1 :]
        place += 2 if word in ("--store", "--scope") else 1
    return argv, None, []


def find(name: str) -> Command:
    """The command of a name, its module imported."""
    module = import_module(f"{__package__}.{COMMANDS[name][0]}")
    return cast("Command", module.COMMANDS[name])


def command_parser(name: str, command: Command) -> Parser:
    parser = Parser(prog=f"limpet {name}", description=_description(name), epilog=_epilog(command))
    command.options(parser)
    global_options(parser)
    return parser


def whole_parser(*, with_options: bool) -> Parser:
    """The tree of all commands: for --help, for shell completion and for the reference page."""
    parser = _top_parser()
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name, (_, help) in COMMANDS.items():
        if not with_options:
            commands.add_parser(name, help=help)
            continue
        command = find(name)
        made = commands.add_parser(name, help=help, description=_description(name), epilog=_epilog(command))
        command.options(made)
        global_options(made)
    return parser


def _top_parser() -> Parser:
    from .. import __version__

    parser = Parser(prog="limpet", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"limpet {__version__}", help="print the version")
    global_options(parser)
    return parser


def _description(name: str) -> str:
    return COMMANDS[name][1][0].upper() + COMMANDS[name][1][1:] + "."


def _epilog(command: Command) -> str:
    return "example:\n" + "\n".join("  " + line for line in command.example.splitlines())


def _near(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, 1)
    return f"did you mean {near[0]}?" if near else "`limpet --help` lists the commands"


def _prepare_streams() -> None:
    """Data is UTF-8 with plain line ends, whatever the locale or platform says; what was closed leads nowhere."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


if __name__ == "__main__":
    run()
