"""Claude Code's memory folder: one memory a file with front matter, and MEMORY.md, an index of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...model.errors import BadInput
from . import frontmatter
from .markdown import _WIKI, MAX_FILE_BYTES, MAX_FILES
from .records import Link, Record, TransferReport, in_range, is_own_file, kind_of, moment, time_or_note, topics

INDEX = "MEMORY.md"
# Their types: what the user is, how they want things done, what a project is about, where something is found.
KINDS = {"user": "preference", "feedback": "lesson", "project": "fact", "reference": "note"}
ENTRY = re.compile(r"\s*[-*]\s+\[([^\]]*)\]\(([^)\s]+)\)\s*(?:[—–:-]+\s*(.*))?$")


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """`path`: the folder. A file's name is its id: a file that was changed is an edited memory. Raises BadInput."""
    if not path.is_dir():
        raise BadInput(f"{path} is no folder")
    files = sorted(one for one in path.glob("*.md") if one.name != INDEX and is_own_file(one, report))
    if len(files) > MAX_FILES:
        raise BadInput(f"{path} holds more than {MAX_FILES:,} files")
    index = path / INDEX
    entries = _index(index, {one.name for one in files}, report) if index.is_file() else {}
    if not files and not entries and not index.is_file():
        raise BadInput(f"{path} is no memory folder: it holds no Markdown")
    ids: dict[str, str] = {}
    readable = []
    for file in files:
        lines = _lines(file, report)
        if lines is not None:
            readable.append(file)
            name = frontmatter.parse(lines).values.get("name")
            ids[file.stem.lower()] = file.name
            if isinstance(name, str):
                ids.setdefault(name.strip().lower(), file.name)
    # Read again, one at a time: not all of them need to be in memory.
    for done, file in enumerate(readable, 1):
        report.at(done, len(readable))
        lines = _lines(file, report)
        if lines is not None:
            yield record(file, lines, entries.get(file.name), ids, report)


def _lines(file: Path, report: TransferReport) -> list[str] | None:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise BadInput(f"{file.stat().st_size:,} bytes, {MAX_FILE_BYTES:,} at most")
        return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        report.bad(file.name, f"not UTF-8: {error.reason} at {error.start}")
    except BadInput as error:
        report.bad(file.name, error.message)
    except OSError as error:
        report.bad(file.name, f"cannot be read: {error.strerror}")
    return None


def _index(file: Path, names: set[str], report: TransferReport) -> dict[str, tuple[str, str]]:
    """file name -> (title, hook)."""
    found: dict[str, tuple[str, str]] = {}
    for number, line in enumerate(_lines(file, report) or [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        entry = ENTRY.match(line)
        if entry is None:
            report.bad(f"{INDEX}:{number}", f"not an entry of the index: {line.strip()[:100]}")
        elif entry[2].removeprefix("./") not in names:
            report.bad(f"{INDEX}:{number}", f"the file {entry[2][:100]} is not there")
        else:
            found[entry[2].removeprefix("./")] = (entry[1].strip(), (entry[3] or "").strip())
    return found


def record(
    file: Path, lines: list[str], entry: tuple[str, str] | None, ids: dict[str, str], report: TransferReport
) -> Record:
    """What one file says. `entry`: its title and hook in the index; `ids`: the names of the files it may link to."""
    name = file.name
    front = frontmatter.parse(lines)
    for line, said in front.bad:
        report.bad(f"{name}:{line}", f"front matter: {said[:100]}")
    if not front.lines:
        report.note("files without front matter")
    body = "\n".join(lines[front.lines :]).strip()
    inner = front.values.get("metadata")
    given = inner if isinstance(inner, dict) else {}
    metadata = {one: value for one, value in front.values.items() if one != "metadata"} | given | {"file": name}
    if entry:
        metadata |= {key: text for key, text in zip(("title", "hook"), entry, strict=True) if text}
    description = front.values.get("description")
    if not body and isinstance(description, str):
        body = description
    at = given.get("modified") or front.values.get("modified")
    created = time_or_note(moment, at, name, "modified", report)
    targets = dict.fromkeys(ids.get(link.strip().lower()) for link in _WIKI.findall(body))
    if None in targets:
        report.note("links to files that are not there")
    links = [Link(type="related_to", target=one) for one in targets if one and one != name]
    type = given.get("type") or front.values.get("type")
    return Record(
        id=name,
        place=name,
        content=body,
        kind=kind_of(type, KINDS),
        topics=topics(type if isinstance(type, str) else None, front.values.get("tags")),
        created=created if created is not None else in_range(file.stat().st_mtime_ns // 1_000),
        source=name[:2_000],
        metadata=metadata,
        links=tuple(links),
    )
