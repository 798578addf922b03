"""Which files there are to organize, what is in them, and the mark of their content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...model.errors import BadInput
from ...store.foreign import is_sqlite
from ..transfer import markdown
from ..transfer.records import SKIPPED_FOLDERS, TransferReport, is_own_file
from .clients import read_gemini_json, read_lines
from .opencode import read_opencode
from .turns import Conversation, Turn, said

MAX_FILES = 100_000
NOTES = markdown.SUFFIXES
# client -> (variable that moves its folder, folder below the home, what to look for there).
PLACES: dict[str, tuple[str, str, str]] = {
    "claude": ("CLAUDE_CONFIG_DIR", ".claude", "projects/*/*.jsonl"),
    "codex": ("CODEX_HOME", ".codex", "sessions/*/*/*/rollout-*.jsonl"),
    "gemini": ("GEMINI_CLI_HOME", ".gemini", "tmp/*/chats/session-*.json*"),
    "copilot": ("COPILOT_HOME", ".copilot", "session-state/*/events.jsonl"),
    "cursor": ("", ".cursor", "projects/*/agent-transcripts/**/*.jsonl"),
    "opencode": ("XDG_DATA_HOME", ".local/share/opencode", "opencode*.db"),
}
# Variables that name what the client's own folder lies in.
_PARENTS = {"GEMINI_CLI_HOME": ".gemini", "XDG_DATA_HOME": "opencode"}


def find(paths: Sequence[Path], report: TransferReport) -> list[Path]:
    """The files to read: those that are named, and in folders all that could be transcripts or notes, sorted.

    Raises BadInput for a path that is not there.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            found.update(dict.fromkeys(sorted(_in_folder(path, report))))
        elif path.is_file():
            found[path] = None
        else:
            raise BadInput(f"no file or folder {path}")
    return list(found)


def _in_folder(root: Path, report: TransferReport) -> Iterator[Path]:
    count = 0
    for folder, folders, files in os.walk(root, followlinks=False):
        folders[:] = [one for one in folders if one not in SKIPPED_FOLDERS and one != ".git"]
        for name in files:
            path = Path(folder) / name
            if not name.lower().endswith((".jsonl", ".json", ".db", *NOTES)):
                continue
            if not is_own_file(path, report):
                continue
            count += 1
            if count > MAX_FILES:
                raise BadInput(f"{root} holds more than {MAX_FILES:,} files")
            yield path


def places(clients: Sequence[str], home: Path) -> list[Path]:
    """The transcripts that some clients keep in their own folders. Raises BadInput for a client that is not known."""
    found: list[Path] = []
    for client in clients:
        if client not in PLACES:
            raise BadInput(f"unknown client: {client[:60]!r}", hint=f"one of: {', '.join(PLACES)}, all")
        variable, folder, pattern = PLACES[client]
        given = os.environ.get(variable, "") if variable else ""
        root = Path(given) / _PARENTS.get(variable, "") if given else home / folder
        found += sorted(one for one in root.glob(pattern) if one.is_file() and not one.is_symlink())
    return found


def digest_of(path: Path) -> str:
    """The mark of a file's content; of a live SQLite file with its log. Raises OSError."""
    mark = hashlib.sha256()
    for part in (path, path.with_name(path.name + "-wal")):
        if part is path or part.is_file():
            with part.open("rb") as file:
                while block := file.read(1 << 20):
                    mark.update(block)
    return mark.hexdigest()


def read(path: Path, report: TransferReport) -> Iterator[Conversation]:
    """What is in a file. Raises BadInput when it is nothing that is known, or cannot be read at all."""
    name = path.name.lower()
    if name.endswith(NOTES):
        yield from _notes(path)
    elif is_sqlite(path):
        yield from read_opencode(path, report)
    elif name.endswith(".json"):
        yield from read_gemini_json(path, report)
    else:
        yield from read_lines(path, report)
        _unfinished(path, report)


def _unfinished(path: Path, report: TransferReport) -> None:
    """The last line of a session that goes on may be half written: the next run reads it."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        if file.read(1) == b"\n" or not report.rejected:
            return
        file.seek(0)
        last = 1
        while block := file.read(1 << 20):
            last += block.count(b"\n")
    if report.rejected[-1][0] == f"line {last}":
        report.rejected.pop()
        report.note("last lines that are not written to their end yet are left for the next run")


def _notes(path: Path) -> Iterator[Conversation]:
    """A file of Markdown: every item and paragraph is a note of its author. What limpet wrote itself is left out."""
    if path.stat().st_size > markdown.MAX_FILE_BYTES:
        raise BadInput(f"{path} is too large: {markdown.MAX_FILE_BYTES:,} bytes at most")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8: {error.reason} at {error.start}") from None
    page = markdown.page_of(path.name, text.splitlines())
    made, at = Conversation(client="notes", id=path.stem[:200], path=str(path)), path.stat().st_mtime_ns // 1_000
    if "limpet" not in page.front:
        for one in page.chunks:
            words = said(one.text) if markdown.OWN.search(one.text) is None else ""
            if words:
                made.turns.append(Turn(role="user", id=one.id, place=f"line {one.line}", text=words, at=at))
    yield made
