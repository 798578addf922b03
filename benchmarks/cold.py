"""A first command over thousands of texts: what a cold recall finds while their vectors wait, and after an import.

    python -m benchmarks.cold [--texts 5000] [--own] [--record]

Texts are of the stores written for training, and so are the questions: paraphrases without a word of what answers them,
of agents' notes in stores that no model was trained on. With `--own` the project's own set is among the texts, and its
questions by meaning are asked. Each is asked by a `limpet recall` of its own. While vectors wait the store is written
by the library, which embeds nothing by itself; the import is `limpet import`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import limpet
from training.data import held_back

from . import own, written
from .harness import provenance, save
from .retrieval import Haystack

QUESTIONS, DEADLINE_MS, FIRST = 50, 2_000, 10
SEED = 17
# What the ids of stores of notes begin with; the others are talk.
NOTES = ("agents-", "paraphrases-")


def chosen(count: int) -> tuple[list[str], list[tuple[str, set[str]]]]:
    """Texts, and questions with the texts that answer them."""
    draw = random.Random(SEED)
    stores = written.read(together=False)
    unseen = [one for one in stores if one.questions[0].id.startswith(NOTES) and held_back(_store(one))]
    texts: dict[str, None] = {}
    asked: list[tuple[str, set[str]]] = []
    for one in unseen:
        said = {turn.id: turn.content for turn in one.turns}
        texts |= dict.fromkeys(said.values())
        asked += [
            (each.text, {said[id] for id in each.evidence}) for each in one.questions if each.category == "paraphrase"
        ]
    for one in stores:
        texts |= dict.fromkeys(turn.content for turn in one.turns if len(texts) < count)
    kept = list(texts)[:count]
    asked = [(question, right) for question, right in asked if right <= set(kept)]
    return draw.sample(kept, len(kept)), draw.sample(asked, min(QUESTIONS, len(asked)))


def chosen_of_own(count: int) -> tuple[list[str], list[tuple[str, set[str]]]]:
    """The same of the own set's texts, and of its questions by meaning."""
    draw = random.Random(SEED)
    said = {one["id"]: one["content"] for one in own.read("memories.jsonl") if one["op"] == "remember"}
    texts = dict.fromkeys(said.values())
    for one in written.read(together=False):
        texts |= dict.fromkeys(turn.content for turn in one.turns if len(texts) < count)
    kept = list(texts)[:count]
    asked = [
        (one["question"], {said[id] for id in one["gold"] if id in said})
        for one in own.read("questions.jsonl") if one["category"] == "meaning"
    ]  # fmt: skip
    asked = [(question, right) for question, right in asked if right and right <= set(kept)]
    return draw.sample(kept, len(kept)), draw.sample(asked, min(QUESTIONS, len(asked)))


def _store(one: Haystack) -> str:
    return one.questions[0].id.rsplit("?", 1)[0]


def run(*arguments: str, store: str) -> tuple[Any, float]:
    """A command's JSON, and the seconds it took."""
    environment = os.environ | {"LIMPET_STORE": store, "LIMPET_SCOPE": "global"}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "limpet", *arguments, "--json"],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
    )
    took = time.perf_counter() - began
    if not done.stdout:
        raise SystemExit(f"limpet {' '.join(arguments)[:80]}: {done.stderr}")
    return json.loads(done.stdout), took


def asked_of(store: str, questions: list[tuple[str, set[str]]], *more: str) -> dict[str, float]:
    hits, seconds = [], []
    for question, right in questions:
        found, took = run("recall", question, "-k", str(FIRST), *more, store=store)
        hits.append(any(one["content"] in right for one in found["items"]))
        seconds.append(took)
    return {"found": round(sum(hits) / len(hits), 3), "median_s": round(median(seconds), 3), "worst_s": max(seconds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=5_000)
    parser.add_argument("--own", action="store_true", help="questions of the project's own set")
    parser.add_argument("--record", action="store_true", help="keep the result in benchmarks/results/")
    options = parser.parse_args()
    texts, questions = (chosen_of_own if options.own else chosen)(options.texts)
    figures: dict[str, Any] = {"texts": len(texts), "questions": len(questions)}
    with tempfile.TemporaryDirectory(prefix="limpet-cold-") as folder:
        waiting, imported, file = (str(Path(folder) / name) for name in ("a.db", "b.db", "texts.jsonl"))
        with limpet.open(waiting, scope="global", durable=False) as memory:
            memory.remember_batch({"content": text, "anyway": True, "origin": "user"} for text in texts)
        figures["waiting"] = asked_of(waiting, questions, "--deadline-ms", str(DEADLINE_MS))
        figures["waiting by words"] = asked_of(waiting, questions, "--lexical")
        lines = [json.dumps({"content": text, "anyway": True, "origin": "user"}) for text in texts]
        Path(file).write_text("\n".join(lines) + "\n", encoding="utf-8")
        _, figures["import_s"] = run("import", "jsonl", file, store=imported)
        figures["waiting_after_import"] = run("stats", store=imported)[0].get("queue", {})
        figures["imported"] = asked_of(imported, questions)
    for name, value in figures.items():
        print(name, value)
    name = "cold-own" if options.own else "cold"
    content = {"benchmark": name, "provenance": provenance(), "figures": figures}
    for path in save(name, content, out=None, keep=options.record):
        print(f"written: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
