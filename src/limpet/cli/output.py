"""What commands share to print results: JSON lines, lists of memories, tables, progress. stdout is data, stderr words.

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
from ..model.errors import AmbiguousId, LimpetError
from ..model.memory import REACHED, valued
from .verbs import terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from typing import Any, TextIO

    from ..api import Limpet
    from ..features.transfer.records import TransferReport
    from ..history.view import Node
    from ..model.encode import JsonForm
    from ..model.memory import Memory
    from ..rank.interval import Interval
    from ..recall.answer import Item
    from ..recall.explain import LeftOut

encode = json.JSONEncoder(ensure_ascii=False).encode

# Escape sequences whole (CSI; OSC, DCS and the like up to their end), then every control but tab and newline, then
# what reorders a line (bidirectional overrides) or breaks it (U+2028, U+2029). Compiled only when it is needed.
_UNPRINTABLE = (
    "\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]"
)
# Rejected lines of an import that people get to see one by one; --json has all.
SHOWN_REJECTIONS = 20
# Characters of one memory in a list that goes into a pipe; on a terminal it is a line.
CHARACTERS_PER_LINE = 1_000
MARGIN = "   "
# Memories that one text names, as an error lists them.
CANDIDATES = 12

DIM, BOLD, RED, GREEN, YELLOW, CYAN = "2", "1", "31", "32", "33", "36"


def printable(text: str) -> str:
    """Text for people: no escape sequences, no control characters but tab and newline."""
    return text if text.isprintable() else re.sub(_UNPRINTABLE, "", text)


def paint(text: str, code: str) -> str:
    """In colour when stdout is a terminal that wants it (NO_COLOR, TERM=dumb)."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{code}m{text}\x1b[0m"


def line(text: str) -> None:
    """One line of data."""
    print(text)


def result(value: Any) -> None:
    """A result as JSON: one object, or one a line of what is a list."""
    from ..model.encode import plain

    for one in value if type(value) in (list, tuple) else [value]:
        print(encode(plain(one)))


def words(text: str) -> None:
    """A line for people on stderr, if anybody takes it: what was done is done."""
    sys.stdout.flush()
    try:
        print(printable(text), file=sys.stderr, flush=True)
    except OSError:
        leave(sys.stderr)


def leave(stream: TextIO) -> None:
    """Nobody reads it any more: what is still buffered, and what follows, goes nowhere, quietly."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def short_ids(text: str, typed: Sequence[str] = ()) -> str:
    """A text with the ids in it shortened, except those that a person typed."""
    if "-7" not in text and "-8" not in text and "-4" not in text:
        return text
    from ..model.ids import shorten_ids

    return shorten_ids(text, typed)


def error(problem: LimpetError, *, as_json: bool, typed: Sequence[str] = ()) -> None:
    """Message and hint on stderr. `typed`: the words of the command line."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    if as_json:
        words(encode(problem.as_dict()))
        return
    if isinstance(problem, AmbiguousId):
        words(f"limpet: {problem.said!r} names several memories")
        width = max(len(id) for id, _ in problem.texts)
        for id, text in problem.texts[:CANDIDATES]:
            words(cut(f"{MARGIN}{id:<{width}}  {text}", terminal_width() or CHARACTERS_PER_LINE))
        if len(problem.texts) > CANDIDATES:
            words(f"{MARGIN}and {len(problem.texts) - CANDIDATES} more")
    else:
        words(short_ids(f"limpet: {problem.message}", typed))
    if problem.hint:
        words(f"  hint: {problem.hint}")


# -- imports


def imported(memory: Limpet, args: Namespace, report: JsonForm, show: Callable[[], object], *, bad: bool) -> int:
    """Say what was imported, make its vectors; the exit code. `show`: says it in words. `bad`: not all was taken."""
    if not args.json:
        show()
    more = embedded(memory, args)
    if args.json:
        result(report.as_dict() | more)
    return 2 if bad else 0


def embedded(memory: Limpet, args: Namespace) -> dict[str, int]:
    """Make the vectors that wait, with a bar; {"embedded", "waiting"}, texts. What is stored stands whatever happens
    here: interrupted or without an embedder, how many still wait is said and no error.
    """
    if vars(args).get("dry_run") or memory.read_only:
        return {"embedded": 0, "waiting": 0}
    before, why = memory.stats().waiting_jobs, ""
    if before and not args.no_vectors:
        try:
            with progress("embedding") as tell:
                memory.work(only_vectors=True, progress=tell)
        except KeyboardInterrupt:
            why = " (interrupted)"
        except LimpetError as problem:
            why = f" ({problem.message})"
    waiting = memory.stats().waiting_jobs if before else 0
    if waiting:
        told = "1 text waits for its vector" if waiting == 1 else f"{waiting:,} texts wait for their vectors"
        words(f"{told}{why}: `limpet work` makes them; words find them already")
    return {"embedded": max(0, before - waiting), "waiting": waiting}


def notes(report: TransferReport) -> None:
    """What was kept in another way, and what was not understood, on stderr."""
    for what, count in sorted(report.notes.items()):
        words(f"{count:,} x {what}")
    rejected(report.rejected, report.more_rejected)


def rejected(lines: Sequence[tuple[str, str]], more: int) -> None:
    """What an import could not read, the first few one by one, on stderr."""
    for place, reason in lines[:SHOWN_REJECTIONS]:
        words(f"{place}: {reason}")
    if (count := len(lines) - SHOWN_REJECTIONS + more) > 0:
        words(f"... and {count:,} more; --json lists all")


# -- memories


def in_a_line(one: Memory | Node | Item | LeftOut) -> str:
    """Its text in one line; a value behind its key."""
    return flat(valued(one.key, one.content))


def flat(text: str) -> str:
    """A text in one line, printable."""
    return " ".join(printable(text).split())


def percent(rate: Interval) -> str:
    return f"{rate.value * 100:.0f} % (95 %: {rate.low * 100:.0f} to {rate.high * 100:.0f} %)"


def points(lift: Interval) -> str:
    return f"{lift.value * 100:+.0f} points (95 %: {lift.low * 100:+.0f} to {lift.high * 100:+.0f})"


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(found: Sequence[Memory], memory: Limpet, *, scopes: bool = False) -> None:
    """Print one memory a line: id, kind, day, state if it is not active, its scope with `scopes`, text, topics."""
    names = memory.abbreviate([one.id for one in found])
    size = max(map(len, names), default=0)
    for one, name in zip(found, names, strict=True):
        text = in_a_line(one) + "".join("  #" + printable(topic) for topic in one.topics)
        if state := state_of(one):
            text = f"[{state}] {text}"
        if scopes:
            text = f"{one.scope}: {text}"
        entry(f"{name:<{size}}", f"{one.kind:<10}  {day(one.valid_from)}", text)


def entry(short: str, what: str, text: str, before: str = "") -> None:
    """Print a line of a list: `before`, short id, what it is, text cut to the width of a terminal."""
    width = terminal_width() if sys.stdout.isatty() else None
    most = max(11, width - len(before) - len(short) - len(what) - 4) if width else CHARACTERS_PER_LINE
    line(f"{before}{paint(short, YELLOW)}  {paint(what, CYAN)}  {cut(text, most)}")


def detail(name: str, value: str) -> None:
    """Print a line under an entry: a name and what it is; nothing for ""."""
    if value:
        line(f"{MARGIN}{paint(f'{name:<12}', DIM)} " + printable(value).replace("\n", f"\n{MARGIN}{'':<13}"))


def state_of(one: Memory) -> str:
    """How it stands, if it is not held now."""
    if one.state != "active":
        return one.state
    if one.reason == REACHED:
        return REACHED
    now = time.time() * 1e6
    return "future" if one.valid_from_us > now else "ended" if (one.valid_to_us or now + 1) <= now else ""


def day(at: int | datetime | None) -> str:
    """The date of a time, UTC."""
    return (format_time(at) or "")[:10]


def moment(at: int | datetime | None) -> str:
    """A time to the second, UTC, for a person to read; JSON has it in full."""
    return (format_time(at) or "")[:19].replace("T", " ")


def wrapped(text: str) -> list[str]:
    """Lines with a margin, wrapped to the terminal's (or COLUMNS') width; not wrapped for a pipe. None for ""."""
    width = terminal_width()
    found: list[str] = []
    for one in printable(text).expandtabs(4).split("\n") if text else ():
        if width is None or len(one) + len(MARGIN) <= width:
            found.append((MARGIN + one).rstrip())
            continue
        import textwrap

        found += textwrap.wrap(
            one, width, initial_indent=MARGIN, subsequent_indent=MARGIN, break_on_hyphens=False
        ) or [""]  # fmt: skip
    return found


# -- tables and progress


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], none: str = "") -> None:
    """Rows of text in columns, under headings on a terminal; what is too long for it goes on below. `none`: in words,
    where there are no rows."""
    if not rows and none:
        words(none)
        return
    rows = [[printable(cell).replace("\n", " ") for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    last = len(columns) - 1
    before = sum(widths[:last]) + 2 * last
    width = terminal_width() if sys.stdout.isatty() else None
    for row in [columns, *rows] if sys.stdout.isatty() else rows:
        start = "".join(f"{cell:<{size}}  " for cell, size in zip(row[:last], widths, strict=False))
        if width is None or before + len(row[last]) <= width or before + 20 > width:
            line(start + row[last] if row[last] else start.rstrip())
            continue
        import textwrap

        first, *more = textwrap.wrap(row[last], width - before, break_on_hyphens=False)
        line(start + first)
        for text in more:
            line(" " * before + text)


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Progress on stderr while the block runs; yields its callback (done, total), None when nobody watches."""
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


def confirmed(question: str) -> bool:
    """Ask the person at the terminal."""
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
