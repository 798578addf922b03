"""How well a judge tells answers apart: on written stores that were held back, with the passages a recall would show.

    python training/evaluate_judge.py JUDGE MINER [--every 1]

For each question the eight passages that the embedder MINER ranks first are judged. Printed: how often the first by the
embedder and the first by the judge answers; the area under the curve of "something answers" (the best log-odds, over
answerable questions and those that nothing answers), and how many of the latter lie below what 5 % of the former reach.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from typing import Any

import numpy as np
import torch
from train_embedder import PASSAGE_TOKENS, QUESTION_TOKENS, Encoder
from train_judge import Judge

from data import LONGEST, Example, held_back, written

LOOKED_AT = 8


@torch.no_grad()
def measure(judge: Judge, miner: Encoder, several: list[Example]) -> dict[str, Any]:
    judge.eval()
    stores: dict[tuple[str, ...], list[Example]] = defaultdict(list)
    for one in several:
        stores[one.passages].append(one)
    rows = []
    for passages, asked in stores.items():
        vectors = miner.many([text[:LONGEST] for text in passages], PASSAGE_TOKENS)
        for one in asked:
            cosines = vectors @ miner.many([one.question], QUESTION_TOKENS)[0]
            places = cosines.argsort(descending=True)[:LOOKED_AT].tolist()
            said = judge([one.question] * len(places), [one.said(place) for place in places]).tolist()
            best = places[int(np.argmax(said))]
            top = max(said[:3])
            rows.append((bool(one.answers), places[0] in one.answers, best in one.answers, top, float(cosines.max())))
    good = np.array([row[0] for row in rows])
    found: dict[str, Any] = {"questions": len(rows), "unanswerable": int((~good).sum())}
    for name, column in (("first by the embedder", 1), ("first by the judge", 2)):
        found[name] = round(float(np.mean([row[column] for row in rows if row[0]])), 3)
    for name, column in (("judge", 3), ("cosine", 4)):
        values = np.array([row[column] for row in rows])
        area = (values[good][:, None] > values[~good][None]).mean()
        flagged = (values[~good] < np.quantile(values[good], 0.05)).mean()
        found[name] = {"area": round(float(area), 3), "flagged at 5 %": round(float(flagged), 3)}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judge")
    parser.add_argument("miner")
    parser.add_argument("--every", type=int, default=1, help="only every so many-th question")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    several = [one for one in written() if held_back(one.group)]
    by_source: dict[str, list[Example]] = defaultdict(list)
    for one in several[:: options.every]:
        by_source[one.source].append(one)
    judge, miner = Judge(options.judge), Encoder(options.miner)
    for source, part in by_source.items():
        print(source, measure(judge, miner, part), flush=True)
    print("all", measure(judge, miner, several[:: options.every]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
