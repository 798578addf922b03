"""Claude's memory tool on a store. With a client: client.beta.messages.tool_runner(tools=[tool], ...)."""

import limpet
from limpet.features.adapters.claude import LimpetMemoryTool

with limpet.open(":memory:", scope="project:shop") as memory:
    tool = LimpetMemoryTool(memory)
    tool.call({"command": "create", "path": "/memories/release.md", "file_text": "Releases leave on Tuesdays\n"})
    memory.remember("Nobody releases on a Friday")  # by anybody else

    print(tool.call({"command": "view", "path": "/memories"}))
    print(tool.call({"command": "view", "path": "/memories/from-other-agents.md"}))
    print(memory.recall("when do we ship?").items[0].content)
