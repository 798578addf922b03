"""The files of a project: what .gitignore leaves, without what is binary, huge, or leads out of the folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...recall.sources import content_digest
from .records import TransferReport, is_own_file

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


class SourceFile(NamedTuple):
    """A file as it is now. `content` None: it is there and was not read."""

    name: str  # relative to the folder, with /
    content: bytes | None
    digest: str


def source_files(root: Path, wanted: Callable[[str], int], report: TransferReport) -> Iterator[SourceFile]:
    """Files of a folder, by name. `wanted`: a name -> how many bytes it may have, 0 = none of ours."""
    names = [root.name] if root.is_file() else list(_names(root, wanted, report))
    folder = root.parent if root.is_file() else root
    for done, name in enumerate(names, 1):
        report.at(done, len(names))
        path = folder / name
        try:
            size = path.stat().st_size
            content = path.read_bytes() if size <= wanted(name) else None
        except OSError as error:
            report.bad(name, f"cannot be read: {error.strerror}")
            yield SourceFile(name, None, "")
            continue
        if content is None:
            report.note(f"files larger than {wanted(name):,} bytes were skipped")
        elif b"\0" in content[:8_192] and not content.startswith(b"%PDF"):
            report.note("binary files were skipped")
            content = None
        yield SourceFile(name, content, content_digest(content) if content is not None else "")


def _names(root: Path, wanted: Callable[[str], int], report: TransferReport) -> Iterator[str]:
    rules: dict[str, GitIgnoreSpec] = {}
    for place, folders, files in os.walk(root, followlinks=False):
        here = Path(place).relative_to(root).as_posix()
        base = "" if here == "." else here + "/"
        if ".gitignore" in files and (Path(place) / ".gitignore").is_file():
            rules[base] = _read_rules(Path(place) / ".gitignore")
        folders[:] = sorted(
            one
            for one in folders
            if not one.startswith(".") and one not in SKIPPED_FOLDERS and not _ignored(rules, f"{base}{one}/")
        )
        for file in sorted(files):
            name = base + file
            if not wanted(name) or _ignored(rules, name):
                continue
            if not is_own_file(root / name, report):
                continue
            yield name


def _read_rules(path: Path) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(path.read_text(encoding="utf-8", errors="replace").splitlines())
    except (OSError, ValueError):
        return GitIgnoreSpec.from_lines([])


def _ignored(rules: dict[str, GitIgnoreSpec], name: str) -> bool:
    """The last word is that of the .gitignore nearest to the file."""
    verdict = False
    for base, spec in rules.items():
        if name.startswith(base):
            said = spec.check_file(name[len(base) :]).include
            verdict = verdict if said is None else bool(said)
    return verdict
