"""How fast other programs' memories come in and go out: records a second without embedding, and peak memory.

python -m benchmarks.transfer [--size 100000]
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from .harness import run_steps
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
    """One step in this process: its figures."""
    import limpet

    with limpet.open(folder / "memory.db", scope="global") as memory:
        start, cpu = time.perf_counter(), time.process_time()
        if step in {"in memori", "again memori"}:
            report = memory.import_from("memori", folder / "memori.jsonl")
            assert report.new + report.known == size and not report.rejected
        elif step.startswith("in "):
            memory.in_scope("project:other").import_from(step[3:], folder / step[3:])
        else:
            memory.export_to(step[4:], folder / step[4:])
        took, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {
        "records_per_second": round(size / took),
        "records_per_cpu_second": round(size / cpu),
        "peak_mb": round(peak_mb()),
    }


def peak_mb() -> float:
    """Of this process alone: ru_maxrss begins with that of the process that started it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


STEPS = ("in memori", "again memori", "out memori", "out amem", "in amem", "out markdown", "in markdown", "out mcp")


def main() -> None:
    run_steps(
        "transfer", __doc__, STEPS, size=100_000, one=one, head=("records/s", "records/s of CPU", "peak MB"),
        prepare=lambda folder, size: make_memori(folder / "memori.jsonl", size),
    )  # fmt: skip


if __name__ == "__main__":
    main()
