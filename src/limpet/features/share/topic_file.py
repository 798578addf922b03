"""The text of one file that a team shares: a topic, its statements by kind, and above each a comment with its id. Pure.

    # deploy

    ## Decisions

    <!-- limpet 3f0a96c1d75e -->
    - We deploy on Tuesdays

git merges by lines, and two changes conflict where no unchanged line is between them. So an id stands on a line of its
own and stays when its statement goes: what happens to a statement touches no line beside a neighbour's. Ids follow from
what was first said, and statements are sorted by them, so that additions of two people seldom meet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ...model.memory import KINDS
from ..mirror.page import HEADINGS, Group, items, keyed, kind_of
from ..transfer.records import digest

# The last line, by which a file is known. New headings come before it.
FOOT = "<!-- limpet share: what stands above is read as memory; leave the comments -->"
# What git puts around both sides of a conflict, and before what both have changed.
OURS, BASE, BETWEEN, END = "<<<<<<<", "|||||||", "=======", ">>>>>>>"
_ID = re.compile(r"<!-- limpet ([0-9a-f]{12})(?: (.*?))? -->\s*")


class Statement(NamedTuple):
    """One statement. `said`: its words as they stand there, after its key; `topics`: all of them."""

    id: str
    said: str
    kind: str
    topics: tuple[str, ...]
    file: str
    start: int  # its lines
    end: int
    is_marked: bool = True  # its id stands above it

    @property
    def place(self) -> str:
        return f"{self.file}:{self.start + 1}"


class TopicFile(NamedTuple):
    """One file, read."""

    name: str
    lines: list[str]
    eol: str
    topic: str | None
    statements: list[Statement]
    ids: list[tuple[str, str, int]]  # (kind, id, its line), also of statements that were removed
    sections: dict[str, int]  # kind -> the line behind what is below its heading
    conflicts: list[int]  # where git's markers begin


class Change(NamedTuple):
    """A change that `share` makes: what is new, other words, or "" for what goes."""

    id: str
    said: str
    kind: str
    topics: tuple[str, ...]
    file: str
    was: Statement | None = None


def id_of(said: str) -> str:
    """Return the id of a statement that is new: that of a value follows from its key alone."""
    key, _ = keyed(said)
    return digest(key or said)


def read(name: str, text: str) -> TopicFile | None:
    """Read a file; None for one that is not of a team's. Both sides of a conflict are read."""
    lines = [line.removesuffix("\r") for line in text.rstrip().split("\n")]
    if FOOT not in lines:
        return None
    plain, side, conflicts = list[str](), "", list[int]()
    for at, line in enumerate(lines):
        mark = line[:7] if line[7:8] in ("", " ") else ""
        if mark == OURS or (side and mark in (BASE, BETWEEN, END)):
            conflicts += [at] if mark == OURS else []
            side = "" if mark == END else mark
            plain.append("")
        else:
            plain.append("" if side == BASE else line)
    title = next((line[2:].strip() for line in plain if line.startswith("# ")), "")
    topic = title if title and title != Group().title else None
    ids, sections, kind, above = list[tuple[str, str, int]](), dict[str, int](), "fact", dict[int, re.Match[str]]()
    for at, line in enumerate(plain):
        if line.startswith("## ") or line == FOOT:
            sections |= {kind: at} if at > 0 and sections.get(kind) == -1 else {}
            kind = kind_of(line[3:]) or "fact"
            sections |= {kind: -1} if line != FOOT and kind not in sections else {}
        elif found := _ID.fullmatch(line):
            ids.append((kind, found[1], at))
            above[at] = found
    statements = []
    for entry in items(plain):
        at = entry.start - 1
        while at > 0 and not plain[at].strip():
            at -= 1
        mark_of = above.get(at)
        more = [part.strip() for part in (mark_of[2] or "").split(",") if part.strip()] if mark_of else []
        statements.append(Statement(
            mark_of[1] if mark_of else id_of(entry.text), entry.text, kind_of(entry.heading) or "fact",
            (*([topic] if topic else []), *more), name, entry.start, entry.end, mark_of is not None,
        ))  # fmt: skip
    eol = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
    return TopicFile(name, lines, eol, topic, statements, ids, sections, conflicts)


def new_file(name: str, topic: str | None) -> TopicFile:
    """Return a file without statements."""
    made = read(name, f"# {' '.join((topic or Group().title).split())}\n\n{FOOT}\n")
    assert made is not None
    return made


def text_of(said: str) -> str:
    """Return words as they will be read from a file; "" for what a list item cannot hold."""
    lines = _bullet("\n".join(line.rstrip() for line in said.strip().splitlines()))
    entry, *more = items(lines)
    return "" if more or entry.end < len(lines) else entry.text


def revised(file: TopicFile, changes: Iterable[Change]) -> str:
    """Return the text of a file with changes, and ids above the statements that have none."""
    edits: list[tuple[int, tuple[int, str], int, list[str]]] = []  # (start, rank, end, lines instead)
    added: dict[str, list[Change]] = {}
    for one in file.statements:
        if not one.is_marked:
            edits.append((one.start, (-1, ""), one.start, ["", f"<!-- limpet {one.id} -->"]))
    for change in changes:
        if change.was is not None:
            edits.append((change.was.start, (0, ""), change.was.end, _bullet(change.said) if change.said else []))
        else:
            added.setdefault(change.kind, []).append(change)
    for kind, new in added.items():
        rank, end = KINDS.index(kind), file.sections.get(kind)
        if end is None:
            blocks = [line for change in sorted(new) for line in _block(change)]
            foot = file.lines.index(FOOT)
            edits.append((foot, (rank, ""), foot, [f"## {HEADINGS[kind]}", "", *blocks]))
            continue
        for change in new:
            at = next((line for of, id, line in file.ids if of == kind and id > change.id), end)
            before = [""] if file.lines[at - 1].strip() else []
            edits.append((at, (rank, change.id), at, [*before, *_block(change)]))
    lines, at = list[str](), 0
    for start, _, end, instead in sorted(edits):
        lines += [*file.lines[at:start], *instead]
        at = max(at, end)
    return file.eol.join([*lines, *file.lines[at:], ""])


def _block(change: Change) -> list[str]:
    topics = ", ".join(topic for topic in change.topics[1:] if "," not in topic and "--" not in topic)
    return [f"<!-- limpet {change.id}{f' {topics}' if topics else ''} -->", *_bullet(change.said), ""]


def _bullet(said: str) -> list[str]:
    first, *more = said.split("\n")
    return [f"- {first}", *(f"  {line}" if line else "" for line in more)]
