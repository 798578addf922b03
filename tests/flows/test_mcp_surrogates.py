"""Half a character (a lone surrogate) in a call: no UTF-8 holds it, JSON can name it, and every call gets its answer."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading

import pytest
from mcp.client import Client

import limpet
from limpet.agents.protocol import Service
from limpet.features.serve.sdk import server_of

HALF = "\ud800"
# For every tool a call with half a character in it, at the top and nested.
CALLS = [
    ("remember", {"items": [{"content": f"half {HALF} a character"}]}),
    ("remember", {"items": [{"content": "whole"}, {"content": "whole", "topics": ["fine", HALF]}]}),
    ("remember", {"items": [{"content": "whole", "because": [HALF]}]}),
    ("prepare", {"message": HALF}),
    ("recall", {"query": f"deploys {HALF}"}),
    ("recall", {"query": "deploys", "topics": [HALF]}),
    ("correct", {"id": HALF, "content": "new"}),
    ("fact", {"key": "api.limit", "value": HALF}),
    ("explain", {"what": "audit", "about": HALF}),
    ("feedback", {"ids": [HALF], "verdict": "useful"}),
    ("session", {"action": "start", "name": HALF}),
]


class Server:
    """A server process over stdio, spoken to by the bytes of the protocol."""

    def __init__(self, path):
        argv = [sys.executable, "-m", "limpet", "--store", str(path), "mcp"]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.ask("initialize", about, id=0)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        # Escapes, as a client in JavaScript writes them: the line itself is ASCII.
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params, *, id):
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        # A call that is never answered fails here, and does not hang the suite.
        watch = threading.Timer(60, self.process.kill)
        watch.start()
        line = self.process.stdout.readline()
        watch.cancel()
        assert line, "no answer"
        answer = json.loads(line)
        assert answer["id"] == id
        return answer


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Not one that begins anew for each call: what one call leaves behind, the next one meets."""
    made = Server(tmp_path_factory.mktemp("served") / "memory.db")
    with made.process as process:
        yield made
        process.stdin.close()
        assert process.wait(30) == 0


def failed(answer):
    return "error" in answer or answer["result"]["isError"]


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_a_call_with_half_a_character_is_answered_with_an_error_and_the_server_goes_on(server, tool, arguments):
    answer = server.ask("tools/call", {"name": tool, "arguments": arguments}, id=1)
    assert "surrogate" in answer["error"]["message"]

    # Arguments that a model wrote as JSON in a string.
    packed = {name: json.dumps(value) if isinstance(value, list) else value for name, value in arguments.items()}
    if packed != arguments:
        assert failed(server.ask("tools/call", {"name": tool, "arguments": packed}, id=2))

    sane = server.ask("tools/call", {"name": "remember", "arguments": {"items": [{"content": "Still here"}]}}, id="3")
    assert not failed(sane)


def test_other_requests_are_answered_too_and_a_notification_is_not(server):
    assert "error" in server.ask("prompts/get", {"name": "brief", "arguments": {"task": HALF}}, id=4)
    assert "error" in server.ask("resources/read", {"uri": f"memory://topic/{HALF}"}, id=5)
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5, "reason": HALF}})
    assert server.ask("ping", {}, id=HALF)["result"] == {}
    assert server.ask("ping", {}, id=6)["result"] == {}


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_a_call_within_the_process_is_answered_as_well(memory, tool, arguments):
    async def run():
        async with Client(server_of(Service(memory))) as client:
            try:
                answer = (await client.call_tool(tool, arguments)).is_error
            except Exception:
                answer = True
            await client.call_tool("remember", {"items": [{"content": "Still here"}]})
            return answer

    assert asyncio.run(run())
    assert memory.count() == 1


def test_nothing_that_is_no_text_reaches_the_store(memory):
    with pytest.raises(limpet.BadInput):
        memory.remember(HALF)
