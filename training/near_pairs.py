"""Near statements of notes that the shipped reader takes for a change or for the same, nearly always wrongly.

    python training/near_pairs.py OUT.jsonl [--stores 350] [--read training/near_pairs.jsonl]

The pairs of each store of notes and messages that a store would have read together, dated in their order. Of 895 of
those marked that were read one by one (`near_pairs.jsonl`) 32 were changes: the others count as `read`, so that
`train_reader.py` learns of them what they are not, but those that are surest, among which the changes are. OUT goes
behind the lines of quiet_pairs.py.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from limpet.relate.verdicts import change_odds, same_odds
from limpet.vectors.embedder import load_embedder
from limpet.vectors.reader import Reader

HERE = Path(__file__).parent
SOURCES = ("notes", "notes_more", "messages", "messages_more")
# As a store reads them: the nearest, and their cosines. Log-odds of a change from which, and up to which, a pair counts
# as read; and of the same.
NEAREST, NEAR, TOO_NEAR, MARKED, SUREST, SAME = 6, 0.2, 0.97, 0.9, 3.0, 1.0
SHORTEST, LONGEST, REPEATED = 15, 420, 14


def stores(most: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield (field, dated statements in order) of the stores, as many of each source."""
    draw = random.Random(3)
    for source in SOURCES:
        lines = (HERE / f"{source}.jsonl").read_text(encoding="utf-8").splitlines()
        for line in draw.sample(lines, min(len(lines), most // len(SOURCES))):
            statements = [one if isinstance(one, dict) else {"text": one} for one in json.loads(line)["memories"]]
            day = datetime.date(2025, 1, 1) + datetime.timedelta(draw.randint(0, 200))
            for one in statements:
                day += datetime.timedelta(draw.choice([0, 1, 1, 2, 3, 5, 9]))
                one["date"] = (one.get("date") or str(day))[:10]
            kept = [one for one in statements if SHORTEST < len(one["text"]) < LONGEST]
            yield f"quiet, {source}", sorted(kept, key=lambda one: one["date"])


def pairs(field: str, statements: list[dict[str, Any]], reader: Reader, embedder: Any) -> Iterator[dict[str, Any]]:
    """Yield the near pairs of a store with what the reader says of each."""
    vectors = embedder.embed_passages([one["text"] for one in statements])
    cosines = vectors @ vectors.T
    near = [
        (statements[older], statements[newer])
        for newer in range(1, len(statements))
        for older in np.argsort(-cosines[newer, :newer])[:NEAREST]
        if NEAR <= cosines[newer, older] < TOO_NEAR
    ]
    for (older, newer), logits in zip(near, reader.relations([tuple(map(given, pair)) for pair in near]), strict=True):
        row = {"old": older["text"], "new": newer["text"], "rel": "no change", "field": field}
        row |= {"old_date": older["date"], "new_date": newer["date"]}
        row |= {
            f"{side}_speaker": one["speaker"] for side, one in (("old", older), ("new", newer)) if one.get("speaker")
        }
        yield row | {"change": change_odds(logits), "same": same_odds(logits)}


def given(one: dict[str, Any]) -> str:
    speaker = f"{one['speaker']}: " if one.get("speaker") else ""
    return f"{one['date']} {speaker}{one['text']}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--stores", type=int, default=350)
    parser.add_argument("--read", type=Path, default=HERE / "near_pairs.jsonl")
    options = parser.parse_args()
    known = [json.loads(line) for line in options.read.read_text(encoding="utf-8").splitlines()]
    labelled = {(row["old"], row["new"]) for row in known}
    reader, embedder = Reader(), load_embedder("limpet")
    with options.out.open("w", encoding="utf-8") as file:

        def write(row: dict[str, Any], times: int) -> None:
            file.write((json.dumps(row, ensure_ascii=False) + "\n") * times)

        for row in known:
            write(row | {"read": True}, REPEATED if row["rel"] == "no change" else 2)
        for field, statements in stores(options.stores):
            known_languages = [one for one in statements if reader.reads(one["text"])]
            for row in pairs(field, known_languages, reader, embedder) if len(known_languages) > 1 else ():
                change, same = row.pop("change"), row.pop("same")
                marked = change >= MARKED or same >= SAME
                if (row["old"], row["new"]) not in labelled and change < SUREST:
                    write(row | {"read": True} if marked else row, REPEATED if marked else 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
