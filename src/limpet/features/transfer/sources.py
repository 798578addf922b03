"""Comparison of memories with the files they were read from. Ranking does not depend on it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...model.errors import BadInput
from ...recall.lookup import INDEXED

if TYPE_CHECKING:
    from ...model.memory import Memory

# Larger files are taken as they are: comparing them would be felt.
MAX_BYTES = 50_000_000


def lines_digest(lines: Sequence[str]) -> str:
    """Return a hash of some whole lines, without line ends."""
    return content_digest("\n".join(lines).encode("utf-8", "surrogatepass"))


def content_digest(content: bytes) -> str:
    """Return a hash of the bytes of a file."""
    return hashlib.sha256(content).hexdigest()[:16]


def states(memories: Sequence[Memory]) -> list[str | None]:
    """Compare memories with their files, each file read once.

    fresh: the file has its lines. drifted: it does not. gone: there is no file. None: the memory is from no file, or
    the whole folder is not on this machine.
    """
    files: dict[Path, bytes | None] = {}
    return [_state(memory.metadata.get(INDEXED), files) for memory in memories]


def _state(mark: object, files: dict[Path, bytes | None]) -> str | None:
    """Compare with the file that a mark names: {"root", "file", "line", "lines", "digest", "file_digest", ...}."""
    if not isinstance(mark, Mapping):
        return None
    root, name, line, count = (mark.get(field) for field in ("root", "file", "line", "lines"))
    if not (isinstance(root, str) and isinstance(name, str) and isinstance(line, int) and isinstance(count, int)):
        return None
    if "\0" in root + name or ".." in Path(name).parts or not Path(root).is_dir():
        return None
    path = Path(root) / name
    if path not in files:
        files[path] = None
        with suppress(OSError):
            if path.is_file() and path.stat().st_size <= MAX_BYTES:
                files[path] = path.read_bytes()
    content = files[path]
    if content is None:
        return "gone"
    if content_digest(content) == mark.get("file_digest"):
        return "fresh"
    # Look for the same lines in the whole file, first where they were.
    from .formats import decoded, split_lines

    try:
        lines = split_lines(decoded(content)[0])
    except BadInput:
        return "drifted"
    places = sorted(range(max(0, len(lines) - count + 1)), key=lambda at: abs(at - line + 1)) if count > 0 else []
    same = any(lines_digest(lines[at : at + count]) == mark.get("digest") for at in places)
    return "fresh" if same else "drifted"
