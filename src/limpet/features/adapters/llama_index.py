"""LlamaIndex: a memory block that keeps the messages which leave the short-term memory, and briefs the model."""

from __future__ import annotations

import asyncio
from typing import Any

from . import framework
from .turns import TOOL, Turns

with framework("limpet[llama-index]"):
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock
    from pydantic import Field

ADAPTER = "llama-index"
CHARACTERS_PER_TOKEN = 4


class LimpetMemoryBlock(BaseMemoryBlock[str]):
    """A memory block: `Memory.from_defaults(memory_blocks=[LimpetMemoryBlock(memory=memory)])`"""

    name: str = "limpet"
    memory: Any = Field(description="An open store, in the scope to remember in.", exclude=True)
    budget_tokens: int = Field(default=600, description="Tokens of the brief, at most.")

    async def _aget(self, messages: list[ChatMessage] | None = None, **given: Any) -> str:
        """Return the memories that matter for the last message of the user, as text."""
        texts = [message.content or "" for message in messages or () if message.role.value == "user"]
        session = given.get("session_id")
        brief = await asyncio.to_thread(
            self.memory.prepare, texts[-1] if texts else "", budget_tokens=self.budget_tokens, session=session
        )
        return str(brief.text())

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for message in messages:
            if message.content and message.content.strip():
                turns = Turns(self.memory, ADAPTER, str(message.additional_kwargs.get("session_id") or ADAPTER))
                who = TOOL if message.role.value in ("tool", "function") else message.role.value
                await asyncio.to_thread(turns.add, [(who, message.content, None)])

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Return the text without its last lines, which matter least."""
        left = len(content) - CHARACTERS_PER_TOKEN * tokens_to_truncate
        return content[:left].rpartition("\n")[0] or None if left > 0 else None
