"""What one client may take of a server that others wait for: half-open connections, endless lines, frames that only nest, and a kill.

LIMPET_FUZZ sets how many connections are left half open (`make fuzz`: 10,000)."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

import limpet
from limpet.agents.mcp import MOST_LINE_BYTES
from limpet.features.serve.listener import HOST, STRANGERS_AT_ONCE, listening
from limpet.features.serve.tokens import tokens_of
from limpet.recall_client import MOST_ASKED_BYTES, TAKEN, address_of, ask
from limpet.settings import read_settings

MOST_BODY_BYTES = 4 * 1024 * 1024  # as the SDK has it
COUNT = min(int(os.environ.get("LIMPET_FUZZ", "600")), 10_000)
ABOUT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no Unix sockets here")


def until(condition):
    for _ in range(1_500):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


def resident_mb(process, what="VmHWM"):
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        pytest.skip("no /proc here")
    return int(status.read_text().split(f"{what}:")[1].split()[0]) / 1024


def entries(process, what):
    """How many open files or threads; 0 where nobody says."""
    folder = Path(f"/proc/{process.pid}/{what}")
    return len(list(folder.iterdir())) if folder.exists() else 0


def message(method, id=1, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


# -- stdin


@contextmanager
def over_stdio(path):
    argv = [sys.executable, "-m", "limpet", "--store", str(path), "--scope", "project:api", "mcp"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(argv, **pipes) as process:
        try:
            assert tell(process, json.dumps(message("initialize", **ABOUT)).encode())["result"]
            yield process
        finally:
            process.kill()


def tell(process, line):
    process.stdin.write(line + b"\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def test_a_line_that_is_too_long_is_answered_and_not_kept(path):
    with over_stdio(path) as process:
        before = resident_mb(process)
        process.stdin.write(b'{"jsonrpc":"2.0","method":"tools/call","params":{"x":"')
        for _ in range(200):
            process.stdin.write(b"x" * 1_000_000)
        refused = tell(process, b'"},"id":7}')
        assert refused["id"] is None and f"{MOST_LINE_BYTES:,} bytes" in refused["error"]["message"]
        assert resident_mb(process) < before + 60

        assert tell(process, b'{"jsonrpc":"2.0","id":8,"method":"ping"}') == {"jsonrpc": "2.0", "id": 8, "result": {}}


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        (b"[" * 7_900_000, None, -32700),
        (b'{"a":' * 1_000_000, None, -32700),
        (b"not a message", None, -32700),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"query":"\\udfff"}}}', 1, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', 1, -32601),
        (b'{"jsonrpc":"2.0","id":7,"method":5}', 7, -32600),
        (b'{"jsonrpc":"2.0","id":7}', 7, -32600),
        (b"[]", None, -32600),
        (b"5", None, -32600),
        (b"null", None, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', None, -32700),
    ],
    ids=["brackets", "braces", "words", "a broken id", "half a text", "half a method",
         "a method that is a number", "no method", "nothing at once", "a number", "null", "no number"],
)  # fmt: skip
def test_a_line_that_cannot_be_understood_is_answered_with_an_error(path, line, id, code):
    with over_stdio(path) as process:
        answer = tell(process, line)
        assert (answer["id"], answer["error"]["code"]) == (id, code)
        assert "Traceback" not in json.dumps(answer)
        assert tell(process, b'{"jsonrpc":"2.0","id":8,"method":"ping"}')["result"] == {}
        process.stdin.close()
        assert b"Traceback" not in process.stderr.read()


def test_several_messages_at_once_are_all_answered(path):
    with over_stdio(path) as process:
        ping = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'
        first = tell(process, b"[" + ping % 1 + b"," + ping % 2 + b"]")
        assert {first["id"], json.loads(process.stdout.readline())["id"]} == {1, 2}
        process.stdin.close()
        process.wait(60)


# -- HTTP


@pytest.fixture
def http(path):
    """(process, port, a client with the token and a session)."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [
        sys.executable,
        "-m",
        "limpet",
        "--store",
        str(path),
        "--scope",
        "project:api",
        "serve",
        "--listen",
        str(port),
        "--page",
    ]
    token = tokens_of(str(path)).create("ana", role="admin", scopes=["*"], seconds=None)[1]
    with subprocess.Popen(argv, stderr=subprocess.PIPE) as process:
        try:
            assert b".token" in process.stderr.readline()
            until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0)
            headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
            with httpx2.Client(headers=headers, timeout=60, base_url=f"http://127.0.0.1:{port}") as client:
                begun = client.post("/mcp", json=message("initialize", **ABOUT))
                client.headers["Mcp-Session-Id"] = begun.headers["mcp-session-id"]
                yield process, port, client
        finally:
            process.kill()


def recalls(client):
    answer = client.post("/mcp", json=message("tools/call", name="recall", arguments={"query": "deploys"}))
    return answer.status_code == 200 and '"isError":false' in answer.text


def raise_file_limit():
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def test_half_open_connections_do_not_stop_a_call(http):
    process, port, client = http
    assert recalls(client)
    raise_file_limit()
    silent = []
    try:
        for number in range(COUNT):
            one = socket.create_connection(("127.0.0.1", port), timeout=30)
            silent.append(one)
            with_head = (b"", b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1", b"GET ")[number % 3]
            with suppress(OSError):
                one.sendall(with_head)
        assert recalls(client)
        assert entries(process, "fd") < STRANGERS_AT_ONCE + 60
        # The oldest were closed for the newest.
        silent[0].settimeout(30)
        with pytest.raises(ConnectionResetError):
            assert silent[0].recv(1) == b""
            raise ConnectionResetError
    finally:
        for one in silent:
            one.close()


def test_requests_that_never_end_of_clients_without_a_token_do_not_stop_a_call(http):
    """Each has said that it logs in: the oldest of them go, not the call."""
    process, port, client = http
    threading.Thread(target=process.stderr.read, daemon=True).start()  # each request is a line of the log
    head = f"POST /enter HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
    raise_file_limit()
    client.close()  # an idle connection with a token, which could make room for a new one
    slow = []
    try:
        for _ in range(COUNT):
            one = socket.create_connection(("127.0.0.1", port), timeout=30)
            slow.append(one)
            with suppress(OSError):
                one.sendall(f"{head}Content-Length: 9000\r\n\r\nsecret=".encode())
        with httpx2.Client(base_url=client.base_url, headers=client.headers, timeout=60) as another:
            assert recalls(another)
    finally:
        for one in slow:
            one.close()


def test_an_answer_does_not_wait_until_its_first_part_is_acknowledged():
    """Headers and body are written one after the other: with Nagle's algorithm the body came 40 ms later."""

    async def connected():
        with listening(HOST, 0) as listener:
            came = asyncio.get_running_loop().create_future()
            async with await asyncio.start_server(lambda _, there: came.set_result(there), sock=listener):
                _, here = await asyncio.open_connection(*listener.getsockname())
                there = await came
                at_once = there.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                for one in (here, there):
                    one.close()
                return at_once

    assert asyncio.run(connected())


def test_what_a_request_may_hold_is_limited_and_errors_are_words(http):
    process, _, client = http
    assert client.post("/mcp", content=b" " * (MOST_BODY_BYTES + 1)).status_code == 413
    in_pieces = client.post("/mcp", content=(b" " * 65_536 for _ in range(MOST_BODY_BYTES // 65_536 + 2)))
    assert in_pieces.status_code == 413
    for body in (
        b"[" * 3_900_000,
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"query":"\\ud800"}}}',
        b"\xff\xfe",
        b"null",
    ):
        for version in ("2025-06-18", "2026-07-28"):
            headers = {"Content-Type": "application/json", "MCP-Protocol-Version": version}
            refused = client.post("/mcp", content=body, headers=headers)
            assert 400 <= refused.status_code < 500 or '"error"' in refused.text, (body[:60], refused.status_code)
            assert "Traceback" not in refused.text and 'File "' not in refused.text
    assert recalls(client)
    assert resident_mb(process, "VmRSS") < 600


def test_a_body_that_is_no_http_is_refused_without_a_traceback(http):
    process, port, client = http
    with socket.create_connection(("127.0.0.1", port), timeout=30) as rude:
        rude.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n")
        assert rude.recv(100).startswith(b"HTTP/1.1 4")
    assert recalls(client)
    process.terminate()
    assert b"Traceback" not in process.stderr.read()


def test_a_body_that_stops_is_given_up(path, monkeypatch):
    """In this process, where the times can be shortened."""
    import asyncio

    from limpet.features.serve import listener as limits

    monkeypatch.setattr(limits, "REQUEST_SECONDS", 0.05)
    monkeypatch.setattr(limits, "IDLE_SECONDS", 0.2)
    import uvicorn
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import PlainTextResponse

    given_up = []

    async def app(scope, receive, send):
        try:
            body = await Request(scope, receive).body()
        except ClientDisconnect:
            given_up.append(scope["path"])
        else:
            await PlainTextResponse(body)(scope, receive, send)

    async def run():
        open_ones = limits.Connections()
        protocol = limits.protocol_of(open_ones)
        config = uvicorn.Config(limits.limited(app, open_ones), http=protocol, lifespan="off", ws="none", port=0)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        where = server.servers[0].sockets[0].getsockname()
        slow, silent, good = [await asyncio.open_connection(*where) for _ in range(3)]
        slow[1].write(b"POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhal")
        good[1].write(b"POST /good HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\ngood")
        answer = await good[0].readuntil(b"good")
        for reader, _ in (slow, silent):
            with pytest.raises(ConnectionResetError):
                assert await reader.read() == b""
                raise ConnectionResetError
        server.should_exit = True
        await serving
        return answer

    assert b"200 OK" in asyncio.run(run())
    assert given_up == ["/slow"]


# -- the socket of the recall server


def knock(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(30)
    while True:
        try:
            connection.connect(address_of(str(path)))
            assert connection.recv(1) == TAKEN
            return connection
        except BlockingIOError:  # its queue is full for a moment
            time.sleep(0.01)


def asked(path):
    settings = read_settings(path, "project:api", None)
    # A listener whose queue is full for a moment answers a little later.
    for _ in range(20):
        if ask(settings, "recall", {"query": "deploys"}, seconds=30.0):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("asked_for", [{"version": 5, "verb": ["recall"]}, {"version": [], "verb": {}}])
def test_a_question_of_other_types_ends_no_thread_with_a_traceback(path, asked_for):
    with over_stdio(path) as process:
        until(lambda: asked(path))
        with closing(knock(path)) as rude:
            said = json.dumps(asked_for).encode()
            rude.sendall(struct.pack(">I", len(said)) + said)
            assert rude.recv(100) == b"\0\0\0\2{}"
        process.stdin.close()
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize("frame", [b"[" * 900_000, b"[" * 7_900_000, b'{"a":' * 150_000, b"\xff" * 100, b"\x00" * 5])
def test_a_frame_that_only_nests_ends_no_thread_with_a_traceback(path, frame):
    with over_stdio(path) as process:
        until(lambda: asked(path))
        with closing(knock(path)) as rude:
            try:
                rude.sendall(struct.pack(">I", len(frame)) + frame)
                assert rude.recv(1) == b""
            except (BrokenPipeError, ConnectionResetError):
                assert len(frame) > MOST_ASKED_BYTES
        assert asked(path)
        process.stdin.close()
        assert b"Traceback" not in process.stderr.read()


def test_connections_that_ask_nothing_do_not_keep_others_from_the_socket(path):
    with over_stdio(path) as process:
        until(lambda: asked(path))
        raise_file_limit()
        silent = []
        try:
            for number in range(COUNT):
                silent.append(knock(path))
                with suppress(OSError):
                    silent[-1].sendall((b"", b"\0", b"\0\0\0\x09{")[number % 3])
            assert asked(path)
            silent[0].settimeout(30)
            assert silent[0].recv(1) == b""
            assert entries(process, "task") < 110
        finally:
            for one in silent:
                one.close()


# -- the end


def left(path):
    return sorted(one.name.removeprefix(path.name) for one in path.parent.iterdir())


def test_a_terminated_server_over_stdio_leaves_no_socket_and_what_it_stored(path):
    with over_stdio(path) as process:
        until(lambda: ".sock" in left(path))
        said = message(
            "tools/call", 2, name="remember", arguments={"items": [{"content": "Deploys go out on Tuesdays"}]}
        )
        assert not tell(process, json.dumps(said).encode())["result"]["isError"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    assert not [one for one in left(path) if "sock" in one or "lock" in one]
    with limpet.open(path, scope="project:api") as memory:
        assert memory.count() == 1


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "tgkill"), reason="a signal to one thread takes glibc")
def test_a_signal_that_does_not_wake_the_main_thread_ends_a_server_over_stdio(path):
    """So does one that comes just before it reads on."""
    with over_stdio(path) as process:
        until(lambda: ".sock" in left(path))
        other = max(int(one.name) for one in Path(f"/proc/{process.pid}/task").iterdir())
        assert other != process.pid
        assert ctypes.CDLL(None).tgkill(process.pid, other, signal.SIGTERM) == 0
        assert process.wait(60) == 128 + signal.SIGTERM
    assert not [one for one in left(path) if "sock" in one or "lock" in one]
