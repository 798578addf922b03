"""Pairs of near statements out of text in which hardly anything changes: what the reader must leave alone.

    python training/quiet_pairs.py OUT.jsonl [--seed 1]

Nearest statements within each store of training/written (but those of changes), within the documentation of an
installed package, and within each of training/streams, where the few relations are marked. Each line is {"old", "new",
"rel": "no change", "field"}: they may say the same, add to one another or be of two things, which the loss leaves open.
What is marked in a stream has its relation in the place of "no change".
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from limpet.vectors.embedder import load_embedder

HERE = Path(__file__).parent
NEAR, NEAREST, TOO_NEAR, STREAM_NEAREST = 0.4, 2, 0.97, 6
SHORTEST, LONGEST = 20, 300


def stores() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """(field, statements in order) of each written store without changes."""
    for path in sorted((HERE / "written").glob("*.jsonl")):
        if path.stem.startswith("updates"):
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            store = json.loads(line)
            if not any("best" in one for one in store.get("questions", ())):
                yield f"quiet, {path.stem}", store["memories"]


def streams(embedder: Any) -> Iterator[dict[str, Any]]:
    """Of each stream what is marked, and the other pairs that a store would have read together."""
    for path in sorted((HERE / "streams").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            stream = json.loads(line)
            several = {one["id"]: one for one in stream["memories"]}
            marked = {(one["older"], one["newer"]): one["rel"] for one in stream["relations"]}
            vectors = embedder.embed_passages([one["text"] for one in several.values()])
            ids, cosines = list(several), vectors @ vectors.T
            for newer in range(1, len(ids)):
                order = sorted(range(newer), key=lambda older: -cosines[newer, older])[:STREAM_NEAREST]
                read = {ids[older] for older in order} | {one for one, other in marked if other == ids[newer]}
                for older in sorted(read):
                    rel = marked.get((older, ids[newer]), "no change")
                    yield row_of(f"streams, {path.stem}", several[older], several[ids[newer]], rel)


def row_of(field: str, older: dict[str, Any], newer: dict[str, Any], rel: str) -> dict[str, Any]:
    row = {"old": older["text"], "new": newer["text"], "rel": rel, "field": field}
    for side, one in (("old", older), ("new", newer)):
        row |= {f"{side}_{name}": one[name] for name in ("speaker", "date") if one.get(name)}
    return row


def packages() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Sentences of the descriptions and docstrings of each installed package."""
    for distribution in sorted(importlib.metadata.distributions(), key=lambda one: one.name)[::2]:
        described = distribution.metadata.get_payload() or distribution.metadata.get("Description") or ""
        texts = [str(described)]
        for file in (distribution.files or [])[:60]:
            if file.suffix == ".py" and "test" not in str(file):
                try:
                    texts += re.findall(r'"""(.*?)"""', Path(str(file.locate())).read_text(encoding="utf-8"), re.DOTALL)
                except (OSError, UnicodeDecodeError):
                    continue
        lines = (
            " ".join(part.split())
            for text in texts
            for part in re.split(r"\n\s*\n|(?<=[.!?])\s+(?=[A-Z])|\n[-*#>]+", text)
        )
        kept = [line for line in dict.fromkeys(lines) if SHORTEST <= len(line) <= LONGEST and line.count(" ") > 3]
        if len(kept) > 20:
            yield "quiet, packages", [{"text": line} for line in kept[:60]]


def pairs(field: str, statements: list[dict[str, Any]], embedder: Any, draw: random.Random) -> Iterator[dict[str, Any]]:
    vectors = embedder.embed_passages([one["text"] for one in statements])
    cosines = vectors @ vectors.T
    for newer in range(1, len(statements)):
        order = sorted(range(newer), key=lambda older: -cosines[newer, older])[:NEAREST]
        for older in order:
            if NEAR <= cosines[newer, older] <= TOO_NEAR and draw.random() < 0.5:
                yield row_of(field, statements[older], statements[newer], "no change")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--most", type=int, default=2_500, help="pairs a field")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    embedder = load_embedder("limpet")
    found: dict[str, list[dict[str, Any]]] = {}
    for source in (stores(), packages()):
        for field, statements in source:
            found.setdefault(field, []).extend(pairs(field, statements, embedder, draw))
    for row in streams(embedder):
        found.setdefault(row["field"], []).append(row)
    with options.out.open("w", encoding="utf-8") as file:
        for field, rows in sorted(found.items()):
            kept = rows if field.startswith("streams") else draw.sample(rows, min(options.most, len(rows)))
            print(field, len(rows), len(kept))
            for row in kept:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
