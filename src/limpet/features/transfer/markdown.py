"""Folders of Markdown: notes, CLAUDE.md, AGENTS.md and rules files, chunked into statements that link to each other.

The source is only read. A statement's id follows from its file, its heading and its text, so importing again brings
only what is new or was written differently.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from ...model.clock import format_time
from ...model.errors import BadInput
from ...model.memory import Memory
from ...store.files import new_folder
from . import frontmatter
from .records import Link, Record, TransferReport, cleaned, digest, facts_of, files_below, kind_of, text_list

if TYPE_CHECKING:
    from .service import Source

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


class Chunk(NamedTuple):
    """One statement of a file."""

    line: int
    text: str
    headings: tuple[str, ...]
    id: str = ""


class Page(NamedTuple):
    """One file, chunked."""

    name: str  # relative to the folder, with /
    front: dict[str, Any]
    chunks: list[Chunk]
    bad: list[tuple[int, str]]


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """Records of a folder, or of one file. Raises BadInput."""
    root, names = (path.parent, [path.name]) if path.is_file() else (path, _names(path, report))
    # Links lead forward too: the first look finds what can be linked to, and by which names.
    places: dict[str, str] = {}
    for name in names:
        page = page_of(name, read_lines(root / name, None) or [])
        title = page.front.get("title") or page.front.get("name")
        aliases = (name, name.rsplit(".", 1)[0], Path(name).stem, Path(name).name, title, page.front.get("permalink"))
        for alias in aliases if page.chunks else ():
            if isinstance(alias, str):
                places.setdefault(alias.strip().lower(), page.chunks[0].id)
    for done, name in enumerate(names, 1):
        report.at(done, len(names))
        lines = read_lines(root / name, report, name)
        if lines is not None:
            yield from _records(page_of(name, lines), (root / name).stat().st_mtime, places, report)


def _names(path: Path, report: TransferReport) -> list[str]:
    def wanted(name: str) -> bool:
        return name.lower().endswith(SUFFIXES) or name.lower().rsplit("/", 1)[-1] in RULES

    names = sorted(islice(files_below(path, wanted, report, hidden=HIDDEN_FOLDERS), MAX_FILES + 1))
    if len(names) > MAX_FILES:
        raise BadInput(f"{path} holds more than {MAX_FILES:,} Markdown files")
    if not names:
        raise BadInput(f"{path} holds no Markdown files")
    return names


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


def page_of(name: str, lines: list[str]) -> Page:
    """A file's lines, chunked. Pure."""
    front = frontmatter.parse(lines)
    chunks, bad = chunk(lines, front.lines)
    bad = [*((line, f"front matter: {text[:100]}") for line, text in front.bad), *bad]
    seen: Counter[str] = Counter()
    for place, statement in enumerate(chunks):
        mark = OWN.search(statement.text)
        key = f"{name}#{'/'.join(statement.headings)[:300]}#{digest(statement.text)}"
        if mark:  # the statement is the same one, whatever was done to its words
            key = f"limpet {_own_fields(mark[1]).get('id') or digest(mark[1])}"
        seen[key] += 1
        chunks[place] = statement._replace(id=key if seen[key] == 1 else f"{key}#{seen[key]}")
    return Page(name, front.values, chunks, bad)


def _own_fields(mark: str) -> dict[str, Any]:
    """What limpet's own mark says of a statement; nothing when it is no JSON any more."""
    try:
        given = json.loads(mark)
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def chunk(lines: list[str], start: int) -> tuple[list[Chunk], list[tuple[int, str]]]:
    """Statements: a list item with what is indented below it, a paragraph, a table, a fenced block with the paragraph
    before it, a list with the line before it that ends with a colon; and the lines that could not be taken as they are,
    with why. Every other line is in a statement, or is a heading, a rule or a comment. Pure."""
    chunks, bad = list[Chunk](), list[tuple[int, str]]()
    headings, taken = list[tuple[int, str]](), list[str]()  # (level, text); the lines of the statement so far
    began, item, leads = 0, False, False  # `item`: of a list; `leads`: a line with a colon, and the list below it

    def close() -> None:
        nonlocal item, leads
        if text := "\n".join(taken).strip():
            chunks.append(Chunk(line=began, text=text, headings=tuple(name for _, name in headings)))
        taken.clear()
        item = leads = False

    at = start
    while at < len(lines):
        line, began = lines[at], began if taken else at + 1
        fence, bullet, indented = _FENCE.match(line), _BULLET.match(line), line.startswith(("  ", "\t"))
        colon = (
            not item and not leads and next((one for one in reversed(taken) if one.strip()), "").rstrip()[-1:] == ":"
        )
        if fence and (not item or not line.startswith((" ", "\t"))):
            if item:
                close()
            end = next((n for n in range(at + 1, len(lines)) if _ends_fence(lines[n].strip(), fence[1])), len(lines))
            if end == len(lines):
                bad.append((at + 1, "a fenced block that does not end; taken to the end of the file"))
            taken += lines[at : end + 1]
            at = end
        elif not line.strip():  # the end of a statement, unless what follows belongs to it
            following = next((one for one in lines[at + 1 : at + 50] if one.strip()), "")
            more = following.startswith(("  ", "\t")) if item else taken and _FENCE.match(following)
            if more or (colon and _BULLET.match(following)):
                taken.append("")
            else:
                close()
        elif item and indented:
            taken.append(_dedent(line))
        elif heading := _HEADING.match(line):
            close()
            headings = [one for one in headings if one[0] < len(heading[1])]
            headings += [(len(heading[1]), heading[2])] if heading[2] else []
        elif _RULE.match(line) or (_COMMENT.fullmatch(line) and not taken):
            close()
        elif bullet and not colon and not leads:
            close()
            began, item = at + 1, True
            taken.append(bullet[1])
        else:
            leads = leads or bullet is not None
            taken.append(_dedent(line) if item else line)
        at += 1
    close()
    return chunks, bad


def _ends_fence(line: str, fence: str) -> bool:
    return line.startswith(fence) and not line.strip(fence[0])


def _dedent(line: str) -> str:
    return line[2:] if line.startswith("  ") else line.removeprefix("\t")


def _records(page: Page, modified: float, places: dict[str, str], report: TransferReport) -> Iterator[Record]:
    for line, problem in page.bad:
        report.bad(f"{page.name}:{line}", problem)
    if not page.chunks:
        report.note("files without statements")
    front = page.front
    tags = [tag for name in ("tags", "topics") for text in text_list(front.get(name)) for tag in text.split(",")]
    tags = [tag.strip().removeprefix("#") for tag in tags if tag.strip(" #")]
    created = next((front[name] for name in ("created", "date", "created_at") if front.get(name)), modified)
    rules = page.name.rsplit("/", 1)[-1].lower() in RULES or any(one in f"/{page.name}" for one in RULE_FOLDERS)
    kind = kind_of(front.get("type"), {}) or ("preference" if rules else "note")
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


# -- Claude Code's memory folder: one memory a file with front matter, and MEMORY.md, an index of them

INDEX = "MEMORY.md"
# Their types: what the user is, how they want things done, what a project is about, where something is found.
CLAUDE_KINDS = {"user": "preference", "feedback": "lesson", "project": "fact", "reference": "note"}
ENTRY = re.compile(r"\s*[-*]\s+\[([^\]]*)\]\(([^)\s]+)\)\s*(?:[—–:-]+\s*(.*))?$")


def read_claude_memory(path: Path, report: TransferReport) -> Iterator[Record]:
    """`path`: the folder. A file's name is its id: a file that was changed is an edited memory. Raises BadInput."""
    if not path.is_dir():
        raise BadInput(f"{path} is no folder")
    names = [name for name in _names(path, report) if "/" not in name and name.endswith(".md")]
    files = [path / name for name in names if name != INDEX]
    entries: dict[str, tuple[str, str]] = {}  # file -> its title and hook
    ids: dict[str, str] = {}  # the names by which files link to each other, forward too -> file
    for file in files:
        name = frontmatter.parse(read_lines(file, None) or []).values.get("name")
        ids[file.stem.lower()] = file.name
        if isinstance(name, str):
            ids.setdefault(name.strip().lower(), file.name)
    for number, line in enumerate((read_lines(path / INDEX, report) or []) if INDEX in names else [], 1):
        entry = ENTRY.match(line)
        if entry and entry[2].removeprefix("./") in ids.values():
            entries[entry[2].removeprefix("./")] = (entry[1].strip(), (entry[3] or "").strip())
        elif line.strip() and not line.startswith("#"):
            problem = "the file that it names is not there" if entry else "not an entry of the index"
            report.bad(f"{INDEX}:{number}", f"{problem}: {line.strip()[:100]}")
    for done, file in enumerate(files, 1):
        report.at(done, len(files))
        lines = read_lines(file, report)
        if lines is not None:
            yield claude_memory_record(file, lines, entries.get(file.name), ids, report)


def claude_memory_record(
    file: Path, lines: list[str], entry: tuple[str, str] | None, ids: dict[str, str], report: TransferReport
) -> Record:
    """What one file says. `entry`: its title and hook in the index; `ids`: the names of the files it may link to."""
    name = file.name
    front = frontmatter.parse(lines)
    for line, text in front.bad:
        report.bad(f"{name}:{line}", f"front matter: {text[:100]}")
    values = front.values
    given = values["metadata"] if isinstance(values.get("metadata"), dict) else {}
    metadata = {field: value for field, value in values.items() if field != "metadata"} | given | {"file": name}
    if entry:
        metadata |= {field: text for field, text in zip(("title", "hook"), entry, strict=True) if text}
    body = "\n".join(lines[front.lines :]).strip()
    targets = dict.fromkeys(ids.get(link.strip().lower()) for link in WIKI.findall(body))
    if None in targets:
        report.note("links to files that are not there")
    type = given.get("type") or values.get("type")
    return cleaned(
        name, report, id=name, content=body or str(values.get("description") or ""), kinds=CLAUDE_KINDS, kind=type,
        topics=[type, values.get("tags")], source=name[:2_000], metadata=metadata,
        created=given.get("modified") or values.get("modified") or file.stat().st_mtime,
        links=tuple(Link(type="related_to", target=target) for target in targets if target and target != name),
    )  # fmt: skip


# -- written


def write(source: Source, path: Path) -> int:
    """A folder: a file a topic, a list item a memory, with what else is known of it in a comment that people skip."""
    written = 0
    files: dict[str, str] = {}  # first topic -> file name
    memories = source.memories({"pins": lambda memory: memory.pinned, "use counts": lambda memory: memory.uses})
    with new_folder(path, store=source.store.path) as folder:
        while part := list(islice(memories, 1_000)):
            texts: dict[str, list[str]] = {}
            for memory in part:
                topic = memory.topics[0] if memory.topics else ""
                if topic not in files:
                    files[topic] = _file_name(topic or memory.scope, set(files.values()))
                    texts[topic] = [f"# {' '.join((topic or memory.scope).split())}\n\n"]
                texts.setdefault(topic, []).append(_item(memory))
            for topic, items in texts.items():
                with (folder / files[topic]).open("a", encoding="utf-8", newline="\n") as file:
                    file.writelines(items)
            written += len(part)
    source.note_links()
    return written


def _item(memory: Memory) -> str:
    first, *rest = memory.content.strip().replace("\r\n", "\n").split("\n")
    facts = {
        "id": memory.id, "kind": memory.kind, "since": format_time(memory.valid_from),
        **({"until": format_time(memory.valid_to)} if memory.valid_to is not None else {}),
        "topics": list(memory.topics), **facts_of(memory),
    }  # fmt: skip
    mark = json.dumps(facts, ensure_ascii=False, separators=(",", ":")).replace(">", "\\u003e")
    lines = [f"- {first}", *(f"  {line}" if line.strip() else "" for line in rest)]
    return "\n".join(lines) + f" <!-- limpet {mark} -->\n\n"


def _file_name(topic: str, taken: set[str]) -> str:
    plain = re.sub(r"[^\w]+", "-", topic.lower()).strip("-_")[:60] or "notes"
    names = (f"{plain}-{number}.md" if number > 1 else f"{plain}.md" for number in count(1))
    return next(name for name in names if name not in taken and name not in RULES)
