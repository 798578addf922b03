"""Readers of the clients' transcripts that are lines of JSON: Claude Code, Codex, Gemini CLI, Copilot CLI, Cursor.

As the clients write them in November 2026; docs/how-to/organize.md says which were read from real files. What is not
understood is left out, a line that is no JSON is reported, and nothing of what limpet injected is given on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

from ...model.clock import MICROSECONDS_PER_SECOND
from ...model.errors import BadInput
from ..transfer.records import TransferReport, json_lines, moment
from .calls import OWN, call_of, decoded, given_texts, is_own, output_text, remembered_by
from .turns import Conversation, Role, Turn, injected, lines_of, said, texts

Row = tuple[int, dict[str, Any]]
# Milliseconds since 1970 are above this, seconds below.
_MILLISECONDS = 100_000_000_000


class _Reading:
    """One conversation while it is being read."""

    def __init__(self, client: str, path: Path) -> None:
        self.made = Conversation(client=client, id=path.stem[:200], path=str(path))
        self._open: dict[str, tuple[Any, Any]] = {}  # calls that have not ended: id -> (tool, input)
        self._ids: set[str] = set()

    def message(self, role: Role, raw: str, id: Any, line: int, at: Any) -> None:
        self.made.injected_lines += injected(raw)
        text = said(raw)
        if text:
            self._add(Turn(role=role, id=self._id(id, line), place=f"line {line}", text=text, at=when(at)))

    def began(self, key: Any, tool: Any, given: Any) -> None:
        if not isinstance(key, str):
            return
        self._open[key] = (tool, given)
        if isinstance(tool, str) and is_own(tool):
            self.made.injected_lines += given_texts(decoded(given))
        self.made.remembered += [(len(self.made.turns), text) for text in remembered_by(tool, given)]

    def ended(self, key: Any, output: Any, failed: bool | None, line: int, at: Any) -> None:
        tool, given = self._open.pop(key, (None, None)) if isinstance(key, str) else (None, None)
        if isinstance(tool, str) and OWN in tool.lower():
            self.made.injected_lines += lines_of(output_text(output))
        call = call_of(tool, given, output, failed)
        if call is not None:
            self._add(Turn(role="tool", id=self._id(key, line), place=f"line {line}", at=when(at), call=call))

    def _id(self, id: Any, line: int) -> str:
        return id[:200] if isinstance(id, str) and id else str(line)

    def _add(self, turn: Turn) -> None:
        # A resumed session may hold its beginning twice.
        key = f"{turn.role} {turn.id} {hash(turn.text)}"
        if key not in self._ids:
            self._ids.add(key)
            self.made.turns.append(turn)

    def folder(self, value: Any) -> None:
        if isinstance(value, str) and not self.made.folder:
            self.made.folder = value[:4_000]

    def named(self, value: Any) -> None:
        if isinstance(value, str) and value.strip() and value.isprintable():
            self.made.id = value.strip()[:200]


def when(value: Any) -> int | None:
    """ISO 8601, or seconds or milliseconds since 1970; None for none, and for what is no time."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value > _MILLISECONDS:
        value = value / 1_000
    try:
        return moment(value)
    except (BadInput, OverflowError, ValueError):
        return None


# -- the clients


def _claude(rows: Iterator[Row], path: Path) -> Conversation:
    reading = _Reading("claude", path)
    for line, row in rows:
        kind = row.get("type")
        if kind == "attachment":
            reading.made.injected_lines += injected(str(row.get("attachment"))[:100_000].replace("\\n", "\n"))
            continue
        if kind not in ("user", "assistant") or row.get("isSidechain"):
            continue
        reading.folder(row.get("cwd"))
        if not reading.made.turns:
            reading.named(row.get("sessionId"))
        if row.get("isMeta") or row.get("isCompactSummary") or row.get("isApiErrorMessage"):
            continue
        message = row.get("message")
        if not isinstance(message, dict):
            continue
        content, at = message.get("content"), row.get("timestamp")
        for block in content if isinstance(content, list) else []:
            if not isinstance(block, dict):
                continue
            if block.get("type") == "tool_use":
                reading.began(block.get("id"), block.get("name"), block.get("input"))
            elif block.get("type") == "tool_result":
                failed = bool(block.get("is_error"))
                result = row.get("toolUseResult")
                if isinstance(result, dict) and result.get("interrupted"):
                    failed = True
                reading.ended(block.get("tool_use_id"), block.get("content"), failed, line, at)
        text = texts(content, "text")
        if text:
            reading.message("user" if kind == "user" else "agent", text, row.get("uuid"), line, at)
    return reading.made


def _codex(rows: Iterator[Row], path: Path) -> Conversation:
    reading = _Reading("codex", path)
    kept = list(rows)
    # In older versions what a person typed is an event too; the model's input also holds what the client added.
    typed = any(_is_typed(row) for _, row in kept)
    # And where the log has events alone, these are the conversation.
    only_events = not any(row.get("type") == "response_item" for _, row in kept)
    for line, row in kept:
        given, at = row.get("payload"), row.get("timestamp")
        if not isinstance(given, dict):
            continue
        kind = given.get("type")
        if row.get("type") == "session_meta":
            reading.named(given.get("id"))
            reading.folder(given.get("cwd"))
        elif row.get("type") == "turn_context":
            reading.folder(given.get("cwd"))
        elif _is_typed(row):
            reading.message("user", str(given["message"]), None, line, at)
        elif only_events and (said_so := _codex_event(given)):
            reading.message(*said_so, None, line, at)
        elif row.get("type") != "response_item":
            continue
        elif kind == "message":
            text = texts(given.get("content"))
            if given.get("role") == "assistant":
                reading.message("agent", text, given.get("id"), line, at)
            elif given.get("role") == "user" and not typed:
                reading.message("user", text, given.get("id"), line, at)
            else:
                reading.made.injected_lines += injected(text)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            action = given.get("action") if kind == "local_shell_call" else given.get("arguments", given.get("input"))
            reading.began(given.get("call_id"), given.get("name") or "local_shell", action)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = decoded(given.get("output"))
            reading.ended(given.get("call_id"), output, _codex_failed(output), line, at)
    return reading.made


def _codex_event(given: dict[str, Any]) -> tuple[Role, str] | None:
    """Who said what, of an event that tells a message."""
    if given.get("type") == "agent_message" and isinstance(given.get("message"), str):
        return "agent", given["message"]
    item = given.get("item")
    if given.get("type") != "item_completed" or not isinstance(item, dict):
        return None
    role: Role | None = {"UserMessage": "user", "AgentMessage": "agent"}.get(str(item.get("type")))  # type: ignore[assignment]
    return None if role is None else (role, texts(item.get("content") or item.get("text")))


def _is_typed(row: dict[str, Any]) -> bool:
    given = row.get("payload")
    return (
        row.get("type") == "event_msg"
        and isinstance(given, dict)
        and given.get("type") == "user_message"
        and isinstance(given.get("message"), str)
    )


def _codex_failed(output: Any) -> bool | None:
    if isinstance(output, dict):
        meta = output.get("metadata")
        code = meta.get("exit_code") if isinstance(meta, dict) else output.get("exit_code")
        if isinstance(code, int):
            return code != 0
        if isinstance(output.get("success"), bool):
            return not output["success"]
    return None


def _gemini(rows: Iterator[Row], path: Path) -> Conversation:
    """A log of writes: a message is written again when it changes, and a rewind takes back all from one on."""
    reading = _Reading("gemini", path)
    kept: dict[str, Row] = {}
    for line, row in rows:
        patch = row.get("$set") if isinstance(row.get("$set"), dict) else row if "sessionId" in row else None
        if patch is not None:
            if patch.get("kind") == "subagent":
                return reading.made
            reading.named(patch.get("sessionId"))
            folders = patch.get("directories")
            reading.folder(folders[0] if isinstance(folders, list) and folders else None)
            messages = patch.get("messages")
            for place, one in enumerate(messages if isinstance(messages, list) else []):
                if isinstance(one, dict):
                    kept.setdefault(_gemini_id(one, f"{line}.{place}"), (line, one))
        elif isinstance(row.get("$rewindTo"), str):
            ids = list(kept)
            # To one that is not there: to the beginning, as the client itself reads it.
            for id in ids[ids.index(row["$rewindTo"]) if row["$rewindTo"] in kept else 0 :]:
                del kept[id]
        elif row.get("type") or row.get("role"):
            kept[_gemini_id(row, str(line))] = (line, row)
    for id, (line, row) in kept.items():
        at = row.get("timestamp")
        who = _GEMINI_ROLES.get(str(row.get("type") or row.get("role")))
        if who is not None:
            # What was typed, without the files that were named in it.
            words = row.get("content") or row.get("parts") or row.get("message")
            reading.made.injected_lines += injected(unescape(texts(words)))
            reading.message(who, texts(row.get("displayContent") or words), id, line, at)
        calls = row.get("toolCalls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict):
                reading.began(call.get("id"), call.get("name"), call.get("args"))
                output = _gemini_output(call.get("result"))
                failed = _GEMINI_ENDS.get(str(call.get("status")))
                if failed is False and "Exit Code: " in output and "Exit Code: 0" not in output:
                    failed = True
                reading.ended(call.get("id"), output, failed, line, call.get("timestamp") or at)
    reading.folder(_gemini_folder(path))
    return reading.made


def _gemini_id(row: dict[str, Any], otherwise: str) -> str:
    id = row.get("id")
    return id if isinstance(id, str) and id else otherwise


def _gemini_folder(path: Path) -> str | None:
    """Where the agent worked: a file beside its chats says it, else the client's list of projects."""
    kept = path.parent.parent
    root = kept / ".project_root"
    if root.is_file() and root.stat().st_size < 5_000:
        return root.read_text(encoding="utf-8", errors="replace").strip()
    known = kept.parent.parent / "projects.json"
    if not known.is_file() or known.stat().st_size > 5_000_000:
        return None
    try:
        projects = json.loads(known.read_bytes()).get("projects")
    except (ValueError, AttributeError, RecursionError):
        return None
    found = projects.items() if isinstance(projects, dict) else ()
    # A folder of chats has the project's short name, or in older versions the digest of its path.
    return next((one for one, name in found if kept.name in (name, sha256(one.encode()).hexdigest())), None)


_GEMINI_ROLES: dict[str, Role] = {"user": "user", "gemini": "agent", "model": "agent", "assistant": "agent"}
_GEMINI_ENDS = {"success": False, "error": True}


def _gemini_output(result: Any) -> str:
    parts = result if isinstance(result, list) else [result]
    found = []
    for one in parts:
        response = one.get("functionResponse") if isinstance(one, dict) else None
        found.append(output_text(response.get("response")) if isinstance(response, dict) else output_text(one))
    return "\n".join(text for text in found if text)


def _copilot(rows: Iterator[Row], path: Path) -> Conversation:
    reading = _Reading("copilot", path)
    reading.named(path.parent.name if path.stem == "events" else path.stem)
    for line, row in rows:
        kind, given, at = row.get("type"), row.get("data"), row.get("timestamp")
        if not isinstance(given, dict):
            continue
        if kind == "session.start":
            reading.named(given.get("sessionId"))
            context = given.get("context")
            reading.folder(context.get("cwd") if isinstance(context, dict) else None)
        elif kind == "user.message" and given.get("source") in (None, "user"):
            reading.made.injected_lines += injected(str(given.get("transformedContent") or ""))
            reading.message("user", texts(given.get("content")), row.get("id"), line, at)
        elif kind == "assistant.message" and not given.get("parentToolCallId"):
            reading.message("agent", texts(given.get("content")), row.get("id"), line, at)
        elif kind == "tool.execution_start":
            reading.began(given.get("toolCallId"), given.get("toolName"), given.get("arguments"))
        elif kind == "tool.execution_complete":
            success = given.get("success")
            output = output_text(given.get("result") or given.get("error"))
            failed = not success if isinstance(success, bool) else None
            # A shell that ran is a success of the tool, whatever the command said.
            reading.ended(
                given.get("toolCallId"), output, None if failed is False and "exit" in output else failed, line, at
            )
    return reading.made


def _cursor(rows: Iterator[Row], path: Path) -> Conversation:
    """Neither ids nor times of messages: the file's own time stands for all."""
    reading = _Reading("cursor", path)
    at = path.stat().st_mtime_ns // 1_000 / MICROSECONDS_PER_SECOND
    for line, row in rows:
        message = row.get("message")
        if not isinstance(message, dict) or row.get("role") not in ("user", "assistant"):
            continue
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                reading.began(block.get("id"), block.get("name"), block.get("input"))
            elif isinstance(block, dict) and block.get("type") == "tool_result":
                failed = block.get("is_error")
                reading.ended(
                    block.get("tool_use_id"),
                    block.get("content"),
                    failed if isinstance(failed, bool) else None,
                    line,
                    at,
                )
        text = texts(content, "text")
        if text:
            reading.message("user" if row["role"] == "user" else "agent", text, None, line, at)
    return reading.made


_READERS: dict[str, Callable[[Iterator[Row], Path], Conversation]] = {
    "claude": _claude, "codex": _codex, "gemini": _gemini, "copilot": _copilot, "cursor": _cursor,
}  # fmt: skip


def client_of(row: dict[str, Any]) -> str | None:
    """Which client wrote a line; None when the line does not tell."""
    kind = row.get("type")
    if "payload" in row and kind in ("session_meta", "turn_context", "event_msg", "response_item", "compacted"):
        return "codex"
    if isinstance(kind, str) and isinstance(row.get("data"), dict) and "." in kind:
        return "copilot"
    if "$set" in row or "$rewindTo" in row or "projectHash" in row or kind == "gemini":
        return "gemini"
    if "sessionId" in row and kind in ("user", "assistant", "attachment", "system", "summary", "queue-operation"):
        return "claude"
    if row.get("role") in ("user", "assistant") and isinstance(row.get("message"), dict):
        return "cursor"
    return None


def read_lines(path: Path, report: TransferReport) -> Iterator[Conversation]:
    """The conversation in a file of JSON lines. Raises BadInput when no client that is known wrote it."""
    rows = json_lines(path, report)
    ahead: list[Row] = []
    client = None
    for row in rows:
        ahead.append(row)
        client = client_of(row[1])
        if client is not None or len(ahead) >= 50:
            break
    if client is None:
        raise BadInput(
            f"{path} is no transcript that is known", hint="clients: claude, codex, gemini, copilot, cursor, opencode"
        )

    def again() -> Iterator[Row]:
        yield from ahead
        yield from rows

    yield _READERS[client](again(), path)


def read_gemini_json(path: Path, report: TransferReport) -> Iterator[Conversation]:
    """Gemini CLI's older form: the whole conversation is one object."""
    from ..transfer.exports import json_items

    with path.open("rb") as file:
        found = [
            one
            for one in json_items(file, path.name)
            if isinstance(one, dict) and isinstance(one.get("messages"), list)
        ]
    if not found:
        raise BadInput(
            f"{path} is no transcript that is known", hint="clients: claude, codex, gemini, copilot, cursor, opencode"
        )
    report.at(1, 1)
    yield _gemini(iter([(1, one) for one in found]), path)
