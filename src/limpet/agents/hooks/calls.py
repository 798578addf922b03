"""Hooks that are calls of the MCP server, in place of a process: which events, what they carry, what is answered.

docs/decisions/ says why the tool is not listed, and why only these events come this way.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .client_adapters import CLIENT_ADAPTERS
from .entry import answer_for, is_off

if TYPE_CHECKING:
    from ...api import Limpet

# Clients whose hooks can call a server, with their fields that an event's role needs. At a session's beginning and end
# the server is not connected.
FIELDS = {
    "claude": {
        "message": ("session_id", "cwd", "prompt"),
        "tool": ("session_id", "cwd", "tool_name", "tool_input", "tool_response", "error"),
        "turn": ("session_id", "cwd", "last_assistant_message"),
    },
}  # fmt: skip
# Fields that come as text where they hold more than one.
_NESTED = ("tool_input", "tool_response")


def arguments(client: str, event: str) -> dict[str, str] | None:
    """What a client's hook gives the tool, each field where the client fills it in; None for what is no call."""
    fields = FIELDS.get(client, {}).get(CLIENT_ADAPTERS[client].events[event])
    return None if fields is None else {"client": client, "event": event} | {name: f"${{{name}}}" for name in fields}


def answer_call(memory: Limpet, scope: str | None, given: dict[str, Any]) -> str:
    """What the hook says, as its process would print it. `scope`: the one that the server was started with."""
    client, event = str(given.get("client")), str(given.get("event"))
    role = CLIENT_ADAPTERS[client].events.get(event, "") if client in FIELDS else ""
    if is_off() or not role or role not in FIELDS[client]:
        return ""
    data = {name: given.get(name, "") for name in FIELDS[client][role]}
    for name in _NESTED:
        if str(data.get(name, "")).startswith(("{", "[")):
            data[name] = _read(data[name])
    raw = json.dumps(data).encode()
    return answer_for(memory, (client, event, memory.path, scope), raw).decode()


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
