"""Sentences of labelled messages (statements/*.jsonl), each with what it is worth keeping as.

A line is a message: `language`, `role` (user, agent), `text`, and `wanted`: of each statement worth keeping its `kind`,
or two that are as fair ("fact|preference"), and `has`, words of the sentence that holds it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from limpet.features.organize.sentences import sentences

FOLDER = Path(__file__).parent / "statements"
TOGETHER = 4  # sentences in a row for the judge
BEFORE = 120  # characters of the sentence before


class Unit(NamedTuple):
    source: str
    language: str
    before: str  # who says it, and what stands before it
    text: str
    kinds: tuple[str, ...]  # none: not worth keeping


def units(*paths: Path) -> list[Unit]:
    """Of the files; of all that are trained on, if none is given."""
    found = []
    for path in paths or sorted(FOLDER.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            last = ""
            for text in sentences(row["text"]):
                hits = [each["kind"] for each in row["wanted"] if each["has"].lower() in text.lower()]
                before = f"{row['role']}: {last[-BEFORE:]}".strip()
                kinds = tuple("|".join(hits).split("|")) if hits else ()
                found.append(Unit(path.stem, row["language"], before, text, kinds))
                last = text
    return found


def judge_rows() -> Iterator[dict[str, Any]]:
    """For train_judge.py: several sentences in a row, each with a question of its own."""
    every = units()
    for start in range(0, len(every), TOGETHER):
        part = every[start : start + TOGETHER]
        yield {
            "source": "kept", "group": part[0].source, "half": "tuning", "answerable": any(one.kinds for one in part),
            "questions": [f"Worth keeping? {one.before.replace(':', '.', 1)}" for one in part],
            "texts": [one.text for one in part],
            "right": [bool(one.kinds) for one in part], "scores": [0.0 for _ in part],
        }  # fmt: skip
