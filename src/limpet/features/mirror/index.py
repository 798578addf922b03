"""MEMORY.md: one line a file, the most useful first, never longer than its cap; the rest goes to a second file. Pure.

Lines that a person or an agent wrote stay as they are and where they are, unless the cap pushes them to that file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote

from ...text.excerpt import one_line
from ..transfer.claude_memory import ENTRY
from ..transfer.records import digest
from .folder import MORE

# Characters of a line that limpet writes: about 70 of them fill the default cap.
LINE_CHARACTERS = 140
_NEW = "# Memory\n"
_NEW_MORE = "# More memory\n\nFiles that [MEMORY.md](MEMORY.md) has no room for, the most useful first.\n"


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
    cut: bool = False  # too long for the index


def compose(
    index: str | None, more: str | None, pointers: Mapping[str, Pointer], ours: Mapping[str, str], gone: set[str],
    cap: int,
) -> Index:  # fmt: skip
    """`index`, `more`: as they are now. `ours`: of the last time. `gone`: files whose lines go with them."""
    lines = _parse(index if index is not None else _NEW, pointers, ours, gone)
    rest = _parse(more if more is not None else _NEW_MORE, pointers, ours, gone)
    there = {one.file for one in lines} | {one.file for one in rest}
    # What was pushed out may come back: all entries are laid out anew, most useful first.
    entries = {one.file: one for one in (*rest, *lines) if one.file is not None}
    entries |= {one.file: _Line(one.line(), one.file, True) for one in pointers.values() if one.file not in there}
    order = sorted(entries, key=lambda name: (pointers[name].rank, name), reverse=True)

    eol = "\r\n" if "\r\n" in (index or "") else "\n"
    prose = [one for one in lines if one.file is None]
    size = sum(len(one.raw.encode()) + len(eol) for one in prose) + len(eol)
    space = cap - size
    total = sum(len(entries[name].raw.encode()) + len(eol) for name in order)
    moved: list[_Line] = []
    kept = order
    if total > space:
        kept, used = [], len(_pointer(len(order)).encode()) + len(eol)
        while prose and size + used > cap:  # more was written here by hand than the index may hold
            last = prose.pop()
            size -= len(last.raw.encode()) + len(eol)
            moved.insert(0, last)
        for name in order:
            used += len(entries[name].raw.encode()) + len(eol)
            if used > cap - size:
                break
            kept.append(name)
    fits = set(kept)
    pushed = [name for name in order if name not in fits]
    out = set(pushed)
    stays = {id(one) for one in prose}
    laid = [one for one in lines if one.file in fits or id(one) in stays]
    final = _pointer(len(pushed)) if pushed or moved else None
    text = _lay(laid, [entries[name] for name in kept], order, eol, final)
    over = [one for one in rest if one.file is None]
    own_words = [one for one in over if one.raw.strip() and one.raw not in _NEW_MORE.splitlines()]
    second = None
    if pushed or moved or own_words:
        head = [*over, *moved]
        second = _lay([*head, *(one for one in rest if one.file in out)], [entries[name] for name in pushed],
                      order, "\n", None)  # fmt: skip
    written = {name: digest(entries[name].raw) for name in order if entries[name].own}
    return Index(text, second, written)


def _pointer(count: int) -> str:
    return f"- [More]({MORE}) — {count:,} more files"


def _parse(text: str, pointers: Mapping[str, Pointer], ours: Mapping[str, str], gone: set[str]) -> list[_Line]:
    found: list[_Line] = []
    seen: set[str] = set()
    for raw in text.removesuffix("\n").split("\n"):
        line = raw.removesuffix("\r")
        entry = ENTRY.match(line)
        file = unquote(entry[2]).removeprefix("./") if entry else None
        if file == MORE or (file is not None and file in gone):
            continue
        if file is None or file not in pointers or file in seen:
            found.append(_Line(line))
            continue
        seen.add(file)
        own = ours.get(file) == digest(line)
        found.append(_Line(pointers[file].line() if own else line, file, own))
    return found


def _lay(lines: list[_Line], entries: list[_Line], order: list[str], eol: str, last: str | None) -> str:
    """Prose where it was, our runs of entries sorted, new entries in the last run."""
    rank = {name: place for place, name in enumerate(order)}
    there = {one.file for one in lines if one.file is not None}
    new = [one for one in entries if one.file not in there]
    runs: list[list[_Line]] = []
    for one in lines:
        if one.file is not None and runs and runs[-1][-1].file is not None:
            runs[-1].append(one)
        else:
            runs.append([one])
    if new or last:
        target = next((run for run in reversed(runs) if run[0].file is not None), None)
        if target is None:
            if runs and runs[-1][-1].raw.strip():
                runs.append([_Line("")])
            target = []
            runs.append(target)
        target += new
    out: list[str] = []
    final = next((run for run in reversed(runs) if not run or run[0].file is not None), None)
    for run in runs:
        if run and run[0].file is None:
            out += [one.raw for one in run]
            continue
        # A run in which somebody else's lines stand keeps its order.
        own = all(one.own for one in run)
        out += [one.raw for one in (sorted(run, key=lambda one: rank[one.file or ""]) if own else run)]
        if run is final and last:
            out.append(last)
    return eol.join(out) + eol
