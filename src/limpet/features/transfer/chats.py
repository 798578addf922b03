"""Data exports of ChatGPT and Claude: conversations.json, in the zip as it was sent, or unpacked.

A message is an episode: what was said, by whom, in the session of its conversation. Whether it is so is not judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...model.errors import BadInput
from .records import Record, TransferReport, digest, moment, time_or_note
from .source import json_items, member

CONVERSATIONS = "conversations.json"
# Roles that people and assistants have; what a system prompt or a tool said is no memory of the conversation.
SPEAKERS = {"user": "user", "human": "user", "assistant": "assistant", "claude": "assistant"}


def read_chatgpt(path: Path, report: TransferReport) -> Iterator[Record]:
    """The branch that was last shown of every conversation. Raises BadInput."""
    yield from _read(path, report, _chatgpt)


def read_claude(path: Path, report: TransferReport) -> Iterator[Record]:
    """Raises BadInput."""
    yield from _read(path, report, _claude)


def _read(path: Path, report: TransferReport, messages: Any) -> Iterator[Record]:
    with member(path, CONVERSATIONS) as (file, name):
        number = 0
        for item in json_items(file, name):  # type: ignore[arg-type]
            several = item.get("conversations") if isinstance(item, dict) else None
            for one in several if isinstance(several, list) else [item]:
                number += 1
                place = f"conversation {number}"
                if not isinstance(one, dict):
                    report.bad(place, "not an object")
                    continue
                try:
                    yield from messages(one, place, report)
                except BadInput as error:
                    report.bad(place, error.message)
                report.at(number, number)


def _chatgpt(one: dict[str, Any], place: str, report: TransferReport) -> Iterator[Record]:
    mapping = one.get("mapping")
    if not isinstance(mapping, dict):
        raise BadInput("it has no mapping of messages")
    id = _name(one.get("conversation_id") or one.get("id")) or digest(one.get("title"), one.get("create_time"))
    nodes = _branch(mapping, one.get("current_node"))
    shown = set(nodes)
    others = sum(1 for key, node in mapping.items() if key not in shown and _said(node))
    if others:
        report.note("messages of other branches (edited or regenerated) were left out", others)
    for node_id in nodes:
        message = mapping[node_id].get("message")
        if not isinstance(message, dict):
            continue
        author = message.get("author")
        role = author.get("role") if isinstance(author, dict) else None
        content = message.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        text = content.get("text") if isinstance(content, dict) and parts is None else None
        texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else [text]
        if isinstance(parts, list) and len(texts) < len(parts):
            report.note("images, audio and other attachments were left out", len(parts) - len(texts))
        record = _record(
            id, _name(message.get("id")) or node_id, f"{place}, message {node_id[:60]}",
            role, texts, message.get("create_time"), one.get("title"), report,
        )  # fmt: skip
        if record is not None:
            yield record


def _said(node: Any) -> bool:
    message = node.get("message") if isinstance(node, dict) else None
    author = message.get("author") if isinstance(message, dict) else None
    return isinstance(author, dict) and author.get("role") in SPEAKERS


def _branch(mapping: dict[str, Any], last: Any) -> list[str]:
    """From the root to the message that was shown last; without that, to the last leaf."""
    if not isinstance(last, str) or not isinstance(mapping.get(last), dict):
        parents = {node.get("parent") for node in mapping.values() if isinstance(node, dict) and _hashable(node)}
        leaves = [key for key, node in mapping.items() if isinstance(node, dict) and key not in parents]
        last = leaves[-1] if leaves else None
    found: dict[str, None] = {}
    while isinstance(last, str) and isinstance(mapping.get(last), dict) and last not in found:
        found[last] = None
        last = mapping[last].get("parent")
    return list(reversed(found))


def _hashable(node: dict[str, Any]) -> bool:
    return isinstance(node.get("parent"), str | None)


def _claude(one: dict[str, Any], place: str, report: TransferReport) -> Iterator[Record]:
    messages = one.get("chat_messages")
    if not isinstance(messages, list):
        raise BadInput("it has no chat_messages")
    id = _name(one.get("uuid")) or digest(one.get("name"), one.get("created_at"))
    for number, message in enumerate(messages, 1):
        where = f"{place}, message {number}"
        if not isinstance(message, dict):
            report.bad(where, "not an object")
            continue
        parts = message.get("content")
        texts = [message.get("text")]
        if isinstance(parts, list):
            blocks = [part for part in parts if isinstance(part, dict)]
            written = [part.get("text") for part in blocks if part.get("type", "text") == "text"]
            others = len(parts) - len(written)
            if others:
                report.note("thinking, tool calls and other blocks were left out", others)
            if any(isinstance(text, str) and text.strip() for text in written):
                texts = written
        for name in ("attachments", "files"):
            if isinstance(message.get(name), list) and message[name]:
                report.note("images, audio and other attachments were left out", len(message[name]))
        record = _record(
            id, _name(message.get("uuid")) or str(number), where,
            message.get("sender") or message.get("role"), texts, message.get("created_at"), one.get("name"), report,
        )  # fmt: skip
        if record is not None:
            yield record


def _record(
    conversation: str,
    id: str,
    place: str,
    role: Any,
    texts: list[Any],
    at: Any,
    title: Any,
    report: TransferReport,
) -> Record | None:
    speaker = SPEAKERS.get(role) if isinstance(role, str) else None
    if speaker is None:
        if role in ("system", "tool"):
            report.note("messages of the system and of tools were left out")
        else:
            report.bad(place, f"unknown speaker: {str(role)[:60]!r}")
        return None
    text = "\n".join(one for one in texts if isinstance(one, str) and one.strip())
    if not text.strip():
        report.note("messages without text were left out")
        return None
    if isinstance(at, float) and not math.isfinite(at):
        at = None
    return Record(
        id=f"{conversation}/{id}",
        place=place,
        content=text,
        kind="episode",
        created=time_or_note(moment, at, place, "its time", report),
        session=conversation,
        speaker=speaker,
        metadata={"conversation": title[:300]} if isinstance(title, str) and title.strip() else {},
    )


def _name(value: Any) -> str | None:
    """An id of theirs, short enough for a session's name."""
    return value.strip()[:200] if isinstance(value, str) and value.strip() and value.isprintable() else None
