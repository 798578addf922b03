"""A store changes its embedding model in the background: what recall does meanwhile, and whether anything is lost.

    python -m benchmarks.new_model [--texts 100000] [--kills 10] [--record]

The store is filled with vectors of the model that limpet's own replaces. `limpet work` gives every text one of the new
model, is killed so many times, and then let end; a process of its own recalls all the while, as a server does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from limpet.vectors.minilm import MiniLM

import limpet
from limpet.vectors.own import OwnModel

from .checks import warm
from .harness import latency, provenance, save
from .speed import Given, items, make_rows

QUERIES, PAUSE, WORDS_EACH = 400, 0.1, 16
# Between the beginning of a worker and its end by force: it has loaded its model and works.
KILLED_AFTER = 6.0
MOST_MINUTES = 30


class Old(Given):
    """Vectors as if the model that is replaced had made them."""

    name, fingerprint = MiniLM.name, MiniLM.fingerprint


def fill(store: str, count: int) -> list[str]:
    rows = make_rows(count, QUERIES, words_each=WORDS_EACH)
    embedder = Old()
    embedder.add(rows.texts, rows.vectors)
    with limpet.open(store, scope="global", embedder=embedder, durable=False) as memory:
        for first in range(0, count, 10_000):
            memory.remember_batch(items(rows, range(first, min(first + 10_000, count))))
        memory.work(only_vectors=True)
    return rows.queries


def asked(memory: limpet.Limpet, queries: list[str], until: Any) -> tuple[list[float], int]:
    """Milliseconds of recalls, one after the other with pauses, until something; and how many went without vectors."""
    took, without = [], 0
    while not until(len(took)):
        began = time.perf_counter()
        found = memory.recall(queries[len(took) % len(queries)])
        took.append(1000 * (time.perf_counter() - began))
        without += "vector" in found.missing
        time.sleep(PAUSE)
    return took, without


def worker(store: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "limpet", "--store", store, "work"]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def state(memory: limpet.Limpet) -> dict[str, Any]:
    store = memory._context.store
    rows = {row.fingerprint: row for row in store.vectors.embedders()}
    new = rows.get(OwnModel.fingerprint)
    return {
        "active": next(row.name for row in rows.values() if row.state == "active"),
        "without_a_new_vector": None if new is None else len(store.vectors.missing(new.num, limit=10_000_000)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--record", action="store_true", help="keep the result in benchmarks/results/")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="limpet-new-model-") as folder:
        store = str(Path(folder) / "limpet.db")
        queries = fill(store, options.texts)
        figures: dict[str, Any] = {"texts": options.texts, "kills": options.kills}
        with limpet.open(store, scope="global", judge=False) as memory:
            warm(memory)
            asked(memory, queries, lambda count: count >= QUERIES // 4)
            idle, without = asked(memory, queries, lambda count: count >= QUERIES)
            figures["idle"], figures["idle_without_vectors"] = latency(idle), without
            held, began = memory.stats().memories, time.perf_counter()
            meanwhile: list[float] = []
            missed = 0
            killed = 0
            # What a killed worker had leased is free again when its lease ends: another one makes it then.
            while killed < options.kills or state(memory)["active"] != OwnModel.name:
                process = worker(store)
                end = time.monotonic() + KILLED_AFTER
                took, without = asked(
                    memory, queries, lambda _, process=process, end=end, kill=killed < options.kills: (
                        process.poll() is not None or (kill and time.monotonic() > end)
                    )
                )  # fmt: skip
                meanwhile += took
                missed += without
                if process.poll() is None:
                    process.kill()
                    killed += 1
                process.wait()
                print(killed, state(memory), file=sys.stderr)
                if time.perf_counter() - began > 60 * MOST_MINUTES:
                    break
            figures["meanwhile"], figures["without_vectors"] = latency(meanwhile), missed
            figures["seconds"] = round(time.perf_counter() - began, 1)
            figures["p95_ratio"] = round(figures["meanwhile"]["p95_ms"] / figures["idle"]["p95_ms"], 2)
            figures |= state(memory)
            figures["problems"] = [str(one) for one in memory.verify()]
            figures["memories_more"] = memory.stats().memories - held
            after, without = asked(memory, queries, lambda count: count >= QUERIES // 4)
            figures["afterwards"], figures["afterwards_without_vectors"] = latency(after), without
    for name, value in figures.items():
        print(name, value)
    content = {"benchmark": "new_model", "provenance": provenance(), "figures": figures}
    for path in save("new-model", content, out=None, keep=options.record):
        print(f"written: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
