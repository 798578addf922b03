"""How weights are fitted and judged: softmax loss over each question's candidates, whole groups left out, ridge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

CUT = 10
RIDGE = 2e-3
STEPS = 50
# How far a weight of a signal of spread 1 moves in a step at most: further, the curve may be another.
LEAP = 3.0
# The loss is at its least when a step takes less than this share of it.
ENOUGH = 1e-7
# What a data set weighs in a fit against the others: LongMemEval has few questions, and all of one kind of talk. The
# least at which its own questions, left out, hardly lose; docs/log.md.
SHARES = {"longmemeval": 0.3}
NOTHING: Mapping[int, float] = {}


@dataclass(slots=True, kw_only=True)
class Asked:
    """One question: its candidates' signals (n, signals), which of them are evidence, and how many exist in all."""

    data: str
    group: str
    signals: np.ndarray
    evidence: np.ndarray  # bool (n,)
    wanted: int
    spoken: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))  # bool (n,): turns of conversations


def fit(asked: list[Asked], *, ridge: float = RIDGE, chosen: Mapping[int, float] = NOTHING) -> np.ndarray:
    """Weights (signals,) of the best mean log-probability of the evidence, less a ridge; data sets weigh by SHARES.

    By Newton's method: the loss is convex, and a dozen steps come to its end. `chosen`: columns that speak in too few
    questions to be learned, and what they weigh.
    """
    learn = [one for one in asked if one.evidence.any()]
    scale = np.concatenate([one.signals for one in learn]).std(axis=0, dtype=np.float64).clip(1e-6)
    share = {
        data: SHARES.get(data, 1.0) / sum(one.data == data for one in learn) for data in {one.data for one in learn}
    }
    rows = np.concatenate([one.signals / scale for one in learn])
    rows[:, list(chosen)] = 0.0
    sizes = np.array([len(one.signals) for one in learn])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    owner = np.repeat(np.arange(len(learn)), sizes)
    target = np.concatenate([one.evidence / one.evidence.sum() for one in learn])
    weight = np.array([share[one.data] for one in learn])
    weight /= weight.sum()

    def at(theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss, and how likely each candidate is."""
        scores = rows @ theta
        scores -= np.maximum.reduceat(scores, starts)[owner]
        likely = np.exp(scores)
        sums = np.add.reduceat(likely, starts)
        each = np.log(sums) - np.add.reduceat(scores * target, starts)
        return float(weight @ each + ridge * theta @ theta), likely / sums[owner]

    theta = np.zeros(rows.shape[1])
    loss, likely = at(theta)
    for _ in range(STEPS):
        slope = rows.T @ ((likely - target) * weight[owner]) + 2 * ridge * theta
        means = np.add.reduceat(rows * likely[:, None], starts)
        curve = (rows * (likely * weight[owner])[:, None]).T @ rows - (means * weight[:, None]).T @ means
        step = np.linalg.solve(curve + 2 * ridge * np.eye(len(theta)), slope)
        step *= min(1.0, LEAP / np.abs(step).max().clip(1e-12))
        before = loss
        # Where the curve is another a step may lead uphill: then half of it, and again.
        while (found_there := at(theta - step))[0] > loss and np.abs(step).max() > ENOUGH:
            step /= 2
        if found_there[0] > loss:
            break
        theta, (loss, likely) = theta - step, found_there
        if before - loss < ENOUGH * before:
            break
    found: np.ndarray = theta / scale
    found[list(chosen)] = list(chosen.values())
    return found


def one_by_one(asked: list[Asked]) -> list[Asked]:
    """Each piece of evidence against what is none, as a question of its own: the last of several counts like the first,
    as it does when all are wanted."""
    found = []
    for one in asked:
        for place in np.flatnonzero(one.evidence):
            kept = ~one.evidence
            kept[place] = True
            found.append(replace(one, signals=one.signals[kept], evidence=one.evidence[kept], wanted=1))
    return found


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


def held_out(asked: list[Asked], folds: int, *, chosen: Mapping[int, float] = NOTHING) -> dict[str, np.ndarray]:
    groups = sorted({one.group for one in asked})
    parts = [groups[i::folds] for i in range(folds)]
    found = {}
    for part in parts:
        theta = fit([one for one in asked if one.group not in part], chosen=chosen)
        found |= dict.fromkeys(part, theta)
    return found


def logistic(x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Ridge logistic regression by Newton's method."""
    theta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-(x @ theta)))
        slope = x.T @ (weight * (p - y)) + penalty * theta
        curve = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(penalty + 1e-9)
        step = np.linalg.solve(curve, slope)
        theta -= step
        if np.abs(step).max() < 1e-8:
            break
    return theta
