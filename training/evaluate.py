"""How well vectors alone find the answer: any@10 and all@10 of a folder's model, in its store or conversation.

    python training/evaluate.py FOLDER [--locomo FILE] [--average START:SHARE]

Measured: what was held back of the written stores, of notes and messages by their language, and of
tests/quality/recall; and LoCoMo, on which nothing is trained.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import torch
from train_embedder import PASSAGE_TOKENS, QUESTION_TOKENS, Encoder

from data import HERE, LONGEST, QUALITY, Example, held_back, stores, written


def locomo(path: Path) -> list[Example]:
    found = []
    for one in json.loads(path.read_text("utf-8")):
        talk = one["conversation"]
        turns = [
            turn for name, several in talk.items() if isinstance(several, list) for turn in several if turn.get("text")
        ]
        places = {turn["dia_id"]: i for i, turn in enumerate(turns)}
        passages = tuple(turn["text"] for turn in turns)
        for asked in one["qa"]:
            if asked["category"] == 5:
                continue
            ids = [id.strip() for text in asked["evidence"] for id in text.replace(";", " ").replace(",", " ").split()]
            answers = tuple(places[id] for id in ids if id in places)
            if answers:
                found.append(
                    Example(question=asked["question"], passages=passages, answers=answers, source="locomo",
                            group=one["sample_id"])
                )  # fmt: skip
    return found


def own() -> list[Example]:
    rows = [json.loads(line) for line in (QUALITY / "recall" / "memories.jsonl").read_text("utf-8").splitlines()]
    places = {row["id"]: i for i, row in enumerate(rows)}
    passages = tuple(row["content"] for row in rows)
    asked = [json.loads(line) for line in (QUALITY / "recall" / "questions.jsonl").read_text("utf-8").splitlines()]
    return [
        Example(question=one["question"], passages=passages, answers=tuple(places[id] for id in one["gold"]),
                source="own held back", group="own")
        for one in asked
        if one["half"] == "held-back" and one["gold"]
    ]  # fmt: skip


def measure(encoder: Encoder, several: list[Example]) -> tuple[float, float, float]:
    """any@1, any@10, all@10."""
    stores: dict[tuple[str, ...], list[Example]] = {}
    for one in several:
        stores.setdefault(one.passages, []).append(one)
    first = some = every = 0
    for passages, asked in stores.items():
        vectors = encoder.many([text[:LONGEST] for text in passages], PASSAGE_TOKENS * 2)
        scores = encoder.many([one.question for one in asked], QUESTION_TOKENS) @ vectors.T
        for one, row in zip(asked, scores, strict=True):
            best = row.argsort(descending=True)[:10].tolist()
            hits = len(set(best) & set(one.answers))
            first += best[0] in one.answers
            some += hits > 0
            every += hits == len(set(one.answers))
    return tuple(round(100 * value / len(several), 1) for value in (first, some, every))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--average", metavar="START:SHARE", help="with so much of another folder's weights")
    options = parser.parse_args()
    torch.set_num_threads(2)
    encoder = Encoder(options.folder)
    if options.average:
        place, share = options.average.rsplit(":", 1)
        with torch.no_grad():
            for tuned, first in zip(encoder.model.parameters(), Encoder(place).model.parameters(), strict=True):
                tuned.mul_(1 - float(share)).add_(first, alpha=float(share))
    sets: dict[str, list[Example]] = {"own held back": own()}
    for one in written():
        if held_back(one.group) and one.answers:
            sets.setdefault(f"written {one.source}", []).append(one)
    for name in ("notes", "messages", "long_chats"):
        path = HERE / f"{name}_held_back.jsonl"
        spoken = {one["id"]: one["language"] for one in map(json.loads, path.read_text("utf-8").splitlines())}
        for one in stores(path):
            if one.answers:
                sets.setdefault(f"{name}, {spoken[one.group]}", []).append(one)
    if options.locomo:
        sets["locomo"] = locomo(options.locomo)
    for name, several in sets.items():
        print(f"{name:<24} {len(several):>5} questions, any@1, any@10, all@10: {measure(encoder, several)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
