"""A small model that reads two texts, the older and the newer, and says how they relate.

    python training/train_reader.py START RELATIONS OUT [--held "field,field"] [--minutes 60]

START: a folder by `unpack.py`, of a cross-encoder or an embedder; RELATIONS: a folder of JSON lines. Whole fields are
held back and measured: the area under the curve of change (replaces, ends, resolves) against all else, the recall at
precision .9, and the area against each other relation. OUT holds the mean of the weights over the last steps.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from pathlib import Path
from typing import Any

import narrow
import numpy as np
import torch
from torch.nn import functional as F
from transformers import AutoTokenizer

CHANGES = ("replaces", "ends", "resolves")
RELATIONS = (*CHANGES, "same", "adds", "sibling", "unrelated")
SYMMETRIC = ("same", "sibling", "unrelated")  # as true of the newer and the older
TOKENS, TOGETHER, DROPOUT = 112, 7, 0.1
PAIRS_CUT = 1_000  # by which a cut is fitted
WARMING = 0.06  # share of the time in which the rate rises
KEPT = 0.998  # of the mean of weights, a step
SWAPPED = 0.3  # share of symmetric pairs that are shown the other way round
BARE = 0.4  # share of pairs that are shown without dates, and without topics and keys
PAIRS, REVERSED, STRANGERS, QUIET = (
    18,
    3,
    3,
    12,
)  # of a step: as written (one of them a text with itself), read backwards, of two lines, of quiet_pairs.py


def written(row: dict[str, Any], side: str, draw: random.Random | None = None) -> str:
    """The text of one side as the reader is given it: date, speaker, key, topics, text."""
    parts = []
    bare = draw is not None and draw.random() < BARE
    if row.get(f"{side}_date") and not bare:
        parts.append(row[f"{side}_date"])
    if row.get(f"{side}_speaker"):
        parts.append(f"{row[f'{side}_speaker']}:")
    bare = draw is not None and draw.random() < BARE
    if row.get(f"{side}_key") and not bare:
        parts.append(f"[{row[f'{side}_key']}]")
    if row.get("topics") and not bare:
        parts.append(f"#{' #'.join(row['topics'])}")
    return " ".join([*parts, row[side]])


class Reader:
    """The encoder with its head, and the texts in tokens."""

    def __init__(self, start: str) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(start)
        self.model = narrow.load(start, len(RELATIONS), DROPOUT)

    def cut(self, rows: list[dict[str, Any]], widths: list[int]) -> None:
        """Make the middles of its layers narrower, fitted on some pairs."""
        batches = []
        for start in range(0, len(rows), TOGETHER):
            pairs = [(written(row, "old"), written(row, "new")) for row in rows[start : start + TOGETHER]]
            batches.append(self.tokens(pairs))
        narrow.cut(self.model.eval(), batches, widths)

    def tokens(self, pairs: list[tuple[str, str]]) -> Any:
        older, newer = zip(*pairs, strict=True)
        return self.tokenizer(
            list(older), list(newer), truncation="longest_first", max_length=TOKENS, padding=True,
            return_tensors="pt", return_token_type_ids=True,
        )  # fmt: skip

    def logits(self, pairs: list[tuple[str, str]]) -> torch.Tensor:
        """Log-odds of each relation: float32 (n, 7). Pairs of a length are read together: few tokens are padding."""
        order = sorted(range(len(pairs)), key=lambda place: sum(map(len, pairs[place])))
        parts = []
        for start in range(0, len(order), TOGETHER):
            tokens = self.tokens([pairs[place] for place in order[start : start + TOGETHER]])
            parts.append(self.model(**tokens).logits)
        return torch.cat(parts)[torch.tensor(order).argsort()]


def area(good: np.ndarray, bad: np.ndarray) -> float:
    return float((good[:, None] > bad[None]).mean() + (good[:, None] == bad[None]).mean() / 2)


def change_odds(logits: torch.Tensor) -> torch.Tensor:
    """Log-odds of any change: float32 (n,)."""
    return logits[:, :3].logsumexp(1) - logits[:, 3:].logsumexp(1)


@torch.no_grad()
def measure(reader: Reader, rows: list[dict[str, Any]]) -> None:
    reader.model.eval()
    for field in sorted({row["field"] for row in rows}):
        held = [row for row in rows if row["field"] == field]
        odds_parts, relations = [], []
        for start in range(0, len(held), 32):
            part = reader.logits([(written(r, "old"), written(r, "new")) for r in held[start : start + 32]])
            odds_parts.append(change_odds(part))
            relations += part.argmax(1).tolist()
        odds = torch.cat(odds_parts).numpy()
        is_change = np.array([row["rel"] in CHANGES for row in held])
        order = np.argsort(-odds)
        right = np.cumsum(is_change[order])
        precise = right / np.arange(1, len(held) + 1) >= 0.9
        recall = right[np.nonzero(precise)[0][-1]] / is_change.sum() if precise.any() else 0.0
        against = {
            name: round(area(odds[is_change], odds[[row["rel"] == name for row in held]]), 3) for name in RELATIONS[3:]
        }
        exact = np.mean([RELATIONS[place] == row["rel"] for place, row in zip(relations, held, strict=True)])
        print(
            f"  {field}: area {area(odds[is_change], odds[~is_change]):.3f}, recall at .9 {recall:.2f}, "
            f"all seven right {exact:.2f}, against {against}",
            flush=True,
        )
    reader.model.train()


def loss_of(
    reader: Reader, rows: list[dict[str, Any]], quiet: list[dict[str, Any]], draw: random.Random
) -> torch.Tensor:
    pairs, labels = [], []
    for place, row in enumerate(draw.sample(rows, PAIRS)):
        if not place:  # what is said again is the same, whatever its date
            row = row | {"new": row["old"], "new_speaker": row.get("old_speaker"), "new_key": row.get("old_key"), "rel": "same"}  # noqa: PLW2901, E501  # fmt: skip
        pair = written(row, "old", draw), written(row, "new", draw)
        pairs.append(pair[::-1] if row["rel"] in SYMMETRIC and draw.random() < SWAPPED else pair)
        labels.append(RELATIONS.index(row["rel"]))
    backwards = [row for row in draw.sample(rows, 6 * REVERSED) if row["rel"] in CHANGES][:REVERSED]
    pairs += [(written(row, "new", draw), written(row, "old", draw)) for row in backwards]
    for _ in range(STRANGERS):
        one = draw.choice(rows)
        words = set(re.findall(r"\w{4,}", one["old"].lower()))
        # The nearest of some others by words: two texts that a store holds beside each other.
        other = max(
            draw.sample(rows, 200),
            key=lambda row: (row is not one) * len(words & set(re.findall(r"\w{4,}", row["new"].lower()))),
        )
        pairs.append((written(one, "old", draw), written(other, "new", draw)))
    pairs += [
        (written(row, "old", draw), written(row, "new", draw)) for row in draw.sample(quiet, min(QUIET, len(quiet)))
    ]
    logits = reader.logits(pairs)
    plain = F.cross_entropy(logits[:PAIRS], torch.tensor(labels), label_smoothing=0.03)
    odds = change_odds(logits)
    are = torch.tensor([float(place < len(CHANGES)) for place in labels] + [0.0] * (len(pairs) - PAIRS))
    return plain + F.binary_cross_entropy_with_logits(odds, are)


def train(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    draw = random.Random(options.seed)
    files = sorted(Path(options.relations).glob("*.jsonl"))
    rows = [json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    held = [name.strip() for name in options.held.split(";")]
    given = [row for row in rows if row["field"] not in held]
    if options.pairs:
        given = draw.sample(given, options.pairs)
    kept_back = [row for row in rows if row["field"] in held]
    quiet = [json.loads(line) for line in open(options.quiet, encoding="utf-8")] if options.quiet else []  # noqa: PTH123, SIM115
    quiet = [row for row in quiet if row["field"] not in held]
    given += [row for row in quiet if row["rel"] in RELATIONS]  # marked in a stream
    quiet = [row for row in quiet if row["rel"] not in RELATIONS]
    reader = Reader(options.start)
    if options.cut:
        reader.cut(draw.sample(given, PAIRS_CUT), list(map(int, options.cut.split(","))))
    model = reader.model
    model.bert.embeddings.requires_grad_(False)
    model.bert.embeddings.token_type_embeddings.requires_grad_(not options.frozen)  # an embedder knows one of both
    for layer in model.bert.encoder.layer[: options.frozen]:
        layer.requires_grad_(False)
    mean = {name: value.detach().clone() for name, value in model.named_parameters() if value.requires_grad}
    optimiser = torch.optim.AdamW(
        [value for value in model.parameters() if value.requires_grad], lr=options.rate, weight_decay=0.01
    )
    model.train()
    # Of the processor's time, so that a run beside other work, or one that is stopped for a while, is as long.
    began, spent, step, losses = time.process_time(), 0.0, 0, []
    while (gone := (time.process_time() - began - spent) / (60 * options.minutes * options.threads)) < 1:
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(gone / WARMING, (1 - gone) / (1 - WARMING))
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.bfloat16):
            loss = loss_of(reader, given, quiet, draw)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
        step += 1
        with torch.no_grad():
            for name, value in model.named_parameters():
                if name in mean:
                    mean[name].lerp_(value, 1 - min(KEPT, step / (step + 10)))
        if step % 100 == 0:
            narrow.save(model, options.start, options.out)
            print(step, f"{gone:.3f}", f"loss {np.mean(losses[-100:]):.3f}", flush=True)
        if options.figures and step % options.figures == 0:
            before = time.process_time()
            measure(reader, kept_back)
            spent += time.process_time() - before
    model.load_state_dict(mean, strict=False)
    print(f"{step} steps of {PAIRS + REVERSED + STRANGERS}, {len(given)} pairs; the mean of the last:", flush=True)
    measure(reader, kept_back)
    narrow.save(model, options.start, options.out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add: Any = parser.add_argument
    add("start")
    add("relations")
    add("out")
    add("--held", default="", help="fields that are held back, with ; between them")
    add("--quiet", help="a file by quiet_pairs.py")
    add("--pairs", type=int, help="so many of the others alone: for a learning curve")
    add("--cut", help="width of the middle of each layer, with commas, to which the start is cut before")
    add("--frozen", type=int, default=0, help="first layers that stay as they are, when training goes on")
    add("--minutes", type=float, default=60, help="of the processor, with all threads busy")
    add("--rate", type=float, default=6e-5)
    add("--figures", type=int, default=0, help="steps between measurements")
    add("--seed", type=int, default=1)
    add("--threads", type=int, default=1)
    add(
        "--bfloat16",
        action="store_true",
        help="products in 16 bits: half as long again in the same time, where the processor has them",
    )
    train(parser.parse_args())
    return 0


if __name__ == "__main__":
    sys.exit(main())
