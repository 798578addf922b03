"""LangGraph: the SQLite file of its long-term store (`SqliteStore`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ...store.foreign import Cell
from .records import Record, TransferReport, kind_of, moment, time_or_note, topics
from .source import cell_text, database, json_object, records_of

COLUMNS = ("prefix", "key", "value", "created_at", "updated_at", "expires_at")
# Where values keep their text; of one without any of these the whole value is the text.
TEXTS = ("text", "content", "memory", "data")


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """An item is a memory. Raises BadInput."""
    needs = {"store": COLUMNS[:5]}
    with database(path, report, what="LangGraph store", rows="items", needs=needs) as file:

        def record(row: dict[str, Cell], place: str) -> Record | None:
            prefix, key, text, *times = (cell_text(row[one], "a cell") for one in COLUMNS)
            value = json_object(text, "the value", place, report)
            if not value:
                report.note("items without a value were left out")
                return None
            name = next((one for one in TEXTS if isinstance(value.get(one), str) and value[one].strip()), None)
            created, updated, expires = (
                time_or_note(moment, at, place, what, report) for at, what in zip(times, COLUMNS[3:], strict=True)
            )
            return Record(
                id=json.dumps([prefix, key]),
                place=place,
                content=str(value[name]) if name else json.dumps(value, ensure_ascii=False),
                kind=kind_of(value.get("kind") or value.get("type"), {}),
                topics=topics(value.get("topics")),
                created=created,
                updated=updated,
                valid_to=expires,
                metadata={one: value[one] for one in value if name and one != name} | {"namespace": prefix, "key": key},
            )

        yield from records_of(file, "store", COLUMNS, report, record)
