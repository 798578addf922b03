"""limpet's own JSONL: the ledger, one event a line, lossless. export -> import -> export is byte-identical.

A line that has no "event" is a plain statement, as `remember --batch` takes it.

    {"event", "type", "id", "recorded_at", "origin", "operation"?, "content"?, "data"?}    times in microseconds
    {"usage": {...}}                            use counts, after the events
    {"vector": {"id", "embedder", "exact"}}     on request, base64 float16
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..model.clock import parse_time
from ..model.errors import BadInput
from ..model.events import EVENT_TYPES, Event
from ..model.ids import format_id, parse_id, session_mark
from ..model.memory import EDGE_TYPES, check_key, check_kind, check_origin, check_scope
from ..model.state import SESSION_EVENTS
from ..remember.admit import check_name, check_text, check_topics, clean_metadata
from ..text.secrets import redact, suspected

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def write_event(event: Event) -> str:
    """One line, without its line end."""
    line: dict[str, Any] = {
        "event": format_id(event.id),
        "type": event.type,
        "id": format_id(event.memory),
        "recorded_at": event.at,
        "origin": event.origin,
    }
    if event.operation != event.id:
        line["operation"] = format_id(event.operation)
    if event.content is not None:
        line["content"] = event.content
    # A statement's own fields stand beside its content, as in a batch line.
    return encode(line | {name: value for name, value in event.data.items() if name not in line})


_OWN = frozenset({"event", "type", "id", "recorded_at", "origin", "operation", "content"})


def read_event(line: dict[str, Any]) -> Event:
    """The event of a line that `write_event` wrote, without secrets, should anything else have put some there.

    Raises BadInput.
    """
    try:
        type, at, origin = line["type"], line["recorded_at"], line["origin"]
        id = parse_id(line["event"])
        event = Event(
            id=id,
            type=type,
            memory=parse_id(line["id"]),
            at=at,
            operation=parse_id(line["operation"]) if "operation" in line else id,
            origin=origin,
            content=line.get("content"),
            data={name: value for name, value in line.items() if name not in _OWN},
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"not an event of limpet: {error}") from None
    if type not in EVENT_TYPES:
        raise BadInput(f"unknown event type: {type!r}")
    check_origin(origin)
    try:
        _check(event)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"a {type} event with a bad field: {error}") from None
    return _without_secrets(event)


def _without_secrets(event: Event) -> Event:
    """The event itself, unless it was written by a hand, or a program, that redacts nothing."""
    content = event.content if event.content is None else redact(event.content)[0]
    metadata, found = clean_metadata(event.data.get("metadata"))
    said = {name: one for name, one in event.data.items() if type(one) is str}
    if suspected("\n".join(said.values())):
        said = {name: redact(one)[0] for name, one in said.items()}
    data = event.data | said | ({"metadata": metadata} if found else {})
    if event.type in ("remembered", "tagged") and data.get("topics"):
        data["topics"] = list(check_topics(data["topics"]))
    return event if content == event.content and data == event.data else replace(event, content=content, data=data)


def _check(event: Event) -> None:
    """Refuse an event that could not have been written here. Raises BadInput, or what a wrong type raises."""
    data = event.data
    _instant(event.at)
    if event.content is not None:
        check_text(event.content)
    for name in ("valid_from", "valid_to"):
        if data.get(name) is not None:
            _instant(data[name])
    if event.type in ("remembered", "tagged"):
        topics, metadata = data.get("topics", []), data.get("metadata", {})
        if not isinstance(topics, list) or not isinstance(metadata, dict):
            raise TypeError("topics must be a list, metadata an object")
        check_topics(topics)
    if event.type in SESSION_EVENTS:
        _check_session(event)
    elif event.type == "remembered":
        _check_statement(data)
    elif event.type == "superseded":
        parse_id(data["by"])
        _instant(data["valid_to"])
    elif event.type == "undone":
        parse_id(data["undoes"])
    elif event.type in ("linked", "unlinked"):
        parse_id(data["target"])
        if data["edge"] not in EDGE_TYPES or not float(data.get("weight", 1.0)) >= 0:
            raise ValueError(f"unknown edge {data['edge']!r}")


def _check_statement(data: dict[str, Any]) -> None:
    check_scope(data["scope"])
    check_kind(data["kind"])
    if data.get("key") is not None:
        check_key(data["key"])
    for name in ("importance", "confidence"):
        if data.get(name) is not None and not 0 <= float(data[name]) <= 1:
            raise ValueError(f"{name} must be from 0 to 1")
    if not isinstance(data.get("position", 0), int) or not isinstance(data.get("pinned", False), bool):
        raise TypeError("position must be a number, pinned true or false")
    for name in ("source", "session", "speaker"):
        if not isinstance(data.get(name), str | None):
            raise TypeError(f"{name} must be text")


def _check_session(event: Event) -> None:
    data = event.data
    check_scope(data["scope"])
    if check_name("name", data["name"]) != data["name"] or event.memory != session_mark(data["scope"], data["name"]):
        raise ValueError("its id is not that of its session")
    if not isinstance(data.get("title"), str | None):
        raise TypeError("title must be text")


def _instant(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("a time must be microseconds, a whole number")
    parse_time(value, now=0)


def lines(text: Iterator[str]) -> Iterator[tuple[int, dict[str, Any] | BadInput]]:
    """(line number, object) of every line that is not blank; a BadInput in its place when it is no JSON object."""
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line.lstrip("\ufeff"))
        except (ValueError, RecursionError) as error:
            yield number, BadInput(f"not JSON: {error}")
            continue
        yield number, value if isinstance(value, dict) else BadInput("not a JSON object")
