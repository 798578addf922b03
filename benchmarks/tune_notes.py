"""What the project's own recall set decides: the weights of notes, and when nothing found is relevant.

Fitted on the tuning half of tests/quality/recall, the relevance also on LoCoMo's questions without an answer and as
many of the others. Nothing is chosen by the held-back half.
"""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import limpet
from limpet.model.clock import FixedClock
from limpet.model.ids import format_id
from limpet.rank.weights import LEVEL
from limpet.recall.answer import rank
from limpet.recall.candidates import find_candidates
from limpet.recall.plan import make_plan
from limpet.recall.relevance import features
from limpet.store.records import Filter

from . import locomo, own
from .fitting import RIDGE, Asked, fit, held_out, logistic, measure
from .retrieval import STORED_AT, load

# Signals that say something about a statement without a speaker; the others are about turns of a conversation.
SIGNALS = (
    "lexical",
    "vector",
    "lexical_previous",
    "lexical_next",
    "vector_around",
    "session",
    "date",
    "length",
    "long",
    "keyed",
    "recent",
    "graph",
)
# Weights of signals that speak in too few questions to be learned (`graph` in 50 of 560, `recent` in 6): the same
# as for turns, and the best of 0, 0.5, 1 and 2. docs/log.md.
CHOSEN = {"graph": 1.0, "recent": 0.5}
# Share of the answerable questions that may be withheld, by which the threshold is chosen on the tuning half.
WITHHELD = 0.05
# How much all of LoCoMo weighs against the own set: its questions without an answer swap the persons of answered ones,
# which words and vectors hardly show.
LOCOMO_WEIGHT = 0.1


def plan_for(question: str, scopes: tuple[str, ...], now: int, *, words: bool) -> Any:
    return make_plan(
        question, Filter(scopes=scopes, as_of=now), k=20, now=now, deadline_ms=None, budget_tokens=None,
        lexical_only=words, fusion="linear", without=frozenset(),
    )  # fmt: skip


def collect(embedder: Any, *, words: bool) -> list[tuple[dict[str, Any], Any, list[str], dict[str, float]]]:
    """Of each own question: the question, what was gathered, the ids of the candidates, the features of relevance."""
    memories, questions = own.read("memories.jsonl"), own.read("questions.jsonl")
    rows = []
    with own.stored(embedder, memories) as (path, clock, ids):
        names = {memory: one for one, memory in ids.items()}
        for scope in dict.fromkeys(one["scope"] for one in questions):
            with limpet.open(path, scope=scope, embedder=embedder, clock=clock, read_only=True) as memory:
                for one in (each for each in questions if each["scope"] == scope):
                    plan = plan_for(one["question"], (scope, "global"), clock.now(), words=words)
                    found = find_candidates(memory._context.store, memory._context.semantic(), plan)
                    order, scores = rank(found, plan)
                    seen = features(memory._context.store, found, order, scores, plan)
                    rows.append((one, found, [names[format_id(id)] for id in found.table.ids], seen))
    return rows


def fit_weights(embedder: Any, *, folds: int, write: bool) -> dict[str, Any]:
    """Fit, print, and with `write` put the weights into src/limpet/rank/note_weights.py. Returns the figures."""
    asked: dict[str, list[Asked]] = {half: [] for half in own.HALVES}
    for one, found, ids, _ in collect(embedder, words=False):
        if one["gold"]:
            asked[one["half"]].append(
                Asked(
                    data="own",
                    group=one["scope"],
                    signals=np.array([found.features[name] for name in SIGNALS], dtype=np.float32).T,
                    evidence=np.array([id in one["gold"] for id in ids]),
                    wanted=len(one["gold"]),
                )
            )
    chosen = {SIGNALS.index(name): weight for name, weight in CHOSEN.items()}
    theta = fit(asked["tuning"], chosen=chosen)
    figures: dict[str, Any] = {
        "own tuning": {
            "questions": len(asked["tuning"]),
            "in_sample": measure(asked["tuning"], theta),
            "groups_left_out": measure(asked["tuning"], held_out(asked["tuning"], folds, chosen=chosen)),
        },
        "own held-back": {
            "questions": len(asked["held-back"]), "groups_left_out": measure(asked["held-back"], theta),
        },
    }  # fmt: skip
    for name, shown in figures.items():
        print(name, shown)
    # The scale is that of log-odds in both fits; only the level is free.
    score = np.concatenate([(one.signals @ theta)[one.evidence] for one in asked["tuning"]]).mean()
    offset = round(float(LEVEL - score), 4)
    weights = "".join(f'    "{name}": {float(value):.4f},\n' for name, value in zip(SIGNALS, theta, strict=True))
    print(weights)
    if not write:
        return figures
    target = Path(limpet.__file__).parent / "rank" / "note_weights.py"
    target.write_text(
        '"""Weights of linear fusion for statements without a speaker: notes, decisions, facts.\n\n'
        "In a chat brevity means that a turn says little; a keyed fact of two characters says all. Written by\n"
        f"`python -m benchmarks.tune --write`, fitted on {len(asked['tuning'])} questions, the tuning half of\n"
        "tests/quality/recall; guarded by tests/quality/test_recall.py.\n"
        '"""\n\nNOTE_WEIGHTS: dict[str, float] = {\n' + weights + "}\n"
        "# Added, so that the right answer scores alike as a note and as a turn of a conversation.\n"
        f"NOTE_OFFSET = {offset}\n",
        encoding="utf-8",
    )
    return figures


def locomo_rows(embedder: Any, path: str, *, words: bool) -> list[tuple[bool, dict[str, float]]]:
    """(answerable, features) of the questions without an answer, and of every third of the others."""
    rows = []
    for haystack in locomo.read(path):
        with tempfile.TemporaryDirectory() as folder:
            clock = FixedClock(STORED_AT)
            file = str(Path(folder) / "m.db")
            with limpet.open(file, scope="global", embedder=embedder, clock=clock, durable=False) as memory:
                load(memory, haystack)
                for number, one in enumerate(haystack.questions):
                    if one.answerable and number % 3:
                        continue
                    plan = plan_for(one.text, ("global",), clock.now(), words=words)
                    found = find_candidates(memory._context.store, memory._context.semantic(), plan)
                    order, scores = rank(found, plan)
                    rows.append((one.answerable, features(memory._context.store, found, order, scores, plan)))
    return rows


def fit_relevance(embedder: Any, path: str | None, *, words: bool) -> tuple[dict[str, float], float, dict[str, Any]]:
    """The constants of rank/relevance.py with vectors or by words alone, the threshold, and what they reach."""
    rows = collect(embedder, words=words)
    others = locomo_rows(embedder, path, words=words) if path else []
    names = sorted({name for *_, seen in rows for name in seen})
    chat = ("spoken",) if others else ()
    names = [name for name in names if name != "spoken" or chat]

    def table(several: list[dict[str, float]]) -> np.ndarray:
        return np.array([[1.0, *(seen.get(name, 0.0) for name in names)] for seen in several])

    tuning = [(bool(one["gold"]), seen) for one, _, _, seen in rows if one["half"] == "tuning"]
    every = tuning + others
    x, y = table([seen for _, seen in every]), np.array([float(good) for good, _ in every])
    weight = np.ones(len(every))
    for start, stop, share in ((0, len(tuning), 1.0), (len(tuning), len(every), LOCOMO_WEIGHT)):
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
    # The threshold is that of projects which the constants have not seen: in sample it would promise too much.
    groups = np.array([one["scope"] for one, *_ in rows if one["half"] == "tuning"] + [""] * len(others))
    p = np.empty(len(tuning))
    for group in sorted(set(groups[: len(tuning)])):
        out = np.flatnonzero(groups == group)
        p[out] = 1 / (1 + np.exp(-(x[out] @ fitted(np.flatnonzero(groups != group)))))
    threshold = float(np.quantile(p[y[: len(tuning)] == 1], WITHHELD))
    bad = y[: len(tuning)] == 0
    print(f"groups left out: withheld without an answer {(p[bad] < threshold).mean():.3f}")
    if others:
        # Conversations keep the promise too: their level is moved until as few of their answerable questions are below.
        chats = x[len(tuning) :][y[len(tuning) :] == 1]
        level = np.quantile(chats @ theta, WITHHELD) - math.log(threshold / (1 - threshold))
        theta[1 + names.index("spoken")] -= level
    print("words only" if words else "with vectors")
    constants = {"one": round(float(theta[0]), 4)}
    constants |= {name: round(float(value), 4) for name, value in zip(names, theta[1:], strict=True)}
    print(json.dumps(constants))
    print(f"threshold {threshold:.4f}")
    figures: dict[str, Any] = {}
    for half in own.HALVES:
        part = [(one, seen) for one, _, _, seen in rows if one["half"] == half]
        p = 1 / (1 + np.exp(-(table([seen for _, seen in part]) @ theta)))
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
    if others:
        p = 1 / (1 + np.exp(-(x[len(tuning) :] @ theta)))
        good = y[len(tuning) :] == 1
        print(f"locomo: withheld {(p[~good] < threshold).mean():.3f}, wrongly {(p[good] < threshold).mean():.3f}")
    return constants, round(threshold, 4), figures


def write_relevance(found: dict[str, tuple[dict[str, float], float, dict[str, Any]]]) -> None:
    """Put the constants into src/limpet/rank/relevance_weights.py."""
    lines = []
    for name, (constants, _, _) in found.items():
        lines.append(f"{name}: dict[str, float] = {{")
        lines += [f'    "{feature}": {value},' for feature, value in constants.items()]
        lines.append("}")
    thresholds = ", ".join(str(threshold) for _, threshold, _ in found.values())
    target = Path(limpet.__file__).parent / "rank" / "relevance_weights.py"
    target.write_text(
        '"""Whether a recall answers its question: log-odds of features of its best hits, with vectors and without.\n\n'
        "Written by `python -m benchmarks.tune --write`, fitted on the tuning half of tests/quality/recall and on\n"
        "LoCoMo's questions without an answer; guarded by tests/quality/test_recall.py.\n"
        '"""\n\n' + "\n".join(lines) + "\n"
        "# Below these nothing relevant was found: 5 % of the answerable questions are, of projects left out\n"
        "# of the fit, and of LoCoMo's.\n"
        f"RELEVANT, RELEVANT_BY_WORDS = {thresholds}\n",
        encoding="utf-8",
    )
