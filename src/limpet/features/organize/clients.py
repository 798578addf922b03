"""Readers of the clients' transcripts: a table of clients, a function each that reads one row, and one loop.

As the clients write them in November 2026; docs/how-to/organize.md says which were read from real files. What is not
understood is left out, a line that is no JSON is reported, and nothing of what limpet injected is given on.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from html import unescape
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from ...agents.hooks.client_adapters import nested
from ...model.errors import BadInput
from ..transfer.exports import json_items
from ..transfer.foreign import ForeignFile, is_sqlite
from ..transfer.records import TransferReport, json_lines, mapping, parsed
from .transcripts import Conversation, injected, texts

Row = tuple[str, dict[str, Any]]  # its place in the file, "line 7", and its fields
# So many lines may come before one that tells which client wrote a file.
AHEAD = 50


class Client(NamedTuple):
    """A client and how it keeps conversations."""

    variable: str  # moves its folder
    moved: str  # its folder below what the variable names
    folder: str  # its folder below the home
    files: str  # what to look for there
    wrote: Callable[[dict[str, Any]], bool]  # whether a row tells that this client wrote it
    read: Callable[[Conversation, dict[str, Any], str], None]  # takes a row and its place into a conversation
    arranged: Callable[[Iterable[Row]], Iterable[Row]] = iter  # the rows that count
    dated: bool = True  # a message keeps the time when it was said in every copy of its conversation


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


# -- Claude Code, and Cursor, whose messages have the same form without ids and times


def _claude(into: Conversation, row: dict[str, Any], place: str) -> None:
    if row.get("type") == "attachment":
        into.injected_lines += injected(str(row.get("attachment"))[:100_000].replace("\\n", "\n"))
    if row.get("type") not in ("user", "assistant") or row.get("isSidechain"):
        return
    into.name(None if into.begun else row.get("sessionId"), row.get("cwd"))
    if not (row.get("isMeta") or row.get("isCompactSummary") or row.get("isApiErrorMessage")):
        _blocks(into, row, "type", place, failed=False)


def _cursor(into: Conversation, row: dict[str, Any], place: str) -> None:
    if row.get("role") in ("user", "assistant"):
        into.name(None, None if into.begun else _cursor_folder(into.path))
        # The file's own time stands for all messages.
        row = {**row, "timestamp": Path(into.path).stat().st_mtime_ns // 1_000 / 1_000_000}
        _blocks(into, row, "role", place, failed=None)


def _blocks(into: Conversation, row: dict[str, Any], who: str, place: str, *, failed: bool | None) -> None:
    """Take a message and its tool calls. `who`: names the role; `failed`: what a result without an end means."""
    content, at = mapping(row.get("message")).get("content"), row.get("timestamp")
    for block in _objects(content):
        if block.get("type") == "tool_use":
            into.began(block.get("id"), block.get("name"), block.get("input"))
        elif block.get("type") == "tool_result":
            ended = block.get("is_error") if isinstance(block.get("is_error"), bool) else failed
            if mapping(row.get("toolUseResult")).get("interrupted"):
                ended = True
            into.ended(block.get("tool_use_id"), block.get("content"), ended, place, at)
    into.message(row[who], texts(content, "text"), row.get("uuid"), place, at)


def _cursor_folder(transcript: str) -> str:
    """Return the agent's folder, which its client writes with `-` for all but letters and digits; "" for none."""
    slug = next((above.parent.name for above in Path(transcript).parents if above.name == "agent-transcripts"), "")
    folder, slug = Path(transcript).anchor, re.sub(r"[^A-Za-z0-9]+", "-", slug).strip("-")
    with suppress(OSError):
        while slug:
            below = [(re.sub(r"[^A-Za-z0-9]+", "-", each.name).strip("-"), each.path) for each in os.scandir(folder)]
            fits = [(name, path) for name, path in below if name and f"{slug}-".startswith(f"{name}-")]
            name, folder = max(fits, key=lambda fit: len(fit[0]), default=("", ""))
            if not name:
                return ""
            slug = slug[len(name) + 1 :]
        return folder
    return ""


# -- Codex CLI


def _codex_arranged(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the model's input and output, or a person's typed events from a log that has nothing else."""
    events: list[Row] | None = []
    for place, row in rows:
        events = None if row.get("type") == "response_item" else events
        if row.get("type") != "event_msg":
            yield place, row
        elif events is not None:
            events.append((place, row))
    yield from events or ()


def _codex(into: Conversation, row: dict[str, Any], place: str) -> None:
    given, at = mapping(row.get("payload")), row.get("timestamp")
    kind, id = given.get("type"), given.get("call_id")
    if row.get("type") == "session_meta":  # a fork holds those of the conversations it is a copy of, too
        into.name(None if into.root else given.get("id"), given.get("cwd"))
        into.root = str(given.get("forked_from_id") or given.get("id"))
    elif row.get("type") == "turn_context":
        into.name(None, given.get("cwd"))
    elif row.get("type") == "event_msg":
        item = mapping(given.get("item")) if kind == "item_completed" else {"type": kind, "text": given.get("message")}
        into.message(item.get("type"), texts(item.get("content") or item.get("text")), None, place, at)
    elif kind == "message":
        into.message(given.get("role"), texts(given.get("content")), given.get("id"), place, at)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        action = given.get("action") if kind == "local_shell_call" else given.get("arguments", given.get("input"))
        into.began(id, given.get("name") or "local_shell", action)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output = mapping(nested(given.get("output")))
        code, success = (mapping(output.get("metadata")) or output).get("exit_code"), output.get("success")
        failed = code != 0 if isinstance(code, int) else not success if isinstance(success, bool) else None
        into.ended(id, given.get("output"), failed, place, at)


# -- Gemini CLI


def _gemini_arranged(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield a log's final messages: one written again replaces the first, a rewind removes all from one on."""
    kept: dict[str, Row] = {}
    for place, row in rows:
        patch = row.get("$set") if isinstance(row.get("$set"), dict) else row if "sessionId" in row else None
        if patch is not None:
            if patch.get("kind") == "subagent":
                return
            yield place, {"sessionId": patch.get("sessionId"), "directories": patch.get("directories")}
            for number, message in enumerate(_objects(patch.get("messages"))):
                kept.setdefault(str(message.get("id") or f"{place}.{number}"), (place, message))
        elif isinstance(row.get("$rewindTo"), str):
            ids = list(kept)
            # To one that is not there: to the beginning, as the client itself reads it.
            for id in ids[ids.index(row["$rewindTo"]) if row["$rewindTo"] in kept else 0 :]:
                del kept[id]
        elif row.get("type") or row.get("role"):
            kept[str(row.get("id") or place)] = place, row
    yield from kept.values()


def _gemini(into: Conversation, row: dict[str, Any], place: str) -> None:
    if "directories" in row:
        folders = row["directories"]
        into.name(row["sessionId"], folders[0] if isinstance(folders, list) and folders else _gemini_folder(into.path))
        return
    at, kind = row.get("timestamp"), row.get("type") or row.get("role")
    # What was typed, without the files that were named in it.
    words = row.get("content") or row.get("parts") or row.get("message")
    into.injected_lines += injected(unescape(texts(words)))
    into.message(kind, texts(row.get("displayContent") or words), row.get("id"), place, at)
    for call in _objects(row.get("toolCalls")):
        into.began(call.get("id"), call.get("name"), call.get("args"))
        failed = {"success": False, "error": True}.get(str(call.get("status")))
        into.ended(call.get("id"), call.get("result"), failed, place, call.get("timestamp") or at)


def _gemini_folder(transcript: str) -> str | None:
    """Return the agent's folder, from a file beside its chats or else from the client's list of projects."""
    kept = Path(transcript).parent.parent
    root, known = kept / ".project_root", kept.parent.parent / "projects.json"
    try:
        if root.is_file() and root.stat().st_size < 5_000:
            return root.read_text(encoding="utf-8", errors="replace").strip()
        projects = json.loads(known.read_bytes()) if known.is_file() and known.stat().st_size < 5_000_000 else {}
    except (ValueError, RecursionError):
        return None
    # A folder of chats has the project's short name, or in older versions the digest of its path.
    names = mapping(mapping(projects).get("projects")).items()
    return next((path for path, name in names if kept.name in (name, sha256(path.encode()).hexdigest())), None)


# -- Copilot CLI


def _copilot(into: Conversation, row: dict[str, Any], place: str) -> None:
    kind, given, at = row.get("type"), mapping(row.get("data")), row.get("timestamp")
    id = given.get("toolCallId")
    if kind == "session.start":
        into.name(given.get("sessionId"), mapping(given.get("context")).get("cwd"))
    elif kind == "user.message" and given.get("source") in (None, "user"):
        into.injected_lines += injected(str(given.get("transformedContent") or ""))
        into.message("user", texts(given.get("content")), row.get("id"), place, at)
    elif kind == "assistant.message" and not given.get("parentToolCallId"):
        into.message("assistant", texts(given.get("content")), row.get("id"), place, at)
    elif kind == "tool.execution_start":
        into.began(id, given.get("toolName"), given.get("arguments"))
    elif kind == "tool.execution_complete":
        failed = not given["success"] if isinstance(given.get("success"), bool) else None
        into.ended(id, given.get("result") or given.get("error"), failed, place, at)


# -- OpenCode: the SQLite file opencode.db, read and never written


def _opencode(into: Conversation, row: dict[str, Any], place: str) -> None:
    """Take a part of a message; `row["message"]` is the message."""
    message, at = row["message"], mapping(row["message"].get("time")).get("created")
    if row.get("type") == "text" and not row.get("ignored") and isinstance(row.get("text"), str):
        if row.get("synthetic"):
            into.injected_lines += injected(row["text"])
        else:
            into.message(message.get("role"), row["text"], row["id"], place, at)
    state = mapping(row.get("state"))
    if row.get("type") == "tool" and state.get("status") in ("completed", "error"):
        into.began(row["id"], row.get("tool"), state.get("input"))
        code = mapping(state.get("metadata")).get("exit")
        failed = state["status"] == "error" or (isinstance(code, int) and code != 0)
        into.ended(row["id"], state.get("output") or state.get("error"), failed, place, at)


def _read_opencode(path: Path, report: TransferReport, *, whole: bool) -> Iterator[Conversation]:
    """Yield the file's conversations, the last first, without those of subagents. Raises BadInput."""

    def text(cell: Any) -> str:
        return cell if isinstance(cell, str) else ""

    def rows(table: str, owner: str, session: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Yield (parent's id, id, object) of each row of a session."""
        for place, row in file.rows(table, f"id {owner} data", named=table, where=("session_id", session)):
            try:
                value = parsed(str(row["data"]))
            except BadInput as error:
                report.bad(place, error.message)
            else:
                yield text(row[owner]), text(row["id"]), value

    needed = {"session": "id directory", "message": "id session_id data", "part": "id message_id session_id data"}
    with ForeignFile(path, report, **needed) as file:
        of_people = [row for _, row in file.rows("session", "id parent_id directory time_updated", named="session")
                     if row["parent_id"] is None and text(row["id"])]  # fmt: skip
        for row in sorted(of_people, key=lambda row: str(row["time_updated"]), reverse=True):
            made = Conversation("opencode", path, whole=whole)
            made.name(row["id"], text(row["directory"]))
            messages = {id: value for _, id, value in rows("message", "session_id", made.id)}
            parts = [part for part in rows("part", "message_id", made.id) if part[0] in messages]
            for of, id, part in sorted(parts, key=lambda part: part[:2]):  # ids ascend in time
                _opencode(made, {**part, "id": id, "message": messages[of]}, f"part {id}")
            if made.turns:
                yield made


# -- the table and the loop

_CODEX_ROWS = ("session_meta", "turn_context", "event_msg", "response_item", "compacted")
_CLAUDE_ROWS = ("user", "assistant", "attachment", "system", "summary", "queue-operation")
CLIENTS = {
    "codex": Client(
        "CODEX_HOME", "", ".codex", "sessions/*/*/*/rollout-*.jsonl",
        lambda row: "payload" in row and row.get("type") in _CODEX_ROWS, _codex, _codex_arranged,
        dated=False,
    ),
    "copilot": Client(
        "COPILOT_HOME", "", ".copilot", "session-state/*/events.jsonl",
        lambda row: isinstance(row.get("data"), dict) and "." in str(row.get("type")), _copilot,
    ),
    "gemini": Client(
        "GEMINI_CLI_HOME", ".gemini", ".gemini", "tmp/*/chats/session-*.json*",
        lambda row: not row.keys().isdisjoint(("$set", "$rewindTo", "projectHash")) or row.get("type") == "gemini",
        _gemini, _gemini_arranged,
    ),
    "claude": Client(
        "CLAUDE_CONFIG_DIR", "", ".claude", "projects/*/*.jsonl",
        lambda row: "sessionId" in row and row.get("type") in _CLAUDE_ROWS, _claude,
    ),
    "cursor": Client(
        "", "", ".cursor", "projects/*/agent-transcripts/**/*.jsonl",
        lambda row: row.get("role") in ("user", "assistant") and isinstance(row.get("message"), dict), _cursor,
        dated=False,
    ),
    "opencode": Client(
        "XDG_DATA_HOME", "opencode", ".local/share/opencode", "opencode*.db", lambda _: False, _opencode,
    ),
}  # fmt: skip


def read_transcript(path: Path, report: TransferReport, *, part: int | None = None) -> Iterator[Conversation]:
    """Yield the conversations in a file. `part`: each whole, with what was pasted, again and again with the next turns,
    about so many. Raises BadInput when no known client wrote it."""
    if is_sqlite(path):
        yield from _read_opencode(path, report, whole=part is not None)
        return
    rows: Iterator[Row] = iter(())
    if path.suffix.lower() == ".json":  # Gemini CLI's older form: the whole conversation is one object
        with path.open("rb") as file:
            ahead = [("line 1", item) for item in _objects(list(json_items(file, path.name))) if "messages" in item]
        client = "gemini"
    else:
        rows = json_lines(path, report)
        ahead, client = _written_by(rows)
    if not ahead or not client:
        raise BadInput(f"{path} is no transcript that is known", hint=f"clients: {', '.join(sorted(CLIENTS))}")
    made = Conversation(client, path, whole=part is not None)
    if client == "copilot" and path.stem == "events":
        made.id = path.parent.name[:200]
    for place, row in CLIENTS[client].arranged(chain(ahead, rows)):
        CLIENTS[client].read(made, row, place)
        if part and len(made.turns) >= part:
            yield made
            made.turns = []
    yield made


def began(path: Path) -> Conversation:
    """Return a conversation as far as its first rows tell of it, up to the agent's folder. Raises BadInput, OSError."""
    if path.suffix.lower() == ".json":
        made = Conversation("gemini", path)
        made.name(None, _gemini_folder(made.path))
        return made
    rows = json_lines(path, TransferReport())
    ahead, client = _written_by(rows)
    made = Conversation(client, path)
    for place, row in CLIENTS[client].arranged(chain(ahead, islice(rows, 10 * AHEAD))) if client else ():
        CLIENTS[client].read(made, row, place)
        if made.folder:
            break
    return made


def _written_by(rows: Iterator[Row]) -> tuple[list[Row], str]:
    """Return the first rows of a file, and the client that wrote them; "" for none that is known."""
    ahead = list(islice(rows, AHEAD))
    return ahead, next((name for _, row in ahead for name, known in CLIENTS.items() if known.wrote(row)), "")
