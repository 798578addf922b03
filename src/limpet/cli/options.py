"""What commands share to read their arguments: the parser class, options, values, text from stdin, opening the
store."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from ..model.dataclass import dataclass
from ..model.errors import BadInput, StoreMissing
from ..model.memory import KINDS, MAX_CONTENT_BYTES, ORIGINS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..api import Limpet

# Messages are English, and `Parser.error` reads them: a look for translations imports `locale` and searches folders.
argparse._ = str  # type: ignore[attr-defined]

TIME_FORMS = 'ISO 8601, a date, or words like "3 days ago"'
_INT64 = 1 << 63
# Characters of a message, which may repeat what was typed.
MOST_SAID = 300
# How help names an argument that is an id.
ID_HELP = "an id, or its beginning"


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it adds to a parser, what it does with the arguments (returns the exit code), an example."""

    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    example: str
    # Puts words in an order that argparse understands, where a command's words look like options.
    arrange: Callable[[list[str]], list[str]] = list


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal, 100 at most. (argparse's own default imports shutil and its compressors: 5 ms.)"""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=min(terminal_width() or 80, 100))


class Parser(argparse.ArgumentParser):
    """A parser whose errors are BadInput, so that they are shown like every other error."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{"formatter_class": Formatter, "allow_abbrev": False, **given})

    def error(self, message: str) -> NoReturn:
        shown = message if len(message) <= MOST_SAID else f"{message[:MOST_SAID]}…"
        raise BadInput(shown, hint=f"see `{self.prog} --help`")


def terminal_width() -> int | None:
    """Columns from COLUMNS, else of the terminal on stdout; None when stdout is none."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and int(given) >= 20:
        return int(given)
    try:
        return os.get_terminal_size(1).columns or None
    except (OSError, ValueError):
        return None


def global_options(parser: argparse.ArgumentParser) -> None:
    """--store, --scope, --json: before the command or after it."""
    group = parser.add_argument_group("global options, before or after the command")
    group.add_argument(
        "--store", metavar="PATH", default=argparse.SUPPRESS,
        help="the store's file (default: LIMPET_STORE, else memory.db in the platform's data folder)",
    )  # fmt: skip
    if not any("--scope" in one.option_strings for one in parser._actions):  # some take several
        group.add_argument(
            "--scope", metavar="NAME", default=argparse.SUPPRESS,
            help="where writes go; reads see it and `global` (default: LIMPET_SCOPE, else project:<name> in a git "
            "checkout, else global)",
        )  # fmt: skip
    group.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="answer in JSON, errors too (on stderr)"
    )


def no_options(_: argparse.ArgumentParser) -> None:
    """Add nothing: the command has the global options alone."""


def id_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=ID_HELP)


def text_argument(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    parser.add_argument("text", metavar="TEXT", nargs="?" if optional else None, help="the text, or - to read stdin")


def statement_options(parser: argparse.ArgumentParser) -> None:
    """What can be said about a statement besides its text; `statement` reads them."""
    add = parser.add_argument
    add("--kind", choices=KINDS, metavar="KIND", help=f"{', '.join(KINDS)} (default: fact; episode with --speaker)")
    add("--topic", action="append", metavar="TOPIC", help="a topic; repeat it for several")
    add("--key", metavar="SUBJECT.ATTRIBUTE", help="the keyed fact this is a value of, such as user.city")
    add("--importance", type=float, metavar="NUMBER", help="from 0 to 1 (default: 0.5)")
    add("--pin", action="store_true", help="exempt it from decay")
    add("--valid-from", metavar="TIME", help=f"since when it holds: {TIME_FORMS} (default: now)")
    add("--valid-to", metavar="TIME", help="until when it holds, exclusive (default: open)")
    add("--source", metavar="WHERE", help="where it comes from: file:line, URL")
    add("--origin", choices=ORIGINS, metavar="ORIGIN", help=f"who says so: {', '.join(ORIGINS)} (default: agent)")
    add("--session", metavar="NAME", help="the run or conversation it belongs to")
    add("--speaker", metavar="NAME", help="who said it")
    add(
        "--anyway",
        action="store_true",
        help="keep it as stated although a rule speaks against it; for a person (--origin user)",
    )
    add("--because", action="append", metavar="ID", help="a memory it rests on; repeat it for several")
    add("--meta", action="append", metavar="K=V", help="metadata; typed as bool, int, float or text; repeat it")
    add("--confidence", type=float, metavar="NUMBER", help="stated confidence, from 0 to 1 (default: computed)")


def statement(args: argparse.Namespace) -> dict[str, Any]:
    """The keyword arguments of `Limpet.remember` that were given, and no others."""
    named = ("kind", "key", "importance", "pin", "valid_from", "valid_to", "source", "origin", "session", "speaker")
    found: dict[str, Any] = {
        name: value for name in (*named, "confidence") if (value := getattr(args, name)) not in (None, False)
    }
    if args.anyway:
        found["anyway"] = True
    if args.topic:
        found["topics"] = args.topic
    if args.because:
        found["because"] = args.because
    if args.meta:
        found["metadata"] = dict(pair(word) for word in args.meta)
    return found


def filter_options(parser: argparse.ArgumentParser, *, states: bool = False) -> None:
    """Which memories to look at; `filters` reads them. `states`: offer --all."""
    add = parser.add_argument
    add("--kind", action="append", choices=KINDS, metavar="KIND", help=f"only this kind; repeat it: {', '.join(KINDS)}")
    add("--topic", action="append", metavar="TOPIC", help="only with this topic; repeated: with all of them")
    add("--since", metavar="TIME", help=f"only what began to hold then or later: {TIME_FORMS}")
    add("--until", metavar="TIME", help="only what began to hold before then")
    add(
        "--clock", choices=("valid", "stored"), default="valid", metavar="CLOCK",
        help="what --since and --until are about: valid, when it began to hold; stored, when it was stored "
        "(default: valid)",
    )  # fmt: skip
    add("--session", metavar="NAME", help="only of this session")
    add(
        "--meta",
        action="append",
        metavar="K=V",
        help="only with this value in its metadata; repeated: with all of them",
    )
    add("--all-scopes", action="store_true", help="of every scope, not of this one and `global` alone")
    if states:
        add("--all", action="store_true", help="also what is archived, retracted, purged or no longer true")


def filters(args: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": args.kind or (), "topics": args.topic or (),
        "since": args.since, "until": args.until, "session": args.session,
    }  # fmt: skip
    if args.clock != "valid":
        found["clock"] = args.clock
    if args.meta:
        found["metadata"] = dict(pair(word) for word in args.meta)
    if "all" in args:
        found["all_states"] = args.all
    return found


def pair(word: str) -> tuple[str, Any]:
    """`K=V` -> (K, typed V); under the name of a secret V stays text, so that it is redacted. Raises BadInput."""
    name, mark, value = word.partition("=")
    if not mark or not name:
        raise BadInput(f"not K=V: {word[:60]!r}", hint="such as --meta priority=2")
    from ..text.secrets import names_secret

    return name, value if names_secret(name) else typed(value)


def typed(text: str) -> bool | int | float | str:
    """true and false, whole numbers of 64 bits, decimal numbers; everything else ("007", "nan") stays text."""
    if text in ("true", "false"):
        return text == "true"
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits[:1].isdigit() or (digits[0] == "0" and digits[1:2].isdigit()):
        return text
    if digits.isdigit():
        return int(text) if len(digits) < 20 and -_INT64 <= int(text) < _INT64 else text
    try:
        value = float(text) if "_" not in text else None
    except ValueError:
        return text
    return text if value is None or value in (float("inf"), float("-inf")) else value


def given_text(text: str | None) -> str:
    """A TEXT argument; `-` is stdin without its last line end. Raises BadInput."""
    if text is None:
        piped = sys.stdin is not None and not sys.stdin.isatty()
        raise BadInput("no text given", hint="- reads it from stdin" if piped else "give TEXT, or - to read stdin")
    if text != "-":
        return text
    if sys.stdin is None:
        raise BadInput("stdin is closed")
    if sys.stdin.isatty():
        print("reading the text from the terminal; end it with Ctrl-D", file=sys.stderr)
    raw = sys.stdin.buffer.read(MAX_CONTENT_BYTES + 3)
    if len(raw) > MAX_CONTENT_BYTES + 2:
        raise BadInput(f"stdin is too long: {MAX_CONTENT_BYTES:,} bytes at most", hint="store it in parts, or its gist")
    return decode(raw, "stdin").removesuffix("\n").removesuffix("\r")


def decode(raw: bytes, what: str) -> str:
    """Strict UTF-8, a byte order mark removed. Raises BadInput."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{what} is not valid UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start}",
            hint="convert it first, such as with `iconv -t UTF-8`",
        ) from None


def vectors_option(parser: argparse.ArgumentParser) -> None:
    """--no-vectors; `output.embedded` reads it."""
    parser.add_argument(
        "--no-vectors", action="store_true",
        help="end before the vectors of what came are made: they wait for a recall with time, a server, `limpet work`",
    )  # fmt: skip


def open_store(args: argparse.Namespace, *, create: bool = False, or_empty: bool = False) -> Limpet:
    """The store that the options name, as a context manager.

    Where none is: `create` begins it with the first write; a --dry-run of that, and `or_empty`, get an empty one in
    memory.
    Raises StoreMissing, other StoreErrors, BadInput.
    """
    import limpet

    from ..settings import read_settings

    or_empty = or_empty or (create and bool(vars(args).get("dry_run")))
    create = create and not or_empty
    try:
        if create:
            say_if_empty(args)
        return limpet.Limpet(read_settings(args.store, args.scope, None), create=create, late=create)
    except StoreMissing:
        if not or_empty:
            raise
        return limpet.open(":memory:", scope=args.scope)


def say_if_empty(args: argparse.Namespace) -> None:
    """That a store begins in a file of no bytes, which may have been one."""
    from ..settings import read_settings

    path = read_settings(args.store, "global", None).path
    if os.path.isfile(path) and not os.path.getsize(path):  # noqa: PTH113, PTH202
        print(f"{path} was empty (0 bytes): a new store begins there", file=sys.stderr)
