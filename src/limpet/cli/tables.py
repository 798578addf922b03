"""Print lists of memories, tables, and the details below an entry."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from ..model.encode import plain
from ..model.ids import shorten_ids
from ..model.memory import REACHED, is_unconfirmed, least_trusted
from . import output
from .output import CYAN, DIM, MARGIN, YELLOW, cut, day, flat, in_a_line, line, paint, printable, words
from .verbs import terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..every_day import EveryDay
    from ..model.memory import Memory
    from ..recall.answer import Item


def listed(memories: Sequence[Memory], memory: EveryDay, *, scopes: bool = False) -> None:
    """Print one memory a line: id, kind, day, state if it is not active, its scope with `scopes`, text, topics."""
    names = memory.abbreviate([each.id for each in memories])
    size = max(map(len, names), default=0)
    for each, name in zip(memories, names, strict=True):
        listed_item(each, f"{name:<{size}}", state_of(each), scopes=scopes)


def listed_item(memory: Memory | Item, name: str, state: str = "", *, scopes: bool = False) -> None:
    """Print a memory on a line. `name`: its short id; `state`: where it is not active."""
    text = in_a_line(memory) + "".join("  #" + printable(topic) for topic in memory.topics)
    if marks := ", ".join(filter(None, (state, unconfirmed(memory)))):
        text = f"[{marks}] {text}"
    if scopes:
        text = f"{memory.scope}: {text}"
    entry(name, f"{memory.kind:<10}  {day(memory.valid_from)}", text)


def state_of(memory: Memory) -> str:
    """Name the standing of a memory that is not held now."""
    if memory.state != "active":
        return memory.state
    if memory.reason == REACHED:
        return REACHED
    now = time.time() * 1e6
    return "future" if memory.valid_from_us > now else "ended" if (memory.valid_to_us or now + 1) <= now else ""


def unconfirmed(memory: Memory | Item) -> str:
    """Return "web, unconfirmed" for what came from outside and nobody confirmed; "" for the rest."""
    origin, trust = memory.origin, memory.trust
    return f"{least_trusted([origin, trust])}, unconfirmed" if is_unconfirmed(origin, trust) else ""


def entry(short: str, what: str, text: str, before: str = "") -> None:
    """Print a line of a list: `before`, short id, kind, text cut to the width of a terminal."""
    width = terminal_width() if sys.stdout.isatty() else None
    most = max(11, width - len(before) - len(short) - len(what) - 4) if width else output.CHARACTERS_PER_LINE
    line(f"{before}{paint(short, YELLOW)}  {paint(what, CYAN)}  {cut(text, most)}".rstrip())


def who(origin: str) -> str:
    """Return an origin as people read it: what the user said is theirs."""
    return "you" if origin == "user" else origin


def detail(name: str, value: str) -> None:
    """Print a line under an entry: a name and its value; nothing for ""."""
    if value:
        line(f"{MARGIN}{paint(f'{name:<12}', DIM)} " + printable(value).replace("\n", f"\n{MARGIN}{'':<13}"))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], none: str = "") -> None:
    """Print rows in columns, under headings on a terminal; what does not fit goes on below. `none`: the words for no
    rows."""
    if not rows and none:
        words(none)
        return
    rows = [[printable(cell).replace("\n", " ") for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    before = sum(widths[:-1]) + 2 * len(widths) - 2
    width = terminal_width() if sys.stdout.isatty() else None
    for row in [columns, *rows] if sys.stdout.isatty() else rows:
        start = "".join(f"{cell:<{size}}  " for cell, size in zip(row[:-1], widths, strict=False))
        parts = [row[-1]]
        if width is not None and before + len(row[-1]) > width >= before + 20:
            import textwrap

            parts = textwrap.wrap(row[-1], width - before, break_on_hyphens=False)
        for number, part in enumerate(parts):
            line(((" " * before if number else start) + part).rstrip())


def rows(answer: Sequence[Any], none: str = "nothing found") -> None:
    """Print a list of objects by their JSON form, one a row, a column for each field."""

    def cell(name: str, value: Any) -> str:
        if value is None or isinstance(value, bool):
            return {True: "yes", False: "no", None: "-"}[value]
        text = f"{value:,}" if isinstance(value, int) else flat(str(value))
        return text[:19].replace("T", " ") if name == "at" or name.endswith("_at") else shorten_ids(text)

    shown: list[dict[str, Any]] = plain(list(answer))
    cells = [[cell(name, value) for name, value in row.items()] for row in shown]
    table([name.replace("_", " ") for name in shown[0]] if shown else [], cells, none)
