"""The entry point: find the command, build its parser alone, run it, translate whatever goes wrong.

A command is a `Command` in the table COMMANDS of its group's module, imported only when it is called: a cold `limpet`
has a budget of 8 bare Python starts. Exit codes: 0 done, 1 not found, 2 bad input, 3 store unavailable or damaged.
"""

from __future__ import annotations

import argparse
import os
import re
import sys

from .. import registry
from ..model.errors import BadInput, LimpetError, StoreError, package_missing
from . import output
from .options import Command, Formatter, Parser, global_options, terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# What --help shows: group -> command -> (module of its command group, what it does in one line).
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Every day": {
        "remember": ("write", "store a statement, or a batch of them"),
        "recall": ("read", "find the memories that matter for a question, best first"),
        "list": ("read", "memories page by page, newest first"),
        "show": ("read", "one memory in full, and the memory counts as used"),
        "correct": ("write", "replace a belief by a new one; the old one stays readable as of then"),
        "forget": ("write", "no longer believe memories: by id, topic, session, age or words; can be undone"),
    },
    "Look": {
        "prepare": ("read", "the brief for an agent before it answers a message"),
        "related": ("read", "what is near a memory in meaning and words"),
        "count": ("read", "how many memories there are"),
        "topics": ("read", "the topics there are, the most used first"),
        "threads": ("read", "topics that several sessions worked on, the latest first"),
        "entities": ("read", "the things that memories name, the most named first"),
        "scopes": ("scopes", "the scopes there are, with how many memories; rename and merge them"),
        "stats": ("read", "counts and sizes of the whole store, every scope"),
    },
    "Change": {
        "edit": ("write", "better words for the same belief"),
        "tag": ("write", "add and remove topics, set metadata values"),
        "pin": ("write", "exempt a memory from decay"),
        "unpin": ("write", "let a memory decay again"),
        "move": ("scopes", "put memories into another scope"),
        "retract": ("write", "no longer believe a memory, with the reason why"),
        "archive": ("write", "take a memory out of recall; it stays in the store"),
        "restore": ("backups", "bring an archived or retracted memory back; or the whole store, from a backup"),
        "reach": ("write", "a goal is reached: it leaves the open goals, and says so"),
        "promote": ("write", "make a belief of what a rule kept as an episode"),
        "feedback": ("write", "say whether a recalled memory was useful"),
        "undo": ("write", "take back what was done last, each time one step further, or one operation of `log`"),
        "redo": ("write", "do again what was undone last"),
        "log": ("write", "what was done, the newest first: when, what, to which text, by whom"),
        "purge": ("purge", "erase a memory's content for good; a dry run unless --confirm"),
    },
    "Facts, review and sessions": {
        "fact": ("beliefs", "a keyed fact: read it, set it, end it, see its history"),
        "audit": ("beliefs", "what is believed about something: how sure, since when, from whom, against what"),
        "ui": ("features.web.commands", "a local web page: see, search, correct and review what agents believe"),
        "review": ("beliefs", "what waits for a person; accept or reject it"),
        "sweep": ("beliefs", "today's rules over yesterday's memories: what would not be stored so today"),
        "scan": ("beliefs", "secrets that older versions stored: where they are, and their redaction"),
        "retention": ("beliefs", "what is old and nobody used: list it, sum its sessions up, take it out of recall"),
        "session": ("beliefs", "runs of an agent: start, end, list, show, compress into an episode"),
        "exposures": ("journal", "what was put before agents: when, to whom, at how many tokens, and was it used"),
        "eval": (
            "features.evaluate.commands",
            "memory measured on your own history: what was found, missed, shown for nothing",
        ),
        "journal": ("journal", "what was asked, done and answered in sessions; drop lines of it"),
    },
    "How memories belong together": {
        "link": ("graph", "say how two memories belong together: A caused_by B, A supports B, ..."),
        "unlink": ("graph", "end a link; that it held stays on record"),
        "why": ("graph", "what a memory rests on, back to the facts"),
        "impact": ("graph", "what rests on a memory, decisions first, and what would remain of their reasons"),
        "path": ("graph", "the shortest way from one memory to another along links"),
        "timeline": ("graph", "memories along time: around one, of a key, about something"),
        "contradictions": ("graph", "pairs of memories that cannot both hold"),
        "gaps": ("graph", "weak places: decisions without reasons, thin foundations, stale beliefs"),
        "diff": ("graph", "what the store came to believe and stopped believing between two moments"),
        "graph": ("graph", "any query over the graph: chain, context, centrality, ground, revise, consolidate, ..."),
    },
    "In and out": {
        "import": ("features.transfer.commands", "read memories from a file"),
        "export": ("features.transfer.commands", "write the whole store to a file, lossless"),
        "copy": ("features.transfer.commands", "a whole store into a new one: from a file to a server, or back"),
        "mirror": (
            "features.mirror.commands",
            "a folder of Markdown that people read and edit: init, sync, status, watch, read",
        ),
        "organize": (
            "features.organize.commands",
            "transcripts of agents and notes into memories; by rules, and with a model if you give one",
        ),
        "devices": ("features.serve.commands", "the devices that segments come from; trust one, or no more"),
        "backup": ("backups", "copy the live store to a new file, or keep some in a folder"),
    },
    "Care of the store": {
        "verify": ("upkeep", "check that file, ledger, index and vectors are sound"),
        "doctor": ("upkeep", "is everything as it should be, and what to do where it is not"),
        "work": ("upkeep", "drain the queue: make the vectors of what was stored since"),
        "reembed": ("upkeep", "give every memory a vector of the current embedder"),
        "rebuild": ("upkeep", "make every index and projection anew from the ledger"),
        "gc": ("upkeep", "give free space back to the file system; deletes no memory"),
        "init": ("encryption", "make an empty store, encrypted or not"),
        "encrypt": ("encryption", "encrypt the store's file"),
        "decrypt": ("encryption", "write the store's file in plain again"),
        "rekey": ("encryption", "encrypt the store's file with another key"),
        "models": ("upkeep", "the embedders this store knows, and those that are installed"),
    },
    "Agents and shells": {
        "install": ("agents", "put limpet into an agent client: MCP server, hooks, instructions"),
        "uninstall": ("agents", "take limpet out of an agent client again"),
        "pause": ("pause", "not now: nothing is noted, stored or shown by agents; for a time, or in a folder"),
        "resume": ("pause", "on again"),
        "incognito": ("pause", "nothing of this session of an agent is noted, stored or shown"),
        "ignore": ("pause", "words and paths that are never journaled or organized"),
        "status": ("pause", "is limpet on here, and which store and scope"),
        "mcp": ("serve", "serve the store to an agent over stdin and stdout (Model Context Protocol)"),
        "serve": (
            "features.serve.commands",
            "serve the store to a team over HTTP: MCP and a JSON API, with a token for each user",
        ),
        "token": ("features.serve.commands", "who may use `limpet serve`: create, list, revoke tokens"),
        "hook": ("agents", "what agent clients call at their events; always ends with 0"),
        "completion": ("serve", "print the completion script of a shell"),
        "help": ("serve", "what limpet can do, or one command"),
        "version": ("serve", "print the version"),
    },
}
COMMANDS = {name: about for group in GROUPS.values() for name, about in group.items()}
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


# Arguments of the API in its hints, which are options here.
_ARGUMENT = r"""\b(every|force|forget|keep|scope|session)=("[^"]*"|\w+)"""


def _as_option(found: re.Match[str]) -> str:
    value = found[2].strip('"')
    return f"--{found[1]}" + ("" if value == "True" else f" {value}")


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
        error.hint = error.hint and re.sub(_ARGUMENT, _as_option, error.hint)
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
        if isinstance(error, ModuleNotFoundError) and not str(error.name or "limpet").startswith("limpet"):
            problem: LimpetError = package_missing(error)
        elif isinstance(error, OSError):
            problem = StoreError(": ".join(str(one) for one in (error.filename, error.strerror) if one) or str(error))
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
        parser = _top_parser()
        parser.parse_args(before)  # --help, --version and wrong options end here
        if args.json or "--json" in argv:
            raise BadInput("no command given", hint="`limpet --help` lists the commands")
        parser.print_help(sys.stderr)
        return 2
    if before:
        _top_parser().parse_args(before, args)
    command = find(name)
    parser = command_parser(name, command)
    words = command.arrange(after)
    try:
        given = parser.parse_args(words, argparse.Namespace(**vars(args)))
    except BadInput as error:
        if not error.message.startswith("unrecognized arguments"):
            raise
        try:  # KEY --origin user VALUE: what came after options was a value
            given = parser.parse_intermixed_args(words, args)
        except (BadInput, TypeError):
            raise error from None
    return command.run(given)


def split(argv: list[str]) -> tuple[list[str], str | None, list[str]]:
    """Words before the command, the command, words after it."""
    place = 0
    while place < len(argv):
        word = argv[place]
        if not word.startswith("-") or word == "-":
            return argv[:place], word, argv[place + 1 :]
        place += 2 if word in ("--store", "--scope") else 1
    return argv, None, []


def command_help(name: str) -> str:
    """What `limpet NAME --help` prints. Raises BadInput."""
    return command_parser(name, find(name)).format_help()


def find(name: str) -> Command:
    """Import the command of a name. Raises BadInput."""
    if name not in COMMANDS:
        raise BadInput(f"unknown command: {name[:60]!r}", hint="`limpet help` lists the commands")
    home = COMMANDS[name][0]
    module = registry.part(home if home.startswith("features.") else f"cli.{home}")
    command: Command = module.COMMANDS[name]
    return command


def command_parser(name: str, command: Command) -> Parser:
    parser = Parser(prog=f"limpet {name}", description=_description(name), epilog=_epilog(command))
    command.options(parser)
    global_options(parser)
    return parser


def whole_parser() -> Parser:
    """The tree of all commands, for shell completion."""
    parser = _top_parser()
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name, (_, help) in COMMANDS.items():
        command = find(name)
        made = commands.add_parser(name, help=help, description=_description(name), epilog=_epilog(command))
        command.options(made)
        global_options(made)
    return parser


def top_help() -> str:
    """What `limpet --help` prints: the commands in groups, those of every day first."""
    import textwrap

    lines = ["usage: limpet COMMAND ...", "", DESCRIPTION]
    for title, commands in GROUPS.items():
        lines += ["", f"{title}:"]
        for name, (_, help) in commands.items():
            lines += textwrap.wrap(
                help, (terminal_width() or 100), initial_indent=f"  {name:<16}", subsequent_indent=" " * 18
            )
    group = argparse.ArgumentParser(add_help=False, usage=argparse.SUPPRESS, formatter_class=Formatter)
    global_options(group)
    return "\n".join([*lines, "", group.format_help().strip(), "", EPILOG])


class _TopParser(Parser):
    def format_help(self) -> str:
        return top_help()


def _top_parser() -> Parser:
    from .. import __version__

    parser = _TopParser(prog="limpet", description=DESCRIPTION, epilog=EPILOG)
    version = f"limpet {__version__}"
    parser.add_argument("-V", "--version", action="version", version=version, help="print the version")
    global_options(parser)
    return parser


def _description(name: str) -> str:
    return COMMANDS[name][1][0].upper() + COMMANDS[name][1][1:] + "."


def _epilog(command: Command) -> str:
    return f"example{'s' * (len(command.example.splitlines()) > 1)}:\n" + "\n".join(
        "  " + line for line in command.example.splitlines()
    )


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
