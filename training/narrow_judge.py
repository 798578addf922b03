"""A narrower judge that says what the judge says: the middle of each layer is cut.

    python -m training.narrow_judge rows ROWS.jsonl.gz [--most 20000]
    python -m training.narrow_judge cut JUDGE ROWS.jsonl.gz OUT [--keep 1024,1024,1024,1152,1024,1536]

JUDGE: a folder by `unpack.py`. A row is a question with the texts nearest to it of a written store, and which of them
answer. How it is cut: narrow.py. Training it afterwards to give what the whole one gives made it worse (docs/log.md).
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from training import narrow

NEAREST, STRANGERS = 7, 1
BATCH, TOKENS = 6, 80
KEEPING = 2  # times that a sentence with its own question is a row
# The log-odds of a text beyond these say no more: its place among the others does.
CLIPPED = 6.0
ROWS_CUT = 200  # by which a cut is fitted


def rows(options: argparse.Namespace) -> None:
    from limpet.vectors.own import OwnModel
    from training.data import NOTES, examples, held_back
    from training.labelled import judge_rows

    embedder, draw = OwnModel(), random.Random(1)
    every = examples(conversations=None, longmemeval=None, notes=NOTES)
    every = draw.sample(every, min(options.most, len(every)))
    every.sort(key=lambda one: (one.source, one.group))
    group, vectors = None, np.zeros((0, 384))
    began = time.monotonic()
    with gzip.open(options.rows, "wt", encoding="utf-8") as file:
        for number, one in enumerate(every):
            if (one.source, one.group) != group:
                group, vectors = (one.source, one.group), embedder.embed_passages(one.passages)
            near = np.argsort(-(vectors @ embedder.embed_query(one.question)))
            chosen = list(dict.fromkeys([*one.answers[:2], *near[:NEAREST].tolist(), *draw.sample(near[NEAREST:].tolist(), min(STRANGERS, max(0, len(near) - NEAREST)))]))  # fmt: skip  # noqa: E501
            texts = [one.said(place) for place in chosen]
            line = {
                "question": one.question, "texts": texts, "right": [place in one.answers for place in chosen],
                "half": "held-back" if held_back(one.group) else "tuning", "source": one.source,
            }  # fmt: skip
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            if number % 500 == 0:
                print(number, len(every), f"{time.monotonic() - began:.0f} s", flush=True)
        for row in judge_rows():  # what is worth keeping is asked of it too
            for _ in range(KEEPING):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_rows(path: str, held: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows to train on, and some of those held back."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        every = [json.loads(line) for line in file]
    kept = [row for row in every if row["half"] != "tuning"]
    return [row for row in every if row["half"] == "tuning"], random.Random(7).sample(kept, min(held, len(kept)))


def tokens_of(tokenizer: Any, rows: list[dict[str, Any]]) -> Any:
    """The tokens of the texts of some rows with their questions."""
    questions = [asked for row in rows for asked in row.get("questions") or [row["question"]] * len(row["texts"])]
    texts = [text for row in rows for text in row["texts"]]
    return tokenizer(questions, texts, truncation="longest_first", max_length=TOKENS, padding=True, return_tensors="pt")


def cut(options: argparse.Namespace) -> None:
    from transformers import BertTokenizerFast

    given, held = read_rows(options.rows, options.held)
    given = random.Random(3).sample(given, ROWS_CUT)
    tokenizer = BertTokenizerFast(str(Path(options.start) / "vocab.txt"))
    teacher, student = narrow.load(options.start, 1).eval(), narrow.load(options.start, 1).eval()
    batches = [tokens_of(tokenizer, given[place : place + BATCH]) for place in range(0, len(given), BATCH)]
    narrow.cut(student, batches, list(map(int, options.keep.split(","))))
    measure(teacher, student, tokenizer, held)
    narrow.save(student, options.start, options.out)


def measure(teacher: Any, student: Any, tokenizer: Any, held: list[dict[str, Any]]) -> None:
    import torch

    agreed, rank, firsts, teachers, gaps = [], [], [], [], []
    for start in range(0, len(held), 8):
        part = held[start : start + 8]
        tokens = tokens_of(tokenizer, part)
        with torch.no_grad():
            odds, said = (model(**tokens).logits.squeeze(-1).numpy() for model in (student, teacher))
        at = 0
        for row in part:
            mine, own = odds[at : at + len(row["texts"])], said[at : at + len(row["texts"])]
            at += len(row["texts"])
            agreed.append(mine.argmax() == own.argmax())
            gaps.append(np.abs(np.clip(mine, -CLIPPED, CLIPPED) - np.clip(own, -CLIPPED, CLIPPED)).mean())
            rank.append(np.corrcoef(mine, own)[0, 1] if len(mine) > 2 else 1.0)
            if any(row["right"]):
                firsts.append(row["right"][int(mine.argmax())])
                teachers.append(row["right"][int(own.argmax())])
    print(
        f"  {len(held)} held back: the same first {np.mean(agreed):.3f}, mean gap {np.mean(gaps):.2f}, correlation "
        f"{np.mean(rank):.3f}, right first {np.mean(firsts):.3f} (teacher {np.mean(teachers):.3f})",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(required=True)
    making: Any = verbs.add_parser("rows")
    making.add_argument("rows")
    making.add_argument("--most", type=int, default=20_000)
    making.set_defaults(run=rows)
    cutting: Any = verbs.add_parser("cut")
    for name in ("start", "rows", "out"):
        cutting.add_argument(name)
    cutting.add_argument("--keep", default="1024,1024,1024,1152,1024,1536")
    cutting.set_defaults(run=cut)
    cutting.add_argument("--held", type=int, default=250)
    options = parser.parse_args()
    options.run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
