"""Claude Code's memory folder: one memory a file with front matter, and MEMORY.md, an index of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...model.errors import BadInput
from . import frontmatter
from .markdown import MAX_FILES, WIKI, read_lines
from .records import Link, Record, TransferReport, cleaned, is_own_file

INDEX = "MEMORY.md"
# Their types: what the user is, how they want things done, what a project is about, where something is found.
KINDS = {"user": "preference", "feedback": "lesson", "project": "fact", "reference": "note"}
ENTRY = re.compile(r"\s*[-*]\s+\[([^\]]*)\]\(([^)\s]+)\)\s*(?:[—–:-]+\s*(.*))?$")


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """`path`: the folder. A file's name is its id: a file that was changed is an edited memory. Raises BadInput."""
    if not path.is_dir():
        raise BadInput(f"{path} is no folder")
    files = sorted(file for file in path.glob("*.md") if file.name != INDEX and is_own_file(file, report))
    if len(files) > MAX_FILES:
        raise BadInput(f"{path} holds more than {MAX_FILES:,} files")
    index = path / INDEX
    entries = _index(index, {file.name for file in files}, report) if index.is_file() else {}
    if not files and not index.is_file():
        raise BadInput(f"{path} is no memory folder: it holds no Markdown")
    # Links lead forward too: the first look finds the names by which files link to each other.
    ids: dict[str, str] = {}
    for file in files:
        name = frontmatter.parse(read_lines(file, None) or []).values.get("name")
        ids[file.stem.lower()] = file.name
        if isinstance(name, str):
            ids.setdefault(name.strip().lower(), file.name)
    for done, file in enumerate(files, 1):
        report.at(done, len(files))
        lines = read_lines(file, report)
        if lines is not None:
            yield record(file, lines, entries.get(file.name), ids, report)


def _index(file: Path, names: set[str], report: TransferReport) -> dict[str, tuple[str, str]]:
    """file name -> (title, hook)."""
    entries: dict[str, tuple[str, str]] = {}
    for number, line in enumerate(read_lines(file, report) or [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        entry = ENTRY.match(line)
        if entry is None:
            report.bad(f"{INDEX}:{number}", f"not an entry of the index: {line.strip()[:100]}")
        elif entry[2].removeprefix("./") not in names:
            report.bad(f"{INDEX}:{number}", f"the file {entry[2][:100]} is not there")
        else:
            entries[entry[2].removeprefix("./")] = (entry[1].strip(), (entry[3] or "").strip())
    return entries


def record(
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
        name, report, id=name, content=body or str(values.get("description") or ""), kinds=KINDS, kind=type,
        topics=[type, values.get("tags")], source=name[:2_000], metadata=metadata,
        created=given.get("modified") or values.get("modified") or file.stat().st_mtime,
        links=tuple(Link(type="related_to", target=target) for target in targets if target and target != name),
    )  # fmt: skip
