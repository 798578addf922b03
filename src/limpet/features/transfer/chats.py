"""Data exports of ChatGPT and Claude: conversations.json, in the zip as it was sent, or unpacked.

A message is an episode: what was said, by whom, in the session of its conversation. Whether it is so is not judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...model.errors import BadInput
from .records import MAX_NAME, Record, TransferReport, cleaned, digest, records_from
from .source import json_items, member

CONVERSATIONS = "conversations.json"
# Roles that people and assistants have; what a system prompt or a tool said is no memory of the conversation.
SPEAKERS = {"user": "user", "human": "user", "assistant": "assistant", "claude": "assistant"}
# (place, message): its `id`, `texts`, `role` and time `at`.
_Messages = Iterator[tuple[str, dict[str, Any]]]


def read_chatgpt(path: Path, report: TransferReport) -> Iterator[Record]:
    """The branch that was last shown of every conversation. Raises BadInput."""
    yield from _read(path, report, _chatgpt, "conversation_id id title create_time")


def read_claude(path: Path, report: TransferReport) -> Iterator[Record]:
    """Every conversation. Raises BadInput."""
    yield from _read(path, report, _claude, "uuid uuid name created_at")


def _read(
    path: Path, report: TransferReport, messages: Callable[[dict[str, Any], str, TransferReport], _Messages], names: str
) -> Iterator[Record]:
    """`names`: the fields of a conversation that hold its id, another one, its title and its time."""
    first_id, other_id, title_name, time_name = names.split()
    with member(path, CONVERSATIONS) as (file, name):
        number = 0
        for item in json_items(file, name):
            within = item.get("conversations") if isinstance(item, dict) else None
            for conversation in within if isinstance(within, list) else [item]:
                number += 1
                report.at(number, number)
                place = f"conversation {number}"
                if not isinstance(conversation, dict):
                    report.bad(place, "not an object")
                    continue
                title = conversation.get(title_name)
                session = _name(conversation.get(first_id) or conversation.get(other_id))
                session = session or digest(title, conversation.get(time_name))
                about = {"conversation": title[:300]} if isinstance(title, str) and title.strip() else {}

                def record(
                    message: dict[str, Any], place: str, session: str = session, about: dict[str, str] = about
                ) -> Record | None:
                    return _record(message, place, session, about, report)

                try:
                    yield from records_from(messages(conversation, place, report), report, record)
                except BadInput as error:
                    report.bad(place, error.message)


def _chatgpt(conversation: dict[str, Any], place: str, report: TransferReport) -> _Messages:
    mapping = conversation.get("mapping")
    if not isinstance(mapping, dict):
        raise BadInput("it has no mapping of messages")
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    messages = {key: node["message"] for key, node in nodes.items() if isinstance(node.get("message"), dict)}
    roles = {
        key: message["author"].get("role")
        for key, message in messages.items()
        if isinstance(message.get("author"), dict)
    }
    # From the message that was shown last, or the last leaf, to the root.
    key = conversation.get("current_node")
    if not isinstance(key, str) or key not in nodes:
        parents = {parent for node in nodes.values() if isinstance(parent := node.get("parent"), str)}
        key = next((leaf for leaf in reversed(nodes) if leaf not in parents), None)
    branch: dict[str, None] = {}
    while isinstance(key, str) and key in nodes and key not in branch:
        branch[key] = None
        key = nodes[key].get("parent")
    others = sum(1 for key, role in roles.items() if key not in branch and isinstance(role, str) and role in SPEAKERS)
    if others:
        report.note("messages of other branches (edited or regenerated) were left out", others)
    for key in reversed(branch):
        if key not in messages:
            continue
        message = messages[key]
        content = message.get("content") if isinstance(message.get("content"), dict) else {}
        parts = content.get("parts", [content.get("text")])
        texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
        if isinstance(content.get("parts"), list) and len(texts) < len(parts):
            report.note("images, audio and other attachments were left out", len(parts) - len(texts))
        yield f"{place}, message {key[:60]}", {
            "id": _name(message.get("id")) or key, "texts": texts, "role": roles.get(key),
            "at": message.get("create_time"),
        }  # fmt: skip


def _claude(conversation: dict[str, Any], place: str, report: TransferReport) -> _Messages:
    messages = conversation.get("chat_messages")
    if not isinstance(messages, list):
        raise BadInput("it has no chat_messages")
    for number, message in enumerate(messages, 1):
        where = f"{place}, message {number}"
        if not isinstance(message, dict):
            report.bad(where, "not an object")
            continue
        parts = message.get("content")
        texts = [message.get("text")]
        if isinstance(parts, list):
            written = [
                part.get("text") for part in parts if isinstance(part, dict) and part.get("type", "text") == "text"
            ]
            if len(written) < len(parts):
                report.note("thinking, tool calls and other blocks were left out", len(parts) - len(written))
            if any(isinstance(text, str) and text.strip() for text in written):
                texts = written
        for name in ("attachments", "files"):
            if isinstance(message.get(name), list) and message[name]:
                report.note("images, audio and other attachments were left out", len(message[name]))
        yield where, {
            "id": _name(message.get("uuid")) or str(number), "texts": texts,
            "role": message.get("sender") or message.get("role"), "at": message.get("created_at"),
        }  # fmt: skip


def _record(
    message: dict[str, Any], place: str, session: str, about: dict[str, str], report: TransferReport
) -> Record | None:
    role, at = message["role"], message["at"]
    if role in ("system", "tool"):
        report.note("messages of the system and of tools were left out")
        return None
    if not isinstance(role, str) or role not in SPEAKERS:
        raise BadInput(f"unknown speaker: {str(role)[:60]!r}")
    text = "\n".join(part for part in message["texts"] if isinstance(part, str) and part.strip())
    if not text:
        report.note("messages without text were left out")
        return None
    return cleaned(
        place, report, id=f"{session}/{message['id']}", content=text, default="episode", session=session,
        created=None if isinstance(at, float) and not math.isfinite(at) else at, speaker=SPEAKERS[role], metadata=about,
    )  # fmt: skip


def _name(value: Any) -> str | None:
    """An id of theirs, short enough for a session's name."""
    return value.strip()[:MAX_NAME] if isinstance(value, str) and value.strip() and value.isprintable() else None
