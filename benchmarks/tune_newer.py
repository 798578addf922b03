"""When the newer of two results answers a question for what holds now: the model of `recall/newer.py`.

Fitted on the questions with a word for "now" of the stores in training/written, which are no test data; measured by
`python -m benchmarks.recency`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import limpet
from limpet.model.clock import FixedClock
from limpet.model.ids import format_id
from limpet.recall.candidates import find_candidates
from limpet.recall.newer import LOOKED_AT, features
from limpet.recall.plan import asks_now
from limpet.recall.score import by_signals

from .collect import plan_for
from .harness import ROOT
from .recency import ASKED_AT

WRITTEN = ROOT / "training" / "written"
SCOPE = "written"
# Stores in which things change weigh twice as much as others, in which only one memory answers.
WEIGHT_OF_CHANGES, RIDGE = 2.0, 1.0
# Chosen on the tuning half of tests/quality/recency: below it, too much that is only new comes first.
REPLACES_FROM = 0.7


def pairs_of(embedder: Any) -> Iterator[tuple[dict[str, float], bool, float]]:
    """(features, whether the newer one is what is asked for, weight) of pairs of which one is."""
    for path in sorted(WRITTEN.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield from _of_store(json.loads(line), embedder, changes=path.stem.startswith("updates"))


def _of_store(store: dict[str, Any], embedder: Any, *, changes: bool) -> Iterator[tuple[dict[str, float], bool, float]]:
    asked = [one for one in store["questions"] if asks_now(one["q"]) and ("best" in one or len(one["answers"]) == 1)]
    if not asked:
        return
    clock = FixedClock(ASKED_AT)
    with (
        tempfile.TemporaryDirectory(prefix="limpet-newer-") as folder,
        limpet.open(
            Path(folder) / "memory.db", scope=SCOPE, embedder=embedder, clock=clock, durable=False
        ) as memory,
    ):  # fmt: skip
        receipts = memory.remember_batch(stated(store["id"], one) for one in store["memories"])
        memory.work(only_vectors=True)
        places = {str(receipt.id): place for place, receipt in enumerate(receipts)}
        inside = memory._context
        for one in asked:
            plan = plan_for(one["q"], (SCOPE,), clock.now(), words=False)
            with inside.store.snapshot():
                found = find_candidates(inside.store, inside.semantic(), plan)
                ranking = by_signals(found, plan.now)
                first = ranking.order[:LOOKED_AT]
                cosines = found.among(first)
            best = one.get("best", one["answers"][0])
            shown = [places[format_id(found.table.ids[i])] for i in first]
            times = [found.table.valid_from[i] for i in first]
            pairs = [
                (a, b)
                for b in range(1, len(first))
                for a in range(b)
                if times[b] > times[a] and best in (shown[a], shown[b])
            ]
            for (_, b), values in features(found, first, times, ranking.scores, pairs, cosines).items():
                yield values, shown[b] == best, WEIGHT_OF_CHANGES if changes else 1.0


def stated(store: str, one: dict[str, Any]) -> dict[str, Any]:
    """A written memory as it is remembered: with a speaker a turn of a session, else a note of none."""
    given = {"content": one["text"], "valid_from": f"{one['date'] or '2025-01-01'}T12:00:00+00:00"}
    if one["speaker"]:
        return given | {"speaker": one["speaker"], "session": f"{store}-{one['date']}"}
    return given | {"kind": one["kind"] if one["kind"] in ("fact", "decision", "lesson") else "note"}


def run(embedder: Any, *, write: bool) -> dict[str, Any]:
    """Fit, print, and with `write` put the weights into src/limpet/rank/newer_weights.py. Returns the figures."""
    rows = list(pairs_of(embedder))
    names = list(rows[0][0])
    x = np.array([[values[name] for name in names] for values, _, _ in rows])
    y = np.array([label for _, label, _ in rows], dtype=float)
    weight = np.array([one for _, _, one in rows])
    theta = _fit(x, y, weight)
    right = float(((x @ theta > 0) == (y > 0)).mean())
    print(f"{len(rows)} pairs, {y.mean():.3f} of them replaced, {right:.3f} told right in sample")
    weights = "".join(f'    "{name}": {value:.4f},\n' for name, value in zip(names, theta, strict=True))
    print(weights)
    if write:
        (Path(limpet.__file__).parent / "rank" / "newer_weights.py").write_text(
            '"""When the newer of two results answers a question for what holds now: log-odds, see recall/newer.py.\n\n'
            f"Written by `python -m benchmarks.tune --part newer --write`, fitted on {len(rows)} pairs of results for\n"
            'questions with a word for "now" in training/written; guarded by tests/quality/test_recency.py.\n"""\n\n'
            f"NEWER: dict[str, float] = {{\n{weights}}}\n"
            f"# The probability from which on the newer one comes first.\nREPLACES_FROM = {REPLACES_FROM}\n",
            encoding="utf-8",
        )
    return {"pairs": len(rows), "right_in_sample": round(right, 3)}


def _fit(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Ridge logistic regression over standardised columns, by Newton's steps; weights of the columns as they are."""
    middle, spread = x.mean(0), x.std(0)
    middle[0], spread[0] = 0.0, 1.0  # the constant
    spread[spread == 0] = 1.0
    z = (x - middle) / spread
    theta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-z @ theta))
        slope = z.T @ (weight * (p - y)) + RIDGE * theta
        theta -= np.linalg.solve((z.T * (weight * p * (1 - p))) @ z + RIDGE * np.eye(len(theta)), slope)
    plain: np.ndarray = theta / spread
    plain[0] -= float((theta * middle / spread)[1:].sum())
    return plain
