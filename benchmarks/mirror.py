"""How long a sync of a folder takes in which nothing changed: `python -m benchmarks.mirror [--size 10000]`.

Two folders: one of `size` files, each a memory, as Claude writes them; one that was rendered from `size` memories.
Each sync is a process of its own that has the store open.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from limpet.features import mirror

from .harness import run_steps

STEPS = ("files: adopt", "files: same", "pages: render", "pages: same", "pages: one edit")


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
        if what == "one edit":
            page = next(file for file in sorted(root.glob("*.md")) if file.name != "MEMORY.md")
            page.write_text(page.read_text(encoding="utf-8") + "\n- one more\n", encoding="utf-8")
        start, cpu = time.perf_counter(), time.process_time()
        done = mirror.init(memory, root) if what in ("adopt", "render") else mirror.sync(memory, root)
        took, cpu = time.perf_counter() - start, time.process_time() - cpu
        assert done.changed == (what in ("adopt", "render", "one edit"))
        index = (root / "MEMORY.md").stat().st_size
    return {"seconds": round(took, 3), "cpu_seconds": round(cpu, 3), "index_bytes": index, "left": len(done.left)}


def main() -> None:
    run_steps(
        "mirror", __doc__, STEPS, size=10_000, one=one, head=("seconds", "of CPU", "MEMORY.md bytes", "left"),
        prepare=lambda folder, size: make_files(folder / "files", size),
    )  # fmt: skip


if __name__ == "__main__":
    main()
