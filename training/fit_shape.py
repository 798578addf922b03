"""Fit the shape of an answer from its question: a logistic regression, in 8 bits.

    python training/fit_shape.py OUT [--held FILE...]

Questions: the files of training/shape. `--held`: names of those that are left out and measured.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from limpet.recall.shape import SHAPED_FROM, SHAPES, features

HERE = Path(__file__).parent / "shape"
BUCKETS = 1 << 15
STRENGTH = 10.0  # inverse of the regularisation


def matrix(questions: list[str]) -> Any:
    """Return the features of questions: float (n, BUCKETS), each row of length 1."""
    rows = [sorted({value % BUCKETS for value in features(question)}) for question in questions]
    values = [np.full(len(row), len(row) ** -0.5) for row in rows]
    starts = np.cumsum([0, *map(len, rows)])
    return csr_matrix((np.concatenate(values), np.concatenate(rows), starts), shape=(len(rows), BUCKETS))


def measure(model: LogisticRegression, rows: list[dict[str, str]]) -> None:
    likely = model.predict_proba(matrix([row["q"] for row in rows]))
    others = 1 + likely[:, 1:].argmax(1)
    best = [SHAPES[i] if row[i] >= SHAPED_FROM else "one" for row, i in zip(likely, others, strict=True)]
    for name, of in (("lang", "lang"), ("recall of", "shape")):
        for value in sorted({row[of] for row in rows}):
            right = [a == row["shape"] for a, row in zip(best, rows, strict=True) if row[of] == value]
            print(f"  {name} {value}: {np.mean(right):.3f} of {len(right)}")
    for shape in SHAPES:
        right = [row["shape"] == shape for a, row in zip(best, rows, strict=True) if a == shape]
        print(f"  precision of {shape}: {np.mean(right or [0]):.3f} of {len(right)}")
    print(f"  all: {np.mean([a == row['shape'] for a, row in zip(best, rows, strict=True)]):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--held", nargs="*", default=(), help="files of training/shape")
    parser.add_argument("--folder", type=Path, default=HERE)
    options = parser.parse_args()
    rows = [
        json.loads(line) | {"file": path.name}
        for path in sorted(options.folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    given = [row for row in rows if row["file"] not in options.held]
    labels = [SHAPES.index(row["shape"]) for row in given]
    model = LogisticRegression(C=STRENGTH, max_iter=2_000).fit(matrix([row["q"] for row in given]), labels)
    if options.held:
        measure(model, [row for row in rows if row["file"] in options.held])
    scale = float(np.abs(model.coef_).max()) / 127
    weights = np.round(model.coef_.T / scale).astype(np.int8)  # a row for each bucket
    head = json.dumps({"scale": scale, "bias": [round(float(value), 4) for value in model.intercept_]})
    options.out.write_bytes(head.encode() + b"\n" + weights.tobytes())


if __name__ == "__main__":
    main()
