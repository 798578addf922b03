"""Train the vectors of words that a recall without a model uses: `src/limpet/vectors/data/word_vectors.bin`.

    python training/train_words.py FOLDER [--conversations FILE] [--teacher NPZ ...] [--out FILE] [--epochs 5]

FOLDER: the tuned model in floats (train_embedder.py). A row for each of its pieces, in one table for questions and one
for memories; a text is the sum of its rows. They begin as what the model says of the single piece, turned to its first
DIMENSIONS components and weighed by how rare the piece is, and are trained with the embedder's pairs: contrast over the
batch and one other passage of the same store. `--teacher`: vectors that the model made of these texts (the files that
benchmarks/embedding_cache.py writes); where both are known, the model's order of a batch is learned too.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F
from train_embedder import Encoder

from data import LONGEST, NOTES, Example, examples, held_back
from limpet.vectors.word_vectors import DIMENSIONS, PIECES, TABLES, ZERO

BATCH, TEMPERATURE, RATE = 256, 0.05, 2e-3
MOST_OF_A_SOURCE = 2_000
# Share of a text's pieces that an epoch leaves out.
DROPPED = 0.2
# Smooth inverse frequency (Arora et al., ICLR 2017).
RARE = 1e-3
# Pieces before this one are special or unused: they do not turn the components.
FIRST_PIECE = 999
# The few rows whose largest component is beyond this share of all are cut.
CUT = 0.998


class Tables(torch.nn.Module):
    def __init__(self, rows: torch.Tensor, draw: random.Random) -> None:
        super().__init__()
        self.draw = draw
        self.both = torch.nn.ModuleList(
            torch.nn.EmbeddingBag(*rows.shape, mode="sum", _weight=rows.clone()) for _ in range(2)
        )

    def forward(self, several: list[list[int]], table: int) -> torch.Tensor:
        kept = [[i for i in one if self.draw.random() > DROPPED] or one for one in several]
        flat = torch.tensor([i for one in kept for i in one])
        starts = torch.tensor(np.cumsum([0] + [len(one) for one in kept[:-1]]))
        return F.normalize(self.both[table](flat, starts) + 1e-9, dim=-1)


@torch.no_grad()
def alone(encoder: Encoder) -> torch.Tensor:
    """The model's vector of each piece by itself."""
    encoder.model.eval()
    first, last = encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id
    found = []
    for part in torch.arange(encoder.tokenizer.vocab_size).split(512):
        ids = torch.stack([torch.full_like(part, first), part, torch.full_like(part, last)], 1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = encoder.model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.float()
        found.append(hidden.mean(1))
    return torch.cat(found)


def first_rows(vectors: torch.Tensor, counts: np.ndarray, texts: int) -> torch.Tensor:
    vectors = vectors - vectors[FIRST_PIECE:].mean(0)
    often = torch.tensor(counts + 0.1, dtype=torch.float32).sqrt()[:, None].clamp(max=30)
    weighed = (vectors * often)[FIRST_PIECE:]
    _, _, components = torch.linalg.svd(weighed.T @ weighed)
    rows = F.normalize(vectors @ components[:DIMENSIONS].T, dim=1)
    return rows * torch.tensor(RARE / (RARE + (counts + 0.5) / texts), dtype=torch.float32)[:, None]


def taught(files: list[Path], texts: list[tuple[str, str]]) -> tuple[torch.Tensor, torch.Tensor]:
    """The model's vectors of those (role, text) that the files have, and which they are."""
    wanted = {
        hashlib.blake2b(f"{role}:{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest(): i
        for i, (role, text) in enumerate(texts)
    }
    vectors, known = np.zeros((len(texts), 384), np.float32), np.zeros(len(texts), bool)
    for file in files:
        content = np.load(file)
        for key, row in zip(content["keys"], content["vectors"], strict=True):
            if (i := wanted.get(key.tobytes())) is not None:
                vectors[i], known[i] = row, True
    return torch.tensor(vectors), torch.tensor(known)


def loss_of(
    asked: torch.Tensor, said: torch.Tensor, left_out: torch.Tensor, wanted: torch.Tensor | None, known: torch.Tensor
) -> torch.Tensor:
    """`wanted`: the model's cosines, where it was asked; `known`: for which questions and passages it was."""
    scores = asked @ said.T
    loss = F.cross_entropy((scores / TEMPERATURE).masked_fill(left_out, -1e4), torch.arange(len(asked)))
    if wanted is None:
        return loss
    there = known[: len(asked), None] & known[None, len(asked) :]
    theirs = F.log_softmax(wanted.masked_fill(~there, -1.0) / TEMPERATURE, 1)
    ours = F.log_softmax(scores.masked_fill(~there, -1.0) / TEMPERATURE, 1)
    return loss + ((theirs.exp() * (theirs - ours)).sum(1) * known[: len(asked)].float()).mean()


def train(options: argparse.Namespace) -> Tables:
    torch.manual_seed(options.seed)
    draw = random.Random(options.seed)
    given = examples(conversations=options.conversations, longmemeval=None, notes=NOTES)
    given = [one for one in given if one.answers and not held_back(one.group)]
    numbers: dict[tuple[str, str], int] = {}

    def number(role: str, text: str) -> int:
        return numbers.setdefault((role, text), len(numbers))

    rows = [
        (number("q", one.question), [number("p", text[:LONGEST]) for text in one.passages], one) for one in given
    ]  # fmt: skip
    texts = list(numbers)
    encoder = Encoder(options.folder)
    coded = encoder.tokenizer([text for _, text in texts], add_special_tokens=False, verbose=False)["input_ids"]
    ids = [one[:PIECES] or [encoder.tokenizer.unk_token_id] for one in coded]
    counts = np.zeros(encoder.tokenizer.vocab_size)
    for one in ids:
        counts[list(set(one))] += 1
    tables = Tables(first_rows(alone(encoder), counts, len(ids)), draw)
    vectors, known = taught(options.teacher, texts)
    by_source: dict[str, list[tuple[int, list[int], Example]]] = {}
    for row in rows:
        by_source.setdefault(row[2].source, []).append(row)
    optimiser = torch.optim.Adam(tables.parameters(), lr=RATE)
    size = sum(min(len(some), MOST_OF_A_SOURCE) for some in by_source.values())
    steps = options.epochs * (size // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps + 5, pct_start=0.1)
    for epoch in range(options.epochs):
        several = [row for some in by_source.values() for row in draw.sample(some, min(len(some), MOST_OF_A_SOURCE))]
        draw.shuffle(several)
        total = 0.0
        for start in range(0, len(several) - BATCH + 1, BATCH):
            part = several[start : start + BATCH]
            questions = [asked for asked, _, _ in part]
            answers = [places[draw.choice(one.answers)] for _, places, one in part]
            others = [draw.choice(places) for _, places, _ in part]
            groups = np.array([one.group for _, _, one in part])
            rest = torch.tensor(groups[:, None] == groups[None]) & ~torch.eye(BATCH, dtype=torch.bool)
            right = [{places[k] for k in one.answers} for _, places, one in part]
            also = torch.tensor([i in some for i, some in zip(others, right, strict=True)])
            left_out = torch.cat([rest, rest | torch.diag(also)], dim=1)
            both = answers + others
            loss = loss_of(
                tables([ids[i] for i in questions], 0), tables([ids[i] for i in both], 1), left_out,
                vectors[questions] @ vectors[both].T if options.teacher else None, known[questions + both],
            )  # fmt: skip
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item()
        print(epoch, round(total / (len(several) // BATCH), 3), flush=True)
    return tables


def write(tables: Tables, out: Path) -> None:
    """Bytes, one table after the other, each in a scale of its own: a cosine does not see it."""
    with out.open("wb") as file:
        for one in tables.both:
            rows = one.weight.detach().numpy()
            step = np.quantile(np.abs(rows).max(1), CUT) / (ZERO - 1)
            file.write((np.clip(np.round(rows / step), 1 - ZERO, ZERO - 1) + ZERO).astype(np.uint8).tobytes())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add: Any = parser.add_argument
    add("folder")
    add("--conversations", type=Path)
    add("--teacher", type=Path, nargs="*", default=[])
    add("--out", type=Path, default=Path(TABLES))
    add("--epochs", type=int, default=5)
    add("--seed", type=int, default=1)
    options = parser.parse_args()
    write(train(options), options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
