"""The text of one file of memories, in a mirror or in the folder of a team. Pure.

A page is about one topic. Its list items are memories, by kind, and above each is a comment with its mark:

    # deploy

    ## Decisions

    <!-- limpet 3f0a96c1d75e -->
    - We deploy on Tuesdays

git merges by lines, and two changes conflict where no unchanged line is between them. So a mark has a line of its own,
and additions are sorted by their marks: those of two people seldom meet. Any other file is one memory, its body.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from ...model.dataclass import dataclass, field
from ...model.memory import KINDS, Memory, is_unconfirmed
from ...text.excerpt import one_line
from ..transfer import markdown
from ..transfer.records import digest, mapping

BOM = "\ufeff"
# The title of the page for what has no topic.
GENERAL = "General"
# Headings under which a page groups its entries; an entry that is added below one is of that kind.
HEADINGS = {kind: kind.capitalize() + "s" for kind in KINDS}
_KINDS = {name.casefold(): kind for kind, title in HEADINGS.items() for name in (kind, title)}
# The last line of a team's page, by which it is known. New headings come before it.
FOOT = "<!-- limpet share: what stands above is read as memory; leave the comments -->"
# The marks that git puts around both sides of a conflict, and before what both have changed.
OURS, BASE, BETWEEN, END = "<<<<<<<", "|||||||", "=======", ">>>>>>>"

_BULLET = re.compile(r"[-*+](?:[ \t]+(.*)|)$")
_COMMENT = re.compile(r"<!-- limpet ([0-9a-f]{12})(?: (.*?))? -->(?: \*\([a-z]+, unconfirmed\)\*)?")
_HEADING = re.compile(r"##[ \t]+(.*?)[ \t]*#*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_KEYED = re.compile(r"\*\*([^\s.*]+(?:\.[^\s.*]+)+)\*\*: (.*)", re.DOTALL)


@dataclass(slots=True, kw_only=True)
class Entry:
    """One memory in a file: lines [start, end), below a comment at line `above`."""

    text: str
    file: str
    kind: str = "fact"  # that the heading above it names
    topics: tuple[str, ...] = ()  # that of the page, and those that the comment names
    mark: str = ""  # of its comment; "": it has none, and `above` is `start`
    comment: str = ""
    above: int
    start: int
    end: int
    id: str | None = None  # of its memory here, once it is known
    left: bool = False  # the store did not take what it says: it stays in the file, and nowhere else

    @property
    def hash(self) -> str:
        return digest(self.text)

    @property
    def place(self) -> str:
        return f"{self.file}:{self.start + 1}"


@dataclass(slots=True, kw_only=True)
class Page:
    """One file, read."""

    name: str
    source: str  # its text as it was read
    lines: list[str]  # without line ends, and without blank lines at the end
    eol: str
    front: markdown.Front
    topic: str | None = None  # "": what has no topic; None: the file is one memory
    entries: list[Entry] = field(default_factory=list)
    marks: list[tuple[str, str, int]] = field(default_factory=list)  # (kind, mark, line) of all comments
    sections: dict[str, int] = field(default_factory=dict)  # kind -> the line behind what is below its heading
    conflicts: list[int] = field(default_factory=list)  # lines at which git's markers begin

    @property
    def foot(self) -> int:
        """The line before which new headings come."""
        return self.lines.index(FOOT) if FOOT in self.lines else len(self.lines)


class Change(NamedTuple):
    """A change of a page. `entry`: None for a new one. `text`: "" for one that goes."""

    entry: Entry | None
    text: str = ""
    comment: str = ""
    kind: str = "fact"

    @property
    def mark(self) -> str:
        return self.comment.split()[2]


# -- reading


def read(name: str, text: str) -> Page:
    """Parse a file. Both sides of a conflict of git are read."""
    lines = text.removeprefix(BOM).split("\n")
    eol = "\r\n" if lines[0].endswith("\r") else "\n"
    lines = [line.removesuffix("\r") for line in lines]
    while lines and not lines[-1].strip():
        lines.pop()
    page = Page(name=name, source=text, lines=lines, eol=eol, front=markdown.front_matter(lines))
    about = mapping(page.front.values.get("metadata"))
    if FOOT in lines:
        title = next((line[2:].strip() for line in lines if line.startswith("# ")), GENERAL)
        page.topic = "" if title == GENERAL else title
    elif about.get("limpet") in ("topic", "general"):
        page.topic = str(about.get("topic") or "")
    if page.topic is None:
        _read_whole(page)
    else:
        _read_items(page, _both_sides(page))
    return page


def _both_sides(page: Page) -> list[str]:
    """Return the lines without the markers of git's conflicts, and without what both sides have changed."""
    lines, side = list[str](), ""
    for at, line in enumerate(page.lines):
        mark = line[:7] if line[7:8] in ("", " ") else ""
        if mark == OURS or (side and mark in (BASE, BETWEEN, END)):
            page.conflicts += [at] if mark == OURS else []
            side = "" if mark == END else mark
            lines.append("")
        else:
            lines.append("" if side == BASE else line)
    return lines


def _read_whole(page: Page) -> None:
    """Take the body as one entry; for a file without a body, its description."""
    start = _after_blanks(page, page.front.lines)
    description = page.front.values.get("description")
    text = "\n".join(page.lines[start:]).strip() or (description.strip() if isinstance(description, str) else "")
    if text:
        page.entries = [Entry(text=text, file=page.name, above=start, start=start, end=len(page.lines))]


def _read_items(page: Page, lines: list[str]) -> None:
    """Find the items of a page, its comments and its headings."""
    section, fence, comment, above, at = "", "", None, 0, page.front.lines
    while at < len(lines):
        line = lines[at]
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif opened := _FENCE.match(line):
            fence = opened[1]
        elif (title := _HEADING.match(line)) or line == FOOT:
            page.sections.setdefault(section, at)
            section, comment = kind_of(title[1]) if title else "", None
        elif found := _COMMENT.fullmatch(line.rstrip()):
            page.marks.append((section, found[1], at))
            comment, above = found, at
        elif bullet := _BULLET.match(line):
            end = _end(lines, at)
            text = _item(bullet[1] or "", lines[at + 1 : end])
            entry = Entry(text=text, file=page.name, kind=section or "fact", above=at, start=at, end=end)
            if comment:
                entry.comment, entry.mark, entry.above = comment[0], comment[1], above
            named = (page.topic or "", *(comment[2] or "").split(",")) if comment else (page.topic or "",)
            entry.topics = tuple(topic.strip() for topic in named if topic.strip())
            page.entries += [entry] if text else []
            at, comment = end, None
            continue
        elif line.strip():
            comment = None
        at += 1
    page.sections.setdefault(section, page.foot)


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


def _item(first: str, more: Iterable[str]) -> str:
    rest = [line[2:] if line.startswith("  ") else line.removeprefix("\t") for line in more]
    return "\n".join(line.rstrip() for line in ([first, *rest] if first.strip() else rest)).rstrip()


# -- memories as text


def short(id: str) -> str:
    """Return the mark of a memory in a mirror, the end of its id."""
    return id.replace("-", "")[-12:]


def comment_of(memory: Memory) -> str:
    """Return the comment above a memory in a mirror, with the memory's origin if it is unconfirmed."""
    note = f" *({memory.trust}, unconfirmed)*" if is_unconfirmed(memory.origin, memory.trust) else ""
    return f"<!-- limpet {short(memory.id)} -->{note}"


def text_of(memory: Memory) -> str:
    """Return the text of a memory as it is read from a page: the value of a keyed fact follows its key."""
    said = f"**{memory.key}**: {memory.content}" if memory.key else memory.content
    return "\n".join(line.rstrip() for line in said.strip().splitlines())


def keyed(text: str) -> tuple[str | None, str]:
    """Return (key, value) of an entry that names a key."""
    match = _KEYED.fullmatch(text)
    return (match[1], match[2]) if match else (None, text)


def kind_of(heading: str) -> str:
    """Return the kind that a heading names for the entries below it; "" if it names none."""
    return _KINDS.get(heading.strip().casefold(), "")


def new_page(name: str, topic: str) -> Page:
    """Return a page of a mirror without entries."""
    about = f"  topic: {json.dumps(topic, ensure_ascii=False)}\n" if topic else ""
    front = f"name: {name}\nmetadata:\n  type: project\n  limpet: {'topic' if topic else 'general'}\n{about}"
    return read(f"{name}.md", f"---\n{front}---\n\n# {one_line(topic or GENERAL) or name}\n")


def new_team_page(file: str, topic: str) -> Page:
    """Return a page of a team without entries."""
    return read(file, f"# {one_line(topic or GENERAL)}\n\n{FOOT}\n")


def topic_text(topic: str, memories: Collection[Memory]) -> str:
    """Return memories as a page to read: by kind, each with its mark."""
    page = read("", f"# {one_line(topic)}\n")
    page.topic, page.entries = topic, []
    return revised(page, [Change(None, text_of(row), comment_of(row), row.kind) for row in memories])


def is_bare(page: Page) -> bool:
    """Return whether a page of a mirror says nothing: it has no entry, and no line that limpet does not write."""
    own = new_page(str(page.front.values.get("name")), page.topic or "")
    return not page.entries and {*page.lines} <= {"", *own.lines, *(f"## {title}" for title in HEADINGS.values())}


# -- changes


def revised(page: Page, changes: Iterable[Change], *, keeps_marks: bool = False) -> str:
    """Return the text of a file with changes. `keeps_marks`: of what goes the comment stays."""
    if page.topic is None:
        return _revised_whole(page, changes)
    edits: list[tuple[int, int, str, int, list[str]]] = []  # (start, rank, mark, end, lines instead)
    added: dict[str, list[Change]] = {}
    for change in changes:
        old = change.entry
        if old is None:
            added.setdefault(change.kind, []).append(change)
        elif change.text:
            words = page.lines[old.start : old.end] if change.text == old.text else _bullet(change.text)
            new = [change.comment, *page.lines[old.above + 1 : old.start], *words]
            edits.append((old.above, len(KINDS), "", old.end, new))
        elif keeps_marks:
            edits.append((old.start, len(KINDS), "", old.end, []))
        else:
            edits.append((old.above, len(KINDS), "", _after_blanks(page, old.end), []))
    if not keeps_marks:  # comments whose item a person has removed
        used = {entry.above for entry in page.entries}
        lone = (at for _, _, at in page.marks if at not in used)
        edits += [(at, len(KINDS), "", _after_blanks(page, at + 1), []) for at in lone]
    for kind, new_ones in added.items():
        rank, end = KINDS.index(kind), page.sections.get(kind)
        blocks = [[change.comment, *_bullet(change.text), ""] for change in new_ones]
        if end is None:
            lines = [f"## {HEADINGS[kind]}", "", *(line for block in blocks for line in block)]
            edits.append((page.foot, rank, "", page.foot, lines))
            continue
        for change, block in zip(new_ones, blocks, strict=True):
            at = next((line for of, mark, line in page.marks if of == kind and mark > change.mark), end)
            edits.append((at, rank, change.mark, at, block))
    return _edited(page, edits)


def _revised_whole(page: Page, changes: Iterable[Change]) -> str:
    for change in changes:
        assert change.entry is not None
        start, end = change.entry.start, change.entry.end
        before = [*page.lines[:start], *([""] if start == end else [])]  # there was a description, and no body
        return _joined(page, [*before, *change.text.splitlines()])
    return page.source


def _edited(page: Page, edits: list[Any]) -> str:
    if not edits:
        return page.source
    lines, at = list[str](), 0
    for start, _, _, end, new in sorted(edits):
        lines += page.lines[at:start]
        lines += ["", *new] if new and lines and lines[-1].strip() else new
        at = max(at, end)
    return _joined(page, [*lines, *page.lines[at:]])


def _joined(page: Page, lines: list[str]) -> str:
    while lines and not lines[-1].strip():
        lines.pop()
    return (BOM if page.source.startswith(BOM) else "") + page.eol.join([*lines, ""])


def _after_blanks(page: Page, at: int) -> int:
    while at < len(page.lines) and not page.lines[at].strip():
        at += 1
    return at


def _bullet(text: str) -> list[str]:
    first, *more = text.split("\n")
    return [f"- {first}", *(f"  {line}" if line else "" for line in more)]
