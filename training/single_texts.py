"""Single texts for `train_reader.py --texts`: what each head of the reader is to say of them.

    python -m training.single_texts OUT.jsonl

- rules/*.jsonl, manner/*.jsonl and kept/*.jsonl as they are, without languages that the reader does not know;
- sentences of statements/*.jsonl with `kept`, what of a message is worth keeping, behind what stands before them;
- as fine under all rules: notes, one side of pairs, and statements of streams, nearly all of which are. Without these,
  one note of six was taken for a joke.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .labelled import FOLDER, units

HERE = Path(__file__).parent
NOT_READ = ("ko",)
NOTES = {"notes.jsonl": 1_500, "notes_more.jsonl": 7_000}
PAIRS = (
    "business", "coding_agents", "operations", "short_notes", "plain_software", "contrasts_software", "trades_sciences",
    "languages_third", "languages_fifth", "languages_sixth", "languages_seventh", "plain_languages", "ordinary_work",
    "ordinary_languages", "agents_notes_second",
)  # fmt: skip
OF_A_SET = 130
STREAMS = {"people_facts": 300, "people_facts_second": 300, "people_lives": 300}


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def kept(paths: list[Path], *, held: bool) -> Iterator[dict[str, Any]]:
    for source, language, before, text, kinds in units(*paths):
        row = {"old": before, "new": text}
        yield (
            row
            | {"kept": list(kinds) or ["no"], "lang": source if held else language}
            | ({"held": True} if held else {})
        )


def fine(draw: random.Random) -> Iterator[str]:
    for name, count in NOTES.items():
        yield from draw.sample([one["text"] for store in read(HERE / name) for one in store["memories"]], count)
    for name in PAIRS:
        yield from (row["old"] for row in draw.sample(read(HERE / "relations" / f"{name}.jsonl"), OF_A_SET))
    for name, count in STREAMS.items():
        stream = read(HERE / "streams" / f"{name}.jsonl")
        yield from draw.sample([one["text"] for each in stream for one in each["memories"]], count)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    files = sorted(path for name in ("rules", "manner", "kept") for path in HERE.glob(f"{name}/*.jsonl"))
    written = [row for path in files for row in read(path)]
    rows = [row for row in written if row["lang"] not in NOT_READ]
    rows += kept(sorted(FOLDER.glob("*.jsonl")), held=False)
    rows += kept(sorted((HERE / "statements_held_back").glob("*.jsonl")), held=True)
    rows += ({"text": text, "rule": "fine"} for text in fine(random.Random(4)))
    options.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
