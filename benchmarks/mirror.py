"""How long a sync of a folder takes in which nothing changed: `python -m benchmarks.mirror [--size 10000]`.

Two folders: one of `size` files, each a memory, as Claude writes them; one that was rendered from `size` memories.
Each sync is a process of its own that has the store open; the first reads every file, the second trusts their marks.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .harness import machine, provenance, save, table

STEPS = ("files: adopt", "files: same, read", "files: same", "pages: render", "pages: same, read", "pages: same",
         "pages: one edit")  # fmt: skip


def made_text(i: int) -> str:
    """About no person: the rules at the door have nothing to judge, which would be what is measured."""
    return f"The cache of module_{i % 97} holds entry {i} for {i % 300} s; see cache_{i}.ttl"


def make_files(folder: Path, size: int) -> None:
    folder.mkdir()
    for i in range(size):
        front = f"---\nname: note-{i}\ndescription: about module-{i % 97}\nmetadata:\n  type: project\n---\n\n"
        text = made_text(i)
        (folder / f"note-{i}.md").write_text(front + text + "\n", encoding="utf-8")


def one(folder: Path, step: str, size: int) -> dict[str, Any]:
    import limpet

    kind, what = step.split(": ")
    root = folder / kind
    with limpet.open(folder / f"{kind}.db", scope="project:bench") as memory:
        if step == "pages: render":
            memory.remember_batch(
                {"content": made_text(i), "kind": ("fact", "lesson")[i % 2], "topics": [f"module {i % 300}"]}
                for i in range(size)
            )
        if what == "same, read":  # as if the base were older than every file
            os.utime(root / ".limpet" / "mirror.json", ns=(0, 0))
        elif what == "same":
            later = time.time_ns() + 10_000_000_000
            os.utime(root / ".limpet" / "mirror.json", ns=(later, later))
        elif what == "one edit":
            page = next(file for file in sorted(root.glob("*.md")) if file.name != "MEMORY.md")
            page.write_text(page.read_text(encoding="utf-8") + "\n- one more\n", encoding="utf-8")
        start = time.perf_counter()
        done = memory.mirror_init(root) if what in ("adopt", "render") else memory.mirror_sync(root)
        took = time.perf_counter() - start
        assert done.changed == (what in ("adopt", "render", "one edit"))
        index = (root / "MEMORY.md").stat().st_size
    return {"seconds": round(took, 3), "index_bytes": index, "left": len(done.left)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON")
    parser.add_argument("--record", action="store_true", help="keep the result under results/")
    parser.add_argument("--step", nargs=2, metavar=("FOLDER", "STEP"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        print(json.dumps(one(Path(args.step[0]), args.step[1], args.size)))
        return
    figures = {}
    with tempfile.TemporaryDirectory() as name:
        make_files(Path(name) / "files", args.size)
        for step in STEPS:
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.mirror", "--size", str(args.size), "--step", name, step],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            figures[step] = json.loads(done.stdout)
    print(
        table(("step", "seconds", "MEMORY.md bytes", "left"), [(step, *one.values()) for step, one in figures.items()])
    )
    content = {**provenance(), "machine": machine(), "size": args.size, "figures": figures}
    save("mirror", content, out=args.json, keep=args.record)


if __name__ == "__main__":
    main()
