"""What encryption costs: the same writes and recalls on a plain and an encrypted store, by turns in one process.

Where apsw is that of apsw-sqlite3mc (`PYTHONPATH=.encryption`). Rows are those of `speed`, their vectors given.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import limpet

from .harness import latency, provenance, save, table
from .speed import DIMENSIONS, Given, items, make_rows

KEY = "1f" * 32
SINGLES = 400


def opened(path: Path, given: Given, *, encrypted: bool) -> limpet.Limpet:
    os.environ.pop("LIMPET_KEY", None)
    if encrypted:
        os.environ["LIMPET_KEY"] = KEY
    memory = limpet.open(path, scope="project:bench", embedder=given)
    memory.count()
    assert memory.encrypted == encrypted
    return memory


def measure(memories: int, queries: int, folder: Path) -> dict[str, Any]:
    rows = make_rows(memories + 2 * SINGLES, queries)
    given = Given()
    given.add(rows.texts, rows.vectors)
    given.add(rows.queries, rows.query_vectors)
    names = {"plain": False, "encrypted": True}
    stores = {name: opened(folder / f"{name}.db", given, encrypted=key) for name, key in names.items()}
    took: dict[str, dict[str, list[float]]] = {}
    for memory in stores.values():
        for start in range(0, memories, 2_000):
            memory.remember_batch(items(rows, range(start, min(memories, start + 2_000))))
        memory.work()
        for query in rows.queries[:5]:
            memory.recall(query, k=10)

    def by_turns(what: str, count: int, call: Callable[[limpet.Limpet, int], object]) -> None:
        kept = took.setdefault(what, {name: [] for name in names})
        for place in range(count):
            order = list(stores) if place % 2 else list(stores)[::-1]
            for name in order:
                started = time.perf_counter()
                call(stores[name], place)
                kept[name].append((time.perf_counter() - started) * 1_000)

    by_turns("recall", queries, lambda memory, place: memory.recall(rows.queries[place], k=10))
    by_turns(
        "recall by words", queries, lambda memory, place: memory.recall(rows.queries[place], k=10, lexical_only=True)
    )
    by_turns("write", SINGLES, lambda memory, place: memory.remember(rows.texts[memories + place]))

    def write_and_recall(memory: limpet.Limpet, place: int) -> None:
        memory.remember(rows.texts[memories + SINGLES + place])
        memory.recall(rows.queries[place % queries], k=10)

    by_turns("recall after a write", SINGLES // 4, write_and_recall)
    for memory in stores.values():
        memory.close()

    def reopen(name: str) -> None:
        with opened(folder / f"{name}.db", given, encrypted=names[name]) as memory:
            memory.recall(rows.queries[0], k=10)

    cold = took.setdefault("open and recall", {name: [] for name in names})
    for _ in range(10):
        for name in names:
            started = time.perf_counter()
            reopen(name)
            cold[name].append((time.perf_counter() - started) * 1_000)
    return {
        what: {name: latency(values) for name, values in kept.items()} for what, kept in took.items()
    } | {"dimensions": DIMENSIONS}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=10_000, help="in each store (10000)")
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--record", action="store_true", help="keep the result in benchmarks/results/")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="limpet-encryption-") as folder:
        found = measure(options.memories, options.queries, Path(folder))
    shown = []
    for what, kept in found.items():
        if isinstance(kept, dict):
            plain, encrypted = kept["plain"]["p50_ms"], kept["encrypted"]["p50_ms"]
            shown.append([what, plain, encrypted, round(encrypted / plain, 2)])
    print(table(["p50, ms", "plain", "encrypted", "ratio"], shown))
    content = {"benchmark": "encryption", "provenance": provenance(), "memories": options.memories, "figures": found}
    for path in save("encryption", content, out=options.json, keep=options.record):
        print(f"written: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
