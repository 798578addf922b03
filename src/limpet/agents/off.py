"""What the MCP server answers while limpet is off: reads are empty, writes are refused, each with a plain sentence."""

from __future__ import annotations

import os
import time
from typing import Any

from ..model.errors import BadInput
from ..pause import State, is_ignored, look

# What a read answers with, in the fields that its schema promises.
_EMPTY: dict[str, dict[str, Any]] = {
    "recall": {"relevant": False, "note": "", "items": []},
    "prepare": {"brief": ""},
    "fact": {"values": [], "note": ""},
    "explain": {"note": ""},
    "session": {"note": ""},
}
_READING = ("list", "show", "journal")


def state_of(store: str, session: str) -> State:
    """Whether limpet is off for a call to this process."""
    return look(store, os.getcwd(), session, time.time_ns() // 1_000)  # noqa: PTH109


def refuse_ignored(store: str, text: str) -> None:
    """Raises BadInput for a text that holds what the user wants ignored."""
    if is_ignored(text, state_of(store, "").ignore):
        raise BadInput(
            "the user wants this ignored, so it is not stored", hint="do not try again, and do not keep it elsewhere"
        )


def answer(method: str, params: dict[str, Any], why: str) -> dict[str, Any] | None:
    """The answer to a call that would read or store something; None for every other one."""
    read = f"limpet is off: {why}. Nothing is read from memory until the user turns it on again."
    if method == "tools/call":
        return _call(params, why, read)
    if method == "resources/read":
        return {"contents": [{"uri": str(params.get("uri", "")), "mimeType": "text/markdown", "text": read}]}
    if method == "prompts/get":
        return {"messages": [{"role": "user", "content": _text(read)}]}
    if method == "completion/complete":
        return {"completion": {"values": [], "total": 0, "hasMore": False}}
    return None


def _call(params: dict[str, Any], why: str, read: str) -> dict[str, Any] | None:
    name, given = str(params.get("name")), params.get("arguments")
    given = given if isinstance(given, dict) else {}
    writes = (
        name in ("remember", "correct", "feedback")
        or (name == "fact" and (given.get("value", "") != "" or given.get("end")))
        or (name == "session" and given.get("action") not in _READING)
    )
    if writes:
        refused = f"limpet is off: {why}. Nothing was stored; do not try again, and do not keep it elsewhere."
        return {"content": [_text(refused)], "isError": True}
    if name not in _EMPTY:
        return None
    answer = {field: value if value != "" else read for field, value in _EMPTY[name].items()}
    return {"content": [_text(read)], "structuredContent": answer, "isError": False}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
