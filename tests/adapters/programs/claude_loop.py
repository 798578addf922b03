"""STORE URL MESSAGE: a loop of Claude's memory tool with the real client."""

import sys

import anthropic

import limpet
from limpet.features.adapters.claude import LimpetMemoryTool

store, url, message = sys.argv[1:]
with limpet.open(store, scope="project:shop") as memory:
    anthropic.Anthropic(base_url=url, api_key="none").beta.messages.tool_runner(
        model="stub", max_tokens=100, tools=[LimpetMemoryTool(memory)], messages=[{"role": "user", "content": message}],
    ).until_done()  # fmt: skip
