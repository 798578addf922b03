"""What becomes of statements that a later one changes: worlds written for this, and streams where hardly anything does.

    python -m benchmarks.relations worlds [FILE] [--half tuning|held-back] [--off]
    python -m benchmarks.relations stream FILE.jsonl [--show 50] [--most 2000]
    python -m benchmarks.relations pairs [FILE.jsonl ...] [--data FOLDER]

`worlds` (tests/quality/changes.jsonl; changes_second.jsonl beside it is by another author): each is stored in order of
its dates, worked, and asked. Of a change it counts how often the newer statement comes before the older, of a
look-alike how often the older is marked or hidden.
`stream`: lines of {"text", "date"?, "speaker"?} are stored as beliefs; what the reader says is counted, and a sample of
it shown, to be read.
`pairs`: lines of {"old", "new", "relation" or "change"}, each pair dated and read alone, by the reader in `--data`: how
many rewordings fold at some shifts of the threshold, how many changes are marked, and how many others.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import limpet
from limpet.model.clock import FixedClock
from limpet.model.ids import format_id, parse_id
from limpet.relate import verdicts
from limpet.settings import same_from
from limpet.vectors.embedder import load_embedder
from limpet.vectors.reader import Reader

CHANGES = Path(__file__).parent.parent / "tests" / "quality" / "changes.jsonl"
PAIRS = [CHANGES.parent / f"{name}.jsonl" for name in ("rewordings_second", "changes_in_pairs")]
SHOWN = 5


def read(path: Path, half: str | None) -> list[dict[str, Any]]:
    """The worlds of a file; of a half every second one."""
    worlds = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return worlds if half is None else worlds[half == "held-back" :: 2]


def ask(world: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    """Store a world and ask its questions: for each how the pair stood."""
    clock = FixedClock("2026-01-01T08:00:00+00:00")
    with limpet.open(folder / "world.db", scope="project:world", clock=clock, durable=False, judge=True) as memory:
        ids = {}
        for number, one in enumerate(world["memories"]):
            clock.set(f"{one['date']}T{8 + number // 60:02}:{number % 60:02}:00+00:00")
            ids[one["id"]] = memory.remember(one["text"], origin="user").id
            memory.work()
        clock.set("2026-12-01T08:00:00+00:00")
        found = []
        for kind in ("changes", "lookalikes"):
            for one in world[kind]:
                older, newer = ids[one["older"]], ids[one["newer"]]
                answer = memory.recall(one["question"], k=SHOWN)
                order = [item.id for item in answer.items]
                marked = any(item.id == older and (item.newer or item.resolved_by) for item in answer.items)
                hidden = any(older == id for item in answer.items for id, _ in item.before)
                rows = memory._context.store.relations.of([parse_id(older)])
                relations = [r for r in rows if format_id(r.older) == older and format_id(r.newer) == newer]
                found.append({
                    "world": world["world"], "kind": one.get("kind", "look-alike"), "question": one["question"],
                    "older": order.index(older) if older in order else None,
                    "newer": order.index(newer) if newer in order else None,
                    "marked": marked, "hidden": hidden,
                    "relation": f"{relations[0].relation} {relations[0].level}" if relations else "",
                })  # fmt: skip
    return found


def worlds(options: argparse.Namespace) -> None:
    rows: list[dict[str, Any]] = []
    for world in read(options.file, options.half):
        with tempfile.TemporaryDirectory() as folder:
            rows += ask(world, Path(folder))
    changes = [row for row in rows if row["kind"] != "look-alike"]
    alike = [row for row in rows if row["kind"] == "look-alike"]
    for kind in ("replaces", "ends", "resolves"):
        some = [row for row in changes if row["kind"] == kind]
        print(f"{kind}: newer first {sum(map(newer_first, some))} of {len(some)}, seen {sum(map(seen, some))}")
    print(f"changes: newer first {sum(map(newer_first, changes))} of {len(changes)}, seen {sum(map(seen, changes))}")
    put = sum(row["hidden"] for row in alike) + sum(row["marked"] for row in alike)
    sure = sum(row["relation"].endswith("sure") for row in alike)
    changed = sum(map(seen, alike))
    print(f"look-alikes: marked or hidden {put} of {len(alike)}, read as a change {changed}, surely {sure}")
    print(f"             the older one first {sum(not newer_first(row) for row in alike)}")
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")


def newer_first(row: dict[str, Any]) -> bool:
    return row["newer"] is not None and (row["older"] is None or row["newer"] < row["older"])


def seen(row: dict[str, Any]) -> bool:
    """Whether the reader said that the newer one changes the older."""
    return bool(row["relation"]) and not row["relation"].startswith("same")


def stream(options: argparse.Namespace) -> None:
    lines = [json.loads(line) for line in options.file.read_text(encoding="utf-8").splitlines()][: options.most]
    clock = FixedClock("2026-01-01T08:00:00+00:00")
    with (
        tempfile.TemporaryDirectory() as folder,
        limpet.open(Path(folder) / "stream.db", scope="project:stream", clock=clock, durable=False) as memory,
    ):
        statements = [
            {"content": one["text"], "speaker": one.get("speaker"), "kind": "fact", "origin": "user"}
            | ({"valid_from": one["date"]} if one.get("date") else {})
            for one in lines
        ]
        memory.remember_batch(statements)
        began = time.monotonic()
        memory.work()
        spent = time.monotonic() - began
        ids = [parse_id(one.id) for one in memory.list(limit=10_000)]
        rows = list(dict.fromkeys(memory._context.store.relations.of(ids)))
        counts = Counter(f"{row.relation} {row.level}" for row in rows)
        print(f"{len(lines)} lines, {spent:.0f} s of work: {dict(counts)}")
        for row in random.Random(1).sample(rows, min(options.show, len(rows))):
            older, newer = (memory._context.memory(format_id(id)) for id in (row.older, row.newer))
            print(f"- {row.relation} {row.level} {row.probability}")
            for statement in (older, newer):
                print(f"    {statement.speaker or ''} {statement.content}")


def pairs(options: argparse.Namespace) -> None:
    import numpy as np

    reader = Reader(str(options.data)) if options.data else Reader()
    embedder = load_embedder("limpet")
    for path in options.files:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        given = [(f"2026-01-03 {row['old']}", f"2026-02-01 {row['new']}") for row in rows]
        forth, back = reader.relations(given), reader.relations([pair[::-1] for pair in given])
        change = np.array([row.get("relation") in verdicts.CHANGES or row.get("change", False) for row in rows])
        odds = np.array([verdicts.change_odds(one) for one in forth])
        marked = odds >= verdicts.LIKELY_FROM
        area = (odds[change][:, None] > odds[~change][None]).mean()
        print(f"{path.name}: changes marked {marked[change].sum()} of {change.sum()}, others {marked[~change].sum()}"
              f" of {(~change).sum()}, area {area:.3f}")  # fmt: skip
        same = np.array([row.get("relation") == "same" for row in rows])
        if same.any():
            old, new = (embedder.embed_passages([row[side] for row in rows]) for side in ("old", "new"))
            cosines = (old * new).sum(1)
            shared = np.array([reader.shared(row["old"], row["new"]) for row in rows])
            read = np.array(
                [(verdicts.same_odds(a) + verdicts.same_odds(b)) / 2 for a, b in zip(forth, back, strict=True)]
            )
            score = (verdicts.READ * read + verdicts.NEAR * np.minimum(cosines, verdicts.CLOSE)
                     + verdicts.BEYOND * np.maximum(0, shared - verdicts.SHARED) + verdicts.OFFSET)  # fmt: skip
            least = np.log(same_from() / (1 - same_from()))
            for shift in (0.0, 0.5, 1.0, 1.5, 2.0):
                folds = (score + shift >= least) & ~marked
                told = f"folded {folds[same].mean():.2f}, others {folds[~same].sum()}"
                print(f"  offset {verdicts.OFFSET + shift:.1f}: {told}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(required=True)
    one: Any = verbs.add_parser("worlds")
    one.add_argument("file", nargs="?", type=Path, default=CHANGES)
    one.add_argument("--half", choices=("tuning", "held-back"))
    one.add_argument("--out", type=Path)
    one.set_defaults(run=worlds)
    two: Any = verbs.add_parser("stream")
    two.add_argument("file", type=Path)
    two.add_argument("--show", type=int, default=50)
    two.add_argument("--most", type=int, default=2_000)
    two.set_defaults(run=stream)
    three: Any = verbs.add_parser("pairs")
    three.add_argument("files", nargs="*", type=Path, default=PAIRS)
    three.add_argument("--data", type=Path)
    three.set_defaults(run=pairs)
    options = parser.parse_args()
    options.run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
