"""mem0: its export, a JSON list of memories (also below "results" or "memories")."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .records import Record, TransferReport, digest, kind_of, moment, time_or_note, topics
from .source import json_items, member

KINDS = {"preferences": "preference", "goals": "goal", "decisions": "decision"}
# Whose memory it is, and whose words; they are labels there, and stay in the metadata here.
OWNERS = ("user_id", "agent_id", "app_id", "run_id", "actor_id", "attributed_to")
KNOWN = frozenset(
    {"id", "memory", "text", "data", "created_at", "updated_at", "metadata", "categories", "hash", "score", "role",
     "expiration_date", "immutable", "event", *OWNERS}
)  # fmt: skip


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    with member(path, path.name) as (file, name):
        number = 0
        for item in json_items(file, name):  # type: ignore[arg-type]
            for one in _memories(item):
                number += 1
                place = f"item {number}"
                record = _record(one, place, report)
                if record is not None:
                    yield record
                report.at(number, number)


def _memories(item: Any) -> list[Any]:
    if isinstance(item, dict):
        for name in ("results", "memories"):
            if isinstance(item.get(name), list):
                return list(item[name])
    return [item]


def _record(one: Any, place: str, report: TransferReport) -> Record | None:
    if not isinstance(one, dict):
        report.bad(place, "not an object")
        return None
    content = next((one[name] for name in ("memory", "text", "data") if isinstance(one.get(name), str)), None)
    if content is None:
        report.bad(place, "it holds no memory")
        return None
    for name in sorted(set(one) - KNOWN):
        report.note(f"the field {name[:40]!r} is not known and was left out")
    given = one.get("metadata")
    if given is not None and not isinstance(given, dict):
        report.bad(place, "metadata is no object; taken without it")
        given = None
    metadata = dict(given or {})
    for name in OWNERS:
        if isinstance(one.get(name), str):
            metadata.setdefault(name, one[name])
    run, role = one.get("run_id"), one.get("role")
    id = one.get("id")
    return Record(
        id=str(id) if isinstance(id, str | int) and id != "" else digest(content, metadata),
        place=place,
        content=content,
        kind=kind_of(metadata.get("type"), KINDS),
        topics=topics(one.get("categories"), metadata.get("category"), metadata.get("topic")),
        created=time_or_note(moment, one.get("created_at"), place, "created_at", report),
        updated=time_or_note(moment, one.get("updated_at"), place, "updated_at", report),
        valid_to=time_or_note(moment, one.get("expiration_date"), place, "expiration_date", report),
        session=run if isinstance(run, str) and len(run) <= 200 else None,
        speaker=role if isinstance(role, str) and len(role) <= 200 else None,
        metadata=metadata,
    )
