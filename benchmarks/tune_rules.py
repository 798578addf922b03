"""The numbers of the bias rules, and what the package ships of the prototypes: vectors, signs and weights.

Reads the tuning half of tests/quality/bias_sentences.jsonl only, unless the figures of the other half are asked for;
nothing is chosen by those. Run it with `--write` for all embedders after a change to prototypes.json, to the signs or
to the numbers.
"""

from __future__ import annotations

import itertools
import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from limpet.features.policy import rules
from limpet.store.files import partial_file, publish, unguessable
from tests.quality.halves import is_held_back, read

from . import embedding_cache

GRID = {"SIGN_WEIGHT": (0.2, 0.3, 0.4), "KERNEL_POWER": (2, 3, 4)}
RIDGE = 1.0
FINE = "fine"
WANTED_PRECISION = 0.97
# A language other than English is judged if the English prototypes alone tell its own apart this well (the probability
# that a refused one scores above a fine one): from 0.84 with a multilingual embedder, 0.65 with one that reads English.
UNDERSTOOD_FROM = 0.8


def sentences(held_back: bool, language: str = "en") -> tuple[list[str], np.ndarray]:
    """Texts of a half, and which of them must be refused. Languages other than English are measured whole."""
    rows = [
        row
        for row in read("bias_sentences.jsonl")
        if row["language"] == language and (language != "en" or is_held_back(row["text"]) is held_back)
    ]
    return [row["text"] for row in rows], np.array([row["label"] == "refuse" for row in rows])


def figures(scores: np.ndarray, bad: np.ndarray, threshold: float) -> str:
    refused = scores >= threshold
    right = (refused & bad).sum()
    return f"precision {right / max(refused.sum(), 1):.3f} recall {right / bad.sum():.3f}"


def recall_at(scores: np.ndarray, bad: np.ndarray, precision: float) -> float:
    """The best recall over all thresholds whose precision is at least this."""
    order = np.argsort(-scores)
    right = np.cumsum(bad[order])
    return float(max([0.0, *(right / bad.sum())[right / np.arange(1, len(order) + 1) >= precision]]))


class Prototype(NamedTuple):
    """One sentence. `name`: a rule, or FINE."""

    language: str
    name: str
    text: str


@cache
def prototypes() -> tuple[Prototype, ...]:
    """Read every prototype."""
    table = json.loads(Path(__file__).with_name("prototypes.json").read_text(encoding="utf-8"))
    return tuple(
        Prototype(language, name, text)
        for language, classes in table.items()
        for name, texts in classes.items()
        for text in texts
    )


def fit(vectors: np.ndarray) -> tuple[rules.Fitted, np.ndarray]:
    """Weigh the prototypes. `vectors`: float32 (n, d), a row for each of `prototypes()`, in order.

    English first; then, with all, again if the embedder understands other languages too. Returns also which of them are
    kept: bool (n,).
    """
    rows = prototypes()
    english = np.array([one.language == "en" for one in rows])
    fitted = _solve(vectors, english)
    kept = english.copy()
    for language in sorted({one.language for one in rows} - {"en"}):
        mine = np.array([one.language == language for one in rows])
        own = [one for one in rows if one.language == language]
        points = rules.points_of(rules.signs_of([one.text for one in own]), vectors[mine], fitted.middle)
        belongs = (1 + points @ fitted.points.T) ** rules.KERNEL_POWER @ fitted.weights
        scores = (belongs[:, 1:] - belongs[:, :1]).max(axis=1)
        fine = np.array([one.name == FINE for one in own])
        if (scores[~fine][:, None] > scores[fine][None, :]).mean() >= UNDERSTOOD_FROM:
            kept |= mine
    return (fitted if (kept == english).all() else _solve(vectors, kept)), kept


def _solve(vectors: np.ndarray, kept: np.ndarray) -> rules.Fitted:
    """Kernel ridge regression of class membership (+1, -1) on the prototypes that are kept: bool (n,)."""
    rows = [row for row, keep in zip(prototypes(), kept, strict=True) if keep]
    middle = vectors[kept].mean(axis=0)
    points = rules.points_of(rules.signs_of([one.text for one in rows]), vectors[kept], middle)
    kernel = (1 + points @ points.T).astype(np.float64) ** rules.KERNEL_POWER
    classes = [(FINE, *rules.RULES).index(one.name) for one in rows]
    wanted = np.where(np.eye(len(rules.RULES) + 1)[classes] > 0, 1.0, -1.0)
    weights = np.linalg.solve(kernel + RIDGE * np.eye(len(wanted)), wanted).astype(np.float32)
    languages = tuple(dict.fromkeys(one.language for one in rows))
    return rules.Fitted(middle=middle, points=points, weights=weights, languages=languages)


def write_vectors(vectors: np.ndarray, path: Path) -> None:
    """Keep vectors as one byte a number and a scale a row, and what `fit` makes of them; whole or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    scales = (np.abs(vectors).max(axis=1) / 127).astype(np.float32)
    codes = np.rint(vectors / scales[:, None]).astype(np.int8)
    fitted, kept = fit(codes * scales[:, None])
    signs = rules.signs_of([one.text for one, keep in zip(prototypes(), kept, strict=True) if keep])
    with partial_file(unguessable(path.parent)) as file:
        np.savez(
            file, codes=codes[kept], scales=scales[kept], signs=signs, weights=fitted.weights,
            languages=np.array(fitted.languages),
        )  # fmt: skip
        publish(file, path, force=True)


def run(name: str, *, held_back: bool, write: bool, grid: bool = True) -> None:
    """Print what the present numbers reach, and those of the grid. With `write` put the vectors into the package."""
    embedder = embedding_cache.load(name)
    texts, bad = sentences(False)
    names = list(GRID)
    print("tuning half:", len(texts), "sentences,", int(bad.sum()), "to refuse;", len(prototypes()), "prototypes")
    vectors = embedder.embed_passages([one.text for one in prototypes()])
    found = embedder.embed_passages(texts)
    chosen = {name: getattr(rules, name) for name in names}
    for values in itertools.product(*GRID.values()) if grid else ():
        for one, value in zip(names, values, strict=True):
            setattr(rules, one, value)
        judge = rules.Rules(embedder)
        judge._fitted = fit(vectors)[0]
        scores = judge._scores(texts, found).max(axis=1)
        area = (scores[bad][:, None] > scores[~bad][None, :]).mean()
        recall = recall_at(scores, bad, WANTED_PRECISION)
        print(dict(zip(names, values, strict=True)), f"area {area:.4f} recall at {WANTED_PRECISION}: {recall:.3f}")
    for one, value in chosen.items():
        setattr(rules, one, value)
    judge = rules.Rules(embedder)
    judge._fitted = fit(vectors)[0]
    print("chosen:", chosen)
    for half in [False, True][: 1 + held_back]:
        for language in ("en", "ko", "de"):
            texts, bad = sentences(half, language)
            scores = judge._scores(texts, embedder.embed_passages(texts)).max(axis=1)
            shown = "; ".join(
                f"{t:.2f}: {figures(scores, bad, t)}" for t in (0.42, 0.44, 0.46, 0.48, 0.50, 0.52, 0.55, 0.60)
            )
            print("held back" if half else "tuning", language, shown)
    if write:
        path = rules.vectors_file(embedder)
        for old in path.parent.glob(f"{embedder.name}-*.npz"):
            old.unlink()
        write_vectors(vectors, path)
        path.chmod(0o644)  # part of the package, for everybody
        print("wrote", path.name, "for", embedder.fingerprint)
    embedder.save()
