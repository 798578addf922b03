"""The weights of ranking: one set, for turns of conversations and for notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import limpet
from limpet.recall.features import FEATURES

from . import longmemeval, written
from .collect import asked_of, gathered, own_asked
from .fitting import Asked, fit, held_out, measure
from .judge_rows import ALONE, NOTES_HELD_BACK, note_stores

NAMES = tuple(FEATURES)
# Weights that are not learned: `recent` speaks in too few questions, `word_vectors` only where no vectors take part;
# docs/log.md.
CHOSEN = {"word_vectors": 8.0}
HELD_BACK = "own, held back"
WITHOUT = np.array([1.0] * len(NAMES) + [0.0])


def collect(embedder: Any, longmemeval_file: str) -> list[Asked]:
    """Every answerable question of the sets that are fitted on, and of the own set's half held back.

    Of written text only stores that the embedder was not trained on: it knows the others too well, and its cosines
    would be trusted more than they are worth with any other text.
    """
    asked = []
    unseen = [one for one in written.read(together=True) if one.name.startswith(written.UNSEEN)]
    for data, haystacks in (
        ("chats", written.long_chats(unseen=True)),
        ("notes", note_stores(NOTES_HELD_BACK, ALONE)),
        ("written", unseen),
        ("longmemeval", [longmemeval.together(longmemeval_file)]),
    ):
        for one in gathered(embedder, data, haystacks):
            if one.question.evidence:
                # LongMemEval is one store: a question of it is a group.
                group = one.question.id.rsplit("?", 1)[0]
                evidence = [id in one.wanted for id in one.ids]
                asked.append(asked_of(data, group, one.found, evidence, len(one.wanted)))
    for row, found, _, _, ids in own_asked(embedder):
        if row["gold"]:
            data = "own" if row["half"] == "tuning" else HELD_BACK
            asked.append(asked_of(data, row["scope"], found, [id in row["gold"] for id in ids], len(row["gold"])))
    return [_with_offset(one) for one in asked]


def _with_offset(one: Asked) -> Asked:
    """With a column that says which candidates are no turns: in the written stores more questions are about these. The
    fit may put that there, and not into the other weights; ranking goes without, so that a speaker alone moves nothing.
    """
    return replace(one, signals=np.concatenate([one.signals, ~one.spoken[:, None]], axis=1, dtype=np.float32))


def _ranking(asked: list[Asked], theta: np.ndarray | dict[str, np.ndarray]) -> tuple[float, float]:
    """Measured as it will rank: without the offset."""
    plain = {group: one * WITHOUT for group, one in theta.items()} if isinstance(theta, dict) else theta * WITHOUT
    return measure(asked, plain)


def run(embedder: Any, longmemeval_file: str, *, folds: int, write: bool) -> dict[str, Any]:
    """Fit, print, and with `write` put the weights into src/limpet/rank/. Returns the figures."""
    asked = collect(embedder, longmemeval_file)
    learn = [one for one in asked if one.data != HELD_BACK]
    chosen = {NAMES.index(name): weight for name, weight in CHOSEN.items()}
    theta, free = fit(learn, chosen=chosen), held_out(learn, folds, chosen=chosen)
    figures: dict[str, Any] = {}
    for data in dict.fromkeys(one.data for one in asked):
        part = [one for one in asked if one.data == data]
        figures[data] = {
            "questions": len(part),
            "among_candidates": float(np.mean([one.evidence.any() for one in part])),
        }
        if part[0] in learn:
            figures[data] |= {"in_sample": _ranking(part, theta), "groups_left_out": _ranking(part, free)}
        else:
            figures[data]["groups_left_out"] = _ranking(part, theta)
        print(data, figures[data])
    weights = _weights(theta[:-1])
    print(weights, "offset", round(float(theta[-1]), 4))
    if write:
        _write(weights, learn)
    return figures


def _weights(theta: Sequence[float]) -> dict[str, float]:
    several = {name: round(float(value), 4) for name, value in zip(NAMES, theta, strict=True)}
    return {name: value for name, value in several.items() if value}


def _write(weights: dict[str, float], learn: list[Asked]) -> None:
    counts = ", ".join(
        f"{data} ({sum(one.data == data for one in learn)})" for data in dict.fromkeys(one.data for one in learn)
    )
    lines = "".join(f'    "{name}": {value},\n' for name, value in weights.items())
    (Path(limpet.__file__).parent / "rank" / "weights.py").write_text(
        '"""Weights of linear fusion: one set for all that is found, turns of conversations and notes.\n\n'
        f"Written by `python -m benchmarks.tune --part weights --write`, fitted on the questions of:\n{counts};\n"
        "guarded by tests/unit/test_rank.py and tests/quality/test_recall.py.\n"
        '"""\n\nWEIGHTS: dict[str, float] = {\n' + lines + "}\n",
        encoding="utf-8",
    )
