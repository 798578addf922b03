"""Google ADK's memory service: events and statements of a user, found by meaning, kept apart from other users'."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import ClassVar

import pytest

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import load_memory
from google.genai.types import Content, FunctionCall, Part

import limpet
from limpet.features.adapters.adk import LimpetMemoryService

# Before the clock of the store.
YESTERDAY = datetime(2026, 2, 28, tzinfo=UTC).timestamp()


def said(author, *texts, id=None):
    role = "user" if author == "user" else "model"
    return Event(
        author=author,
        timestamp=YESTERDAY,
        id=id or f"{author}-{hash(texts)}",
        content=Content(role=role, parts=[Part(text=one) for one in texts]),
    )


def session(*events, user="ana", id="monday"):
    return Session(app_name="shop", user_id=user, id=id, events=list(events))


async def search(service, query, user="ana"):
    found = await service.search_memory(app_name="shop", user_id=user, query=query)
    return [(one.author, one.content.parts[0].text) for one in found.memories]


def test_what_was_said_in_a_session_is_found_by_its_user_alone(memory):
    async def story():
        service = LimpetMemoryService(memory)
        call = Event(
            author="helper", content=Content(role="model", parts=[Part(function_call=FunctionCall(name="x", args={}))])
        )
        await service.add_session_to_memory(
            session(said("user", "Releases leave on Tuesdays"), call, said("helper", "Noted."))
        )
        assert ("user", "Releases leave on Tuesdays") in await search(service, "when do we ship?")
        assert await search(service, "when do we ship?", user="bob") == []

    asyncio.run(story())
    assert memory.count() == 0 and memory.in_scope("adk:shop:ana").count() == 2


def test_a_session_that_is_added_again_brings_only_what_is_new(memory):
    async def story():
        service = LimpetMemoryService(memory)
        first = said("user", "yes", id="e1")
        await service.add_session_to_memory(session(first))
        await service.add_session_to_memory(session(first, said("user", "yes", id="e2")))
        await service.add_events_to_memory(
            app_name="shop", user_id="ana", session_id="monday", events=[first, said("user", "no", id="e3")]
        )

    asyncio.run(story())
    turns = memory.in_scope("adk:shop:ana").session_memories("monday")
    assert [one.metadata["turn"] for one in turns] == ["e1", "e2", "e3"]
    assert all(one.observations == 1 for one in turns)

    async def more():
        service = LimpetMemoryService(memory)
        await service.delete_memory(app_name="shop", user_id="ana", memory_id=turns[0].id)
        await service.add_session_to_memory(session(said("user", "yes", id="e1")))

    asyncio.run(more())
    assert len(memory.in_scope("adk:shop:ana").session_memories("monday")) == 2


def test_statements_are_facts_that_can_be_deleted(memory):
    async def story():
        service = LimpetMemoryService(memory, scope_of=lambda app, user: "project:api")
        entry = MemoryEntry(
            content=Content(parts=[Part(text="Ana is allergic to nuts")]),
            timestamp="2025-05-01T00:00:00Z",
            custom_metadata={"from": "form"},
        )
        await service.add_memory(app_name="shop", user_id="ana", memories=[entry])
        (kept,) = (await service.search_memory(app_name="shop", user_id="ana", query="which allergies?")).memories
        assert kept.timestamp == "2025-05-01T00:00:00+00:00"
        with pytest.raises(limpet.NotFound):
            await LimpetMemoryService(memory).delete_memory(app_name="shop", user_id="bob", memory_id=kept.id)
        await service.delete_memory(app_name="shop", user_id="ana", memory_id=kept.id)
        assert await search(service, "which allergies?") == []

    asyncio.run(story())


def test_what_comes_from_outside_is_marked(memory):
    memory.remember("The staging host is api-2", origin="web")
    service = LimpetMemoryService(memory, scope_of=lambda app, user: memory.scope)
    assert asyncio.run(search(service, "which host is staging?")) == [
        ("web (unconfirmed)", "The staging host is api-2")
    ]


class Scripted(BaseLlm):
    """A model that loads memory once, then answers."""

    seen: ClassVar[list] = []

    async def generate_content_async(self, llm_request, stream=False):
        self.seen.append(llm_request)
        answered = any(part.function_response for one in llm_request.contents for part in one.parts)
        call = Part(function_call=FunctionCall(name="load_memory", args={"query": "when do we ship?"}))
        yield LlmResponse(content=Content(role="model", parts=[Part(text="On Tuesdays.") if answered else call]))


def test_an_agent_loads_what_an_earlier_session_said(memory):
    async def story():
        service, sessions, model = LimpetMemoryService(memory), InMemorySessionService(), Scripted(model="stub")
        await service.add_session_to_memory(session(said("user", "Releases leave on Tuesdays")))
        runner = Runner(
            app_name="shop", agent=LlmAgent(name="helper", model=model, tools=[load_memory]),
            session_service=sessions, memory_service=service,
        )  # fmt: skip
        await sessions.create_session(app_name="shop", user_id="ana", session_id="tuesday")
        question = Content(role="user", parts=[Part(text="When do we ship?")])
        events = [one async for one in runner.run_async(user_id="ana", session_id="tuesday", new_message=question)]
        return events[-1].content.parts[0].text, model.seen[-1].model_dump_json()

    answer, seen = asyncio.run(story())
    assert answer == "On Tuesdays." and "Releases leave on Tuesdays" in seen
