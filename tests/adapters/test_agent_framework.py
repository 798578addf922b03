"""Microsoft Agent Framework: history that goes on in another process, and a brief before each run."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("agent_framework")

from agent_framework import Agent, AgentSession, BaseChatClient, ChatResponse, Content, Message

import limpet
from limpet.features.adapters.agent_framework import LimpetContextProvider, LimpetHistoryProvider


class Stub(BaseChatClient):
    """Answers "Done." and keeps what it was asked."""

    def __init__(self):
        super().__init__()
        self.asked = []

    async def _get(self, messages, options):
        self.asked.append((list(messages), dict(options)))
        return ChatResponse(messages=[Message("assistant", ["Done."])])

    def _inner_get_response(self, *, messages, stream, options, **_):
        return self._get(messages, options)


def messages():
    return [
        Message("user", ["yes"]),
        Message("user", ["yes"]),
        Message("assistant", [Content.from_function_call("call_1", "look_up", arguments={"day": "Tue"})]),
        Message("tool", [Content.from_function_result("call_1", result="\x1b[1mTuesday\x1b[0m")]),
        Message("assistant", ["On Tuesday."], author_name="helper", message_id="m4"),
    ]


def test_messages_come_back_as_they_were_by_session(memory):
    async def story():
        provider = LimpetHistoryProvider(memory)
        await provider.save_messages("s1", messages()[:2])
        await provider.save_messages("s1", messages()[2:])
        await provider.save_messages("s2", messages()[:1])
        return await provider.get_messages("s1"), await provider.get_messages("s2"), await provider.get_messages("s3")

    first, second, third = asyncio.run(story())
    assert [one.to_dict() for one in first] == [one.to_dict() for one in messages()]
    assert (len(second), third) == (1, [])
    assert memory.recall("on which day?").items[0].session == "s1"


def test_an_agent_goes_on_with_its_session_and_is_briefed(path, clock):
    client = Stub()

    async def ask(memory, text):
        providers = [LimpetHistoryProvider(memory), LimpetContextProvider(memory)]
        agent = Agent(client, "Help.", context_providers=providers)
        return (await agent.run(text, session=AgentSession(session_id="chat"))).text

    with limpet.open(path, scope="project:api", clock=clock) as memory:
        memory.remember("Releases leave on Tuesdays", origin="user")
        assert asyncio.run(ask(memory, "Hello, I am Ana")) == "Done."
    with limpet.open(path, scope="project:api", clock=clock) as memory:
        asyncio.run(ask(memory, "When do releases leave?"))

    asked, options = client.asked[-1]
    text = "\n".join(one.text for one in asked) + str(options)
    assert "Hello, I am Ana" in text and "Releases leave on Tuesdays" in text
