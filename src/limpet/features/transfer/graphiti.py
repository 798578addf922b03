"""Graphiti and Zep: nodes, edges (facts) and episodes as their own classes write them in JSON, one a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...model.errors import BadInput
from .records import Link, Record, TransferReport, moment, text_list, time_or_note, topics
from .source import json_lines

# What stands elsewhere here, and what is made anew.
MOVED = frozenset({
    "uuid", "uuid_", "name", "fact", "content", "summary", "created_at", "valid_at", "invalid_at", "name_embedding",
    "fact_embedding", "source_node_uuid", "target_node_uuid", "source_node_name", "target_node_name", "entity_edges",
    "session_id", "thread_id", "thread_uuid", "role_name",
})  # fmt: skip
# Versions of Zep call a conversation differently.
SESSIONS = ("thread_uuid", "thread_id", "session_id")
# When it began to hold or was said; without that, when it was told of.
BEGINS = ("valid_at", "reference_time", "created_at")
# What every node is.
ANY = "Entity"


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """A fact is a memory, with the names of what it joins as topics; so are a node's summary, and an episode. What was
    known of a fact's end is the end of its validity. Raises BadInput.
    """
    names: dict[str, Any] = {}
    told: set[str] = set()
    # Facts name their nodes and episodes by ids, and lines come in any order.
    for _, one in json_lines(path, TransferReport()):
        if "fact" not in one:
            told.add(_id(one)) if "content" in one else names.setdefault(_id(one), one.get("name"))
    for number, one in json_lines(path, report):
        place = f"line {number}"
        try:
            record = _record(one, place, names, told, report)
        except BadInput as error:
            report.bad(place, error.message)
            continue
        if record is not None:
            yield record


def _record(
    one: dict[str, Any], place: str, names: dict[str, Any], told: set[str], report: TransferReport
) -> Record | None:
    id = _id(one)
    if not id:
        raise BadInput("it has no uuid")
    given = one.get("attributes")
    metadata = (given if isinstance(given, dict) else {}) | {
        name: value for name, value in one.items() if name not in MOVED and name != "attributes" and value
    }
    about: list[Any] = []
    rests = [each for each in text_list(one.get("episodes") or one.get("episode_uuids")) if each in told]
    if "fact" in one:
        content = _text(one["fact"])
        about = [
            names.get(str(one.get(f"{side}_node_uuid"))) or one.get(f"{side}_node_name")
            for side in ("source", "target")
        ]
        metadata["relation"] = {"from": about[0], "type": one.get("name"), "to": about[1]}
    elif "content" in one:
        content = _text(one["content"])
        metadata |= {"name": one["name"]} if _text(one.get("name")) else {}
    elif _text(one.get("summary")):
        content = f"{one.get('name')}: {one['summary']}"
        about = [one.get("name"), [label for label in text_list(one.get("labels")) if label != ANY]]
    elif _text(one.get("name")):
        report.note("nodes without a summary are topics of their facts")
        return None
    else:
        content = ""
    if not content:
        raise BadInput("it has no text")
    session = next((one[name] for name in SESSIONS if _text(one.get(name))), None)
    speaker = one.get("role_name") or one.get("role")
    begins = next((one[name] for name in BEGINS if one.get(name)), None)
    return Record(
        id=id,
        place=place,
        content=content,
        kind="episode" if "content" in one else "fact",
        topics=topics(*about),
        created=time_or_note(moment, begins, place, "valid_at", report),
        valid_to=time_or_note(moment, one.get("invalid_at") or one.get("expired_at"), place, "invalid_at", report),
        session=session[:200] if session else None,
        speaker=_text(speaker)[:200] or None,
        metadata=metadata,
        links=tuple(Link(type="caused_by", target=each) for each in dict.fromkeys(rests)),
    )


def _id(one: dict[str, Any]) -> str:
    """As Graphiti calls it, and as Zep's Python client does."""
    return _text(one.get("uuid")) or _text(one.get("uuid_"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) and value.strip() else ""
