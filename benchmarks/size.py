"""How many bytes of the file a memory takes, text, index and vector included; py-memori on the same rows beside it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import limpet

from .harness import provenance, save
from .speed import Given, Rows, items, make_rows, size_of


def measure_limpet(rows: Rows, path: Path) -> float:
    embedder = Given()
    embedder.add(rows.texts, rows.vectors)
    with limpet.open(str(path), scope="global", embedder=embedder) as memory:
        memory.remember_batch(items(rows, range(len(rows.texts))))
        memory.work(only_vectors=True)
    return size_of(path) / len(rows.texts)


def measure_memori(rows: Rows, path: Path) -> float:
    from memori import PyMemori

    peer = PyMemori(str(path))
    for place, text in enumerate(rows.texts):
        metadata = {"type": rows.kinds[place], "topic": rows.topics[place]}
        peer.insert(text, vector=rows.vectors[place].tolist(), metadata=metadata, no_embed=True)
    return size_of(path) / len(rows.texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=100_000, help="in the store (100000)")
    parser.add_argument("--words", type=int, default=100, help="of each (100)")
    parser.add_argument("--peer", choices=("memori",), help="also measure this installed package on the same rows")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--record", action="store_true", help="keep the result in benchmarks/results/")
    options = parser.parse_args()
    rows = make_rows(options.memories, 1, words_each=options.words)
    with tempfile.TemporaryDirectory(prefix="limpet-size-") as folder:
        found = {"limpet": measure_limpet(rows, Path(folder) / "memory.db")}
        if options.peer:
            found["memori"] = measure_memori(rows, Path(folder) / "memori.db")
    for name, size in found.items():
        print(f"{name}: {size:,.0f} bytes a memory of {options.words} words, {options.memories:,} memories")
    content = {
        "benchmark": "size",
        "provenance": provenance(),
        "memories": options.memories,
        "words": options.words,
        "bytes_per_memory": found,
    }
    for path in save("size", content, out=options.json, keep=options.record):
        print(f"written: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
