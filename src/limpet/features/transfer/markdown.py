"""Folders of Markdown: notes, CLAUDE.md, AGENTS.md and rules files, chunked into statements that link to each other. A
statement's id follows from its file, heading and text, so importing again brings only new or changed ones."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import count, islice, takewhile
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from ...model.clock import format_time
from ...model.errors import BadInput
from ...model.memory import Memory
from .files import new_folder
from .records import Link, Record, TransferReport, cleaned, digest, facts_of, files_below, kind_of, parsed, text_list

if TYPE_CHECKING:
    from .service import Source

MAX_FILE_BYTES = 5_000_000
MAX_FILES = 100_000
SUFFIXES = (".md", ".markdown", ".mdx", ".mdc")
# Files that instruct agents: their statements are preferences.
RULES = frozenset(
    {"claude.md", "claude.local.md", "agents.md", "agent.md", "gemini.md", "copilot-instructions.md", ".cursorrules",
     ".windsurfrules", ".clinerules", ".goosehints"}
)  # fmt: skip
RULE_FOLDERS = (".cursor/rules/", ".windsurf/rules/", ".clinerules/", ".claude/rules/", ".github/instructions/")
HIDDEN_FOLDERS = frozenset({".cursor", ".windsurf", ".clinerules", ".claude", ".github"})
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
# Front matter longer than this is none.
MAX_FRONT_LINES = 500
MAX_FRONT_CHARS = 100_000
MAX_DEPTH = 20
# Lines mended or left out before the rest is given up: each costs another parse.
MAX_MENDED = 50
_PAIR = re.compile(r"(\s*[A-Za-z_][\w .-]{0,99}?\s*:)\s+(\S.*)$")
# What YAML does not allow in a text.
_UNPRINTABLE = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


# -- front matter


class Front(NamedTuple):
    """Front matter, as people and models write it."""

    values: dict[str, Any]
    lines: int  # that it takes, both fences included; 0 = there is none
    bad: list[tuple[int, str]]  # (line from 1, what it says) that was not understood


def front_matter(lines: list[str]) -> Front:
    """Return the front matter at the top of a text's lines. Pure.

    The values are made from PyYAML's events: its loaders turn dates into objects and `no` into False, expand aliases
    without bound and recurse in C. A bad line costs only itself, and `description: Deploys: how` is read as a text.
    """
    end = next((i for i, line in enumerate(lines[1:MAX_FRONT_LINES], 1) if line.rstrip() in ("---", "...")), None)
    if lines[:1] == [] or lines[0].rstrip() != "---" or end is None or sum(map(len, lines[:end])) > MAX_FRONT_CHARS:
        return Front({}, 0, [])
    import yaml

    left = [_UNPRINTABLE.sub("\ufffd", line).rstrip() for line in lines[1:end]]
    bad: list[tuple[int, str]] = []
    mended: set[int] = set()
    for _ in range(MAX_MENDED):
        try:
            return Front(_front_values("\n".join(left)), end + 1, sorted(bad))
        except yaml.MarkedYAMLError as error:
            # The place of an unclosed quote or bracket, else where the parser stopped.
            opened = error.context_mark if re.search("quoted|flow", error.context or "") else None
            mark = opened or error.problem_mark
        at = min(mark.line if mark else 0, len(left) - 1)
        while at and not left[at].strip():
            at -= 1
        pair = _PAIR.match(left[at])
        if pair and at not in mended:
            left[at] = f"{pair[1]} {json.dumps(pair[2].strip(), ensure_ascii=False)}"
        else:
            bad.append((at + 2, lines[at + 1].strip()))
            left[at] = ""
        mended.add(at)
    return Front({}, end + 1, [*sorted(bad), (1, "no YAML")])


def _front_values(text: str) -> dict[str, Any]:
    """Parse YAML front matter. Raises YAMLError, also for a text that is no map, for aliases and for deep nesting."""
    import yaml

    events = yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))

    def until(end: type) -> Iterator[Any]:
        return takewhile(lambda event: not isinstance(event, end), events)

    def value(event: Any, depth: int) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            return event.value.rstrip("\n") if event.style else front_scalar(event.value)
        if isinstance(event, yaml.AliasEvent) or depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem="an alias, or too deep", problem_mark=event.start_mark)
        if isinstance(event, yaml.SequenceStartEvent):
            return [value(item, depth + 1) for item in until(yaml.SequenceEndEvent)]
        values = {}
        for name in until(yaml.MappingEndEvent):
            if not isinstance(name, yaml.ScalarEvent):
                raise yaml.MarkedYAMLError(problem="not a name", problem_mark=name.start_mark)
            values[name.value] = value(next(events), depth + 1)
        return values

    for event in events:
        if isinstance(event, yaml.MappingStartEvent):
            whole: dict[str, Any] = value(event, 1)
            return whole
        if isinstance(event, yaml.NodeEvent):
            raise yaml.MarkedYAMLError(problem="no names", problem_mark=event.start_mark)
    return {}


def front_scalar(text: str) -> Any:
    """Parse an unquoted YAML scalar: true and false, null, a number, or the text itself. A date stays text."""
    if text in ("true", "false"):
        return text == "true"
    if text in ("null", "~", ""):
        return None
    if re.fullmatch(r"-?(?:0|[1-9]\d{0,17})", text):
        return int(text)
    if re.fullmatch(r"-?\d{1,17}\.\d{1,17}", text):
        return float(text)
    return text


# -- statements


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
    """Yield records of a folder, or of one file. Raises BadInput."""
    root, names = (path.parent, [path.name]) if path.is_file() else (path, names_of(path, report))
    # Links lead forward too: first collect the names that can be linked to.
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


def names_of(path: Path, report: TransferReport) -> list[str]:
    """Return the Markdown files of a folder, sorted. Raises BadInput."""

    def wanted(name: str) -> bool:
        return name.lower().endswith(SUFFIXES) or name.lower().rsplit("/", 1)[-1] in RULES

    names = sorted(islice(files_below(path, wanted, report, hidden=HIDDEN_FOLDERS), MAX_FILES + 1))
    if len(names) > MAX_FILES:
        raise BadInput(f"{path} holds more than {MAX_FILES:,} Markdown files")
    if not names:
        raise BadInput(f"{path} holds no Markdown files")
    return names


def read_lines(file: Path, report: TransferReport | None, name: str = "") -> list[str] | None:
    """Return the lines of a text file; None for an unreadable one, which goes into the report if there is one."""
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
    """Chunk a file's lines. Pure."""
    front = front_matter(lines)
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
    """Return the fields in limpet's own mark of a statement; {} if it is no longer JSON."""
    try:
        return parsed(mark)
    except BadInput:
        return {}


def chunk(lines: list[str], start: int) -> tuple[list[Chunk], list[tuple[int, str]]]:
    """Return statements, and the lines that are no statements as they are, with the reason. A statement is a list item
    with its indented lines, a paragraph, a table, a fenced block with the paragraph before it, or a list with the line
    before it that ends with a colon. Headings, rules and comments are in none. Pure."""
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
            not item and not leads and next((text for text in reversed(taken) if text.strip()), "").rstrip()[-1:] == ":"
        )
        if fence and (not item or not line.startswith((" ", "\t"))):
            if item:
                close()
            ends = (n for n in range(at + 1, len(lines)) if re.fullmatch(f"{fence[1]}{fence[1][0]}*", lines[n].strip()))
            end = next(ends, len(lines))
            if end == len(lines):
                bad.append((at + 1, "a fenced block that does not end; taken to the end of the file"))
            taken += lines[at : end + 1]
            at = end
        elif not line.strip():  # the end of a statement, unless what follows belongs to it
            following = next((text for text in lines[at + 1 : at + 50] if text.strip()), "")
            more = following.startswith(("  ", "\t")) if item else taken and _FENCE.match(following)
            if more or (colon and _BULLET.match(following)):
                taken.append("")
            else:
                close()
        elif item and indented:
            taken.append(_dedent(line))
        elif heading := _HEADING.match(line):
            close()
            headings = [above for above in headings if above[0] < len(heading[1])]
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
    rules = page.name.rsplit("/", 1)[-1].lower() in RULES or any(folder in f"/{page.name}" for folder in RULE_FOLDERS)
    kind = kind_of(front.get("type"), {}) or ("preference" if rules else "note")
    for statement in page.chunks:
        text, place = statement.text, f"{page.name}:{statement.line}"
        own = OWN.search(text)
        given = _own_fields(own[1]) if own else {}
        metadata: dict[str, Any] = {"file": page.name}
        if own:
            text = text[: own.start()]
            metadata |= given["metadata"] if isinstance(given.get("metadata"), dict) else {}
            topics = [given.get("topics", tags)]
        else:
            if statement.headings:
                metadata["heading"] = " > ".join(statement.headings)[:1_000]
            topics = [*tags, *_TAG.findall(_CODE.sub("", text)), *statement.headings[-1:]]
        yield cleaned(
            place, report, id=statement.id, content=text, kind=given.get("kind"), default=kind, topics=topics,
            created=given.get("since") or created, valid_to=given.get("until"),
            **{name: given.get(name) for name in ("key", "confidence", "importance", "session", "speaker")},
            source=place[:2_000], metadata=metadata,
            links=tuple(dict.fromkeys(_links(page.name, text, statement.id, places, report))),
        )  # fmt: skip


def _links(page: str, text: str, id: str, places: dict[str, str], report: TransferReport) -> Iterator[Link]:
    """Yield links to other files that a text names."""
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


# -- written


def write(source: Source, path: Path) -> int:
    """Write a folder: a file for each topic, a list item for each memory, its other fields in a comment."""
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
