"""Google ADK's memory service on a store. With a runner: Runner(..., memory_service=service)."""

import asyncio

from google.adk.events import Event
from google.adk.sessions import Session
from google.genai.types import Content, Part

import limpet
from limpet.features.adapters.adk import LimpetMemoryService


async def main(memory):
    service = LimpetMemoryService(memory)
    said = Event(author="user", content=Content(role="user", parts=[Part(text="Releases leave on Tuesdays")]))
    await service.add_session_to_memory(Session(app_name="shop", user_id="ana", id="monday", events=[said]))
    found = await service.search_memory(app_name="shop", user_id="ana", query="when do we ship?")
    print(found.memories[0].author, found.memories[0].content.parts[0].text)


with limpet.open(":memory:") as memory:
    asyncio.run(main(memory))
    print([one.scope for one in memory.scopes()])
