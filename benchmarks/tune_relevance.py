"""When nothing found is relevant: fitted on the tuning halves of the project's own sets and on the written stores.

Three times: where the judge is asked, with vectors alone, and by words alone.

Nothing is chosen by the held-back half.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import limpet
from limpet.rank import relevance_weights
from limpet.recall.candidates import Candidates, find_candidates
from limpet.recall.plan import Plan
from limpet.recall.relevance import JUDGED as ASKED
from limpet.recall.relevance import features
from limpet.recall.score import by_signals, read_by_judge
from tests.quality.halves import is_held_back
from tests.quality.test_small_stores import stores

from . import own, written
from .collect import gathered, own_asked, plan_for
from .fitting import RIDGE, logistic
from .judge_rows import ALONE, NOTES_HELD_BACK, note_stores

# Read by the rules of recall/relevance.py alone: in a store of few it is another thing than where it is fitted.
ONLY_RULES = frozenset(["cosine_next", "literal", "other_code"])
# Share of the answerable questions that may be withheld, by which the threshold is chosen; and of small stores.
WITHHELD, WITHHELD_SMALL = 0.05, 0.03
JUDGED, VECTORS, WORDS = "judged", "vectors", "words"
NAMES = {JUDGED: "RELEVANCE_JUDGED", VECTORS: "RELEVANCE", WORDS: "RELEVANCE_BY_WORDS"}
# How much all written stores, and all small ones, weigh against the own set.
WRITTEN_WEIGHT, SMALL_WEIGHT, SMALL_WEIGHT_JUDGED = 0.1, 0.5, 1.0
# What the own set weighs where the judge was asked, which was trained on its tuning half; and the notes, which no model
# has seen.
SEEN_WEIGHT, NOTES_WEIGHT = 0.5, 1.0


def seen(memory: Any, found: Candidates, plan: Plan, by: str) -> dict[str, float]:
    """The features of relevance of what was found."""
    store, semantic = memory._context.store, memory._context.semantic() if by == JUDGED else None
    ranking = by_signals(found, plan.now)
    read_by_judge(store, semantic, found, ranking, plan)
    return features(store, found, ranking, plan) if ranking.order else {}


def own_rows(embedder: Any, by: str) -> list[tuple[dict[str, Any], dict[str, float]]]:
    """Each question of the own set and its features of relevance."""
    return [
        (one, seen(memory, found, plan, by)) for one, found, plan, memory, _ in own_asked(embedder, words=by == WORDS)
    ]


def written_rows(embedder: Any, by: str) -> list[tuple[bool, dict[str, float]]]:
    """(answerable, features) of the questions without an answer, and of every third of the others.

    With the judge, of all questions of the stores that it was not trained on: of others it knows too much.
    """
    rows = []
    haystacks = written.read(together=True)
    if by == JUDGED:
        unseen = [one for one in written.read(together=False) if one.name.startswith(written.UNSEEN)]
        haystacks = [one for one in haystacks if one.name.startswith(written.UNSEEN)] + unseen
    for one in gathered(embedder, "written", haystacks, words=by == WORDS):
        if by == JUDGED or not one.question.answerable or not int(one.question.id.rsplit("?", 1)[1]) % 3:
            rows.append((one.question.answerable, seen(one.memory, one.found, one.plan, by)))
    return rows


def notes_rows(embedder: Any, by: str) -> list[tuple[bool, dict[str, float]]]:
    """(answerable, features) of the notes held back."""
    haystacks = note_stores(NOTES_HELD_BACK, ALONE)
    return [
        (one.question.answerable, seen(one.memory, one.found, one.plan, by))
        for one in gathered(embedder, "notes", haystacks)
    ]


def small_rows(embedder: Any, by: str) -> list[tuple[bool, dict[str, float]]]:
    """(answerable, features) of the tuning half of the stores of one to ten memories."""
    rows = []
    for texts, questions in stores():
        asked = [one for one in questions if not is_held_back(one[0])]
        if not asked:
            continue
        with limpet.open(":memory:", scope="global", embedder=embedder, judge=True) as memory:
            memory.remember_batch({"content": text, "origin": "user", "anyway": True} for text in texts)
            memory.work(only_vectors=True)
            inside = memory._context
            for question, answerable in asked:
                plan = plan_for(question, ("global",), inside.now(), words=by == WORDS)
                with inside.store.snapshot():
                    found = find_candidates(inside.store, inside.semantic(), plan)
                    if len(found.table.rows):
                        rows.append((answerable, seen(memory, found, plan, by)))
    return rows


def fit_relevance(embedder: Any, by: str) -> tuple[dict[str, float], float, dict[str, Any]]:
    """The constants of rank/relevance.py, the threshold, and what they reach. `by`: what can be asked."""
    rows, small, several = own_rows(embedder, by), small_rows(embedder, by), written_rows(embedder, by)
    notes = notes_rows(embedder, by) if by == JUDGED else []
    if by == JUDGED:
        # Of questions in other letters it is not asked: without it the other constants hold.
        rows = [(one, known) for one, known in rows if ASKED in known]
        small, several, notes = (
            [(good, known) for good, known in some if ASKED in known] for some in (small, several, notes)
        )
    others = [*several, *notes, *small]
    names = sorted({name for _, known in rows for name in known} - ONLY_RULES)

    def table(several: list[dict[str, float]]) -> np.ndarray:
        return np.array([[1.0, *(known.get(name, 0.0) for name in names)] for known in several])

    tuning = [(bool(one["gold"]), known) for one, known in rows if one["half"] == "tuning"]
    every = tuning + others
    x, y = table([known for _, known in every]), np.array([float(good) for good, _ in every])
    weight = np.ones(len(every))
    middle = len(tuning) + len(several)
    parts = (
        (0, len(tuning), SEEN_WEIGHT if by == JUDGED else 1.0),
        (len(tuning), middle, WRITTEN_WEIGHT),
        (middle, middle + len(notes), NOTES_WEIGHT),
        (middle + len(notes), len(every), SMALL_WEIGHT_JUDGED if by == JUDGED else SMALL_WEIGHT),
    )
    for start, stop, share in parts:
        for good in (0.0, 1.0):
            part = np.arange(len(every))
            mask = (part >= start) & (part < stop) & (y == good)
            if mask.any():
                weight[mask] = share * 0.5 / mask.sum()  # both answers weigh the same
    scale = x.std(axis=0).clip(1e-6)
    scale[0] = 1.0
    penalty = np.full(x.shape[1], RIDGE)
    penalty[0] = 0.0

    def fitted(some: np.ndarray) -> np.ndarray:
        return logistic(x[some] / scale, y[some], weight[some], penalty) / scale

    theta = fitted(np.arange(len(every)))
    # The threshold is that of projects which the constants have not seen: in sample it would promise too much. With the
    # judge, which has seen all of them, the one that is kept by notes, written stores and small ones, which it has not.
    groups = np.array([one["scope"] for one, _ in rows if one["half"] == "tuning"] + [""] * len(others))
    p = np.empty(len(tuning))
    for group in sorted(set(groups[: len(tuning)])):
        out = np.flatnonzero(groups == group)
        p[out] = 1 / (1 + np.exp(-(x[out] @ fitted(np.flatnonzero(groups != group)))))
    if by == JUDGED:
        likely = 1 / (1 + np.exp(-(x @ theta)))
        threshold = min(
            float(np.quantile(likely[start:stop][y[start:stop] == 1], withheld))
            for (start, stop, _), withheld in zip(parts[1:], (WITHHELD, WITHHELD, WITHHELD_SMALL), strict=True)
        )
    else:
        threshold = float(np.quantile(p[y[: len(tuning)] == 1], WITHHELD))
    bad = y[: len(tuning)] == 0
    print(f"groups left out: withheld without an answer {(p[bad] < threshold).mean():.3f}")
    # Conversations keep the promise too: their level is moved until as few of their answerable questions are below.
    spoken = 1 + names.index("spoken")
    chats = x[(np.arange(len(x)) >= len(tuning)) & (y == 1) & (x[:, spoken] == 1)]
    theta[spoken] -= np.quantile(chats @ theta, WITHHELD) - math.log(threshold / (1 - threshold))
    print(by)
    constants = {"one": round(float(theta[0]), 4)}
    constants |= {name: round(float(value), 4) for name, value in zip(names, theta[1:], strict=True)}
    print(json.dumps(constants))
    print(f"threshold {threshold:.4f}")
    figures: dict[str, Any] = {}
    for half in own.HALVES:
        part = [(one, known) for one, known in rows if one["half"] == half]
        p = 1 / (1 + np.exp(-(table([known for _, known in part]) @ theta)))
        good = np.array([bool(one["gold"]) for one, _ in part])
        order = np.argsort(p)
        ranks = np.empty(len(p))
        ranks[order] = np.arange(1, len(p) + 1)
        area = (ranks[good].sum() - good.sum() * (good.sum() + 1) / 2) / (good.sum() * (~good).sum())
        print(
            f"{half}: withheld without an answer {(p[~good] < threshold).mean():.3f},"
            f" answerable wrongly {(p[good] < threshold).mean():.3f}, area under the curve {area:.3f}"
        )
        figures[half] = {
            "withheld": float((p[~good] < threshold).mean()), "wrongly": float((p[good] < threshold).mean()),
            "area": float(area),
        }  # fmt: skip
        for share in (0.1, 0.2, 0.3):
            at = np.quantile(p[good], share)
            print(f"  at {share:.0%} wrongly withheld: {(p[~good] < at).mean():.3f}")
    p = 1 / (1 + np.exp(-(x[len(tuning) :] @ theta)))
    good = y[len(tuning) :] == 1
    print(f"written: withheld {(p[~good] < threshold).mean():.3f}, wrongly {(p[good] < threshold).mean():.3f}")
    return constants, round(threshold, 4), figures


def write_relevance(found: dict[str, tuple[dict[str, float], float, dict[str, Any]]]) -> None:
    """Put the constants into src/limpet/rank/relevance_weights.py. Those that were not fitted stay."""
    lines, thresholds = [], []
    for by, name in NAMES.items():
        limit = name.replace("RELEVANCE", "RELEVANT")
        kept = getattr(relevance_weights, name), getattr(relevance_weights, limit)
        constants, threshold, *_ = found.get(by, kept)
        lines += [
            f"{name}: dict[str, float] = {{",
            *(f'    "{one}": {value},' for one, value in constants.items()),
            "}",
        ]
        thresholds.append(str(threshold))
    target = Path(limpet.__file__).parent / "rank" / "relevance_weights.py"
    target.write_text(
        '"""Whether a recall answers its question: log-odds of features of its best hits.\n\n'
        "Written by `python -m benchmarks.tune --write`, fitted on the tuning half of tests/quality/recall and on\n"
        "the written stores (training/); guarded by tests/quality/test_recall.py.\n"
        '"""\n\n' + "\n".join(lines) + "\n"
        "# Below these nothing relevant was found: 5 % of the answerable questions are, of projects left out\n"
        "# of the fit, and of written conversations'.\n"
        f"{', '.join(name.replace('RELEVANCE', 'RELEVANT') for name in NAMES.values())} = {', '.join(thresholds)}\n",
        encoding="utf-8",
    )
