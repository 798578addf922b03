"""A server over stdio under many mixed calls: what its memory grows to, and how far the slow calls are from the others.

    python -m benchmarks.mcp --calls 20000 [--record]

A fifth of the calls write. Resident memory is read after a tenth of the calls, and at the end.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .harness import percentile, provenance, save, table

PLACES = ["the billing service", "the import job", "the search page", "the mobile app", "the cluster", "the docs"]
THINGS = ["Redis", "Postgres", "the nightly build", "the limiter", "feature flags", "the queue", "TLS", "the cache"]
DOES = ["needs", "waits for", "was moved to", "depends on", "no longer uses", "is tested with", "fails without", "pins"]
READS = ["recall", "recall", "recall", "prepare", "explain", "fact", "session", "resource"]
WRITES = ["remember", "remember", "set", "feedback", "correct"]


class Server:
    def __init__(self, store: str) -> None:
        argv = [sys.executable, "-m", "limpet", "--store", store, "--scope", "project:bench", "mcp"]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.number = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench"}})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def resident_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=3_600.0, help="at most so long")
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    rng = random.Random(7)
    ids: list[str] = []
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        server = Server(f"{folder}/memory.db")
        early, ends = 0.0, time.monotonic() + args.seconds
        for number in range(args.calls):
            if time.monotonic() > ends:
                break
            verb = rng.choice(WRITES if number < 20 or number % 5 == 0 else READS)
            method, params = call(rng, verb, ids, number)
            started = time.perf_counter()
            answer = server.ask(method, params)
            times.setdefault(verb, []).append((time.perf_counter() - started) * 1000)
            assert "result" in answer, answer
            for one in answer["result"].get("structuredContent", {}).get("results", ()):
                ids += [one["id"]] if one["status"] == "created" else []
            if number + 1 == max(args.calls // 10, 20):
                early = server.resident_mb()
        late = server.resident_mb()
        server.process.communicate()
    rows = [
        [verb, len(all), *(round(percentile(all, share), 1) for share in (0.5, 0.95, 0.99)),
         round(percentile(all, 0.99) / percentile(all, 0.5), 1)]
        for verb, all in sorted(times.items())
    ]  # fmt: skip
    print(table(["call", "calls", "p50 ms", "p95 ms", "p99 ms", "p99/p50"], rows))
    made = sum(map(len, times.values()))
    first, growth = max(args.calls // 10, 20), late / (early or late)
    print(f"resident after {first:,} calls {early:.0f} MB, after {made:,} {late:.0f} MB: {growth:.2f}")
    content = {**provenance(), "calls": made, "early_mb": early, "late_mb": late, "rows": rows}
    save("mcp-calls", content, out=None, keep=args.record)


def call(rng: random.Random, verb: str, ids: list[str], number: int) -> tuple[str, dict[str, Any]]:
    """A call of a verb, in words drawn at random."""
    said = f"{rng.choice(PLACES)} {rng.choice(DOES)} {rng.choice(THINGS)}"
    if verb == "resource":
        return "resources/read", {"uri": f"memory://{rng.choice(ids)}"}
    name, given = {
        "remember": ("remember", {"items": [{"content": f"Since build {number}, {said}"}]}),
        "set": ("fact", {"key": f"limit.n{rng.randrange(40)}", "value": number}),
        "fact": ("fact", {"key": f"limit.n{rng.randrange(40)}"}),
        "feedback": ("feedback", {"ids": [rng.choice(ids or ["0" * 10])], "verdict": "useful"}),
        "correct": ("correct", {"id": rng.choice(ids or ["0" * 10]), "action": "archive"}),
        "recall": ("recall", {"query": f"What {rng.choice(DOES)} {rng.choice(THINGS)}?"}),
        "prepare": ("prepare", {"message": f"Change how {said}"}),
        "explain": ("explain", {"what": "audit", "about": rng.choice(THINGS)}),
        "session": ("session", {"action": "list"}),
    }[verb]
    return "tools/call", {"name": name, "arguments": given}


if __name__ == "__main__":
    main()
