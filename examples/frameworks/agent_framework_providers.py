"""History and a brief for Microsoft's Agent Framework: Agent(client, context_providers=[history, brief])."""

import asyncio

from agent_framework import Message

import limpet
from limpet.features.adapters.agent_framework import LimpetContextProvider, LimpetHistoryProvider


async def main(memory):
    history, brief = LimpetHistoryProvider(memory), LimpetContextProvider(memory, budget_tokens=600)
    await history.save_messages("chat-42", [Message("user", ["Releases leave on Tuesdays"])])
    print([one.text for one in await history.get_messages("chat-42")], brief.source_id)


with limpet.open(":memory:", scope="project:shop") as memory:
    asyncio.run(main(memory))
    print(memory.recall("when do we ship?").items[0].content)
