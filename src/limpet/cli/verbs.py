"""The table of commands: `Verb` is a row, and each module that HOMES names has the rows of its commands in VERBS.

The parser, help.py and docs/generate.py read the rows; nothing about a command is anywhere else. Features register the
homes of their rows in registry.py. Below are arguments that rows share, and their parsers.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from functools import partial

from ..model.dataclass import dataclass
from ..model.errors import BadInput, StoreMissing
from ..model.memory import KINDS, MAX_CONTENT_BYTES, ORIGINS
from ..registry import COMMANDS, FeatureMissing, call, part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, NoReturn, TypeVar

    from ..api import Limpet
    from ..every_day import EveryDay
    from ..settings import Settings

    Opened = TypeVar("Opened", bound=EveryDay)

# Messages are English, and `Parser.error` reads them: a look for translations imports `locale` and searches folders.
argparse._ = str  # type: ignore[attr-defined]

# Groups as `help` shows them.
EVERY_DAY, LOOK, CHANGE, PEOPLE, GRAPH, IN_OUT, STORE, AGENTS, PLUMBING = GROUPS = (
    "Every day", "Look", "Change", "Facts, review and sessions", "Graph", "In and out", "Store", "Agents", "Plumbing",
)  # fmt: skip
# The first word of a command -> the module below cli/ that has its rows, in the order of `help`.
HOMES = {
    "remember": "remember", "recall": "read", "list": "read", "show": "read", "correct": "write", "forget": "write",
    "prepare": "read", "audit": "beliefs", "why": "graph", "impact": "graph", "stats": "read",
    "edit": "write", "tag": "write", "pin": "write", "merge": "write", "archive": "write", "restore": "store",
    "purge": "store", "undo": "write", "log": "write", "feedback": "write",
    "fact": "beliefs", "review": "beliefs", "session": "beliefs", "journal": "beliefs", "scope": "beliefs",
    "link": "write", "graph": "graph", "backup": "store",
    "verify": "store", "doctor": "store", "work": "store", "rebuild": "store", "gc": "store",
    "pause": "agents", "resume": "agents", "ignore": "agents", "status": "agents",
    "mcp": "agents", "hook": "agents", "completion": "help", "help": "help", "version": "help",
}  # fmt: skip
# Characters of a message, which may repeat what was typed.
MOST_OF_A_MESSAGE = 300

# An argument of a row: its usage, its help, and further settings of argparse.
Argument = tuple[str, str, "dict[str, Any]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One row: a command, or a subcommand under a name of two words ("graph path").

    `run(memory, args)` returns what `show(result, memory, args)` prints unless --json is given; without `show`,
    `run(args)` opens the store and prints by itself, and returns the exit code. Without `run` the row only heads its
    subcommands. `create`: the command, or one with such arguments, may begin a store. `code(result)`: the exit code.
    """

    name: str
    group: str
    about: str
    run: Callable[..., Any] | None = None
    arguments: tuple[Argument, ...] = ()
    example: str = ""
    show: Callable[..., None] | None = None
    create: bool | Callable[[Any], bool] = False
    code: Callable[[Any], int] = lambda _: 0


def arg(usage: str, help: str, **settings: Any) -> Argument:
    """Make an argument from its usage: `ID`, `[TEXT]`, `[ID...]`, `--pin`, `--kind KIND`, `--topic TOPIC...`."""
    return usage, help, settings


def agent_session() -> str:
    """Return the session of the agent that runs this command; "" outside of one."""
    from ..agents.hooks.client_adapters import SESSION_VARIABLES

    return next(filter(None, map(os.environ.get, SESSION_VARIABLES)), "")


def is_at_terminal() -> bool:
    """Return whether a person runs this command: agents have pipes on all sides."""
    return any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def is_a_person() -> bool:
    """Return whether a person runs this command, at a terminal that no agent has opened."""
    return is_at_terminal() and not agent_session()


def origin(args: argparse.Namespace, other: str | None = "agent") -> Any:
    """Return who says it: as given by --origin, else the user where a person runs this command, else `other`."""
    return args.origin or ("user" if is_a_person() else other)


def terminal_width() -> int | None:
    """Return the columns that COLUMNS says, else those of the terminal on stdout; None when stdout is none."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and int(given) >= 20:
        return int(given)
    try:
        return os.get_terminal_size(1).columns or None
    except (OSError, ValueError):
        return None


class Joined(argparse.Action):
    """Several words are one text, so that a question needs no quotes."""

    def __call__(self, _: Any, namespace: argparse.Namespace, values: Any, __: str | None = None) -> None:
        setattr(namespace, self.dest, " ".join(values) if values else None)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are BadInput, so that they are shown like every other error."""

    def error(self, message: str) -> NoReturn:
        hint = f"see `{self.prog} --help`"
        what, mark, words = message.partition(": ")
        if what == "unrecognized arguments":
            typed = next((word for word in words.split() if word.startswith("--")), "")
            hint = nearest(typed.partition("=")[0], self._option_string_actions) + hint
        elif what == "the following arguments are required":  # the last: the others were taken for those before them
            needed = [each.metavar for each in self._get_positional_actions() if each.nargs not in ("?", "*")]
            message = f"{what}{mark}{', '.join(map(str, needed))}"
            hint = f"`{self.prog} {' '.join(map(str, needed))}`; {hint}"
        raise BadInput(message[:MOST_OF_A_MESSAGE], hint=hint)


def nearest(typed: str, names: Iterable[str]) -> str:
    """Return a question that names what a mistyped word may have meant, and a space; "" if no name is near."""
    from difflib import get_close_matches

    by_form = {name.lstrip("-"): name for name in names}
    near = get_close_matches(typed.lstrip("-")[:60], by_form, 1, 0.7)
    return f"did you mean `{by_form[near[0]]}`? " if near else ""


def add(parser: argparse._ActionsContainer, argument: Argument) -> None:
    """Add an argument to a parser, or to a group of one."""
    usage, help, settings = argument
    word, _, value = usage.removeprefix("[").partition(" ")
    value = value.strip("[]")
    more = usage.rstrip("]").endswith("...")
    given = dict(settings)
    default = given.get("default")
    if default not in (None, argparse.SUPPRESS) and "(default" not in help:
        help += f" (default: {default})"
    if type(default) in (int, float):
        given.setdefault("type", type(default))
    if not word.startswith("-"):
        name = word.removesuffix("]").removesuffix("...")
        given.setdefault("metavar", name)
        if more or usage.startswith("["):
            given["nargs"] = "?" if not more else "*" if usage.startswith("[") else "+"
        if given.pop("words", False):
            given |= {"nargs": "*" if usage.startswith("[") else "+", "action": Joined}
        parser.add_argument(given.pop("dest", name.lower().replace("|", "_")), help=help, **given)
    elif value:
        if more:
            given["action"] = "append"
        parser.add_argument(word, help=help, metavar=value.removesuffix("..."), **given)
    else:
        parser.add_argument(word, help=help, **{"action": "store_true", **given})


def rows(word: str) -> dict[str, Verb]:
    """Name -> row of the commands that begin with a word. Raises BadInput, FeatureMissing."""
    home = COMMANDS.get(word) or (f"cli.{HOMES[word]}" if word in HOMES else None)
    if home is None:
        hint = nearest(word, (*HOMES, *COMMANDS)) + "`limpet help` lists the commands"
        raise BadInput(f"unknown command: {word[:60]!r}", hint=hint)
    return {verb.name: verb for verb in part(home).VERBS if verb.name.split()[0] == word}


def find(words: list[str], *, whole: bool = False) -> tuple[Verb, list[str]]:
    """Return the row that the first words name, and the words after its name. `review` alone is `review list`, unless
    `whole`. Raises BadInput."""
    named, size = rows(words[0]), 1
    while size < len(words) and " ".join(words[: size + 1]) in named:
        size += 1
    name = " ".join(words[:size])
    verb = named[name]
    option = words[size] if size < len(words) else "--"
    if verb.run is None and not whole and option[:1] == "-" and option not in ("-h", "--help"):
        verb = named.get(f"{name} list", verb)
    return verb, words[size:]


def table() -> Iterator[Verb]:
    """Return all rows of what is installed, in the order of `help`."""
    verbs: list[Verb] = []
    for word in (*HOMES, *COMMANDS):
        try:
            verbs += rows(word).values()
        except FeatureMissing:
            continue
    return iter(sorted(verbs, key=lambda verb: GROUPS.index(verb.group)))


def parser_of(verb: Verb | None = None, **settings: Any) -> Parser:
    """Make the parser of one command; without one, of the global options alone. Its help is as wide as the terminal,
    100 columns at most."""
    # argparse lays out each argument as it is added; without a width it would import shutil and its compressors: 5 ms.
    form = partial(argparse.RawDescriptionHelpFormatter, max_help_position=28, width=min(terminal_width() or 80, 100))
    name = "limpet" if verb is None else f"limpet {verb.name}"
    return filled(Parser(prog=name, formatter_class=form, allow_abbrev=False, **settings), verb)


def filled(parser: Parser, verb: Verb | None) -> Parser:
    """Give a parser the arguments of a command and the global options."""
    own = () if verb is None else verb.arguments
    for argument in own:
        add(parser, argument)
    group = parser.add_argument_group("global options, before or after the command")
    names = {usage.split()[0] for usage, _, _ in own}
    for argument in GLOBAL:
        if argument[0].split()[0] not in names:  # some have another --scope
            add(group, argument)
    return parser


# -- arguments that rows share

TIME_FORMS = 'ISO 8601, a date, or words like "3 days ago"'
_INT64 = 1 << 63

ID: Argument = ("ID", "an id, or its beginning", {})
TEXT: Argument = ("TEXT", "the text, or - to read stdin", {"words": True})
TIMES: tuple[Argument, ...] = (
    ("--as-of TIME", f"what was true then: {TIME_FORMS} (default: now)", {}),
    ("--known-at TIME", "as the store knew it then (default: now)", {}),
)
GLOBAL: tuple[Argument, ...] = (
    ("--store PATH", "the store's file (default: LIMPET_STORE, else memory.db in the platform's data folder)",
     {"default": argparse.SUPPRESS}),
    ("--scope NAME", "where writes go; reads see it and `global` (default: LIMPET_SCOPE, else project:<name> of the "
     "git checkout or folder)", {"default": argparse.SUPPRESS}),
    ("--json", "answer in JSON, errors too (on stderr)", {"default": argparse.SUPPRESS}),
)  # fmt: skip
ORIGIN: Argument = (
    "--origin ORIGIN", f"who says so: {', '.join(ORIGINS)} (default: user at a terminal, else agent)",
    {"choices": ORIGINS},
)  # fmt: skip
# Options about a statement besides its text; `statement` reads them.
STATEMENT: tuple[Argument, ...] = (
    ("--kind KIND", f"{', '.join(KINDS)} (default: fact; episode with --speaker)", {"choices": KINDS}),
    ("--topic TOPIC...", "a topic; repeat it for several", {"dest": "topics"}),
    ("--key SUBJECT.ATTRIBUTE", "the keyed fact this is a value of, such as user.city", {}),
    ("--importance NUMBER", "from 0 to 1 (default: 0.5)", {"type": float}),
    ("--pin", "exempt it from decay", {}),
    ("--valid-from TIME", f"since when it holds: {TIME_FORMS} (default: now)", {}),
    ("--valid-to TIME", "until when it holds, exclusive (default: open)", {}),
    ("--source WHERE", "where it comes from: file:line, URL", {}),
    ORIGIN,
    ("--session NAME", "the run or conversation it belongs to", {}),
    ("--speaker NAME", "who said it", {}),
    ("--because ID...", "a memory it rests on; repeat it for several", {}),
    ("--meta K=V...", "metadata; typed as bool, int, float or text; repeat it", {"dest": "metadata"}),
)


def statement(args: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of `Limpet.remember` that were given, and no others."""
    given = {}
    for usage, _, settings in STATEMENT:
        name = settings.get("dest") or usage.split()[0][2:].replace("-", "_")
        value = pairs(args.metadata) if name == "metadata" else getattr(args, name)
        if value not in (None, False, {}):
            given[name] = value
    return given


def pairs(words: list[str] | None) -> dict[str, Any]:
    """Parse each `K=V`. V is typed, but stays text under a secret's name, so that it is redacted. Raises BadInput."""
    values = {}
    for word in words or ():
        name, mark, value = word.partition("=")
        if not mark or not name:
            raise BadInput(f"not K=V: {word[:60]!r}", hint="such as --meta priority=2")
        from ..secrets import names_secret

        values[name] = value if names_secret(name) else typed(value)
    return values


def typed(text: str) -> bool | int | float | str:
    """Convert true, false, whole numbers of 64 bits and decimal numbers; all else ("007", "nan") stays text."""
    if text[:1] not in "tf-0123456789" or text != text.strip():
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if type(value) is int:
        return value if -_INT64 <= value < _INT64 else text
    return value if type(value) is bool or (type(value) is float and abs(value) < float("inf")) else text


def given_text(text: str | None) -> str:
    """Return a TEXT argument; `-` reads stdin without its last line end. Raises BadInput."""
    if text is None:
        raise BadInput("no text given", hint="give TEXT, or - to read stdin")
    if text != "-":
        return text
    if sys.stdin is None:
        raise BadInput("stdin is closed")
    raw = sys.stdin.buffer.read(MAX_CONTENT_BYTES + 3)
    if len(raw) > MAX_CONTENT_BYTES + 2:
        raise BadInput(f"stdin is too long: {MAX_CONTENT_BYTES:,} bytes at most", hint="store it in parts, or its gist")
    return decode(raw, "stdin").removesuffix("\n").removesuffix("\r")


def decode(raw: bytes, what: str) -> str:
    """Decode strict UTF-8 and remove a byte order mark. Raises BadInput."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{what} is not valid UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start}",
            hint="convert it first, such as with `iconv -t UTF-8`",
        ) from None


def open_store(args: argparse.Namespace, *, create: bool = False, or_empty: bool = False) -> Limpet:
    """Open the store that the options name, as a context manager.

    If there is none, `create` begins it with the first write; a --dry-run of that, and `or_empty`, get an empty one in
    memory. Raises StoreMissing, other StoreErrors, BadInput.
    """
    from ..api import Limpet

    return _opened(Limpet, args, create=create, or_empty=or_empty)


def open_every_day(args: argparse.Namespace, *, create: bool = False) -> EveryDay:
    """Open the store for a command that needs only the verbs of every day, which load sooner."""
    from ..every_day import EveryDay

    return _opened(EveryDay, args, create=create)


def leave_worker(memory: EveryDay, texts: int = 0) -> None:
    """Start what works the queue when the command has ended, where no server does. `texts`: the command stored so
    many."""
    from ..settings import wants_worker

    if wants_worker():
        from ..work.later import MOST, leave

        leave(memory._context, max(MOST, texts))


def how_to_join(memory: EveryDay, settings: Settings, *, fresh: bool = False) -> str:
    """Return how this folder may share the scope of another one with its remote, or have the one that its `.limpet`
    asks for; "" where there is none. `fresh`: only before the first write here."""
    known, here = memory._context.store.checkouts, settings.checkout
    if here and here.wish and known.may_ask(here, fresh=fresh):
        shared = f" and what a team shares in {here.wish.shared}" if here.wish.shared else ""
        return f"its .limpet asks for the scope {here.wish.scope}{shared}, which `limpet scope allow` gives this folder"
    scope = known.namesake(here, fresh=fresh)
    if scope is None:
        return ""
    how = f"`limpet scope merge {memory.scope} {scope}`"
    return f"the remote of this folder is that of {scope}, whose memories it does not see; {how} lets it share them"


def _opened(kind: type[Opened], args: argparse.Namespace, *, create: bool, or_empty: bool = False) -> Opened:
    from ..settings import read_settings

    or_empty = or_empty or (create and bool(vars(args).get("dry_run")))
    create = create and not or_empty
    settings = read_settings(args.store, args.scope, None)
    if not create and os.path.isdir(settings.path):  # noqa: PTH112  what a team shares, read without a store
        memory = kind(read_settings(":memory:", args.scope, None))
        call("open_folder", memory._context, settings.path)
        return memory
    try:
        if create and os.path.isfile(settings.path) and not os.path.getsize(settings.path):  # noqa: PTH113, PTH202
            print(f"{settings.path} was empty (0 bytes): a new store begins there", file=sys.stderr)
        memory = kind(settings, create=create, late=create)
        if settings.checkout is not None and is_at_terminal() and (note := how_to_join(memory, settings, fresh=True)):
            print(note, file=sys.stderr)
        return memory
    except StoreMissing:
        if not or_empty:
            raise
        return kind(read_settings(":memory:", args.scope, None))
