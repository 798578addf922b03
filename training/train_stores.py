"""Train the embedder on, store by store: a question against all that its store holds, and another one's.

    python training/train_stores.py START OUT --minutes 27 [--conversations FILE] [--rate 3e-5] [--seed 1] [--half]

START: a tuned model (train_embedder.py, or unpack.py of the shipped file). A step takes some questions of two stores
with the passages of both; of a passage that answers, all others are told apart, but those that answer too. What is
alike within a store is what a memory has to tell apart.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from halves import Halves
from torch.nn import functional as F
from train_embedder import PASSAGE_TOKENS, QUESTION_TOKENS, TEMPERATURE, Encoder, late, negatives, usable

from data import LONGEST, NOTES, SHORTEST, Example, examples, held_back

QUESTIONS, PASSAGES, STORES = 24, 48, 2  # of a store in a step at most; stores in a step
# With more answers than these a question asks for a list: none of them is nearer than the others.
MOST_ANSWERS = 8
# How often a store of a source is taken in a round; other people's talk, of which there is much, less often.
SHARES = {
    "notes": 1.0, "messages": 0.8, "notes_more": 1.5, "messages_more": 1.0, "long_chats": 3.0, "chats": 1.0,
    "FriendsQA": 0.3, "QMSum": 0.2,
}  # fmt: skip
SHARE = 0.6
WORDS = 0.3  # weight of the same question asked of the tokens' vectors
WARM = 30  # steps
LEAST_RATE = 0.02


class Asked(NamedTuple):
    question: str
    answer: int
    also: list[int]  # what answers too


def visits(given: list[Example], draw: random.Random) -> Iterator[list[Example]]:
    """Stores without end, each as the questions asked of it."""
    stores: dict[tuple[str, str], list[Example]] = {}
    for one in given:
        stores.setdefault((one.source, one.group), []).append(one)
    while True:
        several = []
        for (source, _), asked in stores.items():
            often = SHARES.get(source, SHARE)
            if source == "own":  # few stores with many questions each
                often = len(asked) / QUESTIONS
            several += [asked] * (int(often) + (draw.random() < often % 1))
        draw.shuffle(several)
        yield from several


def step_of(stores: list[list[Example]], draw: random.Random) -> tuple[list[Asked], list[str]]:
    """Questions, and passages of all these stores; answers are places in them."""
    texts: list[str] = []
    asked: list[Asked] = []
    for several in stores:
        whole = several[0].passages
        picked = [one for one in several if len(one.answers) <= MOST_ANSWERS]
        chosen = [(one, draw.choice(usable(one))) for one in draw.sample(picked, min(QUESTIONS, len(picked)))]
        keep = {answer for _, answer in chosen}
        rest = [i for i, text in enumerate(whole) if i not in keep and len(text) >= SHORTEST]
        keep |= set(draw.sample(rest, max(0, min(len(rest), PASSAGES - len(keep)))))
        at = {place: len(texts) + i for i, place in enumerate(sorted(keep))}
        texts += [whole[place][:LONGEST] for place in sorted(keep)]
        asked += [
            Asked(one.question, at[answer], [at[i] for i in one.answers if i in at and i != answer])
            for one, answer in chosen
        ]
    return asked, texts


def train(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    draw = random.Random(options.seed)
    given = examples(conversations=options.conversations, longmemeval=None, notes=options.notes.split(","))
    apart = {*NOTES} - {"messages"}
    given = [
        one for one in given if usable(one) and negatives(one) and (one.source in apart or not held_back(one.group))
    ]
    encoder = Encoder(options.start)
    encoder.model.train()
    model = encoder.model
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=0.01)
    halves = Halves(model, options.half)
    encoder.model = halves.working
    stores = visits(given, draw)
    # Of the processor's time, so that a run beside other work is as long.
    began, step = time.process_time(), 0
    while (done := (time.process_time() - began) / 60 / options.minutes / options.threads) < 1:
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(1, (step + 1) / WARM) * max(LEAST_RATE, 1 - done)
        asked, texts = step_of([next(stores) for _ in range(STORES)], draw)
        if not asked:
            continue
        vectors, said, is_said = encoder.tokens(texts, PASSAGE_TOKENS)
        questions, words, is_word = encoder.tokens([one.question for one in asked], QUESTION_TOKENS)
        wanted = torch.tensor([one.answer for one in asked])
        left_out = torch.zeros(len(asked), len(texts), dtype=torch.bool)
        for row, one in enumerate(asked):
            left_out[row, one.also] = True
        loss = F.cross_entropy((questions @ vectors.T / TEMPERATURE).masked_fill(left_out, -1e4), wanted)
        near = late(words, is_word, said, is_said) / TEMPERATURE
        loss = loss + WORDS * F.cross_entropy(near.masked_fill(left_out, -1e4), wanted)
        optimiser.zero_grad()
        loss.backward()
        halves.gather()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        halves.spread()
        step += 1
        if step % 25 == 0:
            print(step, f"{done:.3f}", round(loss.item(), 3), flush=True)
    Path(options.out).mkdir(parents=True, exist_ok=True)
    model.save_pretrained(options.out)
    encoder.tokenizer.save_pretrained(options.out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add: Any = parser.add_argument
    add("start")
    add("out")
    add("--conversations", type=Path)
    add("--minutes", type=float, required=True)
    add("--rate", type=float, default=3e-5)
    add("--notes", default=",".join(NOTES), help="which stores of notes and messages")
    add("--seed", type=int, default=1)
    add("--half", action="store_true", help="products in 16 bits, where a processor has AVX512-BF16")
    add("--threads", type=int, default=2)
    train(parser.parse_args())
    return 0


if __name__ == "__main__":
    sys.exit(main())
