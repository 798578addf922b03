"""Microsoft Agent Framework: a history provider whose messages are memories, and a context provider that briefs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import framework
from .turns import TOOL, Turns

with framework("limpet[agent-framework]"):
    from agent_framework import ContextProvider, HistoryProvider, Message

if TYPE_CHECKING:
    from ...api import Limpet

ADAPTER = "agent-framework"


class LimpetHistoryProvider(HistoryProvider):
    """The conversation of each session, in the scope of an open store. `given`: the base class's settings."""

    def __init__(self, memory: Limpet, source_id: str = "limpet-history", **given: Any) -> None:
        super().__init__(source_id, **given)
        self._memory = memory

    async def get_messages(self, session_id: str | None, **_: Any) -> list[Any]:
        items = await asyncio.to_thread(Turns(self._memory, ADAPTER, session_id or ADAPTER).items)
        return [Message.from_dict(item) for item in items]

    async def save_messages(self, session_id: str | None, messages: Sequence[Any], **_: Any) -> None:
        """Store messages. Raises BadInput for data of more than 60,000 bytes in a message."""
        items = [(TOOL if row.role == "tool" else str(row.role), _text(row), row.to_dict()) for row in messages]
        await asyncio.to_thread(Turns(self._memory, ADAPTER, session_id or ADAPTER).add, items)


class LimpetContextProvider(ContextProvider):
    """A provider that adds the memories that matter for the message to the instructions before each run."""

    def __init__(self, memory: Limpet, source_id: str = "limpet", *, budget_tokens: int = 600) -> None:
        super().__init__(source_id)
        self._memory = memory
        self._budget = budget_tokens

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:  # noqa: ARG002
        message = "\n".join(part.text for part in context.input_messages if part.text)
        brief = await asyncio.to_thread(
            self._memory.prepare, message, budget_tokens=self._budget, session=context.session_id
        )
        if text := brief.text():
            context.extend_instructions(self.source_id, text)


def _text(message: Any) -> str:
    """Return the text of a message, else the names, arguments and results of its calls."""
    if message.text:
        return str(message.text)
    names = ("name", "arguments", "result")
    parts = [" ".join(str(getattr(call, name, None) or "") for name in names) for call in message.contents]
    return "\n".join(parts).strip()
