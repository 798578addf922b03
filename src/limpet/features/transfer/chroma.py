"""Chroma: the folder of a `PersistentClient`, or its `chroma.sqlite3`, every collection of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...model.errors import BadInput
from ...store.foreign import Cell, ForeignFile
from .records import Record, TransferReport, digest, kind_of, moment, time_or_note, topics
from .source import cell_text, database, records_of

FILE = "chroma.sqlite3"
# The key under which a document's text stands among its metadata.
DOCUMENT = "chroma:document"
COLUMNS = ("id", "segment_id", "embedding_id", "created_at")
VALUES = ("string_value", "int_value", "float_value", "bool_value")


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """A document is a memory. Raises BadInput."""
    needs = {"embedding_metadata": ("id", "key", *VALUES), "embeddings": ("embedding_id",)}
    with database(path, report, what="Chroma database", rows="documents", needs=needs, inner=FILE) as file:
        collections = _pairs(file, "collections", "id", "name")
        of = {one: collections.get(its, its) for one, its in _pairs(file, "segments", "id", "collection").items()}
        metadata = _metadata(file, report)

        def record(row: dict[str, Cell], place: str) -> Record | None:
            segment, id, created = (cell_text(row[one], "a cell") for one in COLUMNS[1:])
            values = metadata.get(row["id"], {})
            content = values.pop(DOCUMENT, None)
            if not isinstance(content, str) or not id:
                report.note("entries without a document were left out")
                return None
            collection = of.get(segment or "", "")
            return Record(
                id=digest(collection, id),
                place=place,
                content=content,
                kind=kind_of(values.get("kind") or values.get("type"), {}),
                topics=topics(values.get("topic")) or topics(values.get("category")),
                created=time_or_note(moment, created, place, "created_at", report),
                metadata={**values, "collection": collection, "id": id},
            )

        yield from records_of(file, "embeddings", COLUMNS, report, record)


def _pairs(file: ForeignFile, table: str, key: str, value: str) -> dict[str, str]:
    if not file.has(table, key, value):
        return {}
    cells = file.rows(table, (key, value))
    rows = ((cell_text(one, "a cell") or "", cell_text(its, "a cell") or "") for one, its in cells)
    return dict(rows)


def _metadata(file: ForeignFile, report: TransferReport) -> dict[Cell, dict[str, Any]]:
    """All of it: an entry's rows need not stand together."""
    found: dict[Cell, dict[str, Any]] = {}
    for number, (id, key, text, whole, share, flag) in enumerate(
        file.rows("embedding_metadata", ("id", "key", *VALUES)), 1
    ):
        try:
            name, said = cell_text(key, "a key"), cell_text(text, "a value")
        except BadInput as error:
            report.bad(f"metadata {number}", error.message)
            continue
        value = said if said is not None else bool(flag) if flag is not None else whole if whole is not None else share
        if name:
            found.setdefault(id, {})[name] = value
    return found
