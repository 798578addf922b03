"""Folders of text: notes, CLAUDE.md, AGENTS.md and rules files, in any encoding, as statements that link to each other.
A statement's id follows from its file, heading and text, so importing again brings only new or changed ones.

`formats.py` makes lines of Markdown of each format, `markdown.py` chunks them. What stands above a statement comes with
it: "projects > Heron > Limits: Sixty calls a minute".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from itertools import accumulate, islice
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any, NamedTuple
from urllib.parse import unquote

from ...model.errors import BadInput
from ...text.excerpt import PLAIN_WORD
from ..install.change import BEGIN, END
from . import formats
from .markdown import MAX_FILE_BYTES, MAX_FILES, OWN, RULES, WIKI, Chunk, chunk, front_matter
from .records import Link, Record, TransferReport, cleaned, content_of, digest, files_below, kind_of, parsed, text_list

MARKDOWN = tuple(suffix for suffix, form in formats.FORMATS.items() if form is formats.markdown)
RULE_FOLDERS = (".cursor/rules/", ".windsurf/rules/", ".clinerules/", ".claude/rules/", ".github/instructions/")
HIDDEN_FOLDERS = frozenset({".cursor", ".windsurf", ".clinerules", ".claude", ".github"})
# Names that say nothing of what a file is about; and how many of the folders around it say more.
PLAIN_NAMES = frozenset({"readme", "index", *(name.rsplit(".", 1)[0] for name in RULES)})
MAX_FOLDERS = 3

# A link, or the name of a file alone: "[text](target)", "people/contacts.txt".
_LINK = re.compile(r"\]\(([^()\s]{1,500})\)|(?<![\w/.(-])([\w./-]{1,200}\.\w{1,9})(?![\w/-])")
_TAG = re.compile(r"(?<![\w#&/])#([^\W\d][\w/-]{0,60})")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


class Page(NamedTuple):
    """One file, chunked."""

    name: str  # relative to the folder, with /
    front: dict[str, Any]
    chunks: list[Chunk]
    bad: list[tuple[int, str]]


def read(path: Path, report: TransferReport, known: Mapping[str, formats.Format] = formats.FORMATS) -> Iterator[Record]:
    """Yield records of a folder, or of one file, whatever its name. `known`: formats by suffix. Raises BadInput."""
    root, names = (path.parent, [path.name]) if path.is_file() else (path, names_of(path, report, known))
    places: dict[str, str] = {}  # what links name -> the statement there; complete when links are looked up
    for done, name in enumerate(names, 1):
        report.at(done, len(names))
        lines = read_lines(root / name, report, name)
        if lines is None:
            continue
        other = formats.plain if "" in known else formats.markdown
        form = known.get(PurePosixPath(name).suffix.lower(), other)
        page = page_of(name, list(_without_own(lines)), formats.markdown if _last(name) in RULES else form)
        title = page.front.get("title") or page.front.get("name")
        aliases = (name, name.rsplit(".", 1)[0], Path(name).stem, Path(name).name, title, page.front.get("permalink"))
        for statement in page.chunks:
            parts = (f"{name}#{_anchor(heading)}" for heading in statement.headings)
            for alias in (*parts, *aliases):
                if isinstance(alias, str):
                    places.setdefault(alias.strip().lower(), statement.id)
        yield from _records(page, (root / name).stat().st_mtime, places, report)


def _without_own(lines: list[str]) -> Iterator[str]:
    """Yield lines, empty ones for those that `limpet install` wrote."""
    inside = False
    for line in lines:
        inside = inside or line.strip() == BEGIN
        yield "" if inside else line
        inside = inside and line.strip() != END


# Of a folder the Markdown files alone.
read_markdown = partial(read, known=dict.fromkeys(MARKDOWN, formats.markdown))


def names_of(path: Path, report: TransferReport, known: Collection[str]) -> list[str]:
    """Return the files of a folder that are read, sorted; the others go into the report. `known`: suffixes. Raises
    BadInput."""
    from .project import FORMATS as INDEXED

    def why_not(name: str) -> str | None:
        suffix, last = PurePosixPath(name).suffix.lower(), _last(name)
        if last in RULES or (suffix in known and not last.startswith(".")):
            return ""
        if last.startswith("."):
            report.note("hidden files were not looked into")
            return None
        if suffix in formats.FORMATS:
            return "no Markdown: `limpet import text` reads it"
        readers = [format for format, (sizes, _) in INDEXED.items() if suffix in sizes]
        return f"{suffix} is no format of text" + "".join(f": `limpet import {format}` reads it" for format in readers)

    names = sorted(islice(files_below(path, why_not, report, hidden=HIDDEN_FOLDERS), MAX_FILES + 1))
    if len(names) > MAX_FILES:
        raise BadInput(f"{path} holds more than {MAX_FILES:,} files of text")
    if not names:
        raise BadInput(f"{path} holds no files of text")
    return names


def _last(name: str) -> str:
    return name.rsplit("/", 1)[-1].lower()


def read_lines(file: Path, report: TransferReport, name: str = "") -> list[str] | None:
    """Return the lines of a text file; None for an unreadable one, which goes into the report."""
    content = content_of(file, name or file.name, MAX_FILE_BYTES, report)
    try:
        text, encoding = formats.decoded(content or b"")
    except BadInput as error:
        report.bad(name or file.name, error.message)
        return None
    if encoding:
        report.note(f"files in {encoding}, not UTF-8")
    return None if content is None else formats.split_lines(text)


def page_of(name: str, lines: list[str], form: formats.Format) -> Page:
    """Chunk a file's lines. Pure."""
    front = front_matter(lines if form is formats.markdown else [])
    translated, values = form(lines[front.lines :])
    slots = [""] * front.lines + translated
    chunks, bad = chunk([line for slot in slots for line in slot.split("\n")])
    # A slot of several lines is one line of the file.
    begins = list(accumulate((1 + slot.count("\n") for slot in slots), initial=0))
    line_of = [bisect_right(begins, at) for at in range(begins[-1])]
    bad = [(line_of[line - 1], problem) for line, problem in bad]
    bad = [*((line, f"front matter: {text[:100]}") for line, text in front.bad), *bad]
    statements, seen, tags = list[Chunk](), Counter[str](), text_list((front.values | values).get("tags"))
    for whole in chunks:
        if not _TAG.sub("", whole.text).strip():  # a paragraph of tags
            tags += _TAG.findall(whole.text)
            continue
        mark = OWN.search(whole.text)
        for offset, text in [(0, whole.text)] if mark else formats.passages(whole.text):
            line = whole.line + whole.text.count("\n", 0, offset)
            last = min(line + text.count("\n"), whole.last)
            key = f"{name}#{'/'.join(whole.headings)[:300]}#{digest(text)}"
            if mark:  # the statement is the same one, whatever was done to its words
                key = f"limpet {_own_fields(mark[1]).get('id') or digest(mark[1])}"
            seen[key] += 1
            id = key if seen[key] == 1 else f"{key}#{seen[key]}"
            statements.append(Chunk(line_of[line - 1], line_of[last - 1], text, whole.headings, id))
    return Page(name, front.values | values | {"tags": tags}, statements, bad)


def _own_fields(mark: str) -> dict[str, Any]:
    """Return the fields in limpet's own mark of a statement; {} if it is no longer JSON."""
    try:
        return parsed(mark)
    except BadInput:
        return {}


def context_of(page: Page, headings: tuple[str, ...]) -> str:
    """Return what a statement is about, as far as names say it: folders, the file, the headings above it."""
    path = PurePosixPath(page.name)
    title = page.front.get("title")
    file = path.stem if path.stem.lower() not in PLAIN_NAMES else ""
    parts = [*path.parts[:-1][-MAX_FOLDERS:], title if isinstance(title, str) else file, *headings]
    plain = [f" {' '.join(PLAIN_WORD.findall(part.lower()))} " for part in parts]
    kept = [part for at, part in enumerate(parts) if part and not any(plain[at] in later for later in plain[at + 1 :])]
    return " > ".join(" ".join(part.split()) for part in kept)[:300]


def _records(page: Page, modified: float, places: dict[str, str], report: TransferReport) -> Iterator[Record]:
    for line, problem in page.bad:
        report.bad(f"{page.name}:{line}", problem)
    if not page.chunks:
        report.left(page.name, "empty, or nothing but headings")
    front = page.front
    tags = [tag for name in ("tags", "topics") for text in text_list(front.get(name)) for tag in text.split(",")]
    tags = [tag.strip().removeprefix("#") for tag in tags if tag.strip(" #")]
    created = next((front[name] for name in ("created", "date", "created_at") if front.get(name)), modified)
    rules = _last(page.name) in RULES or any(folder in f"/{page.name}" for folder in RULE_FOLDERS)
    kind = kind_of(front.get("type"), {}) or ("preference" if rules else None)
    for statement in page.chunks:
        text, place = statement.text, f"{page.name}:{statement.line}"
        own = OWN.search(text)
        given = _own_fields(own[1]) if own else {}
        metadata: dict[str, Any] = {"file": page.name}
        text = text[: own.start()] if own else text
        links = _links(page.name, text, statement.id, places, report)
        prose = None if text.startswith(("|", "```", "~~~")) else text
        if own:
            metadata |= given["metadata"] if isinstance(given.get("metadata"), dict) else {}
            topics = [given.get("topics", tags)]
        else:
            if statement.headings:
                metadata["heading"] = " > ".join(statement.headings)[:1_000]
            topics = [*tags, *_TAG.findall(_CODE.sub("", text)), *statement.headings[-1:]]
            if context := context_of(page, statement.headings):
                text = f"{context}: {text}" if prose else f"{context}:\n{text}"
        yield cleaned(
            place, report, id=statement.id, content=text, kind=given.get("kind"), default=kind or "note", topics=topics,
            created=given.get("since") or created, valid_to=given.get("until"),
            **{name: given.get(name) for name in ("key", "confidence", "importance", "session", "speaker")},
            source=place[:2_000], metadata=metadata, links=links, prose=None if own or kind else prose,
        )  # fmt: skip


def _links(page: str, text: str, id: str, places: dict[str, str], report: TransferReport) -> Iterator[Link]:
    """Yield links to other files, or parts of files, that a text names."""
    folder = page.rpartition("/")[0]
    names = [([name.strip()], True) for name in WIKI.findall(text)]
    for link, alone in _LINK.findall(text):
        name, _, heading = unquote(link or alone).partition("#")
        near = (
            normpath(name.lstrip("/") if name.startswith("/") or not folder else f"{folder}/{name}") if name else page
        )
        # In this folder before in the whole, and the part before the file.
        files = [near, normpath(name)] if name else [near]
        parts = [f"{file}#{_anchor(heading)}" for file in files if heading]
        is_file = PurePosixPath(name).suffix.lower() in formats.FORMATS.keys() - {""} and "://" not in name
        names.append(([*parts, *files], bool(link) and is_file))
    for places_named, is_link in names:
        target = next((places[name.lower()] for name in places_named if name.lower() in places), None)
        if target is None:
            report.note("links to files that are not there", is_link)
        elif target != id:
            yield Link(type="related_to", target=target)


def _anchor(heading: str) -> str:
    """Return a heading as links name it: "Opening hours" as opening-hours."""
    return "-".join(PLAIN_WORD.findall(heading.lower()))
