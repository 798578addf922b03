"""LlamaIndex's memory block: messages that leave the short-term memory are kept, and the model is briefed."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory

from limpet.features.adapters.llama_index import LimpetMemoryBlock


def test_what_leaves_the_short_term_memory_comes_back_when_it_matters(memory):
    async def story():
        chat = Memory.from_defaults(
            session_id="chat-42", token_limit=200, chat_history_token_ratio=0.2, token_flush_size=20,
            memory_blocks=[LimpetMemoryBlock(memory=memory)],
        )  # fmt: skip
        await chat.aput(
            ChatMessage(role="user", content="Releases leave the building on Tuesdays, after the smoke test.")
        )
        for number in range(6):
            await chat.aput(
                ChatMessage(role="assistant", content=f"Understood, this is answer {number} of the long talk of today.")
            )
            await chat.aput(ChatMessage(role="user", content=f"And what about point {number + 2} of our list?"))
        kept = [one.content for one in memory.list(session="chat-42").memories]
        fresh = Memory.from_defaults(session_id="chat-43", memory_blocks=[LimpetMemoryBlock(memory=memory)])
        await fresh.aput(ChatMessage(role="user", content="When do releases leave?"))
        return kept, await fresh.aget()

    kept, messages = asyncio.run(story())
    assert any("on Tuesdays" in one for one in kept)
    assert "Releases leave the building on Tuesdays" in str(messages[0].content)


def test_the_block_sees_what_others_remember_within_its_budget(memory):
    for place in range(30):
        memory.remember(f"Machine {place} of the build farm stands in rack {place + 100}", origin="user")
    block = LimpetMemoryBlock(memory=memory, budget_tokens=100)

    async def story():
        said = await block.aget([ChatMessage(role="user", content="Where does machine 7 of the build farm stand?")])
        return said, await block.atruncate(said, 10), await block.atruncate(said, 10_000)

    said, shorter, nothing = asyncio.run(story())
    assert "rack 107" in said and len(said) < 900
    assert said.startswith(shorter) and len(shorter) <= len(said) - 40
    assert nothing is None
