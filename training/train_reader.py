"""A small model that reads two texts, the older and the newer, and says how they relate; and what one text is.

    python training/train_reader.py START RELATIONS OUT [--held "field;field"] [--minutes 60] [--texts FILE...]

START: a folder by `unpack.py`, of a cross-encoder or an embedder; RELATIONS: a folder of JSON lines. Whole fields are
held back and measured: the area under the curve of change (replaces, ends, resolves) against all else, the recall at
precision .9, and the area against each other relation. OUT holds the mean of the weights over the last steps.
--texts: JSON lines of single texts with what each head of `HEADS` is to say of them.
"""

from __future__ import annotations

import argparse
import datetime
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

from limpet.vectors.pieces import Pieces
from limpet.vectors.reader import HEADS, RELATIONS, _pair
from limpet.vectors.wordpiece import DATA

CHANGES = ("replaces", "ends", "resolves")
OUTPUTS = len(RELATIONS) + sum(map(len, HEADS.values()))
SHARES = {"rule": 8, "manner": 4, "kept": 12}  # texts of a step that have the label
OF_HEAD = {"rule": 1.0, "manner": 1.0, "worth": 0.5, "weight": 0.3, "kept": 1.0}  # of the loss
SYMMETRIC = ("same", "sibling", "unrelated")  # as true of the newer and the older
TOKENS, TOGETHER, DROPOUT, PADDING = 112, 7, 0.1, 1
PAIRS_CUT = 1_000  # by which a cut is fitted
WARMING = 0.06  # share of the time in which the rate rises
TEXTS = 0.5  # of the loss over single texts, beside that over pairs
SAME = 1.0  # of the loss whether two texts say the same, beside that over relations and changes
KEPT = 0.998  # of the mean of weights, a step
SWAPPED = 0.3  # share of symmetric pairs that are shown the other way round
DATED = 0.7  # share of pairs without dates that are given some
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


def alone(row: dict[str, Any]) -> tuple[str, str]:
    """What the reader is given of one text: it stands in the newer one's place."""
    if "new" in row:
        return row["old"], row["new"]
    return "", f"{row['speaker']}: {row['text']}" if row.get("speaker") else row["text"]


def dated(row: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """Give most pairs without dates some, as a store has them: a date must not tell a change."""
    if row.get("old_date") or row.get("new_date") or draw.random() > DATED:
        return row
    day = datetime.date(2025, 1, 1) + datetime.timedelta(draw.randrange(600))
    later = day + datetime.timedelta(draw.choice((0, draw.randrange(30), draw.randrange(300))))
    return row | {"old_date": day.isoformat(), "new_date": later.isoformat()}


class Reader:
    """The encoder with its head, and the texts in tokens."""

    def __init__(self, start: str) -> None:
        # Of the package's word table, not all of the start model's: a word that is split otherwise is another text.
        path = Path(DATA) / "reader.pieces"
        vocabulary = json.loads((Path(start) / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
        number = {piece: i for i, (piece, _) in enumerate(vocabulary)}
        lines = path.read_text(encoding="utf-8").splitlines()
        self.pieces, self.numbers = Pieces(str(path)), [number[line.rpartition("\t")[0]] for line in lines]
        self.model = narrow.load(start, OUTPUTS, DROPOUT)

    def cut(self, rows: list[dict[str, Any]], widths: list[int]) -> None:
        """Make the middles of its layers narrower, fitted on some pairs."""
        batches = []
        for start in range(0, len(rows), TOGETHER):
            pairs = [(written(row, "old"), written(row, "new")) for row in rows[start : start + TOGETHER]]
            batches.append(self.tokens(pairs))
        narrow.cut(self.model.eval(), batches, widths)

    def tokens(self, pairs: list[tuple[str, str]]) -> dict[str, torch.Tensor]:
        """The pieces of pairs as the package will split them, by the numbers that they have in the start model."""
        texts = {text: self.pieces.ids(text, TOKENS) for pair in pairs for text in pair}
        rows = [_pair(texts[older], texts[newer], self.pieces) for older, newer in pairs]
        longest = max(len(ids) for ids, _ in rows)
        ids, sides, mask = (torch.zeros((len(rows), longest), dtype=torch.long) for _ in range(3))
        ids += PADDING
        for place, (numbers, of) in enumerate(rows):
            ids[place, : len(numbers)] = torch.tensor([self.numbers[number] for number in numbers])
            sides[place, : len(of)], mask[place, : len(of)] = torch.tensor(of), 1
        return {"input_ids": ids, "token_type_ids": sides, "attention_mask": mask}

    def logits(self, pairs: list[tuple[str, str]]) -> torch.Tensor:
        """Log-odds of each relation: float32 (n, 7)."""
        return self.outputs(pairs)[:, : len(RELATIONS)]

    def of_texts(self, rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Log-odds of each head's answers: float32 (n, answers)."""
        every = self.outputs([alone(row) for row in rows])
        sizes = [len(RELATIONS), *map(len, HEADS.values())]
        return dict(zip(("relation", *HEADS), every.split(sizes, dim=1), strict=True))

    def outputs(self, pairs: list[tuple[str, str]]) -> torch.Tensor:
        """All outputs: float32 (n, OUTPUTS). Pairs of a length are read together: few tokens are padding."""
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


@torch.no_grad()
def measure_texts(reader: Reader, rows: list[dict[str, Any]]) -> None:
    reader.model.eval()
    for head, answers in HEADS.items():
        held = [row for row in rows if head in row]
        for lang in sorted({row.get("lang", "") for row in held}):
            some = [row for row in held if row.get("lang", "") == lang]
            logits = torch.cat([reader.of_texts(some[i : i + 32])[head] for i in range(0, len(some), 32)])
            first = logits[:, 0] - logits[:, 1:].logsumexp(1)
            is_first = np.array([answers[0] in wanted(row, head) for row in some])
            exact = np.mean([answers[i] in wanted(row, head) for i, row in zip(logits.argmax(1), some, strict=True)])
            odds = first.numpy()
            against = area(odds[is_first], odds[~is_first]) if is_first.any() and not is_first.all() else float("nan")
            print(f"  {head} {lang}: {len(some)}, right {exact:.3f}, {answers[0]} against all else {against:.3f}")
    reader.model.train()


def wanted(row: dict[str, Any], head: str) -> list[Any]:
    """The answers of a head that are right."""
    label = row[head]
    return [str(one) for one in (label if isinstance(label, list) else [label])]


def read_texts(paths: list[Path]) -> tuple[dict[str, list[dict[str, Any]]], list[dict[str, Any]]]:
    """Rows by their label to train on, and those that are held back."""
    lines = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    given = [row for row in lines if not row.get("held")]
    texts = {head: [row for row in given if head in row] for head in SHARES} if given else {}
    return texts, [row for row in lines if row.get("held")]


def loss_of_texts(reader: Reader, texts: dict[str, list[dict[str, Any]]], draw: random.Random) -> torch.Tensor:
    rows = [row for head, share in SHARES.items() if texts.get(head) for row in draw.sample(texts[head], share)]
    logits, loss = reader.of_texts(rows), torch.zeros(())
    for head, answers in HEADS.items():
        places = [i for i, row in enumerate(rows) if head in row]
        if places:
            labels = [answers.index(draw.choice(wanted(rows[i], head))) for i in places]
            crossed = F.cross_entropy(logits[head][places], torch.tensor(labels), label_smoothing=0.03)
            loss = loss + OF_HEAD[head] * crossed
    return loss


def loss_of(
    reader: Reader, rows: list[dict[str, Any]], quiet: list[dict[str, Any]], draw: random.Random
) -> torch.Tensor:
    pairs, labels = [], []
    for place, row in enumerate(dated(row, draw) for row in draw.sample(rows, PAIRS)):
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
    still = draw.sample(quiet, min(QUIET, len(quiet)))
    pairs += [(written(row, "old", draw), written(row, "new", draw)) for row in still]
    logits = reader.logits(pairs)
    plain = F.cross_entropy(logits[:PAIRS], torch.tensor(labels), label_smoothing=0.03)
    # Whether a pair is the same once more against all else, since two texts are folded by it.
    same, others = RELATIONS.index("same"), [place for place, name in enumerate(RELATIONS) if name != "same"]
    odds_same = logits[:, same] - logits[:, others].logsumexp(1)
    # Of a quiet pair it is known only where somebody has read it.
    known = [*range(PAIRS), *(len(pairs) - len(still) + i for i, row in enumerate(still) if row.get("read"))]
    is_same = torch.tensor([float(place == same) for place in labels] + [0.0] * (len(known) - PAIRS))
    plain = plain + SAME * F.binary_cross_entropy_with_logits(odds_same[known], is_same)
    odds = change_odds(logits)
    are = torch.tensor([float(place < len(CHANGES)) for place in labels] + [0.0] * (len(pairs) - PAIRS))
    return plain + F.binary_cross_entropy_with_logits(odds, are)


def read_pairs(options: argparse.Namespace, draw: random.Random) -> tuple[list[dict[str, Any]], ...]:
    """Pairs to train on, those that are held back, and pairs in which nothing changes."""
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
    return given, kept_back, quiet


def train(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    draw = random.Random(options.seed)
    given, kept_back, quiet = read_pairs(options, draw)
    texts, held_texts = read_texts(options.texts)
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
            if texts and step % 2:
                loss = loss + TEXTS * loss_of_texts(reader, texts, draw)
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
            measure_texts(reader, held_texts)
            spent += time.process_time() - before
    model.load_state_dict(mean, strict=False)
    print(f"{step} steps of {PAIRS + REVERSED + STRANGERS}, {len(given)} pairs; the mean of the last:", flush=True)
    measure(reader, kept_back)
    measure_texts(reader, held_texts)
    narrow.save(model, options.start, options.out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add: Any = parser.add_argument
    add("start")
    add("relations")
    add("out")
    add("--held", default="", help="fields that are held back, with ; between them")
    add("--quiet", help="a file by quiet_pairs.py")
    add("--texts", nargs="*", default=(), type=Path, help="files by labelled.py")
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
