"""OpenAI Agents: a `Session` whose turns are memories, and tools with which an agent recalls and remembers.

A session gives an agent its own conversation, and nothing else; what others remember it gets by `memory_tools`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from . import framework
from .documents import line
from .turns import TOOL, Turns

with framework("limpet[openai-agents]"):
    from agents import SessionABC, SessionSettings, function_tool

if TYPE_CHECKING:
    from ...api import Limpet

ADAPTER = "openai-agents"


class LimpetSession(SessionABC):
    """The conversation `session_id`, kept in the scope of an open store. `Runner.run(agent, ..., session=session)`"""

    def __init__(self, session_id: str, memory: Limpet, *, session_settings: SessionSettings | None = None) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._turns = Turns(memory, ADAPTER, session_id)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the last `limit` items, the oldest first; else as many as the settings say, else all."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        return await asyncio.to_thread(self._turns.items, limit)

    async def add_items(self, items: list[Any]) -> None:
        """Store items, with long texts cut above 60,000 bytes. Raises BadInput for data that cannot be cut."""
        await asyncio.to_thread(self._turns.add, [(*_speaker_and_text(item), item) for item in items])

    async def pop_item(self) -> Any | None:
        return await asyncio.to_thread(self._turns.pop)

    async def clear_session(self) -> None:
        await asyncio.to_thread(self._turns.clear)


def memory_tools(memory: Limpet, *, k: int = 8) -> list[Any]:
    """Return `recall` and `remember` as tools of an agent, in the scope of an open store."""

    async def recall(query: str) -> str:
        """Recall what is remembered that matters for a question, the best first.

        Args:
            query: A question, or what the memory should be about.
        """
        items = await asyncio.to_thread(memory.recall, query, k=k)
        return "\n".join(map(line, items)) or "nothing is remembered of that"

    async def remember(statement: str) -> str:
        """Keep something for later conversations.

        Args:
            statement: One statement that can be understood by itself.
        """
        receipt = await asyncio.to_thread(memory.remember, statement)
        return receipt.reason or receipt.status

    return [function_tool(recall), function_tool(remember)]


def _speaker_and_text(item: Any) -> tuple[str, str]:
    """Return (speaker, text) of an item of the Responses API."""
    kind = str(item.get("type") or "message")
    if kind.endswith("_output"):
        return TOOL, _text(item.get("output"))
    if "role" in item:
        return str(item["role"]), _text(item.get("content"))
    if item.get("name"):
        return "assistant", f"calls {item['name']} {_text(item.get('arguments') or item.get('input'))}"
    return "assistant", _text(item.get("summary") or item.get("content"))


def _text(value: Any) -> str:
    """Return the text of a content: itself, or that of its parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _text(value.get("text") or value.get("refusal") or value.get("output"))
    return "\n".join(map(_text, value)) if isinstance(value, list) else ""
