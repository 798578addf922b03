"""A memory store of Pydantic AI's harness. With an agent: Agent(..., capabilities=[Memory(store=store)])."""

import asyncio

import limpet
from limpet.features.adapters.pydantic_ai import LimpetMemoryStore


async def main(memory):
    store = LimpetMemoryStore(memory)
    await store.write("ana/MEMORY.md", "- Ana is allergic to peanuts", expected_version=None)
    bounds = {"limit": 3, "max_files": 100, "max_chars": 1_000, "max_file_chars": 1_000}
    found = await store.search("ana/", "what can she not eat?", **bounds)
    print(found.matches[0].path, found.matches[0].snippet)


with limpet.open(":memory:", scope="project:shop") as memory:
    asyncio.run(main(memory))
