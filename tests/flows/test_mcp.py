"""The MCP server as agents meet it: both protocol eras in memory, and a real process over stdio."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest
from mcp.client import Client

from limpet.agents.mcp import build


def talk(memory, mode, *calls):
    """Call tools one after another; returns the structured answers, or the error texts."""

    async def run():
        answers = []
        async with Client(build(memory), mode=mode) as client:
            for name, arguments in calls:
                done = await client.call_tool(name, arguments)
                answers.append(done.content[0].text if done.is_error else done.structured_content)
        return answers

    return asyncio.run(run())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_an_agent_stores_it_finds_again(memory, mode):
    stored, found = talk(
        memory,
        mode,
        ("remember", {"items": [{"content": "Tests need Redis on port 6380", "kind": "fact", "topics": ["tests"]}]}),
        ("recall", {"query": "redis port", "k": 3}),
    )
    assert stored["results"][0]["status"] == "created"
    assert found["items"][0]["id"] == stored["results"][0]["id"]
    assert found["items"][0]["topics"] == ["tests"]


def test_an_agent_corrects_and_judges(memory):
    old = memory.remember("Tests need Redis on port 6379").id
    other = memory.remember("Nobody uses the old runner").id
    new, retracted, noted = talk(
        memory,
        "auto",
        ("correct", {"id": old, "content": "Tests need Redis on port 6380", "why": "the port moved"}),
        ("correct", {"id": other, "action": "retract", "why": "CI uses it"}),
        ("feedback", {"ids": [old], "verdict": "useful"}),
    )
    assert new["status"] == "created" and retracted["status"] == "changed" and noted["noted"] == 1
    (archived,) = talk(memory, "auto", ("correct", {"id": new["id"], "action": "archive"}))
    assert archived["status"] == "changed"
    assert memory.count() == 0


def test_refusals_reach_the_agent_as_words(memory):
    answers = talk(
        memory,
        "auto",
        ("remember", {"items": []}),
        ("correct", {"id": "0123456789", "content": "x"}),
        ("correct", {"id": "0123456789"}),
        ("correct", {"id": "0123456789", "action": "retract"}),
        ("correct", {"id": "0123456789", "action": "archive", "content": "x"}),
        ("recall", {"query": "x", "since": "never ever"}),
    )
    assert all(isinstance(answer, str) and "Traceback" not in answer for answer in answers)
    assert "no memory" in answers[1]


def test_the_schema_is_small(memory):
    async def tools():
        async with Client(build(memory), mode="auto") as client:
            return (await client.list_tools()).tools

    listed = asyncio.run(tools())
    assert [tool.name for tool in listed] == ["remember", "prepare", "recall", "correct", "feedback"]
    assert sum(len(json.dumps(tool.model_dump(mode="json", exclude_none=True))) for tool in listed) < 6_000


def test_a_server_process_speaks_over_stdio_and_ends_with_its_client(path):
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    store = {
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "remember", "arguments": {"items": [{"content": "spoken over stdio"}]}},
    }  # fmt: skip
    argv = [sys.executable, "-m", "limpet.cli.main", "--store", str(path), "mcp"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def say(message):
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()

        say(hello)
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "limpet"
        say(ready)
        say(store)
        assert "created" in process.stdout.readline()
        process.stdin.close()
        assert process.wait(60) == 0
