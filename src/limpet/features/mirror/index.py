"""MEMORY.md: one line a file, the most useful first, never longer than its cap; the rest goes to a second file. Pure.

Lines that a person or an agent wrote stay as they are and where they are, unless the cap pushes them to that file.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import unquote

from ...text.excerpt import one_line
from ..transfer.markdown import ENTRY
from ..transfer.records import digest
from .folder import MORE

# Characters of a line that limpet writes: about 70 of them fill the default cap.
LINE_CHARACTERS = 140
_NEW = "# Memory\n\n"
_NEW_MORE = "# More memory\n\nFiles that [MEMORY.md](MEMORY.md) has no room for, the most useful first.\n\n"


class Pointer(NamedTuple):
    """What the index says of one file; `rank`: higher is more useful."""

    file: str
    title: str
    hook: str
    rank: tuple[float, ...]

    def line(self) -> str:
        title = one_line(self.title).translate(_NO_BRACKETS).strip()[:60] or self.file
        hook = one_line(self.hook)
        text = f"- [{title}]({self.file.translate(_ESCAPED)})"
        space = LINE_CHARACTERS - len(title) - 20
        return f"{text} — {hook if len(hook) <= space else hook[: space - 1].rstrip() + '…'}" if hook else text


_NO_BRACKETS = str.maketrans("[]", "()")
_ESCAPED = {ord(one): f"%{ord(one):02X}" for one in " ()%<>\t"}


class Index(NamedTuple):
    """Both files as they should be; `more` is None when one is enough. `ours`: hashes of the lines limpet wrote."""

    text: str
    more: str | None
    ours: dict[str, str]


class _Line(NamedTuple):
    raw: str
    file: str | None = None  # None = prose
    own: bool = False

    @property
    def size(self) -> int:
        return len(self.raw.encode()) + 2  # with the longest line end


def compose(
    index: str | None, more: str | None, pointers: Mapping[str, Pointer], ours: Mapping[str, str], gone: set[str],
    cap: int,
) -> Index:  # fmt: skip
    """`index`, `more`: as they are now. `ours`: of the last time. `gone`: files whose lines go with them."""
    lines = _parse(index if index is not None else _NEW, pointers, ours, gone)
    rest = _parse(more if more is not None else _NEW_MORE, pointers, ours, gone)
    # What was pushed out may come back: all entries are laid out anew, most useful first.
    entries = {name: _Line(pointer.line(), name, own=True) for name, pointer in pointers.items()}
    entries |= {line.file: line for line in (*rest, *lines) if line.file is not None}
    order = sorted(entries, key=lambda name: (pointers[name].rank, name), reverse=True)

    prose = [line for line in lines if line.file is None]
    space = cap - sum(line.size for line in prose)
    kept, moved, last = order, list[_Line](), None
    if sum(entries[name].size for name in order) > space:
        last = _Line(f"- [More]({MORE}) — {len(order):,} more files")
        space -= last.size
        while prose and space < 0:  # more was written here by hand than the index may hold
            moved.insert(0, prose.pop())
            space += moved[0].size
        used = list(accumulate(entries[name].size for name in order))
        kept = order[: sum(size <= space for size in used)]
        last = _Line(last.raw.replace(f"{len(order):,}", f"{len(order) - len(kept):,}"))
    away = {id(line) for line in moved}
    text = _lay([line for line in lines if id(line) not in away], [entries[name] for name in kept], last)
    pushed = [entries[name] for name in order[len(kept) :]]
    by_hand = any(line.file is None and line.raw.strip() and line.raw not in _NEW_MORE.split("\n") for line in rest)
    second = None
    if pushed or moved or by_hand:
        over = [line for line in rest if line.file is None]
        second = _lay([*over, *moved, *(line for line in rest if line.file is not None)], pushed, None)
    eol = "\r\n" if "\r\n" in (index or "") else "\n"
    written = {name: digest(entries[name].raw) for name in order if entries[name].own}
    return Index(text.replace("\n", eol), second, written)


def _parse(text: str, pointers: Mapping[str, Pointer], ours: Mapping[str, str], gone: set[str]) -> list[_Line]:
    lines: list[_Line] = []
    seen: set[str] = set()
    for raw in text.removesuffix("\n").split("\n"):
        line = raw.removesuffix("\r")
        entry = ENTRY.match(line)
        file = unquote(entry[2]).removeprefix("./") if entry else None
        if file == MORE or (file is not None and file in gone):
            continue
        if file is None or file not in pointers or file in seen:
            lines.append(_Line(line))
            continue
        seen.add(file)
        own = ours.get(file) == digest(line)
        lines.append(_Line(pointers[file].line() if own else line, file, own))
    return lines


def _lay(lines: list[_Line], entries: list[_Line], last: _Line | None) -> str:
    """Lines by hand where they were; in the places of our entries, and behind them, ours, the most useful first."""
    fits = {entry.file for entry in entries}
    by_hand = {line.file for line in lines if line.file is not None and not line.own}
    ours = [entry for entry in entries if entry.file not in by_hand]
    # An own line stands for a place that any entry of ours may take.
    laid = [line for line in lines if line.file is None or line.own or line.file in fits]
    place = max((at for at, line in enumerate(laid, 1) if line.file is not None), default=0)
    missing = len(ours) - sum(line.own for line in laid)
    new = [_Line("", "", own=True)] * missing + ([last] if last else [])
    if new and not place:
        place = len(laid)
    laid[place:place] = new
    coming = iter(ours)
    texts = [(next(coming, None) if line.own else line) for line in laid]
    return "\n".join(line.raw for line in texts if line is not None) + "\n"
