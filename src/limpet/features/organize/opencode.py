"""OpenCode's transcripts: the SQLite file opencode.db, read and never written. Tables session, message, part."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...model.errors import BadInput
from ...store.foreign import Cell, ForeignFile
from ..transfer.programs import report_damage
from ..transfer.records import TransferReport
from .calls import call_of, given_texts, is_own, output_text, remembered_by
from .clients import when
from .turns import Conversation, Turn, injected, lines_of, said


def read_opencode(path: Path, report: TransferReport) -> Iterator[Conversation]:
    """Its conversations, one after the other; those of subagents are left out. Raises BadInput."""
    with ForeignFile(path) as file:
        if not (file.has("session", "id", "directory") and file.has("message", "id", "session_id", "data")):
            raise BadInput(f"{path} is no database of OpenCode")
        if not file.has("part", "id", "message_id", "data"):
            raise BadInput(f"{path} has no table part: an OpenCode that is not known")
        report_damage(file, report)
        found: dict[str, Conversation] = {}
        for id, parent, folder in file.rows("session", ("id", "parent_id", "directory")):
            if parent is None and (name := _text(id)):
                found[name] = Conversation(client="opencode", id=name[:200], path=str(path), folder=_text(folder) or "")
        messages: dict[str, tuple[str, dict[str, Any]]] = {}
        for number, (id, session, data) in enumerate(file.rows("message", ("id", "session_id", "data")), 1):
            value = _object(data, f"message {number}", report)
            if value is not None and (name := _text(id)) and (of := _text(session)) in found:
                messages[name] = (of, value)
        parts: list[tuple[str, str, dict[str, Any]]] = []
        total = file.count("part")
        for number, (id, message, data) in enumerate(file.rows("part", ("id", "message_id", "data")), 1):
            if number % 500 == 0:
                report.at(number, total)
            if (of := _text(message)) not in messages or (name := _text(id)) is None:
                continue
            value = _object(data, f"part {number}", report)
            if value is not None and of is not None:
                parts.append((of, name, value))
    # Ids ascend in time.
    for of, name, part in sorted(parts, key=lambda one: (one[0], one[1])):
        session_name, message_data = messages[of]
        _add(found[session_name], name, message_data, part)
    yield from (one for one in found.values() if one.turns)


def _add(into: Conversation, id: str, message: dict[str, Any], part: dict[str, Any]) -> None:
    times = message.get("time")
    at = when(times.get("created")) if isinstance(times, dict) else None
    place = f"part {id}"
    if part.get("type") == "text" and not part.get("ignored"):
        raw = part.get("text")
        if not isinstance(raw, str):
            return
        into.injected_lines += injected(raw)
        text = "" if part.get("synthetic") else said(raw)
        if text:
            role: Any = "user" if message.get("role") == "user" else "agent"
            into.turns.append(Turn(role=role, id=id[:200], place=place, text=text, at=at))
    elif part.get("type") == "tool":
        state = part.get("state")
        if not isinstance(state, dict) or state.get("status") not in ("completed", "error"):
            return
        output = state.get("output") or state.get("error")
        tool = part.get("tool")
        if isinstance(tool, str) and is_own(tool):
            into.injected_lines += lines_of(output_text(output)) + given_texts(state.get("input"))
        into.remembered += [(len(into.turns), text) for text in remembered_by(tool, state.get("input"))]
        meta = state.get("metadata")
        code = meta.get("exit") if isinstance(meta, dict) else None
        failed = state["status"] == "error" or (isinstance(code, int) and code != 0)
        call = call_of(tool, state.get("input"), output, failed)
        if call is not None:
            into.turns.append(Turn(role="tool", id=id[:200], place=place, at=at, call=call))


def _text(cell: Cell) -> str | None:
    return bytes(cell).decode("utf-8", "replace") if isinstance(cell, bytes) and cell else None


def _object(cell: Cell, place: str, report: TransferReport) -> dict[str, Any] | None:
    try:
        value = json.loads(cell) if isinstance(cell, bytes) else None
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    report.bad(place, "not a JSON object, or too large")
    return None
