"""Folders of Markdown, in four phases: identify the files, chunk them into statements, link them, verify that every
line went somewhere. CLAUDE.md, AGENTS.md, rules files and basic-memory notes are known by name and form.

The source is only read. A statement's id follows from its file, its heading and its text, so importing again brings
only what is new or was written differently.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...model.dataclass import dataclass, field
from ...model.errors import BadInput
from . import frontmatter
from .records import (
    Link,
    Record,
    TransferReport,
    digest,
    in_range,
    is_own_file,
    kind_of,
    moment,
    text_list,
    time_or_note,
    unit,
)

MAX_FILE_BYTES = 5_000_000
MAX_FILES = 100_000
SUFFIXES = (".md", ".markdown", ".mdx", ".mdc")
# Files that instruct agents: what they say is how somebody wants things done.
RULES = frozenset(
    {"claude.md", "claude.local.md", "agents.md", "agent.md", "gemini.md", "copilot-instructions.md", ".cursorrules",
     ".windsurfrules", ".clinerules", ".goosehints"}
)  # fmt: skip
RULE_FOLDERS = (".cursor/rules/", ".windsurf/rules/", ".clinerules/", ".claude/rules/", ".github/instructions/")
HIDDEN_FOLDERS = frozenset({".cursor", ".windsurf", ".clinerules", ".claude", ".github"})
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv"})
KINDS = {
    "tech": "fact", "design": "decision", "requirement": "goal", "idea": "note", "method": "skill",
    "technique": "skill", "tip": "skill", "problem": "lesson", "solution": "lesson", "rule": "preference",
    "todo": "goal", "event": "episode", "feature": "fact", "question": "note", "insight": "inference",
}  # fmt: skip
# basic-memory's relations that are links of ours; all others are related_to.
RELATIONS = {
    "caused_by": "caused_by", "depends_on": "caused_by", "supports": "supports", "contradicts": "contradicts",
    "supersedes": "supersedes", "replaces": "supersedes", "part_of": "part_of",
}  # fmt: skip
LONG_LINES = 40  # who writes so many lines without an empty one may have meant several statements
OWN = re.compile(r"\s*<!-- limpet (\{.*\}) -->\s*$")

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(.*)")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_COMMENT = re.compile(r"<!--.*-->\s*")
_RULE = re.compile(r"\s*(?:[-*_]\s*){3,}$")
_WIKI = re.compile(r"\[\[([^\[\]|#\n]{1,200})(?:#[^\[\]|\n]{0,200})?(?:\|[^\[\]\n]{0,200})?\]\]")
_LINK = re.compile(r"\]\(([^()\s]{1,500}?\.(?:md|markdown|mdx|mdc))(?:#[^()\s]{0,200})?\)")
_RELATION = re.compile(r"([A-Za-z][\w -]{0,60}?)\s+\[\[([^\[\]\n]{1,200})\]\]\s*(?:\(.*\))?$")
# basic-memory's sections; its statements are told by their form, with or without them.
SECTIONS = frozenset({"observations", "relations"})
# Front matter that is kept elsewhere, or says nothing about what the notes say.
KNOWN_FRONT = frozenset(
    {"title", "name", "type", "tags", "topics", "created", "created_at", "date", "modified", "updated"}
)
_OBSERVATION = re.compile(r"\[([\w -]{2,60})\]\s+(.+)$", re.DOTALL)
_TAG = re.compile(r"(?<![\w#&/])#([^\W\d][\w/-]{0,60})")


@dataclass(slots=True, kw_only=True)
class Chunk:
    """One statement of a file."""

    line: int
    text: str
    headings: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Page:
    """One file, chunked."""

    name: str  # relative to the folder, with /
    front: dict[str, Any]
    chunks: list[Chunk]
    bad: list[tuple[int, str]]
    title: str
    modified: int | None
    rules: bool
    basic: bool = False  # a note of basic-memory
    ids: list[str] = field(default_factory=list)  # one a chunk


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """Records of a folder, or of one file. Raises BadInput."""
    root, names = identify(path, report)
    # Links lead forward too: the first look finds what can be linked to.
    places: dict[str, str] = {}
    for name in names:
        page = _page(root, name, None)
        if page is not None and page.ids:
            for alias in _aliases(page):
                places.setdefault(alias, page.ids[0])
    for done, name in enumerate(names, 1):
        report.at(done, len(names))
        page = _page(root, name, report)
        if page is not None:
            yield from _records(page, places, report)


def identify(path: Path, report: TransferReport) -> tuple[Path, list[str]]:
    """The files to read, sorted. Links of the file system are not followed: they may lead out of the folder."""
    if path.is_file():
        return path.parent, [path.name]
    found: list[str] = []
    for folder, folders, files in os.walk(path, followlinks=False):
        folders[:] = sorted(
            one for one in folders if one not in SKIPPED_FOLDERS and (not one.startswith(".") or one in HIDDEN_FOLDERS)
        )
        for file in files:
            place = Path(folder) / file
            name = place.relative_to(path).as_posix()
            if not (file.lower().endswith(SUFFIXES) or file.lower() in RULES):
                continue
            if not is_own_file(place, report):
                continue
            found.append(name)
            if len(found) > MAX_FILES:
                raise BadInput(f"{path} holds more than {MAX_FILES:,} Markdown files")
    if not found:
        raise BadInput(f"{path} holds no Markdown files")
    return path, sorted(found)


def _page(root: Path, name: str, report: TransferReport | None) -> Page | None:
    """A file, chunked; None for one that cannot be read, which goes into the report if there is one."""
    place = root / name
    try:
        size = place.stat().st_size
        if size > MAX_FILE_BYTES:
            raise BadInput(f"{size:,} bytes, {MAX_FILE_BYTES:,} at most")
        with place.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        text = raw.decode("utf-8-sig")
        modified = in_range(place.stat().st_mtime_ns // 1_000)
    except UnicodeDecodeError as error:
        problem = f"not UTF-8: {error.reason} at {error.start}"
    except BadInput as error:
        problem = error.message
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    else:
        return page_of(name, text, modified)
    if report is not None:
        report.bad(name, problem)
    return None


def page_of(name: str, text: str, modified: int | None) -> Page:
    """Phase two of one file. Pure."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    front = frontmatter.parse(lines)
    chunks, bad = chunk(lines, front.lines)
    title = front.values.get("title") or front.values.get("name")
    page = Page(
        name=name,
        front=front.values,
        chunks=chunks,
        bad=[*((line, f"front matter: {said[:100]}") for line, said in front.bad), *bad],
        title=title if isinstance(title, str) and title.strip() else Path(name).stem,
        modified=modified,
        rules=name.rsplit("/", 1)[-1].lower() in RULES or any(folder in f"/{name}" for folder in RULE_FOLDERS),
    )
    page.basic = "permalink" in page.front or any(
        heading.lower() in SECTIONS and (_OBSERVATION.match(one.text) or _relation(one.text))
        for one in chunks
        for heading in one.headings[-1:]
    )
    seen: dict[str, int] = {}
    for one in chunks:
        own_mark = OWN.search(one.text)
        key = f"{name}#{'/'.join(one.headings)[:300]}#{digest(one.text)}"
        if own_mark:
            key = f"limpet {_own_id(own_mark[1]) or digest(own_mark[1])}"
        seen[key] = seen.get(key, 0) + 1
        page.ids.append(key if seen[key] == 1 else f"{key}#{seen[key]}")
    return page


def _own_id(mark: str) -> str | None:
    """The id in limpet's own mark: the statement is the same one, whatever was done to its words."""
    try:
        id = json.loads(mark).get("id")
    except (ValueError, RecursionError):
        return None
    return id if isinstance(id, str) else None


def chunk(lines: list[str], start: int) -> tuple[list[Chunk], list[tuple[int, str]]]:
    """Statements: a list item with what is indented below it, a paragraph, a table, a fenced block with the paragraph
    before it, a list with the line before it that ends with a colon. Pure.

    Returns also the lines that could not be taken as they are, with why (phase four): every other line is in a
    statement, or is a heading, a rule or a comment.
    """
    chunker = _Chunker(lines)
    at = start
    while at < len(lines):
        at = chunker.take(at)
    chunker.close()
    return chunker.chunks, chunker.bad


class _Chunker:
    def __init__(self, lines: list[str]) -> None:
        self.chunks: list[Chunk] = []
        self.bad: list[tuple[int, str]] = []
        self._lines = lines
        self._headings: list[tuple[int, str]] = []
        self._taken: list[str] = []
        self._began = 0
        self._item = False  # a list item is being read
        self._leads = False  # a line that ends with a colon, and the list that it leads to

    def close(self) -> None:
        text = "\n".join(self._taken).strip()
        if text:
            self.chunks.append(Chunk(line=self._began, text=text, headings=tuple(name for _, name in self._headings)))
        self._taken = []
        self._item = self._leads = False

    def take(self, at: int) -> int:
        """Read from line `at` on; returns the line to go on with."""
        line = self._lines[at]
        fence = _FENCE.match(line)
        if fence and (not self._item or not line.startswith((" ", "\t"))):
            return self._fenced(at, fence[1])
        if not line.strip():
            self._blank(at)
        elif self._item and line.startswith(("  ", "\t")):
            self._taken.append(_dedent(line))
        elif heading := _HEADING.match(line):
            self._heading(at, len(heading[1]), heading[2])
        elif _RULE.match(line) or (_COMMENT.fullmatch(line) and not self._taken):
            self.close()
        else:
            self._text(at, line)
        return at + 1

    def _fenced(self, at: int, fence: str) -> int:
        if self._item:
            self.close()
        if not self._taken:
            self._began = at + 1
        end = at + 1
        while end < len(self._lines):
            mark = self._lines[end].strip()
            if mark.startswith(fence) and not mark.strip(fence[0]):
                break
            end += 1
        else:
            self.bad.append((at + 1, "a fenced block that does not end; taken to the end of the file"))
        self._taken += self._lines[at : end + 1]
        return end + 1

    def _blank(self, at: int) -> None:
        """The end of a statement, unless what follows belongs to it."""
        following = next((line for line in self._lines[at + 1 : at + 50] if line.strip()), "")
        deeper = self._item and following.startswith(("  ", "\t"))
        code = bool(self._taken) and not self._item and _FENCE.match(following) is not None
        leads = self._colon() and _BULLET.match(following) is not None
        if deeper or code or leads:
            self._taken.append("")
        else:
            self.close()

    def _colon(self) -> bool:
        """Whether the paragraph so far ends with a colon."""
        last = next((line for line in reversed(self._taken) if line.strip()), "")
        return not self._item and not self._leads and last.rstrip().endswith(":")

    def _heading(self, at: int, level: int, text: str) -> None:
        self.close()
        self._headings = [one for one in self._headings if one[0] < level]
        if text:
            self._headings.append((level, text))
        else:
            self.bad.append((at + 1, "a heading without text"))

    def _text(self, at: int, line: str) -> None:
        bullet = _BULLET.match(line)
        if bullet and self._colon():
            self._leads = True
        if bullet and not self._leads:
            self.close()
            self._began, self._item = at + 1, True
            self._taken.append(bullet[1])
            return
        if not self._taken:
            self._began = at + 1
        self._taken.append(_dedent(line) if self._item else line)


def _dedent(line: str) -> str:
    return line[2:] if line.startswith("  ") else line.removeprefix("\t")


def _aliases(page: Page) -> list[str]:
    """Names by which other files link to this one."""
    link = page.front.get("permalink")
    names = [page.name, page.name.rsplit(".", 1)[0], Path(page.name).stem, Path(page.name).name, page.title]
    names += [link] if isinstance(link, str) else []
    return [one.strip().lower() for one in names]


def _records(page: Page, places: dict[str, str], report: TransferReport) -> Iterator[Record]:
    for line, problem in page.bad:
        report.bad(f"{page.name}:{line}", problem)
    front = page.front
    topics = [name for said in ("tags", "topics") for one in text_list(front.get(said)) for name in one.split(",")]
    topics = [one.strip().removeprefix("#") for one in topics if one.strip(" #")]
    created = next((front[one] for one in ("created", "date", "created_at") if front.get(one)), None)
    at = time_or_note(moment, created, page.name, "created", report) or page.modified
    links, statements = _relations(page, places)
    if not statements:
        report.note("files without statements")
    for place, i in enumerate(statements):
        one = page.chunks[i]
        yield _record(page, one, page.ids[i], topics, at, links if place == 0 else [], places, report)


def _relations(page: Page, places: dict[str, str]) -> tuple[list[Link], list[int]]:
    """basic-memory's "- relation [[Target]]" are links of the file. Returns also the places of its statements."""
    links: list[Link] = []
    statements: list[int] = []
    for i, one in enumerate(page.chunks):
        relation = _relation(one.text) if page.basic else None
        if relation is None:
            statements.append(i)
            continue
        target = places.get(relation[2].split("|")[0].strip().lower())
        if target is None:  # noted where the links of its text are
            statements.append(i)
        else:
            links.append(
                Link(type=RELATIONS.get(relation[1].strip().lower().replace(" ", "_"), "related_to"), target=target)
            )
    if not statements and page.chunks:
        return [], list(range(len(page.chunks)))
    return links, statements


def _relation(text: str) -> re.Match[str] | None:
    """A list item that is nothing but a relation."""
    return _RELATION.fullmatch(text) if "[[" in text and len(text) < 500 else None


def _record(
    page: Page, one: Chunk, id: str, topics: list[str], at: int | None, links: list[Link], places: dict[str, str],
    report: TransferReport,
) -> Record:  # fmt: skip
    text, place = one.text, f"{page.name}:{one.line}"
    own = OWN.search(text)
    given = _own_fields(own[1], place, report) if own else {}
    if own:
        text = text[: own.start()]
    elif _without_code(text).count("\n") >= LONG_LINES and not text.startswith("|"):
        report.note(f"paragraphs of {LONG_LINES} lines or more, each one memory; empty lines or list marks part them")
    kind = kind_of(page.front.get("type"), {}, "preference" if page.rules else "note")
    observation = _OBSERVATION.match(text) if page.basic and not own else None
    if observation:
        kind, text = kind_of(observation[1], KINDS, "fact"), observation[2]
    if not own:
        about = [one for one in one.headings if not (page.basic and one.lower() in SECTIONS)]
        topics = [*topics, *_TAG.findall(_without_code(text)), *(about[-1:] or ([page.title] if page.basic else []))]
    stated = given["topics"] if own and "topics" in given else None
    topics = text_list(stated if stated is not None else topics)
    metadata: dict[str, Any] = {"file": page.name}
    if not own:
        metadata |= _metadata(page, one, observation[1] if observation else None)
    if isinstance(given.get("metadata"), dict):
        metadata |= given["metadata"]
    return Record(
        id=id,
        place=place,
        content=text,
        kind=kind_of(given.get("kind"), {}, kind),
        topics=tuple(dict.fromkeys(topic for topic in topics if len(topic) <= 200))[:50],
        created=time_or_note(moment, given["since"], place, "since", report) if given.get("since") else at,
        valid_to=time_or_note(moment, given.get("until"), place, "until", report),
        key=given["key"] if isinstance(given.get("key"), str) else None,
        confidence=unit(given.get("confidence")),
        importance=unit(given.get("importance")),
        session=given["session"] if isinstance(given.get("session"), str) else None,
        speaker=given["speaker"] if isinstance(given.get("speaker"), str) else None,
        source=place[:2_000],
        metadata=metadata,
        links=tuple(dict.fromkeys([*links, *_links(page.name, text, id, places, report)])),
    )


def _own_fields(mark: str, place: str, report: TransferReport) -> dict[str, Any]:
    """What limpet's own mark says of a statement."""
    try:
        given: dict[str, Any] = json.loads(mark)
    except (ValueError, RecursionError):
        report.bad(place, "limpet's own mark is not JSON; taken without it")
        return {}
    return given


def _metadata(page: Page, one: Chunk, category: str | None) -> dict[str, Any]:
    """What is kept of the place of a statement, and of a basic-memory note's front matter."""
    found: dict[str, Any] = {"heading": " > ".join(one.headings)[:1_000]} if one.headings else {}
    if page.basic:
        taken = KNOWN_FRONT | {"file", *found}
        found |= {name: value for name, value in page.front.items() if name not in taken}
    return found | ({"category": category} if category else {})


def _links(page: str, text: str, id: str, places: dict[str, str], report: TransferReport) -> Iterator[Link]:
    """To other files that a text names."""
    for name in (*_WIKI.findall(text), *(_relative(page, link) for link in _LINK.findall(text))):
        target = places.get(name.strip().lower())
        if target is None:
            report.note("links to files that are not there")
        elif target != id:
            yield Link(type="related_to", target=target)


def _without_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def _relative(page: str, link: str) -> str:
    """A link between files, as a name from the folder."""
    from posixpath import normpath
    from urllib.parse import unquote

    link = unquote(link)
    if link.startswith("/"):
        return normpath(link.lstrip("/"))
    folder = page.rpartition("/")[0]
    return normpath(f"{folder}/{link}" if folder else link)
