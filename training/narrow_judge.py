"""A narrower judge that says what the judge says: the middle of each layer cut, then trained to give the same.

    python -m training.narrow_judge rows ROWS.jsonl.gz [--most 20000]
    python -m training.narrow_judge cut TEACHER ROWS.jsonl.gz OUT [--keep 384,512,512,768,768,768]
    python -m training.narrow_judge train TEACHER OUT ROWS.jsonl.gz TRAINED [--minutes 30]

TEACHER: a folder by `unpack.py`. A row is a question with the texts nearest to it of a written store, and which of
them answer. `cut` keeps, of the 1,536 values in the middle of each layer, those that the others can replace least, and
fits the weights behind them by least squares: half of them say nearly all. `train` lets the student's layers give what
the teacher's give.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from training import narrow

NEAREST, STRANGERS = 7, 1
BATCH, TOKENS = 6, 80
KEEPING = 2  # times that a sentence with its own question is a row
WARMING, KEPT = 0.05, 0.998
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


def layers_of(model: Any, hidden: Any, mask: Any) -> list[Any]:
    states = []
    for layer in model.bert.encoder.layer:
        hidden = narrow.only(layer(hidden, mask))
        states.append(hidden)
    return states


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


def read(teacher: Any, student: Any, tokenizer: Any, batch: list[dict[str, Any]]) -> tuple[Any, Any, Any]:
    """What student and teacher say of the texts of some rows: float32 (n,) each; how far apart their layers are."""
    import torch
    from torch.nn import functional as F

    tokens = tokens_of(tokenizer, batch)
    mask = narrow.mask_of(tokens)
    real = tokens["attention_mask"].bool()
    with torch.no_grad():
        hidden = narrow.embedded(teacher, tokens)
        wanted = layers_of(teacher, hidden, mask)
        said = teacher.classifier(teacher.bert.pooler(wanted[-1])).squeeze(-1).float()
    states = layers_of(student, hidden, mask)
    apart = F.mse_loss(states[-1][:, 0].float(), wanted[-1][:, 0].float())  # of the last only the first token is read
    for mine, theirs in zip(states[:-1], wanted[:-1], strict=True):
        apart = apart + F.mse_loss(mine[real].float(), theirs[real].float())
    return student.classifier(student.bert.pooler(states[-1])).squeeze(-1).float(), said, apart


def measure(teacher: Any, student: Any, tokenizer: Any, held: list[dict[str, Any]]) -> None:
    import torch

    agreed, rank, firsts, teachers, gaps = [], [], [], [], []
    for start in range(0, len(held), 8):
        part = held[start : start + 8]
        with torch.no_grad():
            odds, said = (values.numpy() for values in read(teacher, student, tokenizer, part)[:2])
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


def train(options: argparse.Namespace) -> None:  # noqa: PLR0915  one training, read from top to bottom
    import torch
    from torch.nn import functional as F
    from transformers import BertTokenizerFast

    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    draw = random.Random(options.seed)
    given, held = read_rows(options.rows, options.held)
    tokenizer = BertTokenizerFast(str(Path(options.start) / "vocab.txt"))
    teacher, student = narrow.load(options.start, 1).eval().requires_grad_(False), narrow.load(options.cut, 1).eval()
    student.bert.embeddings.requires_grad_(False)

    def batches() -> Iterator[list[dict[str, Any]]]:
        while True:
            draw.shuffle(given)
            for start in range(0, len(given) - 24 * BATCH + 1, 24 * BATCH):
                part = sorted(given[start : start + 24 * BATCH], key=lambda row: max(map(len, row["texts"])))
                some = [part[place : place + BATCH] for place in range(0, len(part), BATCH)]
                draw.shuffle(some)
                yield from some

    mean = {name: value.detach().clone() for name, value in student.named_parameters() if value.requires_grad}
    optimiser = torch.optim.AdamW(
        [value for value in student.parameters() if value.requires_grad], lr=options.rate, weight_decay=0.01
    )
    began, spent, losses, inside = time.process_time(), 0.0, [], []
    for step, batch in enumerate(batches(), 1):
        gone = (time.process_time() - began - spent) / (60 * options.minutes * options.threads)
        if gone >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(gone / WARMING, (1 - gone) / (1 - WARMING) + 1e-3)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.bfloat16):
            odds, wanted, apart = read(teacher, student, tokenizer, batch)
        wanted = wanted.clip(-CLIPPED, CLIPPED)
        loss = F.smooth_l1_loss(odds, wanted) + options.inside * apart
        at = 0
        for row in batch:  # its order among the others counts as much as its height
            part = slice(at, at + len(row["texts"]))
            at = part.stop
            if "questions" in row:  # of other questions each
                continue
            loss = loss + F.kl_div(odds[part].log_softmax(0), wanted[part].log_softmax(0), reduction="sum", log_target=True) / len(batch)  # fmt: skip  # noqa: E501
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
        inside.append(apart.item())
        with torch.no_grad():
            for name, value in student.named_parameters():
                if name in mean:
                    mean[name].lerp_(value, 1 - min(KEPT, step / (step + 10)))
        if step % 200 == 0:
            narrow.save(student, options.start, options.out)
            of_layers = np.mean(inside[-100:])
            print(step, f"{gone:.3f} loss {np.mean(losses[-100:]):.3f}, of layers {of_layers:.4f}", flush=True)
        if options.figures and step % options.figures == 0:
            before = time.process_time()
            measure(teacher, student, tokenizer, held)
            spent += time.process_time() - before
    student.load_state_dict(mean, strict=False)
    measure(teacher, student, tokenizer, held)
    narrow.save(student, options.start, options.out)


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
    cutting.add_argument("--keep", default="384,512,512,768,768,768")
    cutting.set_defaults(run=cut)
    training: Any = verbs.add_parser("train")
    for name in ("start", "cut", "rows", "out"):
        training.add_argument(name)
    training.add_argument("--inside", type=float, default=5.0, help="weight of the distance between layers")
    training.add_argument("--bfloat16", action="store_true")
    training.add_argument("--minutes", type=float, default=30)
    training.add_argument("--rate", type=float, default=1e-4)
    training.add_argument("--figures", type=int, default=0)
    training.add_argument("--seed", type=int, default=1)
    training.set_defaults(run=train)
    for verb in (cutting, training):
        verb.add_argument("--held", type=int, default=250)
        verb.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    options.run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
