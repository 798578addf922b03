"""A memory block of LlamaIndex. With an agent: agent.run("...", memory=chat)."""

import asyncio

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory

import limpet
from limpet.features.adapters.llama_index import LimpetMemoryBlock


async def main(memory):
    memory.remember("Releases leave on Tuesdays", origin="user")
    chat = Memory.from_defaults(session_id="chat-42", memory_blocks=[LimpetMemoryBlock(memory=memory)])
    await chat.aput(ChatMessage(role="user", content="When do releases leave?"))
    print((await chat.aget())[0].content)


with limpet.open(":memory:", scope="project:shop") as memory:
    asyncio.run(main(memory))
