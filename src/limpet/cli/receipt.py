"""What a write did, in words, made from its receipt: what became of which memory, why, and how to take it back."""

from __future__ import annotations

import os

from ..folders import beside
from ..model.ids import parse_id, short_id
from ..model.memory import valued
from .output import GREEN, MARGIN, YELLOW, cut, flat, line, paint, printable, short_ids, words
from .verbs import terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Collection
    from typing import Any

    from ..api import Limpet
    from ..remember.write import Receipt

# Characters of a text that a receipt quotes where no terminal says how wide it is.
QUOTED = 80


def receipt(done: Receipt | list[Receipt], memory: Limpet, args: Namespace) -> None:
    """Print what a write did, or several; the text that was stored is the one that was typed."""
    several, given = done if isinstance(done, list) else [done], vars(args)
    text = next((text for name in ("text", "value", "summary") if (text := given.get(name)) and text != "-"), "")
    for one in several:
        # A text with a secret in it is not said again.
        _receipt(one, valued(given.get("key"), text) if text and not one.redacted else "")
    if event := several[-1].event:
        undone = not given.get("redo", True)
        back = f"`limpet undo` takes it back; later, `limpet undo {short(event)}`"
        words("`limpet undo --redo` does it again" if undone else back)


def _receipt(done: Receipt, text: str) -> None:
    if done.status == "rejected":
        words(f"limpet: rejected: {short_ids(done.reason or '')}")
    else:
        name = short(done.id) if done.id else ""
        reason = printable(short_ids(done.reason or ""))
        shown = quoted(text or reason, len(f"{done.status} {name}  "))
        line(f"{paint(done.status, GREEN)} {paint(name, YELLOW)}  {shown}".rstrip())
        if done.added:
            line(f"{MARGIN}added: {', '.join(done.added)}")
        if text and reason:
            line(MARGIN + reason)
    if done.redacted:
        words(f"redacted before storing: {', '.join(done.redacted)}")


def code(done: Receipt) -> int:
    """The exit code of a write."""
    return 2 if done.status == "rejected" else 0


def just_read(memory: Limpet, given: dict[str, Any], text: Any) -> str:
    """Give a statement that an agent has just read from outside that origin, unless the user states it. Returns why."""
    if given.get("origin") == "user" or not isinstance(text, str):
        return ""
    # Most often nothing was: then nothing is imported either.
    if not os.path.isfile(f"{beside(memory.path)}.foreign"):  # noqa: PTH113
        return ""
    from ..agents.foreign_reads import taint

    return taint(memory.path, given, text)


def quoted(text: str, taken: int) -> str:
    """The first words of a text, as much as fits beside `taken` characters."""
    return cut(flat(text), max(20, (terminal_width() or QUOTED + taken) - taken))


def undone_by(operation: str | None, scopes: Collection[str] = ()) -> None:
    """How to take back what one run stored. `scopes`: those that only an undo in them reaches."""
    if operation is None:
        return
    for scope in sorted(scopes):
        words(f"`limpet undo {short(operation)} --scope {scope}` takes back what went there")
    if not scopes:
        words(f"`limpet undo` takes it all back; later, `limpet undo {short(operation)}`")


def short(id: str) -> str:
    """The short id of a memory or an operation."""
    return short_id(parse_id(id), ())
