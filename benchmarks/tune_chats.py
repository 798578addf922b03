"""The weights of turns of conversations, fitted on several data sets at once; each of them weighs the same."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import limpet
from limpet.model.clock import FixedClock
from limpet.model.ids import format_id
from limpet.recall.candidates import find_candidates
from limpet.recall.plan import make_plan
from limpet.store.records import Filter

from . import embedding_cache, locomo, longmemeval
from .fitting import Asked, fit, held_out, measure
from .retrieval import STORED_AT, Haystack, load

# Weights of signals that speak in too few of the questions to be learned (`graph` in 82 of 908, `recent` in 32): the
# largest of 0, 0.5, 1, 2, 3, 4 and 6 that loses nothing on either set. docs/log.md.
CHOSEN = {"graph": 1.0, "recent": 0.0}


def collect(data: str, haystacks: list[Haystack]) -> tuple[list[Asked], list[str]]:
    embedder = embedding_cache.load()
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
                    found = find_candidates(memory._context.store, memory._context.semantic(), plan)
                    wanted = {stored[turn] for turn in question.evidence}
                    names = list(found.features)
                    asked.append(
                        Asked(
                            data=data,
                            group=haystack.name,
                            signals=np.array([found.features[name] for name in names], dtype=np.float32).T,
                            evidence=np.array([format_id(id) in wanted for id in found.table.ids], dtype=bool),
                            wanted=len(wanted),
                        )
                    )
        embedder.save()
    print(file=sys.stderr)
    return asked, names


def run(locomo_file: str, longmemeval_file: str, *, folds: int, write: bool) -> dict[str, Any]:
    """Fit, print, and with `write` put the weights into src/limpet/rank/weights.py. Returns the figures."""
    asked: list[Asked] = []
    names: list[str] = []
    for data, reader, path in (("locomo", locomo, locomo_file), ("longmemeval", longmemeval, longmemeval_file)):
        more, names = collect(data, reader.read(path))
        asked += more
    chosen = {names.index(name): weight for name, weight in CHOSEN.items()}
    theta, free = fit(asked, chosen=chosen), held_out(asked, folds, chosen=chosen)
    figures: dict[str, Any] = {}
    for data in ("locomo", "longmemeval"):
        part = [one for one in asked if one.data == data]
        inside, outside = measure(part, theta), measure(part, free)
        figures[f"{data} dev"] = {
            "questions": len(part), "in_sample": inside, "groups_left_out": outside,
            "among_candidates": sum(one.evidence.any() for one in part) / len(part),
        }  # fmt: skip
        print(
            f"{data}: n={len(part)} any@10/all@10 in sample {inside[0]:.3f}/{inside[1]:.3f},"
            f" groups left out {outside[0]:.3f}/{outside[1]:.3f}"
        )
    weights = {name: round(float(value), 4) for name, value in zip(names, theta, strict=True) if value}
    level = float(np.concatenate([(one.signals @ theta)[one.evidence] for one in asked]).mean())
    print(weights, f"level {level:.4f}")
    if write:
        _write(weights, level, asked)
    return figures


def _write(weights: dict[str, float], level: float, asked: list[Asked]) -> None:
    lines = "".join(f'    "{name}": {value},\n' for name, value in weights.items())
    counts = ", ".join(f"{data} dev ({sum(one.data == data for one in asked)})" for data in ("locomo", "longmemeval"))
    target = Path(limpet.__file__).parent / "rank" / "weights.py"
    target.write_text(
        '"""Weights of linear fusion, written by `python -m benchmarks.tune --write`: see there for the procedure.\n\n'
        f"Fitted on the questions of: {counts}; guarded by tests/unit/test_rank.py.\n"
        '"""\n\nWEIGHTS: dict[str, float] = {\n' + lines + "}\n"
        f"# Mean score of the evidence there: the level at which notes are put.\nLEVEL = {level:.4f}\n",
        encoding="utf-8",
    )
