"""Memori: its SQLite databases, schema v0 to v3, and its JSONL."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...model.errors import BadInput
from ...store.foreign import Cell, is_sqlite
from .records import Record, TransferReport, kind_of, seconds, time_or_note, topics, unit
from .source import cell_text, database, json_lines, json_object, records_of

NEWEST = 3
# Their types that are no kinds of ours; the type stays in the metadata too.
KINDS = {
    "debugging": "lesson", "architecture": "decision", "pattern": "skill", "roadmap": "goal", "temporary": "note",
}  # fmt: skip
COLUMNS = ("id", "content", "vector", "metadata", "created_at", "updated_at", "last_accessed", "access_count")


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """Records of a database, by its first bytes, or of JSONL. Raises BadInput."""
    return _database(path, report) if is_sqlite(path) else _lines(path, report)


def _database(path: Path, report: TransferReport) -> Iterator[Record]:
    needs = {"memories": ("id", "content", "created_at", "updated_at")}
    with database(path, report, what="Memori database", rows="memories", needs=needs) as file:
        if file.version > NEWEST:
            report.note(f"schema version {file.version} is newer than {NEWEST}, which is known; read as that")

        def record(row: dict[str, Cell], place: str) -> Record:
            return _record(
                place,
                id=cell_text(row["id"], "id"),
                content=cell_text(row["content"], "content"),
                metadata=json_object(cell_text(row["metadata"], "metadata"), "metadata", place, report),
                vector=row["vector"],
                given=row,
                report=report,
            )

        yield from records_of(file, "memories", COLUMNS, report, record)


def _lines(path: Path, report: TransferReport) -> Iterator[Record]:
    for number, line in json_lines(path, report):
        place = f"line {number}"
        metadata = line.get("metadata")
        if metadata is not None and not isinstance(metadata, dict):
            report.bad(place, "metadata is no object; taken without it")
            metadata = None
        try:
            yield _record(
                place,
                id=line.get("id"),
                content=line.get("content"),
                metadata=metadata or {},
                vector=_packed(line.get("vector"), place, report),
                given=line,
                report=report,
            )
        except BadInput as error:
            report.bad(place, error.message)


def _record(
    place: str,
    *,
    id: Any,
    content: Any,
    metadata: dict[str, Any],
    vector: Cell,
    given: dict[str, Any],
    report: TransferReport,
) -> Record:
    if not isinstance(id, str) or not id:
        raise BadInput("it has no id")
    if not isinstance(content, str):
        raise BadInput("it has no content")
    created = time_or_note(seconds, given.get("created_at"), place, "created_at", report)
    uses = given.get("access_count")
    session, speaker = metadata.get("session"), metadata.get("speaker")
    if vector is not None and (not isinstance(vector, bytes) or len(vector) % 4):
        size = len(vector) if isinstance(vector, bytes) else vector
        report.bad(place, f"a vector of {size} bytes is none; taken without it")
        vector = None
    return Record(
        id=id,
        place=place,
        content=content,
        kind=kind_of(metadata.get("type"), KINDS),
        topics=topics(metadata.get("topic"), metadata.get("topics"), metadata.get("tags")),
        created=created,
        updated=time_or_note(seconds, given.get("updated_at"), place, "updated_at", report),
        confidence=unit(metadata.get("confidence")),
        session=session if isinstance(session, str) and len(session) <= 200 else None,
        speaker=speaker if isinstance(speaker, str) and len(speaker) <= 200 else None,
        metadata=metadata,
        vector=vector,
        uses=uses if isinstance(uses, int) and not isinstance(uses, bool) and uses > 0 else 0,
        used=time_or_note(seconds, given.get("last_accessed"), place, "last_accessed", report),
    )


def _packed(vector: Any, place: str, report: TransferReport) -> bytes | None:
    if vector is None:
        return None
    try:
        return struct.pack(f"<{len(vector)}f", *vector)
    except (TypeError, ValueError, OverflowError, struct.error):
        report.bad(place, "the vector is no list of numbers; taken without it")
        return None
