"""How fast the typed graph answers: `why` and `impact` to depth 5, and every query over the whole graph.

Memories are the synthetic rows of `benchmarks.speed`, vectors given; links point backwards in time, half of them near,
half to anywhere with old memories preferred, so that there are hubs. Bars: why and impact p50 <= 10 ms, gaps and
contradictions <= 10 s, consolidate <= 120 s at 100,000 memories and 300,000 links.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import limpet
from limpet.model.events import Event
from limpet.model.ids import IdSource, parse_id

from .harness import latency, machine, provenance, save, table
from .speed import SEED, TURNS_A_SESSION, Given, Rows, make_rows

DEPTH = 5
ASKED = 200
KINDS = ("fact", "decision", "inference", "episode", "lesson", "preference")
KIND_SHARES = (0.45, 0.15, 0.15, 0.15, 0.05, 0.05)
TYPES = ("caused_by", "supports", "related_to", "part_of", "supersedes", "contradicts")
TYPE_SHARES = (0.40, 0.20, 0.20, 0.10, 0.06, 0.04)
# Of the memories, how many are reworded copies: what consolidation is there to find.
COPIES = 0.02
BARS = {"why": 10.0, "impact": 10.0, "gaps": 10.0, "contradictions": 10.0, "consolidate": 120.0}


def fill(memory: limpet.Limpet, rows: Rows, edges: int) -> list[str]:
    """Store the rows, their vectors and the links. Returns ids in the order of the rows."""
    rng = np.random.default_rng(SEED + 1)
    kinds = rng.choice(len(KINDS), size=len(rows.texts), p=KIND_SHARES)
    receipts = memory.remember_batch(
        {
            "content": text,
            "kind": KINDS[kinds[place]],
            "topics": [rows.topics[place]],
            "session": f"session-{place // TURNS_A_SESSION}",
        }
        for place, text in enumerate(rows.texts)
    )
    memory.work()
    ids = [receipt.id for receipt in receipts]
    raw = [parse_id(id) for id in ids]
    source = rng.integers(1, len(raw), size=edges)
    near = np.maximum(0, source - rng.integers(1, 200, size=edges))
    anywhere = (source * rng.random(edges) ** 2).astype(np.int64)
    target = np.where(rng.random(edges) < 0.5, near, anywhere)
    type = rng.choice(len(TYPES), size=edges, p=TYPE_SHARES)
    weight = rng.integers(1, 11, size=edges) / 10
    made, now = IdSource(), time.time_ns() // 1000

    def events() -> Iterator[Event]:
        seen = set()
        for one in range(edges):
            link = (int(source[one]), int(type[one]), int(target[one]))
            if link in seen:
                continue
            seen.add(link)
            id = made.make(now)
            data = {"edge": TYPES[link[1]], "target": raw[link[2]].hex(), "weight": float(weight[one])}
            yield Event(id=id, type="linked", memory=raw[link[0]], at=now, operation=id, data=data)

    memory._context.store.ledger.append(events())
    return ids


def with_copies(rows: Rows) -> Rows:
    """The last rows become copies of earlier ones: another word at the end, a vector at cosine 0.97."""
    rng = np.random.default_rng(SEED + 2)
    count = len(rows.texts)
    several = int(count * COPIES)
    originals = rng.integers(0, count - several, size=several)
    for place, original in zip(range(count - several, count), originals.tolist(), strict=True):
        rows.texts[place] = rows.texts[original].removesuffix(".") + f" again {place}."
        noise = rng.standard_normal(rows.vectors.shape[1], dtype=np.float32)
        vector = rows.vectors[original] + 0.25 * noise / np.linalg.norm(noise)
        rows.vectors[place] = vector / np.linalg.norm(vector)
        rows.topics[place] = rows.topics[original]
    return rows


def measure(memory: limpet.Limpet, ids: list[str], queries: list[str]) -> dict[str, Any]:
    """Milliseconds as {"n", "p50_ms", "p95_ms", "found"} for a query of one memory, seconds for one of the whole."""
    rng = np.random.default_rng(SEED + 3)
    asked = [ids[place] for place in rng.permutation(len(ids))[: ASKED + 1]]
    graph = memory.graph
    figures: dict[str, Any] = {}
    figures["why"] = _each(lambda id: len(graph.why(id, depth=DEPTH).reasons), asked)
    figures["impact"] = _each(lambda id: len(graph.impact(id, depth=DEPTH).affected), asked)
    # The worst there is: the memories on which most rests.
    hubs = [one.node.id for one in graph.centrality(limit=21)]
    figures["impact of hubs"] = _each(lambda id: len(graph.impact(id, depth=DEPTH).affected), hubs)
    known = memory._context.clock.now()
    figures["why, known_at"] = _each(lambda id: len(graph.why(id, depth=DEPTH, known_at=known).reasons), asked)
    figures["chain"] = _each(lambda id: len(graph.chain(id).before), asked)
    figures["context, depth 2"] = _each(lambda id: len(graph.context([id]).nodes), asked[:51])
    pairs = dict(zip(asked[:50], asked[50:100], strict=False))
    figures["path"] = _each(lambda id: len(graph.path(id, pairs[id]).nodes), list(pairs))
    figures["timeline"] = _each(lambda id: len(graph.timeline(id).moments), asked)
    figures["ground"] = _each(lambda query: len(graph.ground(query).suggestions), queries[:51])
    whole: dict[str, Callable[[], int]] = {
        "gaps": lambda: sum(graph.gaps().counts.values()),
        "contradictions": lambda: graph.contradictions().count,
        "centrality": lambda: len(graph.centrality()),
        "diff": lambda: sum(graph.diff(known - 3_600_000_000).counts.values()),
        "consolidate": lambda: sum(graph.consolidate().counts.values()),
    }
    for name, call in whole.items():
        started = time.perf_counter()
        found = call()
        figures[name] = {"seconds": round(time.perf_counter() - started, 3), "found": found}
        print(f"{name}: {figures[name]['seconds']:.2f} s", file=sys.stderr, flush=True)
    return figures


def _each(call: Callable[[str], int], asked: list[str]) -> dict[str, Any]:
    """Latency of one call each; the first is a warm-up."""
    call(asked[0])
    taken, found = [], []
    for one in asked[1:]:
        started = time.perf_counter()
        found.append(call(one))
        taken.append(1000 * (time.perf_counter() - started))
    return latency(taken) | {"found": round(statistics.mean(found), 1)}


def report(figures: dict[str, Any]) -> str:
    lines = []
    for name, one in figures.items():
        if "seconds" in one:
            lines.append([name, None, None, one["seconds"], one["found"], _bar(name, one["seconds"])])
        else:
            lines.append([name, one["p50_ms"], one["p95_ms"], None, one["found"], _bar(name, one["p50_ms"])])
    return table(["query", "p50 ms", "p95 ms", "seconds", "found", "bar"], lines)


def _bar(name: str, value: float) -> str | None:
    if name not in BARS:
        return None
    return f"<= {BARS[name]:g}: {'met' if value <= BARS[name] else 'MISSED'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=100_000, help="how many (100000)")
    parser.add_argument("--edges", type=int, default=300_000, help="links among them (300000)")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--record", action="store_true", help="keep the result in benchmarks/results/")
    options = parser.parse_args()
    rows = with_copies(make_rows(options.memories, 60))
    embedder = Given()
    embedder.add(rows.texts, rows.vectors)
    embedder.add(rows.queries, rows.query_vectors)
    with tempfile.TemporaryDirectory(prefix="limpet-graph-") as name:
        path = str(Path(name) / "memory.db")
        with limpet.open(path, scope="project:bench", embedder=embedder, durable=False) as memory:
            started = time.perf_counter()
            ids = fill(memory, rows, options.edges)
            print(f"filled in {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
            figures = measure(memory, ids, rows.queries)
    print(f"{options.memories:,} memories, {options.edges:,} links\n{report(figures)}")
    print(f"{machine()}, load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else machine())
    content = {
        "benchmark": "graph",
        "provenance": provenance(),
        "memories": options.memories,
        "edges": options.edges,
        "figures": figures,
    }
    for written in save("graph", content, out=options.json, keep=options.record):
        print(f"written: {written}", file=sys.stderr)


if __name__ == "__main__":
    main()
