"""A cross-encoder that says whether a memory answers a question: the relevance judge.

    python training/train_judge.py START MINER OUT [--conversations FILE] [--longmemeval FILE] [--layers 6] [--epochs 1]

START: the folder its weights start from; MINER: a tuned embedder's folder (train_embedder.py), which picks the passages
that look like answers and are none. An example is a question, one passage that answers it (none for questions that
nothing answers) and three that do not; the loss asks for the right one among them and for a probability of each.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional as F
from train_embedder import Encoder, mined, negatives, usable
from transformers import AutoModel, AutoTokenizer, get_linear_schedule_with_warmup

from data import Example, examples, held_back

BATCH, RATE, OTHERS = 16, 4e-5, 3
TOKENS = 80  # question and passage together
MOST_OF_A_SOURCE = 1_200
# Its spans are wide and the answers in them guessed by words: good enough to draw vectors together, not to say no by.
WITHOUT = {"QMSum"}


class Judge(torch.nn.Module):
    def __init__(self, folder: str, layers: int | None = None) -> None:
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.body = AutoModel.from_pretrained(folder, attn_implementation="eager")
        if layers is not None and layers < len(self.body.encoder.layer):
            step = len(self.body.encoder.layer) / layers
            kept = [self.body.encoder.layer[int(i * step)] for i in range(layers)]
            self.body.encoder.layer = torch.nn.ModuleList(kept)
            self.body.config.num_hidden_layers = layers
        self.head = torch.nn.Linear(self.body.config.hidden_size, 1)
        head = Path(folder) / "head.pt"
        if head.is_file():
            self.head.load_state_dict(torch.load(head))

    def forward(self, questions: list[str], passages: list[str]) -> torch.Tensor:
        """Log-odds that each passage answers its question."""
        batch = self.tokenizer(
            questions, passages, padding=True, truncation="only_second", max_length=TOKENS, return_tensors="pt"
        )
        with torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = self.body(**batch).last_hidden_state.float()
        mask = batch["attention_mask"][..., None].float()
        return self.head((hidden * mask).sum(1) / mask.sum(1)).squeeze(-1)

    def save(self, folder: str) -> None:
        self.body.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        torch.save(self.head.state_dict(), Path(folder) / "head.pt")


def asked(several: list[Example]) -> list[Example]:
    return [one for one in several if one.source not in WITHOUT and (usable(one) or not one.answers) and negatives(one)]


def batches_of(several: list[Example], draw: random.Random, hard: dict[int, list[int]]) -> list[list[Any]]:
    """Batches of (question, passage that answers or None, others)."""
    by_source: dict[str, list[Example]] = {}
    for one in several:
        by_source.setdefault(one.source, []).append(one)
    rows = []
    for some in by_source.values():
        for one in draw.sample(some, min(len(some), MOST_OF_A_SOURCE)):
            answer = one.said(draw.choice(usable(one))) if one.answers else None
            near = hard[id(one)]
            others = draw.sample(near, min(len(near), OTHERS if answer is None else OTHERS - 1))
            while len(others) < OTHERS + (answer is None):
                others.append(draw.choice(negatives(one)))
            rows.append((one.question, answer, [one.said(place) for place in others]))
    draw.shuffle(rows)
    found = []
    for start in range(0, len(rows), 24 * BATCH):
        part = sorted(rows[start : start + 24 * BATCH], key=lambda row: max(map(len, row[2])))
        found += [part[place : place + BATCH] for place in range(0, len(part) - BATCH + 1, BATCH)]
    draw.shuffle(found)
    return found


def train(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    draw = random.Random(options.seed)
    given = asked(examples(conversations=options.conversations, longmemeval=options.longmemeval))
    given = [one for one in given if not held_back(one.group)]
    began = time.time()
    hard = mined(Encoder(options.miner), given)
    print("mined", len(given), round(time.time() - began), flush=True)
    judge = Judge(options.start, options.layers)
    optimiser = torch.optim.AdamW(judge.parameters(), lr=RATE, weight_decay=0.01)
    steps = options.epochs * len(batches_of(given, random.Random(0), hard))
    schedule = get_linear_schedule_with_warmup(optimiser, steps // 10, steps)
    judge.train()
    for epoch in range(options.epochs):
        batches = batches_of(given, draw, hard)
        for place, part in enumerate(batches):
            questions = [row[0] for row in part for _ in range(OTHERS + 1)]
            passages = [text for row in part for text in ([row[1]] if row[1] is not None else []) + row[2]]
            scores = judge(questions, passages).view(len(part), OTHERS + 1)
            answered = torch.tensor([row[1] is not None for row in part])
            wanted = torch.zeros_like(scores)
            wanted[:, 0] = answered.float()
            loss = F.binary_cross_entropy_with_logits(scores, wanted)
            if answered.any():
                loss = loss + F.cross_entropy(scores[answered], torch.zeros(int(answered.sum()), dtype=torch.long))
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(judge.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            if place % 20 == 0:
                print(epoch, place, len(batches), round(loss.item(), 3), round(time.time() - began), flush=True)
    judge.save(options.out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add: Any = parser.add_argument
    add("start")
    add("miner")
    add("out")
    add("--conversations", type=Path)
    add("--longmemeval", type=Path)
    add("--layers", type=int)
    add("--epochs", type=int, default=1)
    add("--seed", type=int, default=1)
    add("--threads", type=int, default=2)
    train(parser.parse_args())
    return 0


if __name__ == "__main__":
    sys.exit(main())
