"""LangGraph: the SQLite file of its long-term store (`SqliteStore`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ..model.errors import BadInput
from ..store.foreign import ForeignFile
from .records import Record, TransferReport, kind_of, moment, text_list, time_or_note
from .source import cell_text, json_object, report_damage

COLUMNS = ("prefix", "key", "value", "created_at", "updated_at")
# Where values keep their text; of one without any of these the whole value is the text.
TEXTS = ("text", "content", "memory", "data")


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """An item is a memory. Raises BadInput."""
    with ForeignFile(path) as file:
        if not file.has("store", *COLUMNS):
            raise BadInput(f"{path} is no LangGraph store: it has no table of items")
        report_damage(file, report)
        timed = file.has("store", "expires_at")
        total = file.count("store")
        for number, row in enumerate(file.rows("store", (*COLUMNS, *(("expires_at",) if timed else ()))), 1):
            report.at(number, total)
            place = f"row {number}"
            try:
                prefix, key, text, *times = (cell_text(one, "a cell") for one in row)
            except BadInput as error:
                report.bad(place, error.message)
                continue
            value = json_object(text, "the value", place, report)
            if not value:
                report.note("items without a value were left out")
                continue
            name = next((one for one in TEXTS if isinstance(value.get(one), str) and value[one].strip()), None)
            created, updated, expires = (
                time_or_note(moment, one, place, what, report)
                for one, what in zip([*times, None][:3], ("created_at", "updated_at", "expires_at"), strict=True)
            )
            yield Record(
                id=json.dumps([prefix, key]),
                place=place,
                content=str(value[name]) if name else json.dumps(value, ensure_ascii=False),
                kind=kind_of(value.get("kind") or value.get("type"), {}),
                topics=tuple(one for one in text_list(value.get("topics")) if len(one) <= 200)[:50],
                created=created,
                updated=updated,
                valid_to=expires,
                metadata={one: value[one] for one in value if name and one != name} | {"namespace": prefix, "key": key},
            )
