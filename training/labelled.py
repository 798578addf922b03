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
from limpet.features.organize.statements import Sentence, in_message, question

FOLDER = Path(__file__).parent / "statements"
TOGETHER = 4  # sentences in a row for the judge


class Unit(NamedTuple):
    source: str
    language: str
    sentence: Sentence
    kinds: tuple[str, ...]  # none: not worth keeping


def units(*paths: Path) -> list[Unit]:
    """Of the files; of all that are trained on, if none is given."""
    found = []
    for path in paths or sorted(FOLDER.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            for one in in_message(list(sentences(row["text"])), row["role"]):
                hits = [each["kind"] for each in row["wanted"] if each["has"].lower() in one.text.lower()]
                found.append(Unit(path.stem, row["language"], one, tuple("|".join(hits).split("|")) if hits else ()))
    return found


def judge_rows() -> Iterator[dict[str, Any]]:
    """For train_judge.py: several sentences in a row, each with a question of its own."""
    every = units()
    for start in range(0, len(every), TOGETHER):
        part = every[start : start + TOGETHER]
        yield {
            "source": "kept", "group": part[0].source, "half": "tuning", "answerable": any(one.kinds for one in part),
            "questions": [question(one.sentence) for one in part], "texts": [one.sentence.text for one in part],
            "right": [bool(one.kinds) for one in part], "scores": [0.0 for _ in part],
        }  # fmt: skip
