"""Letta: an agent file (`.af`), of today's form and of the first. A block is a memory, a message an episode."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...model.errors import BadInput
from .records import Record, TransferReport, digest, moment, time_or_note, topics
from .source import json_items, member

# Whom a block is about, by its label.
KINDS = {"human": "preference", "user": "preference"}
SPEAKERS = ("user", "assistant")
# The tool by which agents of the first kind speak.
SPEAKS = "send_message"
# Lists of an agent file that are no memories.
LEFT_OUT = ("tools", "mcp_servers", "skills", "sources", "files", "groups")


def read(path: Path, report: TransferReport) -> Iterator[Record]:
    """Raises BadInput."""
    with member(path, path.name) as (file, name):
        whole = next(json_items(file, name), None)  # type: ignore[arg-type]
    if not isinstance(whole, dict) or not ("agents" in whole or "core_memory" in whole):
        raise BadInput(f"{path} is no agent file: it holds neither agents nor core_memory")
    for left in LEFT_OUT:
        if count := len(_list(whole, left)):
            report.note(f"{left} of an agent file are not memories and were left out", count)
    agents = _list(whole, "agents") or [whole]
    owners: dict[str, list[str]] = {}
    for agent in agents:
        if isinstance(agent, dict):
            for id in _list(agent, "block_ids"):
                owners.setdefault(str(id), []).append(_name(agent))
    blocks = [(one, owners.get(str(_of(one, "id")), [])) for one in _list(whole, "blocks")]
    blocks += [(one, [_name(whole)]) for one in _list(whole, "core_memory")]
    for number, (block, names) in enumerate(blocks, 1):
        record = _block(block, names, f"block {number}", report)
        if record is not None:
            yield record
    for agent in agents:
        for number, message in enumerate(_list(agent, "messages"), 1):
            record = _message(message, _name(agent), f"{_name(agent)}, message {number}", report)
            if record is not None:
                yield record


def _block(block: Any, names: list[str], place: str, report: TransferReport) -> Record | None:
    label, value = _of(block, "label"), _of(block, "value")
    if not isinstance(label, str) or not isinstance(value, str):
        report.bad(place, "a block needs a label and a value")
        return None
    if not value.strip():
        report.note("empty blocks were left out")
        return None
    kept = {name: block[name] for name in ("description", "read_only", "limit") if block.get(name)}
    given = block.get("metadata")
    return Record(
        # Ids are numbers within a file. A block is the same one while its agents and its label are.
        id=f"block/{digest(sorted(names))}/{label[:200]}",
        place=place,
        content=value,
        kind=KINDS.get(label, "note"),
        topics=topics(label),
        created=time_or_note(moment, block.get("created_at"), place, "created_at", report),
        metadata=(given if isinstance(given, dict) else {}) | kept | {"label": label, "agents": names},
    )


def _message(message: Any, agent: str, place: str, report: TransferReport) -> Record | None:
    role = _of(message, "role")
    if not isinstance(role, str):
        report.bad(place, "a message needs a role")
        return None
    if role not in SPEAKERS:
        report.note("messages of the system and of tools were left out")
        return None
    said = _said(message)
    if role == "user" and (packed := _packed(said)) is not None:
        if packed.get("type") != "user_message":
            report.note("messages of the system and of tools were left out")
            return None
        said = str(packed.get("message") or "")
    if not said.strip():
        report.note("messages without text (thinking, tool calls) were left out")
        return None
    at = message.get("created_at")
    return Record(
        id=f"message/{digest(agent, at, role, said)}",
        place=place,
        content=said,
        kind="episode",
        created=time_or_note(moment, at, place, "created_at", report),
        session=agent[:200] or None,
        speaker=role,
        metadata={"agent": agent},
    )


def _said(message: dict[str, Any]) -> str:
    """The text of a message, or what its agent said by a tool."""
    content = message.get("content", message.get("text"))
    parts = content if isinstance(content, list) else [content]
    texts = [_of(part, "text") if _of(part, "type") == "text" else part for part in parts]
    for call in _list(message, "tool_calls"):
        function = _of(call, "function")
        if _of(function, "name") == SPEAKS:
            given = _packed(_of(function, "arguments"))
            texts = [given.get("message") if given else None]
    return "\n".join(text for text in texts if isinstance(text, str))


def _packed(text: Any) -> dict[str, Any] | None:
    """The object that a text is, if it is one."""
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _name(agent: Any) -> str:
    name = _of(agent, "name")
    return name if isinstance(name, str) and name.isprintable() else ""


def _of(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _list(value: Any, name: str) -> list[Any]:
    found = _of(value, name)
    return found if isinstance(found, list) else []
