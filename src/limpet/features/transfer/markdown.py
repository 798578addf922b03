"""Folders of Markdown: notes, CLAUDE.md, AGENTS.md and rules files, chunked into statements that link to each other.

The source is only read. A statement's id follows from its file, its heading and its text, so importing again brings
only what is new or was written differently.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import normpath
from typing import Any
from urllib.parse import unquote

from ...model.dataclass import dataclass, field
from ...model.errors import BadInput
from . import frontmatter
from .records import Link, Record, TransferReport, cleaned, digest, is_own_file, kind_of, text_list

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
LONG_LINES = 40  # who writes so many lines without an empty one may have meant several statements
# What an export of limpet's own says of a statement, behind it.
OWN = re.compile(r"\s*<!-- limpet (\{.*\}) -->\s*$")
WIKI = re.compile(r"\[\[([^\[\]|#\n]{1,200})(?:#[^\[\]|\n]{0,200})?(?:\|[^\[\]\n]{0,200})?\]\]")

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(.*)")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_COMMENT = re.compile(r"<!--.*-->\s*")
_RULE = re.compile(r"\s*(?:[-*_]\s*){3,}$")
_LINK = re.compile(r"\]\(([^()\s]{1,500}?\.(?:md|markdown|mdx|mdc))(?:#[^()\s]{0,200})?\)")
_TAG = re.compile(r"(?<![\w#&/])#([^\W\d][\w/-]{0,60})")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


@dataclass(slots=True, kw_only=True)
class Chunk:
    """One statement of a file."""

    line: int
    text: str
    headings: tuple[str, ...]
    id: str = ""


@dataclass(slots=True, kw_only=True)
class Page:
    """One file, chunked."""

    name: str  # relative to the folder, with /
    front: dict[str, Any]
    chunks: list[Chunk]
    bad: list[tuple[int, str]]
    modified: float | None  # epoch seconds
    rules: bool
    aliases: list[str] = field(default_factory=list)  # names by which other files link to it


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """Records of a folder, or of one file. Raises BadInput."""
    root, names = (path.parent, [path.name]) if path.is_file() else (path, _names(path, report))
    # Links lead forward too: the first look finds what can be linked to.
    places: dict[str, str] = {}
    for name in names:
        page = _page(root, name, None)
        for alias in page.aliases if page is not None and page.chunks else ():
            places.setdefault(alias, page.chunks[0].id)  # type: ignore[union-attr]
    for done, name in enumerate(names, 1):
        report.at(done, len(names))
        page = _page(root, name, report)
        if page is not None:
            yield from _records(page, places, report)


def _names(path: Path, report: TransferReport) -> list[str]:
    """The files of a folder, sorted. Links of the file system are not followed: they may lead out of the folder."""
    names: list[str] = []
    for folder, folders, files in os.walk(path, followlinks=False):
        folders[:] = sorted(
            name
            for name in folders
            if name not in SKIPPED_FOLDERS and (not name.startswith(".") or name in HIDDEN_FOLDERS)
        )
        for file in files:
            wanted = file.lower().endswith(SUFFIXES) or file.lower() in RULES
            if wanted and is_own_file(Path(folder) / file, report):
                names.append((Path(folder) / file).relative_to(path).as_posix())
                if len(names) > MAX_FILES:
                    raise BadInput(f"{path} holds more than {MAX_FILES:,} Markdown files")
    if not names:
        raise BadInput(f"{path} holds no Markdown files")
    return sorted(names)


def read_lines(file: Path, report: TransferReport | None, name: str = "") -> list[str] | None:
    """The lines of a text file; None for one that cannot be read, which goes into the report if there is one."""
    try:
        with file.open("rb") as opened:
            raw = opened.read(MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            raise BadInput(f"more than {MAX_FILE_BYTES:,} bytes")
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8: {error.reason} at {error.start}"
    except BadInput as error:
        problem = error.message
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    if report is not None:
        report.bad(name or file.name, problem)
    return None


def _page(root: Path, name: str, report: TransferReport | None) -> Page | None:
    lines = read_lines(root / name, report, name)
    return page_of(name, lines, (root / name).stat().st_mtime) if lines is not None else None


def page_of(name: str, lines: list[str], modified: float | None) -> Page:
    """A file's lines, chunked. Pure."""
    front = frontmatter.parse(lines)
    chunks, bad = chunk(lines, front.lines)
    title = front.values.get("title") or front.values.get("name")
    aliases = [name, name.rsplit(".", 1)[0], Path(name).stem, Path(name).name, title, front.values.get("permalink")]
    page = Page(
        name=name,
        front=front.values,
        chunks=chunks,
        bad=[*((line, f"front matter: {text[:100]}") for line, text in front.bad), *bad],
        modified=modified,
        rules=name.rsplit("/", 1)[-1].lower() in RULES or any(folder in f"/{name}" for folder in RULE_FOLDERS),
        aliases=[alias.strip().lower() for alias in aliases if isinstance(alias, str)],
    )
    seen: dict[str, int] = {}
    for statement in chunks:
        mark = OWN.search(statement.text)
        key = f"{name}#{'/'.join(statement.headings)[:300]}#{digest(statement.text)}"
        if mark:  # the statement is the same one, whatever was done to its words
            key = f"limpet {_own_fields(mark[1]).get('id') or digest(mark[1])}"
        seen[key] = seen.get(key, 0) + 1
        statement.id = key if seen[key] == 1 else f"{key}#{seen[key]}"
    return page


def _own_fields(mark: str) -> dict[str, Any]:
    """What limpet's own mark says of a statement; nothing when it is no JSON any more."""
    try:
        given = json.loads(mark)
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


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
            self.close()
            level, text = len(heading[1]), heading[2]
            self._headings = [above for above in self._headings if above[0] < level] + ([(level, text)] if text else [])
            if not text:
                self.bad.append((at + 1, "a heading without text"))
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


def _records(page: Page, places: dict[str, str], report: TransferReport) -> Iterator[Record]:
    for line, problem in page.bad:
        report.bad(f"{page.name}:{line}", problem)
    if not page.chunks:
        report.note("files without statements")
    front = page.front
    tags = [tag for name in ("tags", "topics") for text in text_list(front.get(name)) for tag in text.split(",")]
    tags = [tag.strip().removeprefix("#") for tag in tags if tag.strip(" #")]
    created = next((front[name] for name in ("created", "date", "created_at") if front.get(name)), page.modified)
    kind = kind_of(front.get("type"), {}) or ("preference" if page.rules else "note")
    for statement in page.chunks:
        text, place = statement.text, f"{page.name}:{statement.line}"
        own = OWN.search(text)
        given = _own_fields(own[1]) if own else {}
        metadata: dict[str, Any] = {"file": page.name}
        plain = _CODE.sub("", text)
        if own:
            text = text[: own.start()]
            metadata |= given["metadata"] if isinstance(given.get("metadata"), dict) else {}
            topics = [given.get("topics", tags)]
        else:
            if statement.headings:
                metadata["heading"] = " > ".join(statement.headings)[:1_000]
            topics = [*tags, *_TAG.findall(plain), *statement.headings[-1:]]
            if plain.count("\n") >= LONG_LINES and not text.startswith("|"):
                report.note(
                    f"paragraphs of {LONG_LINES} lines or more, each one memory; empty lines or list marks part them"
                )
        yield cleaned(
            place, report, id=statement.id, content=text, kind=given.get("kind"), default=kind, topics=topics,
            created=given.get("since") or created, valid_to=given.get("until"),
            **{name: given.get(name) for name in ("key", "confidence", "importance", "session", "speaker")},
            source=place[:2_000], metadata=metadata,
            links=tuple(dict.fromkeys(_links(page.name, text, statement.id, places, report))),
        )  # fmt: skip


def _links(page: str, text: str, id: str, places: dict[str, str], report: TransferReport) -> Iterator[Link]:
    """To other files that a text names."""
    folder = page.rpartition("/")[0]
    names = WIKI.findall(text)
    for link in map(unquote, _LINK.findall(text)):
        names.append(normpath(link.lstrip("/") if link.startswith("/") or not folder else f"{folder}/{link}"))
    for name in names:
        target = places.get(name.strip().lower())
        if target is None:
            report.note("links to files that are not there")
        elif target != id:
            yield Link(type="related_to", target=target)
