"""Fit the weights of linear fusion: softmax loss over each question's candidates, on several data sets at once.

    python -m benchmarks.tune --locomo FILE --longmemeval FILE [--folds 5] [--write]

Every data set weighs the same. The leave-groups-out figures (whole conversations and haystacks are held back) stand
beside the in-sample ones. `--write` writes src/limpet/rank/weights.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import limpet
from limpet.model.clock import FixedClock
from limpet.model.ids import format_id
from limpet.recall.gather import gather
from limpet.recall.plan import make_plan
from limpet.store.records import Filter

from . import embedding_cache, locomo, longmemeval
from .retrieval import STORED_AT, Haystack, load

CUT = 10
RIDGE = 2e-3
STEPS = 1500
CACHE = Path(__file__).parent / ".cache"


@dataclass(slots=True, kw_only=True)
class Asked:
    """One question: its candidates' signals (n, signals), which of them are evidence, and how many exist in all."""

    data: str
    group: str
    signals: np.ndarray
    evidence: np.ndarray  # bool (n,)
    wanted: int


def collect(data: str, haystacks: list[Haystack]) -> tuple[list[Asked], list[str]]:
    embedder = embedding_cache.load("minilm")
    asked: list[Asked] = []
    names: list[str] = []
    for number, haystack in enumerate(haystacks):
        print(f"\r{data} {number + 1}/{len(haystacks)}", end="", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            clock = FixedClock(haystack.questions[0].asked_at or STORED_AT)
            path = str(Path(folder) / "m.db")
            with limpet.open(path, scope="global", embedder=embedder, clock=clock, durable=False) as memory:
                stored = load(memory, haystack)
                for question in haystack.questions:
                    if not question.answerable or not question.evidence or question.category.startswith("5"):
                        continue
                    clock.set(question.asked_at or STORED_AT)
                    plan = make_plan(
                        question.text,
                        Filter(scopes=("global",), as_of=clock.now()),
                        k=20, now=clock.now(), deadline_ms=None, budget_tokens=None, lexical_only=False,
                        fusion="linear", without=frozenset(),
                    )  # fmt: skip
                    found = gather(memory._store, memory._vectors(), plan)
                    wanted = {stored[turn] for turn in question.evidence}
                    names = list(found.signals)
                    asked.append(
                        Asked(
                            data=data,
                            group=haystack.name,
                            signals=np.array([found.signals[name] for name in names], dtype=np.float32).T,
                            evidence=np.array(
                                [format_id(id.ljust(16, b"\0")) in wanted for id in found.ids], dtype=bool
                            ),
                            wanted=len(wanted),
                        )
                    )
        embedder.save()
    print(file=sys.stderr)
    return asked, names


def fit(asked: list[Asked], *, ridge: float = RIDGE) -> np.ndarray:
    """Weights (signals,) by Adam on the mean log-probability of the evidence; each data set weighs the same."""
    learn = [one for one in asked if one.evidence.any()]
    scale = np.concatenate([one.signals for one in learn]).std(axis=0).clip(1e-6)
    share = {data: 1.0 / sum(one.data == data for one in learn) for data in {one.data for one in learn}}
    rows = np.concatenate([one.signals / scale for one in learn])
    sizes = np.array([len(one.signals) for one in learn])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    owner = np.repeat(np.arange(len(learn)), sizes)
    target = np.concatenate([one.evidence / one.evidence.sum() for one in learn])
    weight = np.array([share[one.data] for one in learn])
    weight /= weight.sum()
    theta = np.zeros(rows.shape[1])
    first, second = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, STEPS + 1):
        scores = rows @ theta
        scores -= np.maximum.reduceat(scores, starts)[owner]
        likely = np.exp(scores)
        likely /= np.add.reduceat(likely, starts)[owner]
        slope = rows.T @ ((likely - target) * weight[owner]) + 2 * ridge * theta
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        theta -= 0.03 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-9)
    return theta / scale


def measure(asked: list[Asked], weights: np.ndarray | dict[str, np.ndarray]) -> tuple[float, float]:
    """(any@10, all@10); with a dictionary, each group is scored by the weights learned without it."""
    some = every = 0
    for one in asked:
        theta = weights[one.group] if isinstance(weights, dict) else weights
        order = np.argsort(-(one.signals @ theta), kind="stable")[:CUT]
        got = int(one.evidence[order].sum())
        some += got > 0
        every += got >= one.wanted
    return some / len(asked), every / len(asked)


def held_out(asked: list[Asked], folds: int) -> dict[str, np.ndarray]:
    groups = sorted({one.group for one in asked})
    parts = [groups[i::folds] for i in range(folds)]
    found = {}
    for part in parts:
        theta = fit([one for one in asked if one.group not in part])
        found |= dict.fromkeys(part, theta)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", required=True)
    parser.add_argument("--longmemeval", required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    asked: list[Asked] = []
    names: list[str] = []
    for data, reader, path in (("locomo", locomo, options.locomo), ("longmemeval", longmemeval, options.longmemeval)):
        more, names = collect(data, reader.read(path))
        asked += more
    np.savez(CACHE / "signals.npz", names=np.array(names), asked=np.array(asked, dtype=object), allow_pickle=True)
    theta = fit(asked)
    free = held_out(asked, options.folds)
    for data in ("locomo", "longmemeval"):
        part = [one for one in asked if one.data == data]
        reach = sum(one.evidence.any() for one in part) / len(part)
        inside, outside = measure(part, theta), measure(part, free)
        print(
            f"{data}: n={len(part)} any@10/all@10 in sample {inside[0]:.3f}/{inside[1]:.3f},"
            f" groups left out {outside[0]:.3f}/{outside[1]:.3f}; evidence among candidates {reach:.3f},"
            f" {np.mean([len(one.signals) for one in part]):.0f} candidates"
        )
    weights = {name: round(float(value), 4) for name, value in zip(names, theta, strict=True) if value}
    print(json.dumps(weights, indent=1))
    if options.write:
        write(weights, asked)


def write(weights: dict[str, Any], asked: list[Asked]) -> None:
    lines = "".join(f'    "{name}": {value},\n' for name, value in weights.items())
    counts = ", ".join(f"{data} dev ({sum(one.data == data for one in asked)})" for data in ("locomo", "longmemeval"))
    target = Path(limpet.__file__).parent / "rank" / "weights.py"
    target.write_text(
        '"""Weights of linear fusion, written by `python -m benchmarks.tune`: see there for the procedure.\n\n'
        f"Fitted on the questions of: {counts}; guarded by tests/unit/test_rank.py.\n"
        '"""\n\nWEIGHTS: dict[str, float] = {\n' + lines + "}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
