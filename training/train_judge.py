"""A cross-encoder that says whether a memory answers a question: the relevance judge.

    python training/train_judge.py START ROWS OUT [--minutes 60]

START: a folder by `unpack.py`, or what this has made; ROWS: by `python -m benchmarks.judge_rows`. An example is a
question with one of the first results that answers it (none, where none does) and others that do not; the loss asks for
the right one among them and for a probability of each. OUT holds the mean of the weights over the last steps.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from halves import Halves
from torch.nn import functional as F
from transformers import BertForSequenceClassification, BertTokenizerFast

BATCH, OF_EACH, TOKENS = 16, 4, 80
AT_END = 5  # times as many questions are measured at the end as meanwhile
WARMING = 0.05  # share of the time in which the rate rises
KEPT = 0.998  # of the mean of weights, a step
# In these the turn that holds the answer is marked, not every turn that tells it: good to compare, not to say no by.
COMPARED_ONLY = {"FriendsQA"}
# How often a source's rows are drawn in an epoch; others once. Most like what memories are asked in use are these two.
SHARES = "own=2,notes=2"


class Rows:
    """Questions with their results, in tokens."""

    def __init__(self, path: str, vocabulary: str) -> None:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            self.rows = [json.loads(line) for line in file]
        self.tokenizer = BertTokenizerFast(vocabulary)

    def encoded(self, question: str, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        found = self.tokenizer(
            [question] * len(texts), list(texts), truncation="longest_first", max_length=TOKENS
        )  # fmt: skip
        return list(zip(found["input_ids"], found["token_type_ids"], strict=True))


def logits(model: torch.nn.Module, pairs: Sequence[tuple[list[int], list[int]]]) -> torch.Tensor:
    """Log-odds that each text answers its question: float32 (n,)."""
    longest = max(len(ids) for ids, _ in pairs)
    ids = torch.zeros(len(pairs), longest, dtype=torch.long)
    kinds, mask = torch.zeros_like(ids), torch.zeros_like(ids)
    for place, (one, kind) in enumerate(pairs):
        ids[place, : len(one)], kinds[place, : len(one)] = torch.tensor(one), torch.tensor(kind)
        mask[place, : len(one)] = 1
    return model(input_ids=ids, token_type_ids=kinds, attention_mask=mask).logits.squeeze(-1).float()


def drawn(row: dict[str, Any], draw: random.Random) -> tuple[list[int], bool]:
    """Places of the texts of an example, the right one first if there is one."""
    right = [place for place, is_right in enumerate(row["right"]) if is_right]
    wrong = [place for place, is_right in enumerate(row["right"]) if not is_right]
    chosen = [draw.choice(right)] if right else []
    # The first places are what the judge is asked of: three of four come from the first five.
    near, far = [one for one in wrong if one < 5], [one for one in wrong if one >= 5]
    draw.shuffle(near)
    draw.shuffle(far)
    return (chosen + near[: OF_EACH - 1 - (bool(right) and bool(far))] + far + near)[:OF_EACH], bool(right)


def loss_of(model: torch.nn.Module, batch: Sequence[dict[str, Any]], rows: Rows, draw: random.Random) -> torch.Tensor:
    pairs, shapes = [], []
    for row in batch:
        if "questions" in row:  # each text has its own, and none is compared with another
            for question, text in zip(row["questions"], row["texts"], strict=True):
                pairs += rows.encoded(question, [text])
            shapes.append((row["right"], False, False))
            continue
        places, has = drawn(row, draw)
        pairs += rows.encoded(row["question"], [row["texts"][place] for place in places])
        shapes.append(([has, *(False for _ in places[1:])], has, row["source"] in COMPARED_ONLY))
    scores = logits(model, pairs)
    start, compared, said = 0, [], []
    for right, has, only in shapes:
        part = scores[start : start + len(right)]
        start += len(right)
        if has and len(right) > 1:
            compared.append(F.cross_entropy(part[None], torch.zeros(1, dtype=torch.long)))
        if not only:
            said.append(F.binary_cross_entropy_with_logits(part, torch.tensor(right, dtype=torch.float32)))
    parts = [torch.stack(some).sum() / len(batch) for some in (compared, said) if some]
    return torch.stack(parts).sum()


def batches(several: list[dict[str, Any]], shares: dict[str, float], draw: random.Random) -> Any:
    """For ever: batches of rows of like length. `shares`: by source."""
    while True:
        every = [one for one in several for _ in range(int(shares.get(one["source"], 1.0) + draw.random()))]
        draw.shuffle(every)
        for start in range(0, len(every), 24 * BATCH):
            part = sorted(every[start : start + 24 * BATCH], key=lambda row: sum(map(len, row["texts"])))
            some = [part[place : place + BATCH] for place in range(0, len(part), BATCH)]
            draw.shuffle(some)
            yield from some


def area(good: np.ndarray, bad: np.ndarray) -> float:
    return float((good[:, None] > bad[None]).mean() + (good[:, None] == bad[None]).mean() / 2)


@torch.no_grad()
def measured(model: torch.nn.Module, rows: Rows, held: int) -> None:
    """Of rows that nothing was trained on: the right one first by ranking, judge, both; questions without an answer."""
    model.eval()
    for source in ("own", "notes", "written", "messages", "thought"):
        several = [one for one in rows.rows if one["source"] == source and one["half"] == "held-back"]
        if held:
            several = random.Random(7).sample(several, min(held, len(several)))
        firsts: dict[str, list[bool]] = {}
        best: dict[bool, list[float]] = {True: [], False: []}
        for row in several:
            judged = logits(model, rows.encoded(row["question"], row["texts"])).numpy()
            best[row["answerable"]].append(float(judged[:3].max()))
            if row["answerable"]:
                ranked = np.array(row["scores"])
                for weight in (0.0, 0.25, 0.5, 1.0, 2.0, None):
                    mixed = judged if weight is None else ranked + weight * judged
                    firsts.setdefault(str(weight), []).append(row["right"][int(mixed.argmax())])
        good, bad = np.array(best[True]), np.array(best[False])
        line = " ".join(f"{name}:{100 * np.mean(some):.1f}" for name, some in firsts.items())
        caught = float((bad < np.quantile(good, 0.05)).mean()) if len(bad) else 0.0
        print(f"  {source} {len(several)}: first {line}; area {area(good, bad):.3f}, at 5 % {caught:.3f}", flush=True)
    model.train()


def train(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    draw = random.Random(options.seed)
    rows = Rows(options.rows, str(Path(options.start) / "vocab.txt"))
    given = [one for one in rows.rows if one["half"] == "tuning" and len(one["texts"]) > 1]
    # Attention in torch's fused kernel takes twice as long going back on a processor.
    model = BertForSequenceClassification.from_pretrained(
        options.start, attn_implementation="eager", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    # What is nearest to the words changes least, and going back through it takes a fifth of the time.
    model.bert.embeddings.requires_grad_(False)
    model.bert.encoder.layer[0].requires_grad_(False)
    mean = {name: value.detach().clone() for name, value in model.named_parameters() if value.requires_grad}
    optimiser = torch.optim.AdamW(
        [one for one in model.parameters() if one.requires_grad], lr=options.rate, weight_decay=0.01
    )
    if options.figures:
        measured(model, rows, options.held)
    model.train()
    halves = Halves(model, options.half)
    shares = [one.split("=") for one in options.shares.split(",")]
    # Of the processor's time, so that a run beside other work, or one that is stopped for a while, is as long.
    began, spent, step, losses = time.process_time(), 0.0, 0, []
    for batch in batches(given, {name: float(many) for name, many in shares}, draw):
        gone = (time.process_time() - began - spent) / (60 * options.minutes * options.threads)
        if gone >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(gone / WARMING, (1 - gone) / (1 - WARMING))
        loss = loss_of(halves.working, batch, rows, draw)
        optimiser.zero_grad()
        loss.backward()
        halves.gather()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        halves.spread()
        losses.append(loss.item())
        step += 1
        with torch.no_grad():
            for name, value in model.named_parameters():
                if name in mean:
                    mean[name].lerp_(value, 1 - min(KEPT, step / (step + 10)))
        if step % 50 == 0:
            print(step, f"{gone:.3f}", f"loss {np.mean(losses[-200:]):.3f}", flush=True)
        if options.figures and step % options.figures == 0:
            before = time.process_time()
            measured(model, rows, options.held)
            spent += time.process_time() - before
    model.load_state_dict(mean, strict=False)
    print(f"{step} steps of {BATCH}, {len(given)} rows; the mean of the last:", flush=True)
    measured(model, rows, AT_END * options.held)
    model.save_pretrained(options.out)
    shutil.copy(Path(options.start) / "vocab.txt", options.out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add: Any = parser.add_argument
    add("start")
    add("rows")
    add("out")
    add("--minutes", type=float, default=60, help="with all threads busy")
    add("--rate", type=float, default=6e-5)
    add("--figures", type=int, default=0, help="steps between measurements")
    add("--held", type=int, default=200, help="questions of each source that are measured meanwhile")
    add("--seed", type=int, default=1)
    add("--shares", default=SHARES, help="how often the rows of a source are drawn in an epoch, if not once")
    add("--half", action="store_true", help="products in 16 bits: twice as fast where a processor has AVX512-BF16")
    add("--threads", type=int, default=2)
    train(parser.parse_args())
    return 0


if __name__ == "__main__":
    sys.exit(main())
