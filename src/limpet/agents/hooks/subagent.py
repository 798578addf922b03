"""What a sub-agent is to do: the client's hook does not say it, the transcript of its session does."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...api import Limpet
    from .client_adapters import Call

# The end of a transcript that is read, and lines of the journal.
TAIL_BYTES, LINES = 200_000, 50
# The tool of Claude Code that starts a sub-agent, now and before.
STARTERS = ("Task", "Agent")


def task_of(call: Call, memory: Limpet) -> str:
    """The prompt of the sub-agent; where that cannot be found, what the user asked its session last."""
    return call.text or _last_started(call) or _last_asked(call, memory)


def _last_asked(call: Call, memory: Limpet) -> str:
    lines = memory.actions(session=call.session, limit=LINES) if call.session else []
    return next((one.what for one in reversed(lines) if one.kind == "asked"), "")


def _last_started(call: Call) -> str:
    """Prompts that await their answers, of sub-agents of this type; all of several that were started at once."""
    prompts: dict[str, str] = {}
    for row in _rows(call.transcript):
        message = row.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for part in content if isinstance(content, list) and not row.get("isSidechain") else ():
            if not isinstance(part, dict):
                continue
            given = part.get("input")
            if part.get("type") == "tool_result":
                prompts.pop(str(part.get("tool_use_id")), None)
            elif part.get("name") in STARTERS and isinstance(given, dict) and _is_of(call.agent_type, given):
                prompts[str(part.get("id"))] = f"{given.get('description', '')}\n{given.get('prompt', '')}"
    return "\n".join(prompts.values()).strip()


def _is_of(kind: str, given: dict[str, Any]) -> bool:
    """Whether a call starts a sub-agent of a type; where either does not say, it may."""
    return not kind or given.get("subagent_type") in (kind, None, "")


def _rows(path: str) -> list[dict[str, Any]]:
    if not os.path.isabs(path) or not os.path.isfile(path):  # noqa: PTH113, PTH117
        return []
    with open(path, "rb") as file:  # noqa: PTH123
        file.seek(0, os.SEEK_END)
        begin = max(0, file.tell() - TAIL_BYTES)
        file.seek(begin)
        lines = file.read(TAIL_BYTES).splitlines()
    rows = []
    for line in lines[1 if begin else 0 :]:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows
