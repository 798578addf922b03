"""The same store in a file and on a server, asked the same: how many questions are ranked alike, and what it takes.

python -m benchmarks.engines --data locomo.json --store 'postgresql://host/name'; a tenant a conversation.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import limpet

from . import locomo, retrieval

K = 10


def ask(memory: limpet.Limpet, questions: list[str]) -> tuple[list[list[tuple[str, float]]], list[float]]:
    """(id, score) of the results of each question from arrays, and milliseconds."""
    for _ in range(3):
        memory.recall(questions[0], k=K)
    found, took = [], []
    for text in questions:
        began = time.perf_counter()
        answer = memory.recall(text, k=K)
        took.append((time.perf_counter() - began) * 1000)
        found.append([(item.id, item.score) for item in answer.items])
    return found, took


def compare(haystack: retrieval.Haystack, server: str, most: int | None) -> dict[str, Any]:
    clock = limpet.FixedClock(retrieval.STORED_AT)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "memory.db")
        with limpet.open(path, scope="global", clock=clock, durable=False) as memory:
            retrieval.load(memory, haystack)
        joint = "&" if "?" in server else "?"
        url = f"{server}{joint}tenant=bench-{uuid4().hex[:12]}"
        began = time.perf_counter()
        copied = limpet.copy_store(path, url)
        seconds = time.perf_counter() - began
        questions = [one.text for one in haystack.questions][:most]
        with (
            limpet.open(path, scope="global", clock=clock) as file,
            limpet.open(url, scope="global", clock=clock) as other,
        ):
            ranked, took = ask(file, questions)
            theirs, longer = ask(other, questions)
    pairs = list(zip(ranked, theirs, strict=True))
    return {
        "questions": len(questions),
        "same_ranking": sum([id for id, _ in one] == [id for id, _ in two] for one, two in pairs),
        "same_scores": sum(one == two for one, two in pairs),
        "events": copied.events,
        "copy_seconds": seconds,
        "file_ms": took,
        "server_ms": longer,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", metavar="FILE", help="LoCoMo; without it this says where it is")
    parser.add_argument("--store", required=True, help="postgresql://...")
    parser.add_argument("--conversations", type=int)
    parser.add_argument("--questions", type=int, help="of each conversation")
    given = parser.parse_args()
    rows = [compare(one, given.store, given.questions) for one in locomo.read(given.data)[: given.conversations]]
    total = {name: sum(row[name] for row in rows) for name in ("questions", "same_ranking", "same_scores", "events")}
    for name in ("file_ms", "server_ms"):
        values = [value for row in rows for value in row[name]]
        total |= {
            f"{name}_p50": round(statistics.median(values), 2),
            f"{name}_p95": round(sorted(values)[len(values) * 95 // 100], 2),
        }
    total["copy_events_a_second"] = round(total["events"] / sum(row["copy_seconds"] for row in rows))
    print(json.dumps(total))


if __name__ == "__main__":
    main()
