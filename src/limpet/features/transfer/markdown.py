"""Markdown: front matter, lines chunked into statements, and an export as a folder. Folders are read by `texts.py`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...model.clock import format_time
from ...model.memory import Memory
from ...store.files import new_folder
from .records import facts_of

if TYPE_CHECKING:
    from .service import Source

MAX_FILE_BYTES = 5_000_000
MAX_FILES = 100_000
# Files that instruct agents: their statements are preferences.
RULES = frozenset(
    {"claude.md", "claude.local.md", "agents.md", "agent.md", "gemini.md", "copilot-instructions.md", ".cursorrules",
     ".windsurfrules", ".clinerules", ".goosehints"}
)  # fmt: skip
# What an export of limpet's own says of a statement, behind it.
OWN = re.compile(r"\s*<!-- limpet (\{.*\}) -->\s*$")
WIKI = re.compile(r"\[\[([^\[\]|#\n]{1,200})(?:#[^\[\]|\n]{0,200})?(?:\|[^\[\]\n]{0,200})?\]\]")

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_BULLET = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])\s+(.*)")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_COMMENT = re.compile(r"<!--.*-->\s*")
_RULE = re.compile(r"\s*(?:[-*_]\s*){3,}$")
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


def _front_values(front: str) -> dict[str, Any]:
    """Parse YAML front matter. Raises YAMLError, also for a text that is no map, for aliases and for deep nesting."""
    import yaml

    events = yaml.parse(front, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))

    def until(end: type) -> Iterator[Any]:
        return takewhile(lambda event: not isinstance(event, end), events)

    def value(event: Any, depth: int) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            text: str = event.value
            if event.style:
                return text.rstrip("\n")
            # Unquoted: true and false, null, a number, or the text itself. A date stays text.
            if re.fullmatch(r"true|false|null|-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?", text):
                return json.loads(text)
            return None if text in ("~", "") else text
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


# -- statements


class Chunk(NamedTuple):
    """One statement of a file, from one of its lines to another, both counted from 1."""

    line: int
    last: int
    text: str
    headings: tuple[str, ...]
    id: str = ""


def chunk(lines: list[str]) -> tuple[list[Chunk], list[tuple[int, str]]]:
    """Return statements, and the lines that are no statements as they are, with the reason. A statement is a list item
    with its indented lines, a paragraph, a table, a fenced block with the paragraph before it, or a list with the line
    before it that ends with a colon. Headings, rules and comments are in none. Pure."""
    chunks, bad = list[Chunk](), list[tuple[int, str]]()
    headings, taken = list[tuple[int, str]](), list[str]()  # (level, text); the lines of the statement so far
    began = last = 0
    item = leads = False  # `item`: of a list; `leads`: a line with a colon, and the list below it

    def close() -> None:
        nonlocal item, leads
        if text := "\n".join(taken).strip():
            chunks.append(Chunk(began, last, text, tuple(name for _, name in headings)))
        taken.clear()
        item = leads = False

    at = 0
    while at < len(lines):
        line, began = lines[at], began if taken else at + 1
        fence, bullet, indented = _FENCE.match(line), _BULLET.match(line), line.startswith(("  ", "\t"))
        colon = not (item or leads) and "".join(taken[-2:]).rstrip().endswith(":")
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
                taken += [""] if taken[-1].strip() else []
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
        last = at if taken and taken[-1].strip() else last
    close()
    return chunks, bad


def _dedent(line: str) -> str:
    return line[2:] if line.startswith("  ") else line.removeprefix("\t")


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
                    plain = re.sub(r"[^\w]+", "-", (topic or memory.scope).lower()).strip("-_")[:60] or "notes"
                    names = (f"{plain}-{number}.md" if number > 1 else f"{plain}.md" for number in count(1))
                    taken = {*files.values(), *RULES}
                    files[topic] = next(name for name in names if name not in taken)
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
