"""One server for a team: tokens, roles, scopes, what a cut request leaves, the end, and fifty agents at once."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import anyio.to_thread
import httpx2
import pytest
from starlette.responses import PlainTextResponse

import limpet
from limpet.agents.mcp import Drain
from limpet.cli.main import main
from limpet.features import usefulness
from limpet.features.serve.app import App
from limpet.features.serve.sdk import Services
from limpet.features.serve.tokens import tokens_of
from limpet.model.errors import BadInput, NotFound, StoreError
from limpet.model.ids import format_id, parse_id
from limpet.store.records import Proposal

from .. import postgres_server

KEY = "io.modelcontextprotocol/"
META = {f"{KEY}protocolVersion": "2026-07-28", f"{KEY}clientCapabilities": {}}
ABOUT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
PEOPLE = {
    "ana": ("write", ["project:api", "project:web"]), "ben": ("read", ["project:api"]), "eve": ("write", ["project:other"]),
    "rita": ("review", ["project:api", "global"]), "root": ("admin", ["*"]),
}  # fmt: skip


@contextmanager
def served(path, *more):
    """(process, base URL, lines of its log)."""
    argv = [
        sys.executable,
        "-m",
        "limpet",
        "--store",
        str(path),
        "serve",
        "--listen",
        "127.0.0.1:0",
        *more,
    ]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        try:
            first = json.loads(process.stderr.readline())
            lines = [first]
            url = f"http://127.0.0.1:{server_port(lines)}"
            threading.Thread(target=lambda: lines.extend(map(json.loads, process.stderr)), daemon=True).start()
            yield process, url, lines
        finally:
            process.kill()


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """A running server with the token of each of PEOPLE: (a function that gives a client, process, lines, path)."""
    path = tmp_path_factory.mktemp("team") / "memory.db"
    with limpet.open(path, scope="project:other") as memory:
        memory.remember("The vault's door code is on the blue card", topics=["secret-topic"])
    with limpet.open(path, scope="global") as memory:
        memory.remember("The company is called Wombat", origin="user")
    tokens = tokens_of(str(path))
    given = {
        name: tokens.create(name, role=role, scopes=scopes, seconds=3_600)[1] for name, (role, scopes) in PEOPLE.items()
    }
    with served(path) as (process, url, lines):

        def client(name):
            headers = {
                "Authorization": f"Bearer {given.get(name, name)}",
                "Accept": "application/json, text/event-stream",
            }
            return httpx2.Client(base_url=url, timeout=60, headers=headers)

        yield client, process, lines, path


def asked(client, tool, scope=None, **arguments):
    """Call a tool without a handshake."""
    place = "/mcp" if scope is None else f"/mcp?scope={scope}"
    return client.post(place, **call_of(tool, **arguments))


def call_of(tool, **arguments):
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
    return {"headers": headers, "json": message("tools/call", name=tool, arguments=arguments, _meta=META)}


def result(answer):
    """(failed, what a tool has answered)."""
    assert answer.status_code == 200, answer.text
    told = answer.json()["result"]
    return told["isError"], told.get("structuredContent") or told["content"][0]["text"]


def message(method, id=1, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def begin(client, scope=None):
    """A session of MCP. The function calls a tool in it: (failed, text)."""
    place = "/mcp" if scope is None else f"/mcp?scope={scope}"
    begun = client.post(place, json=message("initialize", **ABOUT))
    assert begun.status_code == 200, begun.text
    session = {"Mcp-Session-Id": begun.headers["mcp-session-id"]}

    def call(tool, **arguments):
        answer = client.post(place, headers=session, json=message("tools/call", name=tool, arguments=arguments))
        assert answer.status_code == 200, answer.text
        found = json.loads(next(line[6:] for line in answer.text.splitlines() if line.startswith("data: {")))
        return found["result"]["isError"], found["result"]["content"][0]["text"]

    call.session = session
    return call


# -- roles and scopes


def test_a_token_opens_its_scopes_and_errors_say_nothing_of_others(team):
    client, _, _, path = team
    with limpet.open(path, scope="project:other") as memory:
        (hidden,) = [one for one in memory.list() if one.scope == "project:other"]
    with client("ana") as ana:
        answers = [
            asked(ana, "recall", query="the door code of the vault"), asked(ana, "recall", query="door", topics=["secret-topic"]),
            asked(ana, "prepare", message="where is the door code?"), asked(ana, "explain", what="why", about=hidden.id),
            asked(ana, "explain", what="why", about=hidden.id[:-4]), asked(ana, "explain", what="index"),
            asked(ana, "correct", id=hidden.id, content="x"), asked(ana, "correct", id=hidden.id, action="retract", why="x"),
            asked(ana, "feedback", ids=[hidden.id], verdict="wrong"), asked(ana, "session", action="list"),
        ]  # fmt: skip
        assert [result(one)[0] for one in answers] == [False] * 3 + [True] * 2 + [False] + [True] * 3 + [False]
        # What is there and what is not are refused in the same words.
        refused = [asked(ana, "recall", query="door", scope=scope) for scope in ("project:other", "project:nowhere")]
        assert [one.status_code for one in refused] == [403, 403] and refused[0].json() == refused[1].json()
        said = " ".join(one.text for one in (*answers, *refused))
        for word in ("vault", "blue card", "project:other", "secret-topic", str(path)):
            assert word not in said.replace("the door code of the vault", ""), word
        # It has two scopes: the first is the usual one.
        assert not result(
            asked(ana, "remember", scope="project:web", items=[{"content": "The web front is in Svelte"}])
        )[0]
        assert "Svelte" not in asked(ana, "recall", query="what is the web front in?").text
        assert "Svelte" in asked(ana, "recall", query="what is the web front in?", scope="project:web").text
    with client("root") as root:
        assert "blue card" in asked(root, "recall", query="door code", scope="project:other").text


def test_global_is_read_with_every_token_and_changed_with_one_for_it(team):
    client, *_ = team
    with client("ana") as ana, client("rita") as rita:
        (one,) = result(asked(ana, "recall", query="what is the company called?", k=1))[1]["items"]
        for given in ({"action": "retract", "why": "x"}, {"content": "The company is called Quokka"}):
            failed, said = result(asked(ana, "correct", id=one["id"], **given))
            assert failed and "may read and not change" in said
        failed, said = begin(ana)("feedback", ids=json.dumps([one["id"]]), verdict="wrong")
        assert failed and "may read and not change" in said
        changed = asked(rita, "correct", id=one["id"], content="The company is called Wombat Ltd", origin="user")
        assert result(changed)[1]["status"] == "created", changed.text


def test_a_reviewer_of_a_scope_decides_over_mcp_about_its_pairs_and_not_about_those_of_global(tmp_path):
    path = tmp_path / "memory.db"
    with limpet.open(path, scope="project:api") as memory:
        everywhere, token = memory.in_scope("global"), None
        pairs = {}
        for name, store in (("here", memory), ("here too", memory), ("global", everywhere)):
            old, new = (store.remember(f"Deploys of {name} go out on {day}") for day in ("Tuesday", "Friday"))
            pairs[name] = propose(store, "correction", new.id, old.id)
        token = tokens_of(str(path)).create("rita", role="review", scopes=["project:api"], seconds=3_600)[1]
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        with served(path) as (_, url, _lines), httpx2.Client(base_url=url, headers=headers, timeout=60) as rita:
            call = begin(rita)
            for name, action in (("here", "accept"), ("here too", "reject")):
                failed, said = call("correct", id=pairs[name], action=action, origin="user")
                assert not failed, said
            for action in ("accept", "reject"):
                failed, said = call("correct", id=pairs["global"], action=action, origin="user")
                assert failed and "may read and not change" in said, said
        assert [item.id for item in memory.review()] == [pairs["global"]]


def propose(memory, kind, new, old):
    """Put a pair on the review list, as a background check does."""
    context = memory._context
    id = context.new_id()
    pair = Proposal(id, kind, memory.scope, parse_id(new), parse_id(old), "", 1.0, context.now())
    assert context.store.reviews.propose([pair]) == 1
    return format_id(id)


def test_an_error_of_the_store_names_no_path_of_the_server(tmp_path):
    path = tmp_path / "memory.db"
    with limpet.open(path) as memory:
        memory.remember("The company is called Wombat")
    grant, _ = tokens_of(str(path)).create("ana", role="write", scopes=["project:api"], seconds=3_600)
    items = [{"content": "Deploys go out on Tuesdays"}]
    with limpet.open(path, scope="project:api", read_only=True) as memory:
        given = {"name": "remember", "arguments": {"items": items}}
        said = Services(memory, Drain(memory)).of(grant, "project:api").answer("tools/call", given)
        assert said["isError"] and "cannot be written" in str(said)
        assert str(tmp_path) not in str(said)


def test_an_agent_over_mcp_has_the_role_and_scope_of_its_token(team):
    client, _, _, path = team
    with client("ana") as ana, client("ben") as ben, client("eve") as eve, client("rita") as rita:
        writer, reader = begin(ana), begin(ben)
        assert not writer("remember", items=[{"content": "The API listens on port 8080", "key": "api.port"}])[0]
        assert "8080" in reader("recall", query="which port does the API listen on?")[1]
        assert "8080" in reader("fact", key="api.port")[1]
        assert "8080" in reader("prepare", message="which port does the API listen on?")[1]
        assert not reader("session", action="list")[0]
        for tool, given in (
            ("remember", {"items": [{"content": "x"}]}), ("fact", {"key": "api.port", "value": "1"}),
            ("fact", {"key": "api.port", "end": "true"}), ("session", {"action": "start"}),
            ("feedback", {"ids": ["x"], "verdict": "wrong"}), ("correct", {"id": "x", "content": "x"}),
        ):  # fmt: skip
            failed, said = reader(tool, **given)
            assert failed and "role write" in said, tool
        failed, said = writer("correct", id="x", action="accept", origin="user")
        assert failed and "role review" in said
        failed, said = begin(rita)("correct", id="01234567", action="accept", origin="user")
        assert failed and "role" not in said  # it is not there
        assert "8080" not in begin(eve)("recall", query="which port does the API listen on?")[1]
        assert ana.post("/mcp?scope=project:other", json=message("initialize", **ABOUT)).status_code == 403
        assert "Svelte" not in writer("recall", query="x")[1]
        # What was put before an agent is written down in its own scope.
        with limpet.open(path, scope="project:api") as memory, limpet.open(path, scope="global") as elsewhere:
            until(lambda: usefulness.exposures(memory))
            assert not usefulness.exposures(elsewhere)
        assert not begin(ana, "project:web")("recall", query="what is the front in?")[0]
        # A session is its token's.
        stolen = eve.post("/mcp", headers=writer.session, json=message("tools/list"))
        assert stolen.status_code in (401, 403, 404)


# -- tokens


def test_a_revoked_or_expired_token_opens_nothing_from_then_on(team):
    client, _, _, path = team
    tokens = tokens_of(str(path))
    _, token = tokens.create("carl", role="read", scopes=["project:api"], seconds=3_600)
    _, old = tokens.create("dora", role="admin", scopes=["*"], seconds=0)
    with client(token) as carl, client(old) as dora, client("ana") as ana:
        assert asked(carl, "recall", query="x").status_code == 200
        assert asked(dora, "recall", query="x").status_code == 401
        session = begin(carl).session
        with carl.stream("GET", "/mcp", headers=session) as stream:
            assert stream.status_code == 200
            tokens.revoke("carl")
            refused = asked(carl, "recall", query="x")
            assert (refused.status_code, refused.json()["error"]) == (401, "unauthorized")
            assert carl.post("/mcp", headers=session, json=message("tools/list")).status_code == 401
            for _ in stream.iter_raw():  # what was open ends
                pass
        assert asked(ana, "recall", query="x").status_code == 200
    with httpx2.Client(base_url=str(client("x").base_url)) as nobody:
        assert nobody.post("/mcp", json={}).headers["www-authenticate"].startswith("Bearer")


def test_the_file_of_tokens_holds_digests_and_is_the_owners_alone(tmp_path):
    path = tmp_path / "memory.db"
    tokens = tokens_of(str(path))
    grant, token = tokens.create("ana", role="read", scopes=["project:api"], seconds=None)
    kept = tmp_path / "memory.db.tokens"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert token not in kept.read_text() and tokens.find(token) == grant
    assert tokens.find(token[:-1]) is None and tokens.find("") is None
    with pytest.raises(BadInput, match="already"):
        tokens.create("ana", role="read", scopes=["project:api"], seconds=None)
    for wrong in ({"role": "god"}, {"scopes": []}, {"scopes": ["a b"]}, {"name": "\n"}):
        with pytest.raises(BadInput):
            tokens.create(**({"name": "eve", "role": "read", "scopes": ["x"], "seconds": None} | wrong))
    with pytest.raises(NotFound):
        tokens.revoke("eve")
    kept.chmod(0o666)
    with pytest.raises(StoreError, match="written by others"):
        tokens.find(token)
    kept.chmod(0o600)
    kept.write_text("{")
    with pytest.raises(StoreError):
        tokens.find(token)


@pytest.mark.parametrize("side", [".tokens.lock", ".tokens"])
def test_a_link_planted_beside_the_store_costs_its_target_nothing(tmp_path, side):
    """It is refused, and stays."""
    target, planted = tmp_path / "letters.txt", tmp_path / f"m.db{side}"
    target.write_text("dear all")
    if side == ".tokens":
        target.write_text('{"version": 1, "tokens": []}')
    target.chmod(0o600)
    before = target.read_bytes()
    planted.symlink_to(target)
    code = main(["--store", str(tmp_path / "m.db"), *"serve token create ada --role read --scope a".split()])

    assert target.read_bytes() == before
    assert (code, planted.is_symlink()) == (3, True)


def test_the_command_line_gives_out_lists_and_revokes_tokens(tmp_path, capsys):
    def run(*argv):
        code = main(["--store", str(tmp_path / "memory.db"), *argv])
        return code, *capsys.readouterr()

    scopes = ("--scope", "project:api", "--scope", "project:web")
    assert re.fullmatch(r"limpet_[\w-]{43}\n", run("serve", "token", "create", "ana", "--role", "write", *scopes)[1])
    (listed,) = [json.loads(run("serve", "token", "list", "--json")[1])]
    assert listed["scopes"] == ["project:api", "project:web"] and "sha256" not in listed
    assert run("serve", "token", "revoke", "ana")[1] == "revoked: 1 token\n"
    assert json.loads(run("serve", "token", "list", "--json")[1])["revoked_at"]
    assert run("serve", "token", "create", "ben", "--role", "read")[0] == 2
    # Beyond this machine only with a token that holds, and with a name.
    code, _, said = run("serve", "--listen", "0.0.0.0:0", "--url", "https://memory.example.org")
    assert code == 2 and "no token that holds" in said
    assert (
        run("serve", "token", "create", "ben", "--role", "read", "--scope", "project:api", "--expires", "12h")[0] == 0
    )
    code, _, said = run("serve", "--listen", "0.0.0.0:0")
    assert code == 2 and "--url" in said


def test_without_a_token_nothing_is_served(tmp_path, capsys):
    code = main(["--store", str(tmp_path / "memory.db"), "serve", "--listen", "0"])
    assert code == 2 and "limpet serve token create" in capsys.readouterr().err


def test_a_call_with_a_token_is_answered_while_a_probe_waits_for_the_store(tmp_path, monkeypatch):
    """A probe has a thread of its own, which no call waits for."""
    from limpet.features.serve import app as serving

    monkeypatch.setattr(serving, "READY_SECONDS", 0.05)
    path = tmp_path / "memory.db"
    tokens = tokens_of(str(path))
    token = tokens.create("ana", role="read", scopes=["project:api"], seconds=3_600)[1]

    async def called(scope, receive, send):
        await anyio.to_thread.run_sync(lambda: None)
        await PlainTextResponse("")(scope, receive, send)

    with limpet.open(path, scope="project:api") as memory:
        app = App(memory, called, Services(memory, Drain(memory)), tokens, urls=["http://memory.test"])

        async def statuses():
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://memory.test") as client:
                ask = lambda token: client.post("/mcp", headers={"Authorization": f"Bearer {token}"})  # noqa: E731
                free = [(await ask("forged")).status_code, (await client.get("/readyz")).status_code]
                app._probing.acquire_on_behalf_of_nowait("a probe before")
                return free, (await client.get("/readyz")).status_code, (await ask(token)).status_code

        assert asyncio.run(statuses()) == ([401, 200], 503, 200)


def server_port(lines):
    return re.search(r"port (\d+)", lines[0]["message"])[1]


# -- requests


def test_a_request_that_is_cut_in_the_middle_stores_nothing_and_others_are_answered(team):
    client, *_ = team
    with client("ana") as ana:
        head, body = request_of(ana, [{"content": "Half of a request is no request"}])
        place = (ana.base_url.host, ana.base_url.port)
        for part in (0, len(body) // 2, len(body) - 1):
            with socket.create_connection(place, timeout=30) as cut:
                cut.sendall(head + body[:part])
        assert "Half of a request" not in asked(ana, "recall", query="half of a request").text


def test_probes_need_no_token_and_no_name(team):
    client, *_ = team
    with client("root") as root:
        assert root.get("/healthz", headers={"Authorization": ""}).text == "ok\n"
        assert root.get("/readyz", headers={"Authorization": "", "Host": "10.0.0.7:9"}).text == "ready\n"


def test_the_log_has_a_json_line_for_each_request_and_nothing_that_was_said(team):
    client, _, lines, _ = team
    with client("ben") as ben:
        asked(ben, "recall", query="an unmistakable question")
        ben.get("/an/unmistakable/path")
    until(lambda: any(one.get("path") == "other" for one in lines))
    found = [one for one in lines if one.get("path") == "/mcp"]
    assert {"at", "level", "from", "message", "method", "path", "status", "ms", "token"} <= set(found[-1])
    assert "unmistakable" not in json.dumps(lines) and "Traceback" not in json.dumps(lines)


# -- many, and the end


def test_fifty_sessions_at_once_remember_and_recall_without_an_error(team):
    client, _, _, path = team
    wrong, together = [], threading.Barrier(50, timeout=60)

    def work(number):
        try:
            with client("ana") as ana:
                call = begin(ana)
                together.wait()  # all of them are open
                failed, said = call("remember", items=[{"content": f"Agent {number} saw a green light"}])
                assert not failed, said
                failed, said = call("recall", query=f"what did agent {number} see?")
                assert not failed and '"items"' in said, said
        except Exception as error:
            wrong.append(f"{number}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(50)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(120)
    assert wrong == []
    with limpet.open(path, scope="project:api") as memory:
        assert memory.count() >= 50


def test_at_sigterm_what_runs_is_finished_and_then_it_ends(tmp_path):
    path = tmp_path / "memory.db"
    _, token = tokens_of(str(path)).create("root", role="admin", scopes=["*"], seconds=None)
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    items = [{"content": f"House {number} is in street {number % 7}"} for number in range(50)]
    with served(path) as (process, url, lines), httpx2.Client(base_url=url, headers=headers, timeout=60) as client:
        session = begin(client).session
        with (
            client.stream("GET", "/mcp", headers=session),  # it has no end, and is not waited for
            socket.create_connection(("127.0.0.1", server_port(lines)), timeout=60) as writer,
        ):
            head, body = request_of(client, items)
            writer.sendall(head + body[:50])
            asked(client, "session", action="list")  # answered after the half that came before it was read
            process.send_signal(signal.SIGTERM)
            until(lambda: socket.socket().connect_ex(("127.0.0.1", int(server_port(lines)))) != 0)
            writer.sendall(body[50:])
            answer = b"".join(iter(lambda: writer.recv(65_536), b""))
            assert answer.startswith(b"HTTP/1.1 200")
        assert process.wait(60) == 0
        assert "Traceback" not in json.dumps(lines)
        with limpet.open(path, scope="global") as memory:
            assert memory.count() == 50


def request_of(client, items):
    """The bytes of a call of `remember`: its head and its body."""
    request = client.build_request("POST", "/mcp", **call_of("remember", items=items))
    lines = [f"{name}: {value}" for name, value in request.headers.items()]
    return "\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]).encode(), request.content


def until(condition):
    for _ in range(1_500):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


@pytest.mark.skipif(postgres_server.missing() is not None, reason=str(postgres_server.missing()))
@pytest.mark.xdist_group("postgres")
def test_on_a_database_it_serves_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    store = postgres_server.url_of("served")
    _, token = tokens_of(store).create("ana", role="write", scopes=["project:api"], seconds=None)
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    with (
        served(store) as (_, url, _),
        httpx2.Client(base_url=url, headers=headers, timeout=60) as ana,
    ):
        assert not result(asked(ana, "remember", items=[{"content": "Deploys go out on Tuesdays"}]))[0]
        assert "Tuesdays" in begin(ana)("recall", query="when do we deploy?")[1]
        assert ana.get("/readyz").text == "ready\n"


@pytest.mark.skipif(not os.environ.get("LIMPET_TEST_POSTGRES"), reason="make test-postgres")
@pytest.mark.skipif(postgres_server.missing() is not None, reason=str(postgres_server.missing()))
@pytest.mark.xdist_group("postgres")
def test_what_one_replica_was_told_the_other_recalls_at_once_and_no_job_is_done_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    store = postgres_server.url_of(tmp_path.name)
    _, token = tokens_of(store).create("ana", role="write", scopes=["project:api"], seconds=None)
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    with (
        served(store) as (_, one, _),
        served(store) as (_, other, _),
        httpx2.Client(base_url=one, headers=headers, timeout=60) as first,
        httpx2.Client(base_url=other, headers=headers, timeout=60) as second,
    ):
        for number, name in enumerate(("Ana", "Ben", "Cleo", "Dora", "Emil", "Fred", "Gita", "Hugo")):
            here, there = (first, second) if number % 2 else (second, first)
            said = f"{name} keeps the key of room {number}"
            assert not result(asked(here, "remember", items=[{"content": said}]))[0]
            assert said in asked(there, "recall", query=f"Which room is it that {name} keeps the key of?").text
        with limpet.open(store, scope="project:api") as memory:
            until(lambda: memory.stats().waiting_jobs == 0)
            assert (memory.stats().vectors, memory.stats().dead_jobs) == (8, 0)
            assert memory.verify() == []


@pytest.mark.skipif(postgres_server.missing() is not None, reason=str(postgres_server.missing()))
@pytest.mark.xdist_group("postgres")
def test_two_workers_of_a_database_are_given_different_jobs(tmp_path):
    url = postgres_server.url_of(tmp_path.name)
    given: list[list[int]] = [[], []]

    def lease(number, memory):
        jobs, now = memory._context.store.jobs, memory._context.now()
        while found := jobs.lease("contradiction", limit=7, at=now, until=now + 60_000_000):
            given[number] += [job.subject for job in found]

    with limpet.open(url, scope="project:api") as one, limpet.open(url, scope="project:api") as other:
        one._context.store.jobs.enqueue("contradiction", list(range(1, 101)), 0)
        threads = [threading.Thread(target=lease, args=pair) for pair in enumerate((one, other))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(given[0] + given[1]) == list(range(1, 101))


def test_the_page_is_served_beside_it_to_who_logs_in_with_a_token(tmp_path):
    path = tmp_path / "memory.db"
    with limpet.open(path, scope="project:api") as memory:
        memory.remember("Deploys go out on Tuesdays")
    token = tokens_of(str(path)).create("ana", role="write", scopes=["project:api"], seconds=3_600)[1]

    with served(path) as (_, url, _lines), httpx2.Client(base_url=url) as browser:
        assert browser.get("/memories").status_code == 401

    with served(path, "--page") as (_, url, lines), httpx2.Client(base_url=url, follow_redirects=True) as browser:
        assert browser.get("/mcp").status_code == 401
        assert 'name="secret"' in browser.get("/memories").text
        browser.post("/enter", data={"secret": token}, headers={"origin": url})
        assert "Deploys go out on Tuesdays" in browser.get("/memories").text
        assert browser.get("/healthz").text == "ok\n"
        assert not any(token in json.dumps(one) for one in lines)
