"""Write texts in which no secret is told, for the tagger: of this folder's sets, and of manuals and packages installed.

    python training/quiet_texts.py OUT.jsonl [--count 30000] [FOLDER ...]

FOLDER: of Markdown, reStructuredText, plain text and Python; its paragraphs are read. What the forms of secrets find is
left out.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FIELDS = ("text", "old", "new", "q", "question", "message")
ENDINGS = {".md", ".rst", ".txt", ".py", ".cfg", ".toml", ".yaml", ".yml", ".json", ".ini", ".sh"}
LONGEST = 700


def written(value: Any) -> Iterator[str]:
    """Yield the texts of a row of this folder."""
    if isinstance(value, dict):
        for name, item in value.items():
            if isinstance(item, str) and name in FIELDS:
                yield item
            elif isinstance(item, (list, dict)):
                yield from written(item)
    elif isinstance(value, list):
        for item in value:
            yield from written(item)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    own: set[str] = set()
    for path in sorted(HERE.rglob("*.jsonl")):
        if "told" not in path.parts:
            for line in path.read_text(encoding="utf-8").splitlines():
                own.update(written(json.loads(line)))
    foreign: set[str] = set()
    for folder in options.folders:
        files = sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS and path.is_file())
        for path in draw.sample(files, min(len(files), 1_500)):
            parts = re.split(r"\n\s*\n", path.read_text(encoding="utf-8", errors="replace")[:200_000])
            foreign.update(draw.sample(parts, min(len(parts), 25)))
    from limpet.secrets import redact

    half = options.count // 2
    texts = [*draw.sample(sorted(own), min(len(own), half)), *draw.sample(sorted(foreign), min(len(foreign), half))]
    kept = [text[:LONGEST] for text in texts if text.strip() and not redact(text[:LONGEST])[1]]
    draw.shuffle(kept)
    with options.out.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in kept)
    print(f"{len(kept)} texts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
