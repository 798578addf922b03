"""The files to organize, a hash of their content, and the parts of them that may be read.

Nothing is read of incognito sessions, of paused times and of folders that are off, and no turn that holds what is to
be ignored.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...model.errors import BadInput
from ...pause import Pauses, ignored_in, is_ignored, read_folder
from ..transfer import formats, markdown, texts
from ..transfer.records import SKIPPED_FOLDERS, TransferReport, is_own_file
from .clients import CLIENTS, read_transcript
from .transcripts import Conversation, Turn, spoken

MAX_FILES = 100_000
SUFFIXES = (".jsonl", ".json", ".db", *texts.MARKDOWN)


def find(paths: Sequence[Path], report: TransferReport) -> list[Path]:
    """Return the files to read, sorted: those named, and in folders all that could be transcripts or notes.

    Raises BadInput for a path that is not there.
    """
    files: list[Path] = []
    for path in paths:
        if not (path.is_dir() or path.is_file()):
            raise BadInput(f"no file or folder {path}")
        inside = []
        for folder, folders, names in os.walk(path, followlinks=False):
            folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS and name != ".git"]
            wanted = [Path(folder) / name for name in names if name.lower().endswith(SUFFIXES)]
            inside += [file for file in wanted if is_own_file(file, file.name, report)]
            if len(inside) > MAX_FILES:
                raise BadInput(f"{path} holds more than {MAX_FILES:,} files")
        files += sorted(inside) if path.is_dir() else [path]
    return list(dict.fromkeys(files))


def of_clients(names: Sequence[str]) -> list[Path]:
    """Return the transcripts that some clients keep in their own folders. Raises BadInput for an unknown client."""
    paths: list[Path] = []
    for name in sorted(CLIENTS) if "all" in names else names:
        if name not in CLIENTS:
            raise BadInput(f"unknown client: {name[:60]!r}", hint=f"one of: {', '.join(sorted(CLIENTS))}, all")
        client = CLIENTS[name]
        given = os.environ.get(client.variable, "") if client.variable else ""
        root = Path(given) / client.moved if given else Path.home() / client.folder
        paths += sorted(path for path in root.glob(client.files) if path.is_file() and not path.is_symlink())
    return paths


def digest_of(path: Path) -> str:
    """Return a hash of a file's content, for a live SQLite file including its log. Raises OSError."""
    mark = hashlib.sha256()
    for part in (path, path.with_name(path.name + "-wal")):
        if part is path or part.is_file():
            with part.open("rb") as file:
                mark.update(hashlib.file_digest(file, "sha256").digest())
    return mark.hexdigest()


def read(
    path: Path, report: TransferReport, pauses: Pauses, *, part: int | None = None
) -> Iterator[Conversation]:  # fmt: skip
    """Yield the conversations of a file that may be read. `part`: see `read_transcript`. Raises BadInput for an unknown
    or unreadable file."""
    if is_ignored(str(path), pauses.ignore):
        report.note("files whose path is ignored were left out")
        return
    is_notes = path.name.lower().endswith(texts.MARKDOWN)
    for conversation in _notes(path) if is_notes else read_transcript(path, report, part=part):
        folder = conversation.folder or (str(path.absolute().parent) if is_notes else "")
        if conversation.id in pauses.sessions or "off" in read_folder(folder)[1]:
            report.note("conversations that are incognito, or of folders that are off, were left out")
            continue
        patterns = (*pauses.ignore, *ignored_in(folder))
        conversation.turns = [
            turn for turn in conversation.turns
            if not (turn.at is not None and pauses.at(turn.at))
            and not (patterns and is_ignored(f"{turn.text} {turn.command} {turn.path} {turn.output}", patterns))
        ]  # fmt: skip
        yield conversation
    # The last line of a session that goes on may be half written.
    raw = path.read_bytes() if report.rejected else b"\n"
    if not raw.endswith(b"\n") and report.rejected[-1][0] == f"line {1 + raw.count(10)}":
        report.rejected.pop()
        report.note("last lines that are not written to their end yet are left for the next run")


def _notes(path: Path) -> Iterator[Conversation]:
    """Yield a Markdown file's items and paragraphs as notes of its author. Limpet's own texts are left out."""
    report = TransferReport(by_name=True)
    lines = texts.read_lines(path, report)
    if lines is None:
        raise BadInput(f"{path}: {report.rejected[0][1]}")
    page = texts.page_of(path.name, lines, formats.markdown)
    made, at = Conversation("notes", path), path.stat().st_mtime_ns // 1_000
    for chunk in page.chunks if "limpet" not in page.front else ():
        words = spoken(chunk.text) if markdown.OWN.search(chunk.text) is None else ""
        if words:
            made.turns.append(Turn(role="user", id=chunk.id, place=f"line {chunk.line}", text=words, at=at))
    yield made
