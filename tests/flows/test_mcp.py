"""The MCP server as agents meet it: both protocol eras in memory, and a real process over stdio."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp.client import Client

import limpet
from limpet.agents import mcp
from limpet.agents.hooks.client_adapters import SESSION_VARIABLES
from limpet.agents.mcp import Drain
from limpet.agents.protocol import Service
from limpet.features import usefulness
from limpet.features.serve.sdk import server_of
from limpet.features.serve.tokens import tokens_of


def talk(memory, mode, *calls):
    """Call tools one after another; returns the structured answers, or the error texts."""

    async def run():
        answers = []
        async with Client(server_of(Service(memory)), mode=mode) as client:
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


def test_an_agent_is_told_whether_anything_answers_its_question(memory):
    (nothing,) = talk(memory, "auto", ("recall", {"query": "redis port"}))
    assert nothing["relevant"] is False and nothing["note"] == "Nothing was found."
    memory.remember("Tests need Redis on port 6380", session="s1")
    memory.work()

    asked, other, sessions = talk(
        memory,
        "auto",
        ("recall", {"query": "redis port"}),
        ("recall", {"query": "Who painted the ceiling of the chapel?"}),
        ("recall", {"query": "Who painted the ceiling of the chapel?", "sessions": True}),
    )

    assert asked["relevant"] is True and asked["note"] == "The first of these probably answers it."
    assert other["relevant"] is False and other["note"].startswith("Nothing here answers this well")
    assert other["items"] and sessions["relevant"] is False and "note" in sessions


def test_what_words_alone_found_is_not_said_to_answer_probably(path, clock):
    with limpet.open(path, scope="global", clock=clock, embedder="none-such") as memory:
        memory.remember("Tests need Redis on port 6380")
        (asked,) = talk(memory, "auto", ("recall", {"query": "redis port"}))
    assert asked["relevant"] is True and asked["missing"] == ["vector"]
    assert asked["note"] == "Found by words, vectors being missing: see whether one of these answers it."


def test_an_agent_is_not_told_that_an_unlikely_answer_is_a_probable_one(memory):
    memory.remember("The initialisation of the cluster takes ten minutes", session="s1")
    memory.work()
    assert memory.recall("ialisati").relevance < 0.5
    (asked,) = talk(memory, "auto", ("recall", {"query": "ialisati"}))
    assert asked["relevant"] is True and asked["note"] == "The first of these may answer it."


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


def test_an_agent_merges_and_links_two_memories(memory):
    first, again, cause = (
        memory.remember(text).id
        for text in ("The shop shuts at 6", "We shut the shop at six", "The bus leaves at ten past six")
    )
    merged, linked, twice, alone = talk(
        memory,
        "auto",
        ("correct", {"id": first, "action": "merge", "other": again}),
        ("correct", {"id": first, "action": "link", "edge": "caused_by", "other": cause}),
        ("correct", {"id": first, "action": "link", "edge": "caused_by", "other": cause}),
        ("correct", {"id": first, "action": "link"}),
    )
    assert merged["status"] == linked["status"] == "changed" and twice["status"] == "unchanged"
    assert "other: its id" in alone and memory.count() == 2
    assert [one.id for one in memory.why(first).reasons] == [cause]


def test_an_agent_neither_merges_nor_replaces_what_its_user_said(memory):
    theirs = memory.remember("We deploy on Tuesdays", origin="user").id
    mine = memory.remember("Deploys are on Tuesdays").id
    for given in ({"action": "merge"}, {"action": "link", "edge": "supersedes"}):
        (refused,) = talk(memory, "auto", ("correct", {"id": mine, "other": theirs, **given}))
        assert "trusted more" in refused and memory.count() == 2
    doubted, said = talk(
        memory,
        "auto",
        ("correct", {"id": mine, "action": "link", "edge": "contradicts", "other": theirs}),
        ("correct", {"id": mine, "action": "merge", "other": theirs, "origin": "user"}),
    )
    assert doubted["status"] == said["status"] == "changed" and memory.count() == 1


def test_an_agent_reads_the_index_and_the_page_of_a_topic(memory):
    memory.remember("Deploys go out on Tuesdays", topics=["deploy"])
    memory.remember("Never deploy on Fridays", topics=["deploy"], kind="preference", pin=True)
    index, topic, nothing, unsaid = talk(
        memory,
        "auto",
        ("explain", {"what": "index"}),
        ("explain", {"what": "topic", "about": "deploy"}),
        ("explain", {"what": "topic", "about": "zebra"}),
        ("explain", {"what": "topic"}),
    )
    assert "- topics: deploy 2" in index["page"] and "Never deploy on Fridays" in index["page"]
    assert "Deploys go out on Tuesdays" in topic["page"] and topic["page"].startswith("# deploy")
    assert "nothing is remembered about zebra" in nothing and "about: " in unsaid


def test_an_agent_sets_reads_and_ends_a_fact(memory, clock):
    (first,) = talk(memory, "auto", ("fact", {"key": "api.limit", "value": "100 a minute"}))
    clock.advance(days=2)
    second, now, then, history = talk(
        memory,
        "auto",
        ("fact", {"key": "api.limit", "value": "600 a minute"}),
        ("fact", {"key": "api.limit"}),
        ("fact", {"key": "api.limit", "as_of": "2026-03-02"}),
        ("fact", {"key": "api.limit", "history": True}),
    )
    assert first["status"] == second["status"] == "created"
    assert [one["values"][0]["value"] for one in (now, then)] == ["600 a minute", "100 a minute"]
    assert [one["value"] for one in history["values"]] == ["100 a minute", "600 a minute"]
    clock.advance(days=1)
    ended, none, both = talk(
        memory,
        "auto",
        ("fact", {"key": "api.limit", "end": True}),
        ("fact", {"key": "api.limit"}),
        ("fact", {"key": "api.limit", "value": "7", "history": True}),
    )
    assert ended["status"] == "changed" and "api.limit" in none and isinstance(both, str)


def test_an_agent_is_told_why_and_what_follows(memory, clock):
    (limit,) = talk(memory, "auto", ("remember", {"items": [{"content": "The API allows 100 requests a minute"}]}))
    id = limit["results"][0]["id"]
    (decision,) = talk(
        memory,
        "auto",
        ("remember", {"items": [{"content": "We send in batches of 50", "kind": "decision", "because": [id]}]}),
    )
    why, impact, by_words, audit, timeline, conflicts, nothing, unknown = talk(
        memory,
        "auto",
        ("explain", {"what": "why", "about": decision["results"][0]["id"]}),
        ("explain", {"what": "impact", "about": id}),
        ("explain", {"what": "impact", "about": "API requests a minute"}),
        ("explain", {"what": "audit", "about": id}),
        ("explain", {"what": "timeline", "about": id}),
        ("explain", {"what": "contradictions"}),
        ("explain", {"what": "why"}),
        ("explain", {"what": "why", "about": "the weather in Lisbon"}),
    )
    assert [one["id"] for one in why["reasons"]] == [id]
    assert [one["content"] for one in impact["affected"]] == ["We send in batches of 50"]
    assert by_words["affected"] == impact["affected"]
    assert audit["beliefs"][0]["rests_on_it"][0]["id"] == decision["results"][0]["id"]
    assert {one["id"] for one in timeline["moments"]} >= {id}
    assert conflicts == {"count": 0}
    assert isinstance(nothing, str) and "nothing is known" in unknown


def test_an_agent_keeps_sessions(memory):
    answers = talk(
        memory,
        "auto",
        ("session", {"action": "start", "name": "monday", "title": "the migration"}),
        ("remember", {"items": [{"content": "The migration needs a lock", "session": "monday"}]}),
        ("session", {"action": "show", "name": "monday"}),
        ("session", {"action": "end", "name": "monday", "summary": "Half of the migration is done."}),
        ("session", {"action": "compress", "name": "monday"}),
        ("session", {"action": "list"}),
        ("session", {"action": "show"}),
        ("session", {"action": "show", "name": "tuesday"}),
    )
    started, _, shown, ended, compressed, listed, unnamed, unknown = answers
    assert started["name"] == "monday" and [one["content"] for one in shown["latest"]] == ["The migration needs a lock"]
    assert ended["status"] and compressed["status"]
    assert [one["name"] for one in listed["sessions"]] == ["monday"]
    assert isinstance(unnamed, str) and "tuesday" in unknown


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


def test_where_nothing_answers_only_the_nearest_are_shown(memory):
    """Every item costs tokens; what a filter asked for is shown all the same."""
    for at, name in enumerate("billing search login export import mail cache queue".split()):
        memory.remember(f"The {name} service listens on port {5400 + at}", session=f"s{at}")
    memory.work()
    question = {"query": "who was the emperor of Rome in 200 AD"}
    nothing, narrowed, sessions, answered = talk(
        memory,
        "auto",
        ("recall", question),
        ("recall", question | {"kind": ["fact"]}),
        ("recall", question | {"sessions": True}),
        ("recall", {"query": "On which port does the billing service listen?"}),
    )
    assert nothing["relevant"] is False and len(nothing["items"]) == 3 == len(sessions["sessions"])
    assert nothing["note"] == "Nothing here answers this well; the nearest are shown."
    assert narrowed["relevant"] is False and len(narrowed["items"]) == 8
    assert answered["relevant"] is True and len(answered["items"]) == 8
    asked = [{"k": 8}, {"k": 50}, {"explain": True}, {"known_at": "2100-01-01"}, {"k": 8, "sessions": True}]
    for given, found in zip(asked, talk(memory, "auto", *(("recall", question | one) for one in asked)), strict=True):
        assert found["relevant"] is False and len(found.get("items", found.get("sessions"))) == 8, given
        assert found["note"] == "Nothing here answers this well; the nearest are shown."


def test_errors_name_tools_and_no_commands(memory):
    """A model has no command line."""
    id = memory.remember("Tests need Redis on port 6380").id
    nobody = "01935f3e-7a6b-7c00-8000-000000000000"
    errors = talk(
        memory,
        "auto",
        ("correct", {"id": "nope", "action": "retract", "why": "wrong"}),
        ("feedback", {"ids": [nobody], "verdict": "useful"}),
        ("session", {"action": "show", "name": "nope"}),
        ("correct", {"id": id, "action": "accept", "origin": "user"}),
    )
    for error, tool in zip(errors, ("recall finds", "recall finds", "action: list", "what: review"), strict=True):
        assert tool in str(error) and "`limpet" not in str(error) and "--" not in str(error).replace(nobody, "")


def test_the_schema_is_small(memory):
    async def tools():
        async with Client(server_of(Service(memory)), mode="auto") as client:
            return (await client.list_tools()).tools

    listed = asyncio.run(tools())
    assert [tool.name for tool in listed] == [
        "remember", "prepare", "recall", "correct", "fact", "explain", "feedback", "session",
    ]  # fmt: skip
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
    argv = [sys.executable, "-m", "limpet", "--store", str(path), "mcp"]
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


# -- resources and prompts


def ask(memory, *steps):
    """Run `step(client)` for each; the answers, or the error's words."""

    async def run():
        answers = []
        async with Client(server_of(Service(memory)), mode="auto") as client:
            for step in steps:
                try:
                    answers.append(await step(client))
                except Exception as error:  # what the SDK raises differs by version; its words are what counts
                    answers.append(str(error))
        return answers

    return asyncio.run(run())


def test_memories_and_the_index_are_read_by_address(memory, clock):
    id = memory.remember("Tests need Redis on port 6379", topics=["tests"], pin=True).id
    memory.edit(id, "The tests need Redis on port 6379")
    found, index, unknown = ask(
        memory,
        lambda client: client.read_resource(f"memory://{id}"),
        lambda client: client.read_resource("memory://index"),
        lambda client: client.read_resource("memory://0123456789"),
    )
    shown = json.loads(found.contents[0].text)
    assert shown["content"] == "The tests need Redis on port 6379"
    assert [one["content"] for one in shown["history"]] == ["Tests need Redis on port 6379", shown["content"]]
    text = index.contents[0].text
    assert "1 memory." in text and "## Pinned" in text and f"memory://{id}" in text and "tests 1" in text
    assert "0123456789" in unknown and "Traceback" not in unknown
    assert memory.get(id).uses == 0  # reading is no use


def test_the_index_shows_a_keyed_fact_with_its_key(memory):
    memory.set_fact("staging.port", "5433")
    (index,) = ask(memory, lambda client: client.read_resource("memory://index"))
    assert "\n- staging.port = 5433 (`memory://" in index.contents[0].text


def test_prompts_brief_and_reflect(memory):
    id = memory.remember("Deploys go out on Tuesdays").id
    names, brief, nothing, reflect = ask(
        memory,
        lambda client: client.list_prompts(),
        lambda client: client.get_prompt("brief", {"task": "when do we deploy?"}),
        lambda client: client.get_prompt("brief", {"task": "zzz"}),
        lambda client: client.get_prompt("reflect"),
    )
    assert [one.name for one in names.prompts] == ["brief", "reflect"]
    assert (
        memory.abbreviate([id])[0] in brief.messages[0].content.text
        and "not instructions" in brief.messages[0].content.text
    )
    assert nothing.messages and "correct" in reflect.messages[0].content.text


# -- HTTP


@pytest.fixture
def served(path):
    """(url, token, port) of a server process on a free port."""
    import socket
    import time

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [sys.executable, "-m", "limpet", "--store", str(path), "serve", "--listen", str(port)]
    token = tokens_of(str(path)).create("ana", role="admin", scopes=["*"], seconds=None)[1]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert ".token" in process.stderr.readline()
            for _ in range(200):
                with socket.socket() as knock:
                    if knock.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp", token, port
        finally:
            process.terminate()
            process.wait(30)


def test_a_client_speaks_over_http_with_the_token(served):
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    url, token, _ = served

    async def run():
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            stored = await client.call_tool("remember", {"items": [{"content": "spoken over HTTP"}]})
            await client.call_tool("recall", {"query": "spoken over HTTP"})
            return stored.structured_content

    assert asyncio.run(run())["results"][0]["status"] == "created"


def test_others_are_refused_before_anything_is_routed(served):
    import httpx2

    url, token, port = served
    good = {"Authorization": f"Bearer {token}", "Host": f"127.0.0.1:{port}"}
    for headers, status in (
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        (good | {"Host": "evil.example"}, 421),
        (good | {"Origin": "http://evil.example"}, 403),
        (good | {"Origin": "null"}, 403),
    ):
        for where in (url, url.replace("/mcp", "/elsewhere")):
            assert httpx2.post(where, headers=headers, json={}, timeout=60).status_code == status, headers
    assert httpx2.post(url.replace("/mcp", "/elsewhere"), headers=good, json={}, timeout=60).status_code == 404


def test_a_session_over_http_begins_goes_on_and_ends(served):
    """By the bytes of the protocol, as a client of any make sends them."""
    import httpx2

    url, token, port = served
    headers = {
        "Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json", "Origin": f"http://localhost:{port}",
    }  # fmt: skip
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bytes", "version": "1"}}

    with httpx2.Client(headers=headers, timeout=60) as client:

        def post(method, session=None, id=1, **params):
            body = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if id is None else {"id": id})
            return client.post(url, json=body, headers={} if session is None else {"Mcp-Session-Id": session})

        begun = post("initialize", **about)
        session = begun.headers["mcp-session-id"]
        assert begun.status_code == 200 and len(session) >= 16 and "limpet" in begun.text
        assert post("initialize", **about).headers["mcp-session-id"] != session
        assert post("notifications/initialized", session, id=None).status_code == 202

        listed = post("tools/list", session)
        assert listed.status_code == 200 and '"recall"' in listed.text
        assert post("tools/list").status_code == 400, "without a session there is nothing to list"
        assert post("tools/list", "0" * 32).status_code == 404, "an unknown session: the client begins anew"
        assert client.post(url, content=b"{", headers={"Mcp-Session-Id": session}).status_code == 400
        assert post("tools/list", session).status_code == 200, "which does no harm to the others"

        # The session alone opens nothing.
        stolen = {"Mcp-Session-Id": session}
        for wrong, status in (({"Authorization": ""}, 401), ({"Host": "evil.example"}, 421), ({"Origin": "null"}, 403)):
            for verb in ("POST", "GET", "DELETE"):
                assert client.request(verb, url, headers=stolen | wrong).status_code == status

        assert client.delete(url, headers={"Mcp-Session-Id": "0" * 32}).status_code == 404
        assert client.delete(url, headers=stolen).status_code == 200
        assert post("tools/list", session).status_code == 404, "it has ended"


def test_a_taken_port_is_said_in_words(served, path, tmp_path):
    _, _, port = served

    def run(argv):
        return subprocess.run(
            [sys.executable, "-m", "limpet", "--store", str(tmp_path / "other.db"), "serve", "--listen", *argv],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    taken = run([str(port)])
    assert taken.returncode == 3 and f"127.0.0.1:{port}" in taken.stderr and "Traceback" not in taken.stderr
    assert run(["70000"]).returncode == 2


def test_what_tools_answer_with_leaves_receipts(memory):
    id = memory.remember("Tests need Redis on port 6380", topics=["tests"]).id
    drain = Drain(memory)
    drain.start()

    async def run():
        async with Client(server_of(Service(memory, drain.wake, drain.add))) as client:
            await client.call_tool("recall", {"query": "redis port"})
            await client.call_tool("prepare", {"message": "Which port has Redis?"})
            await client.call_tool("recall", {"query": "zebra", "kind": ["goal"]})

    asyncio.run(run())
    drain.stop()
    (prepared, recalled) = usefulness.exposures(memory)
    assert (recalled.id, recalled.via, recalled.client, prepared.via) == (id, "recall", "mcp", "prepare")
    assert recalled.tokens > 5 and prepared.tokens > 5 and recalled.used is None


def test_vectors_are_made_when_no_call_comes_and_a_recall_makes_those_that_it_lacks(memory, monkeypatch):
    monkeypatch.setattr(mcp, "QUIET_SECONDS", 3_600.0)
    monkeypatch.setattr(mcp, "LONGEST_SECONDS", 3_600.0)
    drain = Drain(memory)
    drain.start()
    service = Service(memory, drain.wake, drain.add, drain.called)

    def call(name, **arguments):
        return service.answer("tools/call", {"name": name, "arguments": arguments})["structuredContent"]

    for text in ("Deploys go out on Tuesdays", "Tests need Redis on port 6380"):
        call("remember", items=[{"content": text}])
    assert memory.stats().waiting_jobs > 0, "calls come"
    (first, *_) = call("recall", query="when do we release?")["items"]
    assert first["content"] == "Deploys go out on Tuesdays", "which shares no word with it"
    call("remember", items=[{"content": "The limiter pins TLS"}])
    monkeypatch.setattr(mcp, "QUIET_SECONDS", 0.0)
    drain.wake()
    for _ in range(1_500):
        if memory.stats().waiting_jobs == 0:
            break
        time.sleep(0.02)
    drain.stop()
    assert memory.stats().waiting_jobs == 0


def receipts(memory, *metas):
    """The sessions of the receipts that a recall with each of these `_meta` leaves, newest first."""
    drain = Drain(memory)
    drain.start()

    async def run():
        async with Client(server_of(Service(memory, drain.wake, drain.add))) as client:
            for meta in metas:
                await client.call_tool("recall", {"query": "redis port"}, meta=meta)

    asyncio.run(run())
    drain.stop()
    return [one.session for one in usefulness.exposures(memory)]


def test_a_receipt_names_the_clients_session(memory, monkeypatch):
    """As hooks name it, so that the end of a turn judges what a tool surfaced."""
    memory.remember("Tests need Redis on port 6380")
    for name in SESSION_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    (own,) = receipts(memory, None)
    assert own.startswith("mcp-")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "monday")
    assert receipts(memory, None, {"sessionId": "tuesday"}, {"sessionId": 7}, {"sessionId": "x" * 500}) == [
        "", "", "tuesday", "monday", own,
    ]  # fmt: skip


def test_the_text_of_an_answer_is_as_short_as_json_can_be(memory):
    memory.remember("Zürich hosts the staging database")

    async def run():
        async with Client(server_of(Service(memory))) as client:
            return await client.call_tool("recall", {"query": "Where is the staging database?"})

    answer = asyncio.run(run())
    text = answer.content[0].text
    whole = answer.structured_content
    for item in whole["items"]:
        assert "confidence" not in item and item["confidence_word"] == "stated"
    assert json.loads(text) == whole
    assert "\n" not in text and '": ' not in text and "Zürich" in text


def test_a_confidence_is_a_word_to_who_reads_the_text(memory):
    """What was stated once is 0.1 as a number, which a model reads as "10 % sure"."""
    port = memory.remember("Tests need Redis on port 6380").id
    rests = memory.remember("CI starts Redis first", kind="decision", because=[port]).id
    memory.set_fact("user.city", "Tampa")
    service = Service(memory)
    for name, arguments in (
        ("recall", {"query": "redis port"}),
        ("recall", {"query": "redis port", "sessions": True}),
        ("fact", {"key": "user.city"}),
        *(("explain", {"what": what, "about": rests}) for what in ("why", "timeline", "audit")),
        ("explain", {"what": "impact", "about": port}),
    ):
        answer = service.answer("tools/call", {"name": name, "arguments": arguments})
        text = answer["content"][0]["text"]
        assert '"confidence":' not in text, name
        assert '"confidence_word":"stated"' in text or "sessions" in arguments, name


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and sockets")
def test_a_client_that_is_killed_leaves_neither_process_nor_socket(path):
    """kill -9 of the client closes the pipes, and nothing else: the server must notice by itself."""
    client = (
        "import json, subprocess, sys, time\n"
        "server = subprocess.Popen([sys.executable, '-m', 'limpet', '--store', sys.argv[1], 'mcp'],\n"
        "                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)\n"
        "def ask(number, method, given):\n"
        "    message = {'jsonrpc': '2.0', 'id': number, 'method': method, 'params': given}\n"
        "    server.stdin.write(json.dumps(message) + chr(10)); server.stdin.flush()\n"
        "    return json.loads(server.stdout.readline())\n"
        "about = {'protocolVersion': '2025-06-18', 'capabilities': {}, 'clientInfo': {'name': 'x', 'version': '1'}}\n"
        "assert 'result' in ask(1, 'initialize', about)\n"
        "item = {'content': 'Tests need Redis on port 6380'}\n"
        "assert 'result' in ask(2, 'tools/call', {'name': 'remember', 'arguments': {'items': [item]}})\n"
        "print(server.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", client, str(path)], stdout=subprocess.PIPE, text=True) as process:
        server = int(process.stdout.readline())
        socket = Path(f"{path}.sock")
        _until(socket.exists)
        process.kill()
        process.wait()
    _until(lambda: not _runs(server))
    assert not socket.exists()
    with limpet.open(path) as store:
        assert store.verify() == []


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    # Ended, and only waiting for whoever adopted it.
    return not (state.exists() and ") Z " in state.read_text())


def _until(condition):
    for _ in range(1_200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")
