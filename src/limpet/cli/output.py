"""Print results, one way each: JSON lines, receipts, progress; tables.py prints lists. stdout is data, stderr words.

Text of memories comes from anywhere; `printable` takes out what a terminal would obey.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from contextlib import contextmanager, suppress

from ..model.clock import format_time
from ..model.encode import plain
from ..model.errors import AmbiguousId, LimpetError
from ..model.ids import parse_id, short_id, shorten_ids
from ..model.memory import GLOBAL_SCOPE, valued
from .verbs import leave_worker, terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from typing import Any, TextIO

    from ..api import Limpet
    from ..every_day import EveryDay
    from ..history.view import Node
    from ..model.memory import Memory
    from ..recall.answer import Item
    from ..recall.explain import LeftOut
    from ..remember.write import Receipt

encode = json.JSONEncoder(ensure_ascii=False).encode

# Escape sequences whole (CSI; OSC, DCS and the like up to their end), then every control but tab and newline, then
# what reorders a line (bidirectional overrides) or breaks it (U+2028, U+2029). Compiled only when it is needed.
_UNPRINTABLE = (
    "\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]"
)
# Characters of one memory in a list that goes into a pipe; on a terminal it is a line.
CHARACTERS_PER_LINE = 1_000
# Characters of a text that a receipt quotes where no terminal says how wide it is.
QUOTED = 80
STILL_READ = "a process still reads the state from before: when it has ended, `limpet work` clears the log of it"
MARGIN = "   "
# Memories that an ambiguous text names, as its error lists them.
CANDIDATES = 12

DIM, BOLD, RED, GREEN, YELLOW, CYAN = "2", "1", "31", "32", "33", "36"


# -- text


def printable(text: str) -> str:
    """Remove escape sequences and control characters, except tab and newline."""
    return text if text.isprintable() else re.sub(_UNPRINTABLE, "", text)


def flat(text: str) -> str:
    """Return a text in one line, printable."""
    return " ".join(printable(text).split())


def in_a_line(memory: Memory | Node | Item | LeftOut) -> str:
    """Return a memory's text in one line; a value behind its key."""
    return flat(valued(memory.key, memory.content))


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def quoted(text: str, taken: int) -> str:
    """Return the first words of a text, as much as fits beside `taken` characters."""
    return cut(flat(text), max(20, (terminal_width() or QUOTED + taken) - taken))


def paint(text: str, code: str) -> str:
    """Colour a text when stdout is a terminal that wants it (NO_COLOR, TERM=dumb)."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{code}m{text}\x1b[0m"


def short(id: str) -> str:
    """Return the short id of a memory or an operation."""
    return short_id(parse_id(id))


def day(at: int | datetime | None) -> str:
    """Return the date of a time, UTC."""
    return (format_time(at) or "")[:10]


def moment(at: int | datetime | None) -> str:
    """Format a time to the second, UTC, for a person; JSON has it in full."""
    return (format_time(at) or "")[:19].replace("T", " ")


def wrapped(text: str) -> list[str]:
    """Wrap a text to the terminal's (or COLUMNS') width, with a margin; for a pipe only indent it. [] for ""."""
    width = terminal_width()
    lines: list[str] = []
    for part in printable(text).expandtabs(4).split("\n") if text else ():
        if width is None or len(part) + len(MARGIN) <= width:
            lines.append((MARGIN + part).rstrip())
            continue
        import textwrap

        folded = textwrap.wrap(part, width - len(MARGIN), break_on_hyphens=False)
        lines += [MARGIN + text for text in folded] or [""]
    return lines


# -- lines


def line(text: str) -> None:
    """Print a line of data."""
    print(text)


def result(value: Any) -> None:
    """Print a result as JSON: one object, or one a line of what is a list."""
    for part in value if type(value) in (list, tuple) else [value]:
        print(encode(plain(part)))


def words(text: str) -> None:
    """Print a line for people on stderr. A closed stderr is no error: the command is done."""
    sys.stdout.flush()
    try:
        print(printable(text), file=sys.stderr, flush=True)
    except OSError:
        leave(sys.stderr)


def agrees(question: str) -> bool:
    """Ask a person on stderr. What is not answered is a no."""
    sys.stdout.flush()
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    given = sys.stdin.readline() if sys.stdin else ""
    return given.strip().lower() in ("y", "yes")


def leave(stream: TextIO) -> None:
    """Discard what a stream holds and what is written to it later: nobody reads it any more."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def error(problem: LimpetError, *, as_json: bool, typed: Sequence[str] = ()) -> None:
    """Print message and hint on stderr. `typed`: the words of the command line."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    if as_json:
        words(encode(problem.as_dict()))
        return
    if isinstance(problem, AmbiguousId):
        words(f"limpet: {problem.typed!r} names several memories")
        for id, text in problem.texts[:CANDIDATES]:
            words(cut(f"{MARGIN}{id}  {text}", terminal_width() or CHARACTERS_PER_LINE))
        if len(problem.texts) > CANDIDATES:
            words(f"{MARGIN}and {len(problem.texts) - CANDIDATES} more")
    else:
        words(shorten_ids(f"limpet: {problem.message}", typed))
    if problem.hint:
        words(f"  hint: {problem.hint}")


# -- receipts


def receipt(done: Receipt | list[Receipt], memory: EveryDay, args: Namespace) -> None:
    """Print the receipts of a write, with the text as it was typed."""
    receipts, given = done if isinstance(done, list) else [done], vars(args)
    typed = next(
        (text for name in ("text", "value", "summary", "name") if (text := given.get(name)) and text != "-"), ""
    )
    for each in receipts:
        # A text with a secret in it is not printed again.
        text = valued(given.get("key"), typed) if typed and not each.redacted else ""
        reason = printable(shorten_ids(each.reason)) if each.reason else ""
        if each.status == "rejected":
            words(f"limpet: rejected: {reason}")
        else:
            name = short(each.id) if each.id else ""
            head = f"{paint(each.status, GREEN)} {paint(name, YELLOW)}".rstrip()
            if each.status == "created":
                if old := given.get("replaced"):
                    head = f"{paint(name, YELLOW)} {paint('replaces', GREEN)} {old}"
                elif memory.scope != GLOBAL_SCOPE and sys.stdout.isatty():
                    head += f" in {memory.scope}"
            shown = quoted(text or reason, len(printable(head)) + 2)
            line("  ".join(filter(None, (head, shown))))
            if each.added:
                line(f"{MARGIN}added: {', '.join(each.added)}")
            if text and reason:
                line(MARGIN + reason)
        if each.redacted:
            words(f"redacted before storing: {', '.join(each.redacted)}")
    if (event := receipts[-1].event) and sys.stderr.isatty():
        back = f"`limpet undo` takes it back; later, `limpet undo {short(event)}`"
        words(back if given.get("redo", True) else "`limpet undo --redo` does it again")


# -- vectors


def embedded(memory: Limpet, args: Namespace) -> dict[str, int]:
    """Make the vectors that wait, with a bar; return {"embedded", "waiting"}, counts of texts.

    The memories stay stored whatever happens here: interrupted or without an embedder, it only prints how many wait.
    """
    if vars(args).get("dry_run") or memory.read_only:
        return {"embedded": 0, "waiting": 0}
    before, why = memory.stats().waiting_jobs, ""
    if before:
        try:
            with progress("embedding") as tell:
                memory.work(only_vectors=True, progress=tell)
        except KeyboardInterrupt:
            why = " (interrupted)"
        except LimpetError as problem:
            why = f" ({problem.message})"
    waiting = memory.stats().waiting_jobs if before else 0
    if waiting:
        texts = "1 text waits for its vector" if waiting == 1 else f"{waiting:,} texts wait for their vectors"
        words(f"{texts}{why}: `limpet work` makes them; words find them already")
    leave_worker(memory)
    return {"embedded": max(0, before - waiting), "waiting": waiting}


# -- progress


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show progress on stderr while the block runs; yield its callback (done, total), None when nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    shown = 0.0

    def tell(done: int, total: int) -> None:
        nonlocal shown
        if time.monotonic() - shown > 0.1:
            shown = time.monotonic()
            sys.stderr.write(f"\r\x1b[K{label} {done:,} of {total:,}")
            sys.stderr.flush()

    try:
        yield tell
    finally:
        sys.stderr.write("\r\x1b[K" * bool(shown))
        sys.stderr.flush()
