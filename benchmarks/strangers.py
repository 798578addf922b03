"""How long a valid call takes while strangers try to keep it from the server: `python -m benchmarks.strangers`.

500 clients send a login byte by byte and come again when they are closed, and 30 send forged tokens without a pause.
Each valid call has a connection of its own. Prints the times in milliseconds, alone and under attack, and fails if a
call takes over a second longer.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import secrets
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import limpet
from limpet.features.serve.tokens import tokens_of

MOST_DELAY_SECONDS = 1.0
FORGERS = 30
VERSION = "2026-07-28"
CALL = json.dumps({
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {
        "name": "recall", "arguments": {"query": "when do we deploy?"},
        "_meta": {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}},
    },
})  # fmt: skip


async def trickle(port: int) -> None:
    """Log in a byte a second, for ever."""
    head = b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\nContent-Length: 9000\r\n\r\n"
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            with suppress(OSError):
                writer.write(head % (port, port))
                while not writer.is_closing():
                    writer.write(b"x")
                    await writer.drain()
                    await asyncio.sleep(1)
            writer.close()
        await asyncio.sleep(0.05)


async def ask(port: int, token: str) -> tuple[int, float]:
    """Make a call on a new connection: its status (0: cut off) and seconds."""
    begun = time.perf_counter()
    status = 0
    with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nMCP-Protocol-Version: {VERSION}\r\nMcp-Method: tools/call\r\n"
            "Mcp-Name: recall\r\nAccept: application/json, text/event-stream\r\n"
            f"Content-Length: {len(CALL)}\r\nConnection: close\r\n\r\n{CALL}".encode()
        )
        status = int((await reader.readuntil(b"\r\n")).split()[1])
        await reader.read()
        writer.close()
    return status, time.perf_counter() - begun


async def forge(port: int) -> None:
    """Log in with keys that nobody knows, for ever."""
    while True:
        head = {"alg": "ES256", "kid": secrets.token_hex(8)}
        said = base64.urlsafe_b64encode(json.dumps(head).encode()).decode().rstrip("=")
        await ask(port, f"{said}.e30.c2lnbmVk")


async def calls(port: int, token: str, count: int) -> list[float]:
    times = []
    for _ in range(count):
        status, seconds = await ask(port, token)
        times.append(seconds if status == 200 else float("inf"))
        await asyncio.sleep(0.05)
    return sorted(times)


async def campaign(port: int, token: str, clients: int, count: int) -> dict[str, object]:
    await calls(port, token, 5)  # the first ones load what is needed
    alone = await calls(port, token, count)
    attack = [asyncio.create_task(trickle(port)) for _ in range(clients)]
    attack += [asyncio.create_task(forge(port)) for _ in range(FORGERS)]
    at_once = await calls(port, token, count)  # while they come
    await asyncio.sleep(2)
    later = await calls(port, token, count)  # when all are there
    for task in attack:
        task.cancel()
    await asyncio.gather(*attack, return_exceptions=True)
    times = {"alone": alone, "while they come": at_once, "when they are there": later}
    shown = {
        name: {"median_ms": round(row[len(row) // 2] * 1_000, 1), "most_ms": round(row[-1] * 1_000, 1)}
        for name, row in times.items()
    }
    return {"clients": clients, "calls": count, **shown, "delay_seconds": max(at_once[-1], later[-1]) - alone[0]}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--calls", type=int, default=100)
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with limpet.open(path, scope="project:api") as memory:
            memory.remember("Deploys go out on Tuesdays")
        token = tokens_of(str(path)).create("ana", role="read", scopes=["project:api"], seconds=None)[1]
        assert token is not None
        command = [
            sys.executable, "-m", "limpet", "--store", str(path), "serve", "--listen", "127.0.0.1:0", "--page",
        ]  # fmt: skip
        with (Path(folder) / "log").open("wb") as log, subprocess.Popen(command, stderr=log) as server:
            try:
                port = _port(Path(folder) / "log")
                found = asyncio.run(campaign(port, token, given.clients, given.calls))
            finally:
                server.kill()
    print(json.dumps(found, indent=1))
    return int(found["delay_seconds"] > MOST_DELAY_SECONDS)


def _port(log: Path) -> int:
    """Wait for the server's line that names its port."""
    while True:
        for line in log.read_text().splitlines():
            if "port " in line:
                return int(line.split("port ")[1].split(",")[0])
        time.sleep(0.1)


if __name__ == "__main__":
    raise SystemExit(main())
