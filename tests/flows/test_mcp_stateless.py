"""Clients of the protocol of 2026-07-28 over stdio: no handshake, each request says in `_meta` who asks and in which
version. The cases are those of the public conformance suite, as far as they are not about HTTP; the SDK's types check
the answers."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import threading
import time

import apsw
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import methods

from limpet.agents.mcp import Connection
from limpet.agents.protocol import Service

VERSION = "2026-07-28"
KEY = "io.modelcontextprotocol/"
META = {
    f"{KEY}protocolVersion": VERSION, f"{KEY}clientInfo": {"name": "t", "version": "1"}, f"{KEY}clientCapabilities": {},
}  # fmt: skip
STORE = {"name": "remember", "arguments": {"items": [{"content": "Tests need Redis on port 6380"}]}}


@pytest.fixture
def argv(path):
    return [sys.executable, "-m", "limpet", "--store", str(path), "--scope", "project:api", "mcp"]


@pytest.fixture
def ask(argv):
    """Send requests to a new server, each a method and its parameters; returns the answers in their order."""

    def run(*asked):
        lines = [json.dumps({"jsonrpc": "2.0", "id": n, "method": m, "params": p}) for n, (m, p) in enumerate(asked)]
        said = "".join(f"{line}\n" for line in lines)
        done = subprocess.run(argv, check=False, input=said, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
        return [answers[number] for number in range(len(asked))]

    return run


def without(name):
    return {key: value for key, value in META.items() if key != KEY + name}


def test_without_a_handshake_every_method_answers_as_this_version_has_it(ask):
    asked = [
        ("server/discover", {}), ("tools/list", {}), ("prompts/list", {}), ("resources/list", {}),
        ("resources/templates/list", {}), ("resources/read", {"uri": "memory://index"}),
        ("prompts/get", {"name": "reflect"}), ("tools/call", STORE),
    ]  # fmt: skip
    answers = ask(*((method, given | {"_meta": META}) for method, given in asked))
    for (method, _), answer in zip(asked, answers, strict=True):
        result = answer["result"]
        methods.validate_server_result(method, VERSION, result)
        assert result["resultType"] == "complete" and result["_meta"][f"{KEY}serverInfo"]["name"] == "limpet"
        hints = (result.get("ttlMs"), result.get("cacheScope"))
        own = {"resources/read": (0, "private"), "prompts/get": (None, None), "tools/call": (None, None)}
        assert hints == own.get(method, (3_600_000, "public")), method
    found = answers[0]["result"]
    assert found["supportedVersions"] == [VERSION] and set(found["capabilities"]) == {"tools", "resources", "prompts"}
    assert "recall" in found["instructions"]


@pytest.mark.parametrize(
    ("method", "meta", "code"),
    [
        ("server/discover", None, -32602),
        ("server/discover", without("protocolVersion"), -32602),
        ("server/discover", without("clientCapabilities"), -32602),
        ("tools/list", without("clientCapabilities"), -32602),
        ("tools/list", META | {f"{KEY}protocolVersion": 20260728}, -32602),
        ("tools/list", META | {f"{KEY}clientInfo": "t"}, -32602),
        ("tools/list", META | {f"{KEY}protocolVersion": "2025-11-25"}, -32022),
        ("server/discover", META | {f"{KEY}protocolVersion": "v999"}, -32022),
        ("initialize", META, -32601),
        ("ping", META, -32601),
        ("logging/setLevel", META, -32601),
        ("resources/subscribe", META, -32601),
        ("subscriptions/listen", META, -32601),
        ("no/such", META, -32601),
        ("resources/read", META, -32602),
    ],
)
def test_what_this_version_does_not_have_is_refused_by_its_codes(ask, method, meta, code):
    refused, next_one = ask((method, {} if meta is None else {"_meta": meta}), ("tools/list", {"_meta": META}))
    assert refused["error"]["code"] == code
    if code == -32022:
        asked = meta[f"{KEY}protocolVersion"]
        assert refused["error"]["data"] == {"supported": [VERSION], "requested": asked}
    assert next_one["result"]["tools"]


def test_a_client_need_not_name_itself(ask):
    assert "result" in ask(("server/discover", {"_meta": without("clientInfo")}))[0]


def test_older_clients_of_the_same_server_are_answered_as_ever(ask):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    answers = ask(
        ("tools/list", {"_meta": META}), ("initialize", hello), ("tools/list", {"_meta": {"progressToken": 1}}),
        ("ping", {}), ("resources/read", {"uri": "memory://topic/none"}), ("tools/call", STORE),
    )  # fmt: skip
    new, first, listed, ping, missing, stored = answers
    assert list(first["result"]) == ["protocolVersion", "capabilities", "serverInfo", "instructions"]
    assert first["result"]["protocolVersion"] == "2025-06-18" and ping["result"] == {}
    assert listed["result"] == {"tools": new["result"]["tools"]} and missing["error"]["code"] == -32002
    assert set(stored["result"]) == {"content", "structuredContent", "isError"}


@pytest.mark.parametrize(("mode", "version"), [("auto", VERSION), (VERSION, VERSION), ("legacy", "2025-11-25")])
def test_the_sdks_client_finds_out_and_remembers(argv, mode, version):
    async def run():
        command = StdioServerParameters(command=argv[0], args=argv[1:], env={**os.environ})
        async with Client(stdio_client(command), mode=mode) as client:
            stored = await client.call_tool(STORE["name"], STORE["arguments"])
            page = await client.read_resource("memory://index")
            return client.protocol_version, stored.structured_content, page.contents[0].text

    spoken, stored, page = asyncio.run(run())
    assert spoken == version and stored["results"][0]["status"] == "created" and "Redis" in page


def test_a_call_that_is_cancelled_is_done_and_not_answered(memory, path):
    held = apsw.Connection(str(path))
    held.execute("BEGIN IMMEDIATE")
    call = {"id": 1, "method": "tools/call", "params": STORE | {"_meta": META}}
    stop = {"method": "notifications/cancelled", "params": {"requestId": 1}}
    reader, writer = os.pipe()
    said = io.BytesIO()
    with os.fdopen(reader, "rb") as lines, os.fdopen(writer, "wb") as client:
        server = threading.Thread(target=Connection(Service(memory), said).run, args=(lines,))
        server.start()
        for message in (call, stop):
            client.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            client.flush()
            time.sleep(0.25)  # it is under way; then it is given up
        held.execute("ROLLBACK")
        client.close()
        server.join()
    assert said.getvalue() == b"" and memory.count() == 1
