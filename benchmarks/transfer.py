"""How fast other programs' memories come in and go out: records a second without embedding, and peak memory.

python -m benchmarks.transfer [--size 100000]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .harness import machine, provenance, save, table
from .speed import make_rows

START = 1_771_466_912.5


def make_memori(path: Path, size: int) -> Path:
    """JSONL as Memori exports it, without vectors."""
    rows = make_rows(size, 1)
    with path.open("w") as file:
        for i, text in enumerate(rows.texts):
            line = {
                "id": f"00000000-0000-4000-8000-{i:012}",
                "content": text,
                "metadata": {"type": rows.kinds[i], "topic": rows.topics[i]},
                "created_at": START + i,
                "updated_at": START + i,
                "last_accessed": 0.0,
                "access_count": 0,
                "vector": None,
            }
            file.write(json.dumps(line) + "\n")
    return path


def one(folder: Path, step: str, size: int) -> dict[str, Any]:
    """One step in this process: {"records_per_second", "peak_mb"}."""
    import limpet

    with limpet.open(folder / "memory.db", scope="global") as memory:
        start = time.perf_counter()
        if step in {"in memori", "again memori"}:
            report = memory.import_from("memori", folder / "memori.jsonl")
            assert report.new + report.known == size and not report.rejected
        elif step.startswith("in "):
            memory.in_scope("project:other").import_from(step[3:], folder / step[3:])
        else:
            memory.export_to(step[4:], folder / step[4:])
        took = time.perf_counter() - start
    return {"records_per_second": round(size / took), "peak_mb": round(peak_mb())}


def peak_mb() -> float:
    """Of this process alone: ru_maxrss begins with that of the process that started it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


STEPS = ("in memori", "again memori", "out memori", "out amem", "in amem", "out markdown", "in markdown", "out mcp")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON")
    parser.add_argument("--record", action="store_true", help="keep the result under results/")
    parser.add_argument("--step", nargs=2, metavar=("FOLDER", "STEP"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        print(json.dumps(one(Path(args.step[0]), args.step[1], args.size)))
        return
    figures = {}
    with tempfile.TemporaryDirectory() as name:
        make_memori(Path(name) / "memori.jsonl", args.size)
        for step in STEPS:
            # A process a step, so that each has its own peak.
            words = [sys.executable, "-m", "benchmarks.transfer", "--size", str(args.size), "--step", name, step]
            figures[step] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    rows = [[step, f"{of['records_per_second']:,}", f"{of['peak_mb']:,}"] for step, of in figures.items()]
    print(table(["step", "records/s", "peak MB"], rows))
    content = {**provenance(), "machine": machine(), "size": args.size, "figures": figures}
    save("transfer", content, out=args.json, keep=args.record)


if __name__ == "__main__":
    main()
