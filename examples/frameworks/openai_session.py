"""A session of OpenAI Agents on a store. With an agent: Runner.run(agent, "...", session=session)."""

import asyncio

import limpet
from agents import Agent
from limpet.features.adapters.openai_agents import LimpetSession, memory_tools


async def main(memory):
    session = LimpetSession("support-7", memory)
    await session.add_items([{"role": "user", "content": "Releases leave on Tuesdays, remember that."}])
    print(await session.get_items())
    agent = Agent(name="helper", tools=memory_tools(memory))  # recall and remember
    print([tool.name for tool in agent.tools])


with limpet.open(":memory:", scope="project:shop") as memory:
    asyncio.run(main(memory))
    print(memory.recall("when do we ship?").items[0].content)
