"""Drift of indexed sources: whether the file that a memory was read from is fresh, drifted or gone.

Only files are compared; nothing is stored, and no rank depends on it.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

# Where a memory's metadata says what it was read from: {"root", "file", "line", "lines", "digest", "file_digest", ...}.
INDEXED = "indexed"
# Larger files are taken as they are: comparing them would be felt.
MAX_BYTES = 50_000_000


def lines_digest(lines: Sequence[str]) -> str:
    """A mark of some whole lines, line ends left out."""
    return content_digest("\n".join(lines).encode("utf-8", "surrogatepass"))


def content_digest(content: bytes) -> str:
    """A mark of the bytes of a file."""
    import hashlib  # a recall that finds nothing indexed need not load it

    return hashlib.sha256(content).hexdigest()[:16]


class Sources:
    """Compares memories with their files, each file read once."""

    def __init__(self) -> None:
        self._files: dict[Path, bytes | None] = {}

    def state(self, metadata: Mapping[str, Any]) -> str | None:
        """fresh: its lines are in the file as they were. drifted: they are not. gone: the file is not there.

        None: it was not read from a file, or the whole folder is not on this machine.
        """
        mark = metadata.get(INDEXED)
        if not isinstance(mark, dict):
            return None
        root, name, line, count = (mark.get(one) for one in ("root", "file", "line", "lines"))
        if not (isinstance(root, str) and isinstance(name, str) and isinstance(line, int) and isinstance(count, int)):
            return None
        from pathlib import Path

        if "\0" in root + name or ".." in Path(name).parts or not Path(root).is_dir():
            return None
        content = self._read(Path(root) / name)
        if content is None:
            return "gone"
        if content_digest(content) == mark.get("file_digest"):
            return "fresh"
        return "fresh" if count > 0 and _holds(content, line, count, mark.get("digest")) else "drifted"

    def _read(self, path: Path) -> bytes | None:
        if path not in self._files:
            self._files[path] = _content(path)
        return self._files[path]


def _content(path: Path) -> bytes | None:
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > MAX_BYTES:
            return None
        with path.open("rb") as file:
            return file.read(MAX_BYTES)
    except OSError:
        return None


def _holds(content: bytes, line: int, count: int, digest: object) -> bool:
    """Whether the same lines are anywhere in the file, where they were first of all."""
    lines = content.decode("utf-8-sig", "replace").splitlines()
    places = sorted(range(max(0, len(lines) - count + 1)), key=lambda at: abs(at - line + 1))
    return any(lines_digest(lines[at : at + count]) == digest for at in places)
