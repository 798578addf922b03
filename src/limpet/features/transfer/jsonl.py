"""limpet's own JSONL: the ledger, one event a line, lossless. export -> import -> export is byte-identical.

A line that has no "event" is a plain statement, as `remember --batch` takes it.

    {"event", "type", "id", "recorded_at", "origin", "operation"?, "content"?, "data"?}    times in microseconds
    {"usage": {...}}                            use counts, after the events
    {"vector": {"id", "embedder", "exact"}}     on request, base64 float16
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, Any, AnyStr

from ...model.dataclass import replace
from ...model.errors import BadInput
from ...model.events import Event
from ...model.ids import format_id, parse_id
from ...remember.validation import check_topics, clean_metadata
from ...text.secrets import redact, suspected
from .schema import check_event

# The longest line that is read: the longest text with every character written as an escape, and its fields.
MAX_LINE = 8_000_000

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
        check_event(event)
        return _without_secrets(event)
    except KeyError as error:
        raise BadInput(f"not an event of limpet: {error} is missing") from None
    except (TypeError, AttributeError, UnicodeEncodeError) as error:
        raise BadInput(f"not an event of limpet: {error}") from None


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


def bounded(file: IO[AnyStr]) -> Iterator[AnyStr]:
    """The lines of a file. Of one that is too long comes the beginning, which is too long too; it is never held."""
    while line := file.readline(MAX_LINE + 1):
        yield line
        end = line[:0] + (b"\n" if isinstance(line, bytes) else "\n")
        while len(line) > MAX_LINE and not line.endswith(end):
            line = file.readline(MAX_LINE + 1)


def lines(text: Iterable[str | bytes]) -> Iterator[tuple[int, dict[str, Any] | BadInput]]:
    """(line number, object) of every line that is not blank; a BadInput in its place when it is no JSON object."""
    for number, line in enumerate(text, 1):
        if line.strip():
            try:
                yield number, parsed(line)
            except BadInput as error:
                yield number, error


def parsed(line: str | bytes) -> dict[str, Any]:
    """The object of a line. Raises BadInput."""
    if len(line) > MAX_LINE:
        raise BadInput(f"longer than {MAX_LINE:,} bytes")
    try:
        text = line if isinstance(line, str) else line.decode("utf-8")
        value = json.loads(text.lstrip("\ufeff"))
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8: {error.reason} at {error.start}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadInput("not a JSON object")
    return value
