"""STORE URL MESSAGE: a run of an OpenAI agent with a session and the tools of memory."""

import asyncio
import sys

from openai import AsyncOpenAI

import limpet
from agents import Agent, OpenAIResponsesModel, RunConfig, Runner
from limpet.features.adapters.openai_agents import LimpetSession, memory_tools

store, url, message = sys.argv[1:]
with limpet.open(store, scope="project:shop") as memory:
    model = OpenAIResponsesModel("stub", AsyncOpenAI(base_url=f"{url}/v1", api_key="none"))
    agent = Agent(name="helper", model=model, tools=memory_tools(memory))
    session = LimpetSession("support-7", memory)
    asyncio.run(Runner.run(agent, message, session=session, run_config=RunConfig(tracing_disabled=True)))
