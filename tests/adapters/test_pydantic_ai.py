"""Pydantic AI's memory store: what it answers is what the harness's own InMemoryStore answers; files are memories."""

from __future__ import annotations

import asyncio
import random

import pytest

pytest.importorskip("pydantic_ai_harness")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai_harness.memory import (
    InMemoryStore,
    Memory,
    MemoryOperation,
    MemoryStore,
    MetadataMemoryStore,
    SearchableMemoryStore,
)

import limpet
from limpet.features.adapters.pydantic_ai import LimpetMemoryStore

PATHS = ["MEMORY.md", "notes.md", "ana/MEMORY.md", "ana/trips/rome.md", "Ana/MEMORY.md"]
TEXTS = ["", "one\n", "One\n", "Ana likes pizza", "line\n\n  two", "ünï"]


def test_it_is_each_of_the_harness_protocols(memory):
    store = LimpetMemoryStore(memory)
    assert all(isinstance(store, one) for one in (MemoryStore, MetadataMemoryStore, SearchableMemoryStore))


async def tried(call):
    """What comes back without versions, or the kind of error."""
    try:
        done = await call
    except (ValueError, RuntimeError) as error:
        return type(error).__name__, None
    return (getattr(done, "existed", None), getattr(done, "replayed", None)), getattr(done, "version", None)


def test_it_does_what_the_harness_own_store_does(tmp_path):
    async def story(seed, memory):
        dice = random.Random(seed)
        pair = (LimpetMemoryStore(memory), InMemoryStore())
        operations = []
        for step in range(60):
            path = dice.choice([*PATHS, "../x", "a//b"])
            versions = []
            for store in pair:
                try:
                    there = await store.read(path, max_chars=100)
                except ValueError:
                    there = None
                versions.append(there and there.version)
            stale = dice.random() < 0.2
            operation = dice.choice([None, MemoryOperation(f"op{step}", "f"), *operations[-3:]])
            if operation and operation not in operations:
                operations.append(operation)
            text, writes = dice.choice(TEXTS), dice.random() < 0.7
            if not writes and versions[0] is None:
                operation = None  # the deletion of nothing leaves no receipt here
            about = dice.choice([None, {"by": "ana"}])
            told = []
            for store, version in zip(pair, versions, strict=True):
                given = {"expected_version": "stale" if stale else version, "operation": operation}
                told.append(
                    (
                        await tried(
                            store.write_with_metadata(path, text, metadata=about, **given)
                            if writes
                            else store.delete(path, **given)
                        )
                    )[0]
                )
            assert told[0] == told[1], (seed, step, path, writes, operation)
            for one in PATHS:
                mine, other = [await store.read(one, max_chars=4) for store in pair]
                assert (mine is None) == (other is None)
                if mine:
                    assert (mine.content, mine.truncated, mine.operation_id, mine.metadata) == (
                        other.content, other.truncated, other.operation_id, other.metadata,
                    )  # fmt: skip
            for prefix in ("", "ana/", "nothing/"):
                assert await pair[0].list_paths(prefix, limit=3) == await pair[1].list_paths(prefix, limit=3)

    for seed in range(6):
        with limpet.open(tmp_path / f"{seed}.db", scope="project:api") as memory:
            asyncio.run(story(seed, memory))


def test_search_is_by_meaning_and_below_the_prefix_alone(memory):
    async def story():
        store = LimpetMemoryStore(memory)
        for path, text in [
            ("ana/food.md", "Ana is allergic to peanuts"), ("ana/work.md", "Ana runs the billing team"),
            ("ana/trips/rome.md", "No nuts on the flight to Rome"), ("bob/food.md", "Bob eats peanuts daily"),
        ]:  # fmt: skip
            await store.write(path, text, expected_version=None)
        memory.work()
        found = await store.search(
            "ana/", "which food is dangerous for her?", limit=5, max_files=10, max_chars=200, max_file_chars=100
        )
        short = await store.search("ana/", "peanuts", limit=1, max_files=1, max_chars=15, max_file_chars=100)
        return found, short

    found, short = asyncio.run(story())
    assert found.matches[0].path == "ana/food.md" and {one.path for one in found.matches} <= {
        "ana/food.md",
        "ana/work.md",
    }
    assert (found.scanned, found.truncated) == (2, False)
    assert [one.snippet for one in short.matches] == ["Ana is"] or len(short.matches[0].snippet) == 15 - len("food.md")
    assert short.truncated


def test_an_agent_writes_memory_that_a_recall_finds(memory):
    seen = []

    def model(messages, info):
        seen.append(str(messages) + str(info.instructions))
        if any(isinstance(part, ToolReturnPart) for one in messages for part in one.parts):
            return ModelResponse(parts=[TextPart("Done.")])
        return ModelResponse(parts=[ToolCallPart("write_memory", {"content": "- Ana is allergic to peanuts"})])

    agent = Agent(FunctionModel(model), capabilities=[Memory(store=LimpetMemoryStore(memory))])
    assert asyncio.run(agent.run("I cannot eat peanuts")).output == "Done."
    assert "allergic to peanuts" in memory.recall("which allergies does Ana have?").items[0].content
    asyncio.run(agent.run("What can I eat?"))
    assert "allergic to peanuts" in seen[2]
