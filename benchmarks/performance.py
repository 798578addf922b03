"""How limpet and what comes close to it grow with the store, in one run: `make performance`.

The same synthetic rows and vectors for each (`speed.make_rows`); pmb-ai, which cannot leave its model out, embeds them
itself. A program at a size is a process of its own that fills a store, and another that opens it and asks: what is
resident is what the second one holds. By turns, the smaller sizes first; `docs/performance.md` is written at the end.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import peers, performance_page
from .checks import status_of, warm
from .harness import latency, provenance, save
from .speed import make_rows

PROGRAMS = ("limpet", "py-memori", "pmb-ai")
# The peers compare every row with every query, or embed every row: at these sizes they are left out.
MOST_ROWS = {"py-memori": 100_000, "pmb-ai": 10_000}
SINGLES, QUERIES, COLD_RUNS = 100, 60, 11
COLD = {
    "limpet": ["-m", "limpet", "--store", "{folder}/limpet.db", "--scope", "global", "recall", "--lexical", "{word}"],
    "py-memori": [
        "-c",
        "import sys, memori; memori.PyMemori(sys.argv[1]).search(text=sys.argv[2], text_only=True, limit=10)",
        "{folder}/memori.db",
        "{word}",
    ],
}


def fill(program: str, size: int, folder: Path) -> dict[str, Any]:
    """Rows a second of a load, and one durable write into the full store."""
    rows = make_rows(size, QUERIES)
    np.savez(folder / "asked.npz", texts=np.array(rows.queries), vectors=rows.query_vectors)
    bulk = size - SINGLES
    peer = peers.PEERS[program](folder)
    started = time.perf_counter()
    peer.fill(rows.texts[:bulk], rows.vectors[:bulk])
    loaded = bulk / (time.perf_counter() - started)
    calls = [lambda i=i: peer.add(i, rows.texts[i], rows.vectors[i]) for i in range(bulk, size)]
    figures = {"rows_per_second": loaded, "write_ms": latency([_took(call) for call in calls])["p50_ms"]}
    if isinstance(peer, peers.OfLimpet):
        peer.memory.work(only_vectors=True)
    peer.close()
    return figures


def ask(program: str, size: int, folder: Path) -> dict[str, Any]:
    """Recall, brief, cold start, resident memory and bytes on disk of a store that is there."""
    with np.load(folder / "asked.npz") as asked:
        queries = list(zip(asked["texts"].tolist(), asked["vectors"], strict=True))
    figures: dict[str, Any] = {"bytes_per_memory": _bytes(folder) / size}
    peer = peers.PEERS[program](folder)
    if isinstance(peer, peers.OfLimpet):
        peer.embedder.add([text for text, _ in queries], np.stack([vector for _, vector in queries]))
        warm(peer.memory)
    peer.find(*queries[0], peers.K)
    figures["recall_ms"] = latency([_took(lambda q=q: peer.find(*q, peers.K)) for q in queries])["p50_ms"]
    if isinstance(peer, peers.OfLimpet):
        del peer.embedder.embed_query  # what `find` put there
        memory = peer.memory
        figures["brief_ms"] = latency([_took(lambda q=q: memory.prepare(q[0])) for q in queries])["p50_ms"]
    process = peer.process.pid if isinstance(peer, peers.OfPmb) else os.getpid()
    held = status_of(process)
    figures["resident_mb"] = held["RssAnon"] + held["RssShmem"]
    peer.close()
    if program in COLD:
        figures["cold_ms"] = _cold(program, folder, queries[0][0].split()[0])
    return figures


def _cold(program: str, folder: Path, word: str) -> float:
    command = [sys.executable, *(one.format(folder=folder, word=word) for one in COLD[program])]
    environment = os.environ | {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_STATE_HOME": str(folder)}
    taken = []
    for _ in range(COLD_RUNS + 1):
        started = time.perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        taken.append(1000 * (time.perf_counter() - started))
        if done.returncode not in (0, 1):  # 1: the word was not found, which is an answer
            raise SystemExit(f"{program} failed: {done.stderr.decode()[:500]}")
    return statistics.median(taken[1:])


def _bytes(folder: Path) -> int:
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file() and one.name != "asked.npz")


def _took(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - started)


STEPS = {"fill": fill, "ask": ask}


def _step(name: str, program: str, size: int, folder: Path, options: argparse.Namespace) -> dict[str, Any] | None:
    """One step in a process of its own; None when it takes longer than the minutes that are allowed."""
    words = [sys.executable, "-m", "benchmarks.performance", "--step", name, program, str(size), str(folder)]
    words += ["--pmb", options.pmb, "--pmb-model", options.pmb_model]
    try:
        done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, timeout=60 * options.minutes)
    except subprocess.TimeoutExpired:
        return None
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def measure(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Size -> program -> figures. What a program did not end in time is left out, its larger sizes too."""
    found: dict[str, dict[str, Any]] = {}
    given_up = {"pmb-ai"} if not options.pmb else set()
    for size in sorted(int(one) for one in options.sizes.split(",")):
        for program in PROGRAMS:
            if program in given_up or size > MOST_ROWS.get(program, size):
                continue
            with tempfile.TemporaryDirectory(prefix="limpet-performance-") as folder:
                figures: dict[str, Any] | None = {}
                for name in STEPS:
                    more = _step(name, program, size, Path(folder), options)
                    figures = None if more is None or figures is None else figures | more
                    if figures is None:
                        given_up.add(program)
                        break
            shown = "not within the time" if figures is None else {k: round(v, 2) for k, v in figures.items()}
            print(f"{size:,} {program}: {shown}", file=sys.stderr)
            if figures is not None:
                found.setdefault(str(size), {})[program] = figures
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1000,10000,100000,1000000", help="memories, comma-separated")
    parser.add_argument("--minutes", type=float, default=30, help="that a step may take (30)")
    parser.add_argument("--pmb", metavar="PYTHON", default="", help="a Python that has pmb-ai installed")
    parser.add_argument("--pmb-model", metavar="DIR", default="", help="its embedding model as a folder")
    parser.add_argument("--page", action="store_true", help="measure nothing: write the page from the newest record")
    parser.add_argument("--step", nargs=4, metavar=("STEP", "PROGRAM", "SIZE", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    peers.OfPmb.python, peers.OfPmb.model = options.pmb, options.pmb_model
    if options.step:
        name, program, size, folder = options.step
        print(json.dumps(STEPS[name](program, int(size), Path(folder))))
        return
    if not options.page:
        content = {"benchmark": "performance", "provenance": provenance(), "figures": measure(options)}
        save("performance", content, out=None, keep=True)
    for path in performance_page.write():
        print(f"written: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
