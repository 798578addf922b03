"""`limpet serve` with many sessions of MCP at once: errors, times, and whether its memory grows.

    python -m benchmarks.sessions --sessions 50 --seconds 600 --record

The store is a database of a server that runs for it (or a file: --file). Each session remembers and recalls by turns, a
call every few seconds; one in ten is closed after a call and another one opened. Memory is that of the serving process
and of what it starts, anonymous pages alone.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import statistics
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2

from limpet.features.serve.tokens import tokens_of
from tests.flows.test_serve import begin, served
from tests.postgres_server import Server, furnish

from .checks import status_of
from .harness import latency, machine, provenance, save
from .speed import make_rows

WARM_SECONDS = 60.0
SEEN_EVERY = 5.0


class Session(threading.Thread):
    """One client: what it did, and what went wrong."""

    def __init__(self, number: int, url: str, token: str, texts: list[str], end: float, pause: float) -> None:
        super().__init__()
        self.random = random.Random(number)
        self.headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        self.url, self.texts, self.end, self.pause = url, texts, end, pause
        self.took: dict[str, list[float]] = {"remember": [], "recall": [], "begin": []}
        self.wrong: list[str] = []

    def run(self) -> None:
        with httpx2.Client(base_url=self.url, headers=self.headers, timeout=120) as client:
            call = None
            while time.monotonic() < self.end:
                time.sleep(self.random.uniform(0.5, 1.5) * self.pause)
                try:
                    if call is None:
                        call = self._timed("begin", lambda: begin(client))
                    self._one(call)
                    if self.random.random() < 0.1:
                        client.delete("/mcp", headers=call.session)
                        call = None
                except Exception as error:  # whatever it is, it is counted
                    self.wrong.append(f"{type(error).__name__}: {error}"[:200])
                    call = None

    def _one(self, call: Any) -> None:
        text = self.random.choice(self.texts)
        if self.random.random() < 0.3:
            words = {"items": [{"content": f"{text} ({self.random.random()})"}]}
            failed, said = self._timed("remember", lambda: call("remember", **words))
        else:
            failed, said = self._timed("recall", lambda: call("recall", query=" ".join(text.split()[:8])))
        if failed:
            self.wrong.append(said[:200])

    def _timed(self, what: str, do: Any) -> Any:
        began = time.perf_counter()
        found = do()
        self.took[what].append((time.perf_counter() - began) * 1000)
        return found


def family(process: int) -> float:
    """Megabytes of a process and of its children."""
    below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return status_of(process)["RssAnon"] + sum(family(int(one)) for one in below)


def run(store: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    texts = make_rows(2_000, 1).texts
    os.environ["XDG_DATA_HOME"] = str(folder)
    _, token = tokens_of(store).create("ana", role="admin", scopes=["project:api"], seconds=None)
    with served(store) as (process, url, lines):
        began = time.monotonic()
        several = [
            Session(number, url, token, texts, began + options.seconds, options.pause)
            for number in range(options.sessions)
        ]
        for one in several:
            one.start()
        room: list[tuple[float, float]] = []
        while time.monotonic() - began < options.seconds:
            time.sleep(SEEN_EVERY)
            room.append((time.monotonic() - began, family(process.pid)))
            print(f"\r{room[-1][0]:4.0f} s {room[-1][1]:7.1f} MB", end="", flush=True)
        for one in several:
            one.join(120)
        print()
        levels = Counter(line.get("level") for line in lines)
        statuses = Counter(str(line["status"]) for line in lines if "status" in line)
    warm = [megabytes for at, megabytes in room if at >= min(WARM_SECONDS, options.seconds / 10)]
    minutes = [
        round(statistics.median(held), 1)
        for minute in range(int(options.seconds) // 60)
        if (held := [megabytes for at, megabytes in room if minute <= at / 60 < minute + 1])
    ]
    calls = {name: [took for one in several for took in one.took[name]] for name in ("begin", "remember", "recall")}
    wrong = [said for one in several for said in one.wrong]
    return {
        "store": re.sub(r":.*", "", store) if "://" in store else "file",
        "sessions": options.sessions,
        "seconds": options.seconds,
        "calls": sum(map(len, calls.values())),
        "errors": len(wrong),
        "kinds_of_error": dict(Counter(wrong).most_common(5)),
        "log_levels": dict(levels),
        "statuses": dict(statuses),
        "times": {name: latency(took) for name, took in calls.items()},
        "megabytes": {
            "after_warm_up": warm[0], "last": warm[-1], "least": min(warm), "most": max(warm), "by_minute": minutes,
            "last_to_first": round(warm[-1] / warm[0], 3),
        },
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--pause", type=float, default=3.0, help="between two calls of a session, seconds on average")
    parser.add_argument("--file", action="store_true", help="a file in the place of a database")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--record", action="store_true", help="keep them in benchmarks/results/")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "memory.db")
        if not options.file:
            server = Server(fsync="on", full_page_writes="on", synchronous_commit="on", autovacuum="on")
            server.make()
            server.start()
            furnish(server.url)
            store = server.url.format("limpet").replace("postgres@", "limpet@")
        figures = run(store, Path(folder), options)
    print(figures)
    content = {"benchmark": "sessions", "machine": machine(), "provenance": provenance(), "figures": figures}
    save("sessions", content, out=options.json, keep=options.record)


if __name__ == "__main__":
    main()
