"""A judge of fewer layers that says what the judge says: rows of questions and texts, and the training on them.

    python -m training.distil_judge rows ROWS.jsonl.gz [--most 20000]
    python -m training.distil_judge train TEACHER ROWS.jsonl.gz OUT --layers 0,1,3,5 [--frozen 2] [--minutes 60]

TEACHER: a folder by `unpack.py`; its layers named begin the student, and it reads each batch beside the student. Each
layer of the student is to give what the one of the teacher gave that it began as, so the third of 0,1,3,5 stands for
two. The first, FROZEN, stay the teacher's and are run once for both. A row is a question with the texts nearest to it of
a written store, and which of them answer.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import random
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

NEAREST, STRANGERS = 7, 1
BATCH, TOKENS = 6, 80
KEEPING = 2  # times that a sentence with its own question is a row
WARMING, KEPT = 0.05, 0.998
# The log-odds of a text beyond these say no more: its place among the others does.
CLIPPED = 6.0
MASKED = -10_000.0


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


def train(options: argparse.Namespace) -> None:  # noqa: PLR0915  one training, read from top to bottom
    import torch
    from torch.nn import functional as F
    from transformers import BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    draw = random.Random(options.seed)
    with gzip.open(options.rows, "rt", encoding="utf-8") as file:
        every = [json.loads(line) for line in file]
    given = [row for row in every if row["half"] == "tuning"]
    held = [row for row in every if row["half"] != "tuning"]
    held = random.Random(7).sample(held, min(options.held, len(held)))
    tokenizer = BertTokenizerFast(str(Path(options.start) / "vocab.txt"))
    model: Any = BertForSequenceClassification.from_pretrained(
        options.start, attn_implementation="eager", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    teacher = copy.deepcopy(model).eval().requires_grad_(False)
    places = [int(place) for place in options.layers.split(",")]
    whole = model.bert.encoder.layer
    model.bert.encoder.layer = torch.nn.ModuleList([whole[place] for place in places])
    model.config.num_hidden_layers = len(places)
    model.bert.embeddings.requires_grad_(False)
    for layer in model.bert.encoder.layer[: options.frozen]:
        layer.requires_grad_(False)

    def read(batch: list[dict[str, Any]]) -> tuple[Any, Any, Any]:
        """What student and teacher say of the texts of some rows: float32 (n,) each; how far apart their layers are."""
        questions = [asked for row in batch for asked in row.get("questions") or [row["question"]] * len(row["texts"])]
        texts = [text for row in batch for text in row["texts"]]
        tokens = tokenizer(
            questions, texts, truncation="longest_first", max_length=TOKENS, padding=True, return_tensors="pt"
        )
        real = tokens["attention_mask"].bool()
        mask = (1.0 - tokens["attention_mask"][:, None, None].float()) * MASKED
        with torch.no_grad():
            hidden = teacher.bert.embeddings(tokens["input_ids"], tokens["token_type_ids"])
            states = []
            for layer in teacher.bert.encoder.layer:
                hidden = _only(layer(hidden, mask))
                states.append(hidden)
            said = teacher.classifier(teacher.bert.pooler(hidden)).squeeze(-1).float()
        mine, apart = states[options.frozen - 1], torch.zeros(())
        for layer, place in zip(model.bert.encoder.layer[options.frozen :], places[options.frozen :], strict=True):
            mine, wanted = _only(layer(mine, mask)), states[place]
            if place == len(states) - 1:  # of the last only the first token is read
                apart = apart + F.mse_loss(mine[:, 0].float(), wanted[:, 0].float())
            else:
                apart = apart + F.mse_loss(mine[real].float(), wanted[real].float())
        return model.classifier(model.bert.pooler(mine)).squeeze(-1).float(), said, apart

    @torch.no_grad()
    def measure() -> None:
        model.eval()
        agreed, rank, firsts, teachers, gaps = [], [], [], [], []
        for start in range(0, len(held), 8):
            part = held[start : start + 8]
            odds, said = (values.numpy() for values in read(part)[:2])
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
        model.train()

    def batches() -> Iterator[list[dict[str, Any]]]:
        while True:
            draw.shuffle(given)
            for start in range(0, len(given) - 24 * BATCH + 1, 24 * BATCH):
                part = sorted(given[start : start + 24 * BATCH], key=lambda row: max(map(len, row["texts"])))
                some = [part[place : place + BATCH] for place in range(0, len(part), BATCH)]
                draw.shuffle(some)
                yield from some

    mean = {name: value.detach().clone() for name, value in model.named_parameters() if value.requires_grad}
    optimiser = torch.optim.AdamW(
        [value for value in model.parameters() if value.requires_grad], lr=options.rate, weight_decay=0.01
    )
    model.train()
    began, spent, losses, inside = time.process_time(), 0.0, [], []
    for step, batch in enumerate(batches(), 1):
        gone = (time.process_time() - began - spent) / (60 * options.minutes * options.threads)
        if gone >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(gone / WARMING, (1 - gone) / (1 - WARMING) + 1e-3)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.bfloat16):
            odds, wanted, apart = read(batch)
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
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
        inside.append(apart.item())
        with torch.no_grad():
            for name, value in model.named_parameters():
                if name in mean:
                    mean[name].lerp_(value, 1 - min(KEPT, step / (step + 10)))
        if step % 200 == 0:
            model.save_pretrained(options.out)
            print(step, f"{gone:.3f}", f"loss {np.mean(losses[-100:]):.3f}, of layers {np.mean(inside[-100:]):.4f}", flush=True)
        if options.figures and step % options.figures == 0:
            before = time.process_time()
            measure()
            spent += time.process_time() - before
    model.load_state_dict(mean, strict=False)
    measure()
    model.save_pretrained(options.out)
    shutil.copy(Path(options.start) / "vocab.txt", options.out)


def _only(output: Any) -> Any:
    return output[0] if isinstance(output, tuple) else output


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(required=True)
    making: Any = verbs.add_parser("rows")
    making.add_argument("rows")
    making.add_argument("--most", type=int, default=20_000)
    making.set_defaults(run=rows)
    training: Any = verbs.add_parser("train")
    for name in ("start", "rows", "out"):
        training.add_argument(name)
    training.add_argument("--layers", default="0,1,3,5")
    training.add_argument("--frozen", type=int, default=2)
    training.add_argument("--inside", type=float, default=5.0, help="weight of the distance between layers")
    training.add_argument("--bfloat16", action="store_true")
    training.add_argument("--minutes", type=float, default=60)
    training.add_argument("--rate", type=float, default=2e-4)
    training.add_argument("--figures", type=int, default=0)
    training.add_argument("--held", type=int, default=300)
    training.add_argument("--seed", type=int, default=1)
    training.add_argument("--threads", type=int, default=1)
    training.set_defaults(run=train)
    options = parser.parse_args()
    options.run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
