"""Targets of the fuzz (`tests/fuzz.py`) that are servers in a process of their own: over HTTP, a socket and stdin."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx2

import limpet
from limpet.features.serve.tokens import tokens_of
from limpet.recall_client import address_of, ask
from limpet.settings import read_settings
from tests.fuzz_inside import Target
from tests.fuzz_values import PLAIN, damaged, request, text, value

# A server that does not answer for so long has stopped; on a busy machine an answer takes its time.
SECONDS = 600
ABOUT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}}


def ids_of(path):
    """Of ordinary memories, stored beside the server."""
    with limpet.open(path, scope="project:x") as memory:
        return [memory.remember(one, topics=["deploys"]).id for one in PLAIN]


def taken_in(answer):
    return "result" in answer and not answer["result"].get("isError")


class Server(Target):
    """A server process, of which the peak of memory is read; at the end its stderr holds no traceback."""

    def __init__(self, folder, *command):
        super().__init__(folder)
        self.path = folder / "memory.db"
        self.said = (folder / "stderr").open("w+b")
        argv = [sys.executable, "-m", "limpet", "--store", str(self.path), "--scope", "project:x", *command]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said)

    def peak_mb(self):
        return int(Path(f"/proc/{self.process.pid}/status").read_text().split("VmHWM:")[1].split()[0]) / 1024

    def check(self):
        assert self.process.poll() is None, "the server has ended"
        said = Path(self.said.name).read_bytes()
        assert b"Traceback" not in said, said[-3_000:]

    def ask(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait(30)


class Stdio(Server):
    """Lines, each followed by one that must be answered."""

    def __init__(self, folder):
        super().__init__(folder, "mcp")
        self.number = 0
        self.ask(json.dumps({"jsonrpc": "2.0", "id": "0", "method": "initialize", "params": ABOUT}).encode())
        assert self.process.stdout.readline()
        self.ids = ids_of(self.path)

    def try_one(self, rng):
        method, params = request(rng, self.ids)
        self.number += 1
        line = json.dumps({"jsonrpc": "2.0", "id": "bent", "method": method, "params": params}).encode()
        self.ask((damaged(line, rng) if rng.random() < 0.5 else line).replace(b"\n", b" "))
        self.ask(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": "ping"}).encode())
        taken = False
        while (answer := json.loads(self.process.stdout.readline())).get("id") != self.number:
            assert "limpet failed" not in json.dumps(answer), (line, answer)
            taken |= taken_in(answer)
        return taken


class Http(Server):
    """Bodies in a session, and bytes that are no HTTP: no answer of 500 and more, and the next request is answered."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        token = tokens_of(str(folder / "memory.db")).create("ana", role="admin", scopes=["*"], seconds=None)[1]
        super().__init__(folder, "serve", "--listen", str(self.port))
        for _ in range(6_000):
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", self.port)) == 0:
                    break
            time.sleep(0.05)
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        self.client = httpx2.Client(base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=SECONDS)
        begun = self.client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ABOUT})
        self.client.headers["Mcp-Session-Id"] = begun.headers["mcp-session-id"]
        self.ids = ids_of(self.path)

    def try_one(self, rng):
        if rng.random() < 0.15:
            with socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS) as rude:
                rude.sendall(
                    damaged(
                        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
                        rng,
                    )
                )
            return False
        method, params = request(rng, self.ids)
        body = json.dumps(
            {"jsonrpc": "2.0", "id": rng.choice((1, "a", None)), "method": method, "params": params}
        ).encode()
        if rng.random() < 0.5:
            body = damaged(body, rng)
        version = {} if rng.random() < 0.7 else {"MCP-Protocol-Version": rng.choice(("2025-06-18", "2026-07-28", "x"))}
        answer = self.client.post("/mcp", content=body, headers=version)
        assert answer.status_code < 500 and "Traceback" not in answer.text and "limpet failed" not in answer.text, (
            body,
            answer.text,
        )
        said = [line.removeprefix("data: ") for line in answer.text.split("\n") if line.startswith(("data: {", "{"))]
        return answer.status_code == 200 and any(taken_in(json.loads(one)) for one in said)

    def check(self):
        super().check()
        assert self.client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}).status_code == 200


class Socket(Server):
    """Frames of the recall server, whole, bent and cut off."""

    def try_one(self, rng):
        asked = {
            "version": 4,
            "scope": "project:x",
            "embedder": "limpet",
            "verb": "recall",
            "given": {"query": text(rng)},
        }
        for _ in range(rng.randrange(3)):
            asked[rng.choice([*asked, "folder"])] = value(rng)
        body = json.dumps(asked).encode()
        body = damaged(body, rng) if rng.random() < 0.5 else body
        length = len(body) if rng.random() < 0.8 else rng.choice((0, 1, len(body) + 1, 2**31, 2**32 - 1))
        with socket.socket(socket.AF_UNIX) as rude:
            rude.settimeout(SECONDS)
            rude.connect(address_of(str(self.path)))
            try:
                rude.recv(1)  # that it was taken
                rude.sendall(struct.pack(">I", length) + body)
                rude.shutdown(socket.SHUT_WR)
                heard = 0
                while piece := rude.recv(65_536):
                    heard += len(piece)
            except (BrokenPipeError, ConnectionResetError):
                return False
            return heard > 0

    def check(self):
        super().check()
        settings = read_settings(self.path, "project:x", None)
        for _ in range(100):
            if ask(settings, "recall", {"query": "redis"}, seconds=SECONDS) is not None:
                return
            time.sleep(0.1)
        raise AssertionError("the socket answers nobody")


def _served(make):
    @contextmanager
    def started(folder, _):
        target = make(folder)
        try:
            target.check()
            yield target
        finally:
            target.end()

    return started


# name -> (how it is started, inputs after which it is ended and another started, inputs of the whole campaign)
KINDS = {name: (_served(make), 1_000, 10_000) for name, make in (("http", Http), ("socket", Socket), ("stdio", Stdio))}
