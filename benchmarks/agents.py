"""What an agent waits for: the MCP server over stdio and cold hooks, at 10,000 memories, against stated bars.

    python -m benchmarks.agents --record

The server is a process of its own with the real embedding model for the query; the vectors of the store are synthetic,
so that it is made in seconds. Memory is what Linux reports as resident (elsewhere it is not measured).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import limpet
from limpet.vectors.own import OwnModel

from .harness import latency, machine, percentile, provenance, save, table
from .speed import Given, Rows, make_rows

SIZE = 10_000
SCOPE = "global"
STARTS, ASKS, RECALLS, CALLS, COLD_RUNS = 5, 200, 1_000, 10_000, 200
MESSAGE_HOOK = ("claude", "UserPromptSubmit")


class Bar(NamedTuple):
    """What a figure must stay below."""

    name: str
    unit: str
    most: float


BARS = {
    "initialize": Bar("cold start to the answer to initialize, slowest", "ms", 2_000),
    "prepare": Bar("prepare over stdio, p50", "ms", 15),
    "recall": Bar("recall over stdio with embedding, p50", "ms", 25),
    "resident": Bar(f"resident after {RECALLS:,} recalls", "MB", 350),
    "growth": Bar("growth of that over the calls after it", "MB", 10),
    "message": Bar("cold message hook, times python -c pass", "x", 8),
    "warm": Bar("message hook with a running server", "x", 10),
    "tool": Bar("journal hook after a tool call", "x", 6),
    "message_p99": Bar("cold message hook, p99 over median", "x", 3),
    "warm_p99": Bar("message hook with a running server, p99 over median", "x", 3),
    "tool_p99": Bar("journal hook, p99 over median", "x", 3),
}


class _Vectors(Given):
    """Synthetic vectors under the real model's name, so that a server with the real model reads them."""

    def __init__(self) -> None:
        super().__init__()
        real = OwnModel()
        self.name, self.fingerprint, self.dimensions = real.name, real.fingerprint, real.dimensions


class Server:
    """`limpet mcp` as a client runs it: one JSON message a line."""

    def __init__(self, store: Path) -> None:
        argv = [sys.executable, "-m", "limpet", "--store", str(store), "--scope", SCOPE, "mcp"]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._number = 0

    def initialize(self) -> None:
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.request("initialize", about)
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> Any:
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        if answer.get("isError"):
            raise SystemExit(f"{tool} failed: {answer}")
        return answer

    def request(self, method: str, parameters: dict[str, Any]) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer["result"]
        raise SystemExit("the server went away")

    def resident_mb(self) -> float | None:
        """What Linux counts as this process's memory; None elsewhere."""
        try:
            about = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return None
        return next(int(line.split()[1]) / 1024 for line in about.splitlines() if line.startswith("VmRSS"))

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()


@contextmanager
def serving(store: Path) -> Iterator[Server]:
    server = Server(store)
    try:
        server.initialize()
        yield server
    finally:
        server.close()


def make_store(rows: Rows, path: Path) -> None:
    embedder = _Vectors()
    embedder.add(rows.texts, rows.vectors)
    with limpet.open(str(path), scope=SCOPE, embedder=embedder) as memory:
        items = zip(rows.texts, rows.kinds, rows.topics, strict=True)
        memory.remember_batch([{"content": text, "kind": kind, "topics": [topic]} for text, kind, topic in items])
        memory.work()


def measure_server(store: Path, queries: Sequence[str], calls: int) -> dict[str, Any]:
    starts = []
    for _ in range(STARTS):
        began = time.perf_counter()
        with serving(store):
            starts.append(1000 * (time.perf_counter() - began))
    with serving(store) as server:
        asked = iter(_endless(queries))
        for _ in range(20):  # the first ones load the model and fill the arrays
            server.call("recall", query=next(asked))
            server.call("prepare", message=next(asked))
        figures: dict[str, Any] = {"initialize_ms": starts}
        figures["prepare"] = latency(_timed(ASKS, lambda: server.call("prepare", message=next(asked))))
        figures["recall"] = latency(_timed(ASKS, lambda: server.call("recall", query=next(asked))))
        for _ in range(RECALLS - ASKS):
            server.call("recall", query=next(asked))
        figures["resident_mb"] = server.resident_mb()
        for number in range(calls):
            tool, word = (("recall", "query"), ("prepare", "message"))[number % 2]
            server.call(tool, **{word: next(asked)})
        figures["resident_after_calls_mb"] = server.resident_mb()
        figures["calls"] = calls
    return figures


def measure_hooks(store: Path, queries: Sequence[str], runs: int) -> dict[str, Any]:
    """Whole processes, by turns with `python -c pass` in the same run."""
    beside = Path(sys.executable).with_name("limpet")
    command = [str(beside)] if beside.exists() else [sys.executable, "-m", "limpet"]
    hook = [*command, "--store", str(store), "--scope", SCOPE, "hook"]
    asked = iter(_endless(queries))

    def message() -> tuple[list[str], bytes]:
        return [*hook, *MESSAGE_HOOK], json.dumps({"session_id": "bench", "prompt": next(asked)}).encode()

    def tool() -> tuple[list[str], bytes]:
        given = {"session_id": "bench", "tool_name": "Bash", "tool_input": {"command": "make test"}}
        return [*hook, "claude", "PostToolUse"], json.dumps(given).encode()

    def turn() -> tuple[list[str], bytes]:
        said = {"session_id": "bench", "last_assistant_message": f"I looked at {next(asked)} and it is done."}
        return [*hook, "claude", "Stop"], json.dumps(said).encode()

    every: dict[str, Callable[[], tuple[list[str], bytes]]] = {
        "python": lambda: ([sys.executable, "-c", "pass"], b""), "message": message, "tool": tool, "turn": turn,
    }  # fmt: skip
    figures = {"without a server": _by_turns(every, runs)}
    with serving(store) as server:
        server.call("recall", query=next(asked))
        server.call("recall", query=next(asked))
        figures["with a server"] = _by_turns({name: every[name] for name in ("python", "message")}, runs)
    return figures


def _by_turns(every: dict[str, Callable[[], tuple[list[str], bytes]]], runs: int) -> dict[str, dict[str, float]]:
    taken: dict[str, list[float]] = {name: [] for name in every}
    for number in range(runs + 3):  # the first rounds warm the page cache
        for name, make in every.items():
            argv, given = make()
            began = time.perf_counter()
            done = subprocess.run(argv, input=given, capture_output=True, check=True)
            took = 1000 * (time.perf_counter() - began)
            if done.stderr:
                raise SystemExit(f"{name}: {done.stderr.decode()[:500]}")
            if number >= 3:
                taken[name].append(took)
    base = statistics.median(taken["python"])
    return {
        name: {
            "median_ms": round(statistics.median(values), 2), "ratio": round(statistics.median(values) / base, 2),
            "p99_over_median": round(percentile(values, 0.99) / statistics.median(values), 2),
        }
        for name, values in taken.items()
    }  # fmt: skip


def against_bars(server: dict[str, Any], hooks: dict[str, Any]) -> dict[str, float | None]:
    """The figures that have a bar; None for one that could not be measured."""
    before, after = server["resident_mb"], server["resident_after_calls_mb"]
    cold, warm = hooks["without a server"], hooks["with a server"]
    return {
        "initialize": max(server["initialize_ms"]), "prepare": server["prepare"]["p50_ms"],
        "recall": server["recall"]["p50_ms"], "resident": before, "growth": None if before is None else after - before,
        "message": cold["message"]["ratio"], "warm": warm["message"]["ratio"], "tool": cold["tool"]["ratio"],
        "message_p99": cold["message"]["p99_over_median"], "warm_p99": warm["message"]["p99_over_median"],
        "tool_p99": cold["tool"]["p99_over_median"],
    }  # fmt: skip


def _timed(count: int, call: Callable[[], object]) -> list[float]:
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        call()
        taken.append(1000 * (time.perf_counter() - began))
    return taken


def _endless(queries: Sequence[str]) -> Iterator[str]:
    """The queries again and again, each time as another text, so that no answer is one that was kept."""
    number = 0
    while True:
        for query in queries:
            number += 1
            yield f"{query} {number}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=SIZE, help=f"memories in the store ({SIZE})")
    parser.add_argument("--calls", type=int, default=CALLS, help=f"calls over which memory must not grow ({CALLS})")
    parser.add_argument("--runs", type=int, default=COLD_RUNS, help=f"runs of each cold process ({COLD_RUNS})")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--record", action="store_true", help="keep the result in benchmarks/results/")
    options = parser.parse_args()
    rows = make_rows(options.size, 400)
    with tempfile.TemporaryDirectory(prefix="limpet-agents-") as name:
        store = Path(name) / "memory.db"
        make_store(rows, store)
        hooks = measure_hooks(store, rows.queries, options.runs)
        server = measure_server(store, rows.queries, options.calls)
    found = against_bars(server, hooks)
    lines = []
    for key, bar in BARS.items():
        value = found[key]
        shown = "-" if value is None else f"{value:,.1f} {bar.unit}"
        met = "-" if value is None else "yes" if value <= bar.most else "NO"
        lines.append([bar.name, shown, f"{bar.most:,.0f} {bar.unit}", met])
    turn = hooks["without a server"]["turn"]
    lines.append(["end-of-turn hook", f"{turn['ratio']:.1f} x", "-", "-"])
    print(table([f"{options.size:,} memories", "measured", "at most", "met"], lines))
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{machine()}{load}")
    content = {"benchmark": "agents", "provenance": provenance(), "figures": {"server": server, "hooks": hooks}}
    for path in save("agents", content, out=options.json, keep=options.record):
        print(f"written: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
