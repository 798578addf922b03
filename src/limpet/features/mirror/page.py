"""The text of one file: front matter, prose and entries. Each entry is a memory. Pure.

A topic page has list items with a mark that names the memory. Every other file is one memory, its body. Unchanged lines
are written back byte by byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from ...model.dataclass import dataclass, field
from ...model.memory import KINDS, Memory, is_unconfirmed
from ...text.excerpt import one_line
from ..transfer import markdown
from ..transfer.records import digest, mapping

BOM = "\ufeff"
# Headings under which a topic page groups its entries; an entry that is added below one is of that kind.
HEADINGS = {kind: kind.capitalize() + "s" for kind in KINDS}
_KINDS = {name.casefold(): kind for kind, title in HEADINGS.items() for name in (kind, title)}

_BULLET = re.compile(r"[-*+](?:[ \t]+(.*)|)$", re.DOTALL)
_MARK = re.compile(r"[ \t]*<!-- limpet ([0-9a-f]{12,32}) -->(?: \*\(([a-z]+, unconfirmed)\)\*)?[ \t]*$")
_HEADING = re.compile(r"#{2,6}[ \t]+(.*?)[ \t]*#*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_KEYED = re.compile(r"\*\*([^\s.*]+(?:\.[^\s.*]+)+)\*\*: (.*)", re.DOTALL)
# A text that begins so cannot share its first line with the mark.
_OWN_LINE = re.compile(r"\s|`{3}|~{3}|$")


@dataclass(slots=True, kw_only=True)
class Entry:
    """One memory in a file: lines [start, end)."""

    text: str
    mark: str | None = None  # the end of its memory's id, or all of it
    note: str = ""  # what stands behind the mark: where it comes from while nobody has confirmed it
    heading: str = ""  # the nearest one above
    start: int
    end: int
    id: str | None = None  # found by the mark, or by what was there before
    left: bool = False  # the store did not take what it says: it stays in the file, and nowhere else

    @property
    def hash(self) -> str:
        return digest(self.text)


@dataclass(slots=True, kw_only=True)
class Page:
    """One file, read. `lines` have no line feeds; a carriage return at their end stays there."""

    lines: list[str]
    bom: bool
    front: markdown.Front
    group: Group | None = None  # what a page of entries is about; None: the file is one memory
    entries: list[Entry] = field(default_factory=list)

    @property
    def eol(self) -> str:
        return "\r" if self.lines and self.lines[0].endswith("\r") else ""

    @property
    def about(self) -> dict[str, Any]:
        """The values of the front matter below `metadata`."""
        return mapping(self.front.values.get("metadata"))

    def text(self) -> str:
        return (BOM if self.bom else "") + "\n".join(self.lines)


def read(text: str) -> Page:
    """Parse a file's text."""
    bom = text.startswith(BOM)
    lines = text.removeprefix(BOM).split("\n")
    bare = [line.removesuffix("\r") for line in lines]
    page = Page(lines=lines, bom=bom, front=markdown.front_matter(bare))
    what, topic, month = (str(page.about.get(name, "")) for name in ("limpet", "topic", "month"))
    if what == "topic" and topic:
        page.group = Group(topic=topic)
    elif what == "episodes" and re.fullmatch(r"\d{4}-\d\d", month):
        page.group = Group(month=month)
    elif what == "general":
        page.group = Group()
    page.entries = items(bare, page.front.lines) if page.group else _body(bare, page.front)
    return page


class Group(NamedTuple):
    """The subject of a page of entries: a topic, the episodes of a month, or (neither) the rest of a scope."""

    topic: str | None = None
    month: str | None = None

    @property
    def title(self) -> str:
        return self.topic or (f"Episodes {self.month}" if self.month else "General")


def _body(lines: list[str], front: markdown.Front) -> list[Entry]:
    """Return the body as one entry; for a file without a body, its description."""
    start, end = front.lines, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    text = "\n".join(lines[start:end]).strip()
    if not text:
        description = front.values.get("description")
        text = description.strip() if isinstance(description, str) else ""
    return [Entry(text=text, start=start, end=end)] if text else []


def items(lines: list[str], start: int = 0) -> list[Entry]:
    """Return the list items of a text from a line on, each with the heading above it."""
    entries: list[Entry] = []
    heading, fence, at = "", "", start
    while at < len(lines):
        line = lines[at]
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif opened := _FENCE.match(line):
            fence = opened[1]
        elif title := _HEADING.match(line):
            heading = title[1]
        elif bullet := _BULLET.match(line):
            end = _end(lines, at)
            entry = _item(bullet[1] or "", lines[at + 1 : end], heading, at, end)
            if entry.text or entry.mark:
                entries.append(entry)
            at = end
            continue
        at += 1
    return entries


def _end(lines: list[str], start: int) -> int:
    """Return the line after an item, whose indented lines and the blank lines before them belong to it."""
    end = at = start + 1
    while at < len(lines):
        if lines[at].startswith(("  ", "\t")) and lines[at].strip():
            end = at + 1
        elif lines[at].strip():
            break
        at += 1
    return end


def _item(first: str, more: Sequence[str], heading: str, start: int, end: int) -> Entry:
    mark = _MARK.search(first)
    if mark:
        first = first[: mark.start()]
    rest = [line[2:] if line.startswith("  ") else line.removeprefix("\t") for line in more]
    text = "\n".join([first, *rest] if first.strip() or not rest else rest).rstrip()
    known, note = (mark[1], mark[2] or "") if mark else (None, "")
    return Entry(text=text, mark=known, note=note, heading=heading, start=start, end=end)


def short(id: str) -> str:
    """Return the mark of an id that no other memory's id ends with."""
    return id.replace("-", "")[-12:]


def marked(mark: str, memory: Memory) -> str:
    """Return the mark for `item`, with the memory's origin if it is unconfirmed."""
    return f"{mark} {memory.trust}, unconfirmed" if is_unconfirmed(memory.origin, memory.trust) else mark


def item(text: str, mark: str, eol: str) -> list[str]:
    """Return the lines of an entry of a topic page."""
    lines = text.split("\n")
    mark, _, note = mark.partition(" ")
    tag = f"<!-- limpet {mark} -->" + (f" *({note})*" if note else "")
    if _OWN_LINE.match(lines[0]):
        head, rest = f"- {tag}", lines
    else:
        head, rest = f"- {lines[0].rstrip()} {tag}", lines[1:]
    return [head + eol, *(("  " + line).rstrip(" \r") + eol if line.strip() else eol for line in rest)]


def shown(content: str, key: str | None) -> str:
    """Return the text of a memory in a topic page: the value of a keyed fact follows its key."""
    return f"**{key}**: {content}" if key else content


def keyed(text: str) -> tuple[str | None, str]:
    """Return (key, value) of an entry that names a key."""
    match = _KEYED.fullmatch(text)
    return (match[1], match[2]) if match else (None, text)


def kind_of(heading: str) -> str | None:
    """Return the kind that a heading names for the entries below it."""
    return _KINDS.get(heading.strip().casefold())


# -- changes


def set_entry(page: Page, entry: Entry, text: str, mark: str) -> None:
    """Replace the text of an entry."""
    if page.group:
        new = item(text, mark, page.eol)
    else:
        new = [line + page.eol for line in text.split("\n")]
        if entry.start == entry.end:  # there was no body
            new = [page.eol, *new, ""]
        elif not page.lines[entry.end - 1].endswith("\r"):  # the file's last line, without an end
            new[-1] = new[-1].removesuffix("\r")
    _splice(page, entry.start, entry.end, new)


def drop(page: Page, entry: Entry) -> None:
    """Remove an entry, and its heading when it was the last one below it."""
    start, end = entry.start, entry.end
    _splice(page, start, end, [])
    page.entries.remove(entry)
    if any(other.heading == entry.heading for other in page.entries):
        return
    above = start - 1
    while above >= 0 and not page.lines[above].strip():
        above -= 1
    below = start
    while below < len(page.lines) and not page.lines[below].strip():
        below += 1
    last = below == len(page.lines)
    if above >= 0 and _is_own_heading(page.lines[above]) and (last or page.lines[below].startswith("#")):
        while above > 0 and not page.lines[above - 1].strip():
            above -= 1
        _splice(page, above, below, [""] if last else [page.eol])


def _is_own_heading(line: str) -> bool:
    """Return whether a line is a heading that `add` makes: of a kind, or of a day."""
    title = _HEADING.match(line.strip())
    return title is not None and bool(kind_of(title[1]) or re.fullmatch(r"\d{4}-\d\d-\d\d", title[1]))


def add(page: Page, heading: str, text: str, mark: str) -> Entry:
    """Add an entry below a heading, which is made if need be."""
    same = [other for other in page.entries if other.heading.casefold() == heading.casefold()]
    made = item(text, mark, page.eol)
    if same:
        at = max(other.end for other in same)
        if at == len(page.lines):  # the file's last line had no end
            page.lines[-1] = page.lines[-1].removesuffix("\r") + page.eol
            page.lines.append("")
    else:
        at = len(page.lines)
        while at > 0 and not page.lines[at - 1].strip():
            at -= 1
        if at and not page.lines[at - 1].endswith(page.eol):
            page.lines[at - 1] += page.eol
        _splice(page, at, len(page.lines), [page.eol, f"## {heading}" + page.eol, page.eol, ""])
        at += 3
    _splice(page, at, at, made)
    entry = Entry(text=read_item(made), heading=heading, start=at, end=at + len(made))
    page.entries.append(entry)
    page.entries.sort(key=lambda row: row.start)
    return entry


def read_item(lines: Sequence[str]) -> str:
    """Return the text that an entry's own lines have when they are read again."""
    bare = [line.removesuffix("\r") for line in lines]
    bullet = _BULLET.match(bare[0])
    return _item(bullet[1] or "" if bullet else "", bare[1:], "", 0, 1).text


def _splice(page: Page, start: int, end: int, new: list[str]) -> None:
    page.lines[start:end] = new
    moved = len(new) - (end - start)
    for entry in page.entries:
        if entry.start == start and entry.end == end:
            entry.end += moved
        elif entry.start >= end:
            entry.start += moved
            entry.end += moved


def new_page(of: Group, slug: str) -> Page:
    """Return a page without entries."""
    named = {"topic": of.topic, "month": of.month}
    about = "".join(f"  {name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in named.items() if value)
    what = "topic" if of.topic else "episodes" if of.month else "general"
    front = f"---\nname: {slug}\nmetadata:\n  type: project\n  limpet: {what}\n{about}---\n"
    return read(f"{front}\n# {one_line(of.title) or slug}\n")


def topic_text(topic: str, memories: Collection[Memory]) -> str:
    """Return memories as a page to read: by kind, each with its mark."""
    made = read(f"# {one_line(topic)}\n")
    made.group = Group(topic=topic)
    for kind in KINDS:
        for row in memories:
            if row.kind == kind:
                add(made, HEADINGS[kind], shown(row.content, row.key), marked(short(row.id), row))
    return made.text()


_OURS = frozenset({"type", "limpet", "topic", "month"})


def has_prose(page: Page) -> bool:
    """Return whether a topic page holds more than its title, our headings and entries."""
    taken = {at for entry in page.entries for at in range(entry.start, entry.end)}
    titles = 0
    for at, line in enumerate(page.lines[page.front.lines :], page.front.lines):
        bare = line.strip()
        if not bare or at in taken or _is_own_heading(bare):
            continue
        if bare.startswith("# ") and not titles:
            titles += 1
            continue
        return True
    known = {"name", "description", "metadata"}
    return bool(set(page.front.values) - known or page.front.bad or set(page.about) - _OURS)
