"""Train the tagger of secrets: the first layers of the reader, with one output for each piece of a word.

    python training/train_tagger.py READER TOLD OUT [--quiet FILE...] [--minutes 40] [--held FILE...]

READER: a folder by unpack_reader.py; TOLD: JSON lines with `text` and `secrets`, or a folder of them; --quiet: JSON
lines with `text`, in which no secret is. OUT gets tagger.safetensors: the mean of the weights over the last steps, in
8 bits. --held: files that are measured: the share of secrets found where 1, 3 and 5 of 100 harmless texts are changed.
"""

from __future__ import annotations

import argparse
import hashlib
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
from graph import SCALE, STORED, file_of, in_8_bits
from torch.nn import functional as F
from train_reader import OUTPUTS

from limpet.vectors.pieces import Pieces
from limpet.vectors.tagger import split, windows
from limpet.vectors.wordpiece import DATA

TOLD, QUIET, TOGETHER, PADDING, UNLABELLED = 14, 8, 8, 1, -100.0
WARMING, KEPT, DROPOUT = 0.06, 0.998, 0.1
# Share of texts whose digits are drawn anew; that are written small; of which the secrets are hidden already.
REDRAWN, SMALL, HIDDEN = 0.5, 0.06, 0.08

Row = dict[str, Any]


class Tagger:
    """The model in torch, and texts as it is given them."""

    def __init__(self, start: str, layers: int) -> None:
        path = Path(DATA) / "reader.pieces"
        vocabulary = json.loads((Path(start) / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
        number = {piece: i for i, (piece, _) in enumerate(vocabulary)}
        lines = path.read_text(encoding="utf-8").splitlines()
        self.pieces, self.numbers = Pieces(str(path)), [number[line.rpartition("\t")[0]] for line in lines]
        self.bert = narrow.load(start, OUTPUTS, DROPOUT).bert
        self.bert.encoder.layer = self.bert.encoder.layer[:layers]
        self.tags = torch.nn.Linear(self.bert.config.hidden_size, 1)
        self.bert.embeddings.requires_grad_(False)

    def parameters(self) -> dict[str, torch.nn.Parameter]:
        named = [
            *self.bert.encoder.named_parameters(),
            *((f"tags.{name}", v) for name, v in self.tags.named_parameters()),
        ]
        return {name: value for name, value in named if value.requires_grad}

    def labelled(self, row: Row) -> list[tuple[list[int], list[float], list[int]]]:
        """Pieces of a text with their labels and parts, as many as the package reads at once."""
        text, spans = row["text"], []
        for secret in row.get("secrets", ()):
            at = text.find(secret)
            while at >= 0:
                spans.append((at, at + len(secret)))
                at = text.find(secret, at + 1)
        parts, ids = split(text, self.pieces)
        inside = [float(any(start < last and end > first for first, last in spans)) for start, end in parts]
        return [
            ([self.numbers[i] for i, _ in ids[a:b]], [inside[p] for _, p in ids[a:b]], [p for _, p in ids[a:b]])
            for a, b in windows(len(ids))
        ]

    def odds(self, rows: list[list[int]]) -> torch.Tensor:
        """Log-odds of each piece: float32 (n, longest)."""
        longest = max(map(len, rows)) + 2
        ids = torch.full((len(rows), longest), PADDING)
        mask = torch.zeros((len(rows), longest), dtype=torch.long)
        for place, row in enumerate(rows):
            whole = [self.numbers[self.pieces.begin], *row, self.numbers[self.pieces.end]]
            ids[place, : len(whole)], mask[place, : len(whole)] = torch.tensor(whole), 1
        hidden = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        return self.tags(hidden).squeeze(-1)[:, 1:-1]


def redrawn(row: Row, draw: random.Random) -> Row:
    """The text with other digits, the same ones for the same number, or in small letters."""
    text, secrets = row["text"], list(row.get("secrets", ()))
    if draw.random() < REDRAWN:
        drawn: dict[str, str] = {}

        def other(match: re.Match[str]) -> str:
            number = match[0]
            if number not in drawn:
                drawn[number] = "".join(
                    draw.choice("123456789" if not i and c != "0" else "0123456789") for i, c in enumerate(number)
                )
            return drawn[number]

        # A time or a date stays one.
        fixed = r"\b(?:19|20)\d\d\b|\d+[:.]\d+"
        if not re.search(fixed, " ".join(secrets)):
            text = "".join(p if i % 2 else re.sub(r"\d+", other, p) for i, p in enumerate(re.split(f"({fixed})", text)))
            secrets = [re.sub(r"\d+", other, secret) for secret in secrets]
            if any(secret not in text for secret in secrets):
                text, secrets = row["text"], list(row.get("secrets", ()))
    if draw.random() < SMALL and not re.search("[A-Z]", "".join(secrets)):
        text = text.lower()
    if secrets and draw.random() < HIDDEN:
        for secret in secrets:
            text = text.replace(secret, "[redacted:password]")
        secrets = []
    return {"text": text, "secrets": secrets}


def loss_of(tagger: Tagger, told: list[Row], quiet: list[Row], draw: random.Random) -> torch.Tensor:
    rows = [redrawn(row, draw) for row in draw.sample(told, TOLD)] + draw.sample(quiet, min(QUIET, len(quiet)))
    texts = [window for row in rows for window in tagger.labelled(row)[:2] if window[0]]
    texts.sort(key=lambda text: len(text[0]))
    total, count = torch.zeros(()), 0
    for start in range(0, len(texts), TOGETHER):
        part = texts[start : start + TOGETHER]
        odds = tagger.odds([ids for ids, _, _ in part])
        for line, (ids, labels, _) in zip(odds.float(), part, strict=True):
            wanted = torch.tensor(labels)
            each = F.binary_cross_entropy_with_logits(line[: len(ids)], wanted, reduction="none")
            # A text counts as one, whatever its length: what it tells weighs as much as all around it.
            one = each[wanted > 0].mean() if labels and max(labels) > 0 else torch.zeros(())
            none = (
                each[wanted == 0].topk(min(4, int((wanted == 0).sum()))).values.mean() if (wanted == 0).any() else 0.0
            )
            total, count = total + one + none, count + 1
    return total / count


@torch.no_grad()
def measure(tagger: Tagger, rows: list[Row], name: str) -> None:
    tagger.bert.eval()
    highest: list[list[float]] = [[], []]
    for row in rows:
        best: dict[int, float] = {}
        for ids, _, parts in tagger.labelled(row):
            for part, value in zip(parts, tagger.odds([ids])[0].tolist(), strict=True):
                best[part] = max(value, best.get(part, -99.0))
        inside = {
            p for _, labels, parts in tagger.labelled(row) for p, label in zip(parts, labels, strict=True) if label
        }
        if row["secrets"]:
            highest[1].append(max((best[part] for part in inside), default=-99.0))
        else:
            highest[0].append(max(best.values(), default=-99.0))
    none, some = np.array(highest[0]), np.array(highest[1])
    figures = {
        share: f"{(some > np.quantile(none, 1 - share)).mean():.3f} above {np.quantile(none, 1 - share):.2f}"
        for share in (0.01, 0.03, 0.05)
    }
    print(f"  {name}: {len(some)} and {len(none)}, found where so many are changed: {figures}", flush=True)
    tagger.bert.train()


def export(tagger: Tagger, out: Path) -> None:
    tensors: dict[str, np.ndarray] = {}
    state = {f"encoder.{name}": value for name, value in tagger.bert.encoder.state_dict().items()}
    state |= {f"tags.{name}": value for name, value in tagger.tags.state_dict().items()}
    for name, value in state.items():
        whole = value.float().numpy()
        if whole.ndim == 2:
            tensors[name + STORED], tensors[name + SCALE] = in_8_bits(whole.T, axis=0)
        else:
            tensors[name] = whole
    path = out / "tagger.safetensors"
    path.write_bytes(file_of(tensors)[0])
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, sha256", hashlib.sha256(path.read_bytes()).hexdigest())


def read(paths: list[Path]) -> list[Row]:
    files = [file for path in paths for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def train(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    draw = random.Random(options.seed)
    told, quiet = read(options.told), read(options.quiet)
    tagger = Tagger(options.start, options.layers)
    if options.resume:
        state = torch.load(options.resume)
        tagger.bert.encoder.load_state_dict(state["encoder"])
        tagger.tags.load_state_dict(state["tags"])
    values = tagger.parameters()
    mean = {name: value.detach().clone() for name, value in values.items()}
    optimiser = torch.optim.AdamW(values.values(), lr=options.rate, weight_decay=0.01)
    tagger.bert.train()
    began, step, losses = time.process_time(), 0, []
    options.out.mkdir(parents=True, exist_ok=True)
    while (gone := (time.process_time() - began) / (60 * options.minutes)) < 1:
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(gone / WARMING, (1 - gone) / (1 - WARMING))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = loss_of(tagger, told, quiet, draw)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(values.values(), 1.0)
        optimiser.step()
        losses.append(loss.item())
        step += 1
        with torch.no_grad():
            for name, value in values.items():
                mean[name].lerp_(value, 1 - min(KEPT, step / (step + 10)))
        if step % 100 == 0:
            print(step, f"{gone:.3f}", f"loss {np.mean(losses[-100:]):.4f}", flush=True)
    with torch.no_grad():
        for name, value in values.items():
            value.copy_(mean[name])
    print(f"{step} steps, {len(told)} and {len(quiet)} texts", flush=True)
    for path in options.held:
        measure(tagger, read([path]), path.name)
    torch.save(
        {"encoder": tagger.bert.encoder.state_dict(), "tags": tagger.tags.state_dict()}, options.out / "tagger.pt"
    )
    export(tagger, options.out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add: Any = parser.add_argument
    add("start")
    add("told", nargs="+", type=Path)
    add("--out", type=Path, required=True)
    add("--quiet", nargs="*", default=(), type=Path)
    add("--held", nargs="*", default=(), type=Path)
    add("--layers", type=int, default=6)
    add("--minutes", type=float, default=40, help="of the processor")
    add("--rate", type=float, default=1e-4)
    add("--seed", type=int, default=1)
    add("--resume", type=Path, help="a tagger.pt to go on from")
    train(parser.parse_args())
    return 0


if __name__ == "__main__":
    sys.exit(main())
