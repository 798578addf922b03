"""The weights of what a session is judged by, fitted on LongMemEval.

Its answers lie in several sessions of a store of fifty, those of the written stores in one of twenty.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import limpet
from limpet.rank.session_weights import SESSION_WEIGHTS
from limpet.recall.score import by_signals
from limpet.recall.sessions import members, values

from . import longmemeval
from .collect import gathered
from .fitting import Asked, fit, one_by_one
from .retrieval import Haystack

# What is scored, as in the benchmarks: (data, share of the evidence, places, mean over stores).
SCORED = {"longmemeval any@1": ("longmemeval", "any", 1), "longmemeval all@5": ("longmemeval", "all", 5)}


def collect(embedder: Any, data: str, haystacks: list[Haystack]) -> list[Asked]:
    """A row a session that was found, a question each; sessions in the order of their best memories."""
    asked: list[Asked] = []
    for one in gathered(embedder, data, haystacks):
        sessions = one.question.sessions
        if not sessions:
            continue
        store = one.memory._context.store
        ranking = by_signals(one.found, one.plan.now)
        several = members(one.found, ranking.order)
        each = values(store, one.found, several, ranking.scores, one.plan)
        first = store.memories.by_rows([one.found.table.rows[places[0]] for places in several])
        asked.append(
            Asked(
                data=data,
                group=one.question.id,
                signals=np.array([[of[name] for name in SESSION_WEIGHTS] for of in each]),
                evidence=np.array([memory.session in sessions for memory in first], dtype=bool),
                wanted=len(sessions),
            )
        )
    return asked


def learn(asked: list[Asked]) -> np.ndarray:
    return fit(one_by_one([one for one in asked if one.evidence.any()]))


def left_out(asked: list[Asked], folds: int) -> dict[str, np.ndarray]:
    """Weights for each group, learned without it."""
    groups = sorted({one.group for one in asked})
    found = {}
    for part in (groups[i::folds] for i in range(folds)):
        found |= dict.fromkeys(part, learn([one for one in asked if one.group not in part]))
    return found


def score(asked: list[Asked], weights: np.ndarray | dict[str, np.ndarray]) -> dict[str, float]:
    """The figures of `SCORED`; with a dictionary, each group by the weights learned without it."""
    figures = {}
    for name, (data, share, places) in SCORED.items():
        by_group: dict[str, list[bool]] = {}
        for one in asked:
            if one.data != data:
                continue
            theta = weights[one.group] if isinstance(weights, dict) else weights
            got = int(one.evidence[np.argsort(-(one.signals @ theta), kind="stable")[:places]].sum())
            by_group.setdefault(one.group, []).append(got >= one.wanted if share == "all" else got > 0)
        figures[name] = round(float(np.mean([np.mean(hits) for hits in by_group.values()])), 4)
    return figures


def run(embedder: Any, longmemeval_file: str, *, folds: int, write: bool) -> dict[str, Any]:
    """Fit, print, and with `write` put the weights into src/limpet/rank/session_weights.py. Returns the figures."""
    asked = collect(embedder, "longmemeval", longmemeval.read(longmemeval_file))
    theta = learn(asked)
    best_alone = np.array([float(name == "best") for name in SESSION_WEIGHTS])
    figures: dict[str, Any] = {
        "best memory alone": score(asked, best_alone),
        "in_sample": score(asked, theta),
        "groups_left_out": score(asked, left_out(asked, folds)),
    }
    for name in SESSION_WEIGHTS:
        without = [i for i, one in enumerate(SESSION_WEIGHTS) if one != name]
        part = [_columns(one, without) for one in asked]
        figures[f"groups_left_out, without {name}"] = score(part, left_out(part, folds))
    for what, of in figures.items():
        print(f"{what}: " + ", ".join(f"{name} {value:.4f}" for name, value in of.items()))
    weights = {name: round(float(value), 4) for name, value in zip(SESSION_WEIGHTS, theta, strict=True)}
    print(weights)
    if write:
        _write(weights, asked)
    return figures


def _columns(one: Asked, kept: list[int]) -> Asked:
    return Asked(data=one.data, group=one.group, signals=one.signals[:, kept], evidence=one.evidence, wanted=one.wanted)


def _write(weights: dict[str, float], asked: list[Asked]) -> None:
    lines = "".join(f'    "{name}": {value},\n' for name, value in weights.items())
    counts = ", ".join(f"{data} ({sum(one.data == data for one in asked)})" for data in ("longmemeval",))
    target = Path(limpet.__file__).parent / "rank" / "session_weights.py"
    target.write_text(
        '"""Weights of a session\'s values, written by `python -m benchmarks.tune --part sessions --write`.\n\n'
        f"Fitted on the questions of: {counts}; guarded by tests/unit/test_rank.py.\n"
        '"""\n\nSESSION_WEIGHTS: dict[str, float] = {\n' + lines + "}\n",
        encoding="utf-8",
    )
