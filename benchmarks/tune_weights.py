"""The weights of turns and of notes, fitted together: both are candidates of the same questions."""

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

NAMES = tuple(one.name for one in FEATURES)
# Weights that are not learned: `graph` and `recent` speak in too few questions; docs/log.md. (turn, note)
CHOSEN = {"graph": (1.0, 1.0), "recent": (0.0, 0.5)}
# Signals that say something about a statement without a speaker; the others are about turns of a conversation, and
# fitted on notes they do worse on those of other groups: docs/log.md.
NOTE_SIGNALS = (
    "lexical", "vector", "lexical_previous", "lexical_next", "vector_around", "session", "date", "length", "long",
    "keyed", "recent", "graph",
)  # fmt: skip
# What is left out of the fit and then measured: written stores that the embedder was not trained on.
UNSEEN = "written, unseen"


def collect(embedder: Any, longmemeval_file: str) -> list[Asked]:
    """Every answerable question of the sets that are fitted on, and of those held back."""
    asked = []
    for data, haystacks in (
        ("written", written.read(together=True)),
        ("longmemeval", [longmemeval.together(longmemeval_file)]),
    ):
        # One store of LongMemEval: a question is a group.
        names = {
            question.id: haystack.name if data == "written" else question.id
            for haystack in haystacks
            for question in haystack.questions
        }
        for one in gathered(embedder, data, haystacks):
            if one.question.evidence:
                group = names[one.question.id]
                asked.append(
                    asked_of(
                        UNSEEN if group.startswith(written.UNSEEN) else data,
                        group,
                        one.found,
                        [id in one.wanted for id in one.ids],
                        len(one.wanted),
                    )
                )
    for row, found, _, _, ids in own_asked(embedder):
        if row["gold"]:
            data = "own" if row["half"] == "tuning" else "own, held back"
            asked.append(asked_of(data, row["scope"], found, [id in row["gold"] for id in ids], len(row["gold"])))
    return [apart(one) for one in asked]


def apart(one: Asked) -> Asked:
    """With a column of each signal for turns, another for notes, and one that says which it is."""
    turn = one.spoken[:, None].astype(np.float32)
    return replace(one, signals=np.concatenate([one.signals * turn, one.signals * (1 - turn), 1 - turn], axis=1))


def chosen() -> dict[int, float]:
    """Columns whose weight is not learned."""
    found = {len(NAMES) + place: 0.0 for place, name in enumerate(NAMES) if name not in NOTE_SIGNALS}
    for name, (turn, note) in CHOSEN.items():
        found[NAMES.index(name)] = turn
        found[len(NAMES) + NAMES.index(name)] = note
    return found


def run(embedder: Any, longmemeval_file: str, *, folds: int, write: bool) -> dict[str, Any]:
    """Fit, print, and with `write` put the weights into src/limpet/rank/. Returns the figures."""
    asked = collect(embedder, longmemeval_file)
    learn = [one for one in asked if one.data in ("written", "longmemeval", "own")]
    theta, free = fit(learn, chosen=chosen()), held_out(learn, folds, chosen=chosen())
    figures: dict[str, Any] = {}
    for data in dict.fromkeys(one.data for one in asked):
        part = [one for one in asked if one.data == data]
        figures[data] = {
            "questions": len(part),
            "among_candidates": float(np.mean([one.evidence.any() for one in part])),
        }
        if part[0] in learn:
            figures[data] |= {"in_sample": measure(part, theta), "groups_left_out": measure(part, free)}
        else:
            figures[data]["groups_left_out"] = measure(part, theta)
        print(data, figures[data])
    count = len(NAMES)
    turns, notes, offset = _weights(theta[:count]), _weights(theta[count:-1]), round(float(theta[-1]), 4)
    print(turns, notes, offset)
    if write:
        _write(turns, notes, offset, learn)
    return figures


def _weights(theta: Sequence[float]) -> dict[str, float]:
    several = {name: round(float(value), 4) for name, value in zip(NAMES, theta, strict=True)}
    return {name: value for name, value in several.items() if value}


def _lines(weights: dict[str, float]) -> str:
    return "".join(f'    "{name}": {value},\n' for name, value in weights.items())


def _write(turns: dict[str, float], notes: dict[str, float], offset: float, learn: list[Asked]) -> None:
    counts = ", ".join(
        f"{data} ({sum(one.data == data for one in learn)})" for data in dict.fromkeys(one.data for one in learn)
    )
    made = f"Written by `python -m benchmarks.tune --part weights --write`, fitted on the questions of:\n{counts};\n"
    folder = Path(limpet.__file__).parent / "rank"
    (folder / "weights.py").write_text(
        '"""Weights of linear fusion for turns of conversations; those of notes were fitted with them.\n\n'
        f"{made}guarded by tests/unit/test_rank.py.\n"
        '"""\n\nWEIGHTS: dict[str, float] = {\n' + _lines(turns) + "}\n",
        encoding="utf-8",
    )
    (folder / "note_weights.py").write_text(
        '"""Weights of linear fusion for statements without a speaker: notes, decisions, facts.\n\n'
        "In a chat brevity means that a turn says little; a keyed fact of two characters says all.\n"
        f"{made}guarded by tests/quality/test_recall.py.\n"
        '"""\n\nNOTE_WEIGHTS: dict[str, float] = {\n' + _lines(notes) + "}\n"
        "# Added: fitted where turns and notes were candidates of the same questions.\n"
        f"NOTE_OFFSET = {offset}\n",
        encoding="utf-8",
    )
