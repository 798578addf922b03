"""Fit the table of words by which `secrets/told.py` chooses the passages that the tagger reads.

    python training/fit_told.py src/limpet/secrets/told.bin --told training/told --quiet FILE [--missed 0.01]

Logistic regression over the hashed words of each passage, in steps of a sixteenth; its constant is set so that of the
passages with a secret, by authors it was not fitted on, so many are missed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from limpet.secrets.told import ROWS, SCALE, places

SHORT = 4.0


def matrix(texts: list[str]) -> csr_matrix:
    rows = [places(text) for text in texts]
    starts = np.cumsum([0, *map(len, rows)])
    return csr_matrix((np.ones(starts[-1]), np.concatenate(rows).astype(int), starts), shape=(len(rows), ROWS))


def fitted(texts: list[str], tells: list[bool], strength: float) -> tuple[np.ndarray, float]:
    # Short texts that tell nothing are what is stored most, by commands that load no model otherwise.
    weights = [
        SHORT if not secret and len(text.split()) < 10 else 1.0 for text, secret in zip(texts, tells, strict=True)
    ]
    model = LogisticRegression(C=strength, max_iter=300).fit(matrix(texts), tells, sample_weight=weights)
    return np.clip(np.rint(model.coef_[0] * SCALE), -127, 127), float(model.intercept_[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--told", type=Path, required=True)
    parser.add_argument("--quiet", type=Path, required=True)
    parser.add_argument("--missed", type=float, default=0.01)
    parser.add_argument("--strength", type=float, default=0.5)
    options = parser.parse_args()
    files = sorted(options.told.glob("*.jsonl"))
    quiet = [json.loads(line)["text"] for line in options.quiet.read_text(encoding="utf-8").splitlines()]
    random.Random(1).shuffle(quiet)
    of_author = {path: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] for path in files}
    scores: list[float] = []
    harmless: list[float] = []
    for fold in range(4):  # authors, and quiet texts, that it was not fitted on
        rows = [row for i, path in enumerate(files) if i % 4 != fold for row in of_author[path]]
        some = [text for i, text in enumerate(quiet) if i % 4 != fold]
        weights, constant = fitted(
            [row["text"] for row in rows] + some,
            [bool(row["secrets"]) for row in rows] + [False] * len(some),
            options.strength,
        )
        held = [
            row["text"] for i, path in enumerate(files) if i % 4 == fold for row in of_author[path] if row["secrets"]
        ]
        scores += list(matrix(held) @ weights / SCALE + constant)
        harmless += list(matrix([text for i, text in enumerate(quiet) if i % 4 == fold]) @ weights / SCALE + constant)
    least = float(np.quantile(scores, options.missed))
    print(f"missed {options.missed}: from {least:.2f}, of quiet texts {np.mean(np.array(harmless) >= least):.3f} read")
    for share in (0.005, 0.02, 0.05):
        at = np.quantile(scores, share)
        print(f"  missed {share}: {np.mean(np.array(harmless) >= at):.3f} read")
    rows = [row for path in files for row in of_author[path]]
    weights, constant = fitted(
        [row["text"] for row in rows] + quiet,
        [bool(row["secrets"]) for row in rows] + [False] * len(quiet),
        options.strength,
    )
    whole = round((constant - least) * SCALE)
    options.out.write_bytes(bytes((weights + 128).astype(np.uint8)) + whole.to_bytes(2, "big", signed=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
