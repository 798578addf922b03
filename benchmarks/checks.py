"""What a store of any size is also held to: resident memory, freshness, exactness of the vector search, determinism."""

from __future__ import annotations

import multiprocessing
import statistics
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import limpet
from limpet.rank import constants as C

from .harness import percentile

ONLY_VECTORS = ("lexical", "fields", "neighbours", "session", "date", "speaker", "shape")
REPEATS = 1000
ASKED = 50  # queries that a process asks before its memory is looked at
WRITES = 20
MOST_WARMING = 2_000
EMBEDDED = 400  # texts that get their vectors while recalls go on


def warm(memory: limpet.Limpet) -> None:
    """Recalls until everything is in memory that recalls use."""
    search: Any = memory._context.store.search
    for number in range(MOST_WARMING):
        memory.recall(f"warming up {number}")
        if number > 1 and search.arrays._ahead is None:
            return
        time.sleep(0.05 * (number > 1))


def resident(path: Path, embedder: Any, queries: Sequence[str], vectors: np.ndarray) -> dict[str, float]:
    """Of a fresh process that opened the store, read ahead and asked: {"before_mb", "resident_mb", "mapped_mb"}.

    `resident_mb` leaves out pages of the file itself, which the system may take back at any time: `mapped_mb`.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    small = type(embedder)()
    small.add(list(queries[:ASKED]), vectors[:ASKED])
    process = context.Process(target=_ask_and_look, args=(theirs, str(path), small, list(queries[:ASKED])))
    process.start()
    found: dict[str, float] = ours.recv()
    process.join()
    return found


def _ask_and_look(pipe: Any, path: str, embedder: Any, queries: Sequence[str]) -> None:
    before = status_of()
    with limpet.open(path, scope="global", embedder=embedder) as memory:
        warm(memory)
        for query in queries:
            memory.recall(query)
        after = status_of()
    pipe.send(
        {
            "before_mb": before["RssAnon"],
            "resident_mb": after["RssAnon"] + after["RssShmem"],
            "mapped_mb": after["RssFile"],
        }
    )


def status_of(process: int | str = "self") -> dict[str, float]:
    """Megabytes of a process by name from the kernel; empty figures where there is no /proc."""
    found = dict.fromkeys(("RssAnon", "RssFile", "RssShmem"), 0.0)
    status = Path(f"/proc/{process}/status")
    if status.exists():
        for line in status.read_text().splitlines():
            name, _, value = line.partition(":")
            if name in found:
                found[name] = int(value.split()[0]) / 1024
    return found


def refresh(memory: limpet.Limpet, path: Path, embedder: Any, queries: Sequence[str]) -> dict[str, float]:
    """A recall right after another connection wrote, less the same recall again: medians, ms."""
    after, again = [], []
    with limpet.open(str(path), scope="global", embedder=embedder) as other:
        for number in range(WRITES):
            other.remember(f"written by another connection, number {number} of {time.time_ns()}")
            other.work(only_vectors=True)
            query = queries[number % len(queries)]
            for taken in (after, again):
                started = time.perf_counter()
                memory.recall(query)
                taken.append(1000 * (time.perf_counter() - started))
    costs = [a - b for a, b in zip(after, again, strict=True)]
    return {"recall_p50_ms": statistics.median(after), "refresh_p50_ms": statistics.median(costs)}


def vector_recall(
    memory: limpet.Limpet, texts: Sequence[str], vectors: np.ndarray, queries: Sequence[str], query_vectors: np.ndarray
) -> dict[str, float]:
    """The share of the exact ten nearest that a recall by meaning alone gives: {"mean", "worst"}."""
    shares = []
    for query, vector in zip(queries, query_vectors, strict=True):
        cosines = vectors @ vector
        nearest = {texts[place] for place in np.argpartition(-cosines, 10)[:10]}
        found = {item.content for item in memory.recall(query, k=10, without=ONLY_VECTORS).items}
        shares.append(len(nearest & found) / len(nearest))
    return {"mean": statistics.mean(shares), "worst": min(shares)}


def index_recall(
    memory: limpet.Limpet, texts: Sequence[str], vectors: np.ndarray, query_vectors: np.ndarray
) -> dict[str, float]:
    """The share of the exact ten nearest that the vector index itself gives, before anything else counts: scan of all
    codes, exact cosines of the best. {"mean", "worst"}."""
    row = memory._context.store.vectors.embedder()
    if row is None:
        return {}
    index = memory._context.semantic().index(row)
    index.refresh()
    shares = []
    for vector in query_vectors:
        nearest = {texts[place] for place in np.argpartition(-(vectors @ vector), 10)[:10]}
        scan = index.search(vector, scopes=None)
        bodies = scan.take(C.RESCORED)
        scores = scan.cosines(bodies, exact=C.RESCORED)
        best = [body for _, body in sorted((-score, body) for score, body in zip(scores, bodies, strict=True))[:10]]
        given = {text for _, text, *_ in memory._context.store.search.texts(best)}
        shares.append(len(nearest & given) / len(nearest))
    return {"mean": statistics.mean(shares), "worst": min(shares)}


def beside_embedding(folder: Path, texts: Sequence[str], queries: Sequence[str]) -> dict[str, float]:
    """Recalls while a thread of the same process gives `EMBEDDED` texts their vectors, as the MCP server's does; with
    the real model, and the question's own embedding included: {"idle_p95_ms", "busy_p95_ms", "ratio", "recalls"}."""

    def ask(number: int) -> float:
        started = time.perf_counter()
        memory.recall(queries[number % len(queries)])
        return 1000 * (time.perf_counter() - started)

    with limpet.open(str(folder / "beside.db"), scope="global") as memory:
        memory.remember_batch({"content": text} for text in texts[:EMBEDDED])
        memory.work(only_vectors=True)
        for number in range(20):
            ask(number)
        idle = [ask(number) for number in range(ASKED * 4)]
        memory.remember_batch({"content": text} for text in texts[EMBEDDED : 2 * EMBEDDED])
        worker = threading.Thread(target=lambda: memory.work(only_vectors=True))
        worker.start()
        busy = []
        while worker.is_alive():
            busy.append(ask(len(busy)))
        worker.join()
    quiet, loud = percentile(idle, 0.95), percentile(busy, 0.95)
    return {"idle_p95_ms": quiet, "busy_p95_ms": loud, "ratio": loud / quiet, "recalls": len(busy)}


def different_answers(memory: limpet.Limpet, queries: Sequence[str]) -> int:
    """How many of `REPEATS` recalls were not the answer that the same query had the first time."""
    first: dict[str, list[tuple[str, float]]] = {}
    different = 0
    for number in range(REPEATS):
        query = queries[number % min(len(queries), 20)]
        answer = [(item.id, item.score) for item in memory.recall(query).items]
        different += first.setdefault(query, answer) != answer
    return different
