"""What a change costs a warm recall: processor time of two checkouts that answer the same questions by turns.

    python -m benchmarks.turns --against ../before --store FILE --questions FILE

Each answers in a process of its own, a block of questions at a time, so that a busy machine is as busy for both. Of the
questions' times the median and the mean are compared, in each round and of the best time of each question.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
BLOCK = 25
FIGURES = {"median": statistics.median, "mean": statistics.fmean, "p10": lambda times: sorted(times)[len(times) // 10]}


class Checksums:
    """The embedder of a store by its name; its vectors mean nothing and cost next to nothing."""

    def __init__(self, name: str, fingerprint: str, dimensions: int) -> None:
        self.name, self.fingerprint, self.dimensions = name, fingerprint, dimensions

    @classmethod
    def of(cls, store: str) -> Checksums:
        import apsw

        row = apsw.Connection(store).execute(
            "SELECT name, fingerprint, dimensions FROM embedder WHERE state = 'active'"
        )
        return cls(*row.get)

    def embed_passages(self, texts: list[str]) -> np.ndarray:
        several = [np.random.default_rng(zlib.crc32(one.encode())).normal(size=self.dimensions) for one in texts]
        return (several / np.linalg.norm(several, axis=1, keepdims=True)).astype(np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        found: np.ndarray = self.embed_passages([text])[0]
        return found


def answer(store: str, questions: str, lexical: bool) -> None:
    """In the process of one checkout: for each line `first last` on stdin the seconds of those questions."""
    import limpet

    asked = Path(questions).read_text(encoding="utf-8").splitlines()
    with limpet.open(store, scope="global", embedder=Checksums.of(store), read_only=True) as memory:
        for question in asked[: 2 * BLOCK]:
            memory.recall(question, lexical_only=lexical)
        for line in sys.stdin:
            first, last = map(int, line.split())
            times = []
            for question in asked[first:last]:
                started = time.thread_time()
                memory.recall(question, lexical_only=lexical)
                times.append(time.thread_time() - started)
            print(json.dumps(times), flush=True)


def by_turns(checkouts: list[Path], options: list[str], count: int, rounds: int) -> list[list[list[float]]]:
    """For each round, and in it for each checkout, the seconds of each question."""
    several = [
        subprocess.Popen(
            [sys.executable, __file__, "--answer", *options], env=os.environ | {"PYTHONPATH": str(one / "src")},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for one in checkouts
    ]  # fmt: skip
    found = []
    for turn in range(rounds):
        times: list[list[float]] = [[] for _ in several]
        for block, first in enumerate(range(0, count, BLOCK)):
            for place in (0, 1) if (turn + block) % 2 else (1, 0):
                ask, tell = several[place].stdin, several[place].stdout
                assert ask is not None and tell is not None
                print(first, min(count, first + BLOCK), file=ask, flush=True)
                times[place] += json.loads(tell.readline())
        found.append(times)
    for one in several:
        one.communicate()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--store", required=True, help="a store that both can open")
    parser.add_argument("--questions", required=True, help="a file, one a line")
    parser.add_argument("--lexical", action="store_true", help="words only")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--record", action="store_true", help="keep them in benchmarks/results/")
    args = parser.parse_args()
    if args.answer:
        answer(args.store, args.questions, args.lexical)
        return
    from .harness import provenance, save

    options = ["--store", args.store, "--questions", args.questions, *(["--lexical"] if args.lexical else [])]
    count = len(Path(args.questions).read_text(encoding="utf-8").splitlines())
    found = by_turns([args.against.resolve(), ROOT], options, count, args.rounds)
    best = [[min(times) for times in zip(*(one[place] for one in found), strict=True)] for place in (0, 1)]
    figures = {}
    for name, figure in FIGURES.items():
        pairs = [(figure(before) * 1000, figure(now) * 1000) for before, now in found]
        figures[name] = {
            "before_ms": round(statistics.median(before for before, _ in pairs), 3),
            "now_ms": round(statistics.median(now for _, now in pairs), 3),
            "ratio": round(statistics.median(now / before for before, now in pairs), 3),
            "ratios": [round(now / before, 3) for before, now in pairs],
            "ratio_of_best": round(figure(best[1]) / figure(best[0]), 3),
        }
        print(name, figures[name])
    result = {"benchmark": "turns", "provenance": provenance(), "figures": figures}
    save("turns", result, out=args.json, keep=args.record)


if __name__ == "__main__":
    main()
