"""Which sentences are worth remembering: weights of organize/statements.py, from labelled messages.

    python training/train_statements.py [OUT]

Reads statements/*.jsonl: {"language", "role", "text", "wanted": [{"kind", "has"}]}. Prints what a model says of each
source that has not seen it, and the thresholds at which it is right as often as asked; with OUT, writes the weights.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from labelled import Unit, units
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from limpet.features.organize.statements import KINDS, SLOTS, slots

KEPT, KIND = 12.0, 4.0  # inverse strength of regularisation
# How much a sentence counts of the files that were written for standing rules alone: nearly all that they keep are
# preferences, which would become what any statement is taken for.
ORDERS, ORDERS_KEPT, ORDERS_KIND = "orders", 0.75, 0.1
RARE = 0.25  # power of how rare a kind is, by which it weighs more
PRECISION = 0.85  # of what a model takes from a source that it has not seen, at the threshold
# Sources of people's own messages, which nobody wrote to be labelled.
PUBLIC = "public"


def matrix(several: Sequence[Unit]) -> csr_matrix:
    places = [slots(one.sentence) for one in several]
    ends = np.cumsum([0, *map(len, places)])
    values = np.concatenate([np.full(len(each), len(each) ** -0.5) for each in places])
    return csr_matrix((values, np.concatenate(places), ends), shape=(len(several), SLOTS))


def kept_model(features: csr_matrix, several: Sequence[Unit]) -> LogisticRegression:
    shares = [ORDERS_KEPT if one.source.startswith(ORDERS) else 1.0 for one in several]
    return LogisticRegression(C=KEPT, max_iter=3_000).fit(features, [bool(one.kinds) for one in several], shares)


def kind_model(features: csr_matrix, several: Sequence[Unit]) -> LogisticRegression:
    """A statement of two kinds counts half for each; a rare kind more than a common one."""
    told = [
        (i, KINDS.index(kind), (ORDERS_KIND if one.source.startswith(ORDERS) else 1.0) / len(one.kinds))
        for i, one in enumerate(several)
        for kind in one.kinds
    ]
    rows, kinds, shares = map(np.array, zip(*told, strict=True))
    of_kind = np.bincount(kinds, weights=shares, minlength=len(KINDS))
    shares = shares * (of_kind.mean() / of_kind[kinds]) ** RARE
    return LogisticRegression(C=KIND, max_iter=3_000).fit(features[rows], kinds, sample_weight=shares)


def at_precision(odds: np.ndarray, right: np.ndarray, wanted: float) -> tuple[float, float]:
    """The lowest threshold with so much precision, and the recall there."""
    order = np.argsort(-odds)
    hits = np.cumsum(right[order])
    good = np.flatnonzero(hits / np.arange(1, len(order) + 1) >= wanted)
    if not len(good) or not hits[-1]:
        return float("inf"), 0.0
    return float(odds[order[good[-1]]]), float(hits[good[-1]] / hits[-1])


def measured(every: Sequence[Unit], features: csr_matrix) -> None:
    """Each source by a model that has not seen it."""
    odds, named = np.zeros(len(every)), np.zeros(len(every), dtype=int)
    sources = sorted({one.source for one in every})
    for group in sources:
        inside = np.array([one.source == group for one in every])
        rest = [one for one, here in zip(every, inside, strict=True) if not here]
        odds[inside] = kept_model(features[~inside], rest).decision_function(features[inside])
        named[inside] = kind_model(features[~inside], rest).predict(features[inside])
    right = np.array([bool(one.kinds) for one in every])
    print(f"{'':<18}{'':>10}sentences kept  right at {PRECISION:.2f}: threshold, found; at 0: right, found; kind")
    for name, chosen in [
        *[(one, [one]) for one in sources],
        ("all", sources),
        ("all that is public", [one for one in sources if one.startswith(PUBLIC)]),
    ]:
        for role in ("user", "agent"):
            inside = np.array([one.source in chosen and one.sentence.role == role for one in every])
            if not right[inside].any():
                continue
            threshold, found = at_precision(odds[inside], right[inside], PRECISION)
            taken = odds[inside] > 0
            good = right[inside] & taken
            kinds = [
                KINDS[named[i]] in every[i].kinds for i in np.flatnonzero(inside) if right[i] and odds[i] > threshold
            ]
            print(
                f"{name:<18}{role:>10}{inside.sum():>6}{right[inside].sum():>6}  {threshold:6.2f} {found:.2f}; "
                f"{good.sum() / max(taken.sum(), 1):.2f} {good.sum() / right[inside].sum():.2f}; "
                f"{np.mean(kinds) if kinds else 0:.2f}"
            )


def write(path: Path, every: Sequence[Unit], features: csr_matrix) -> None:
    kept, kind = kept_model(features, every), kind_model(features, every)
    columns = np.vstack([kept.coef_, kind.coef_]).T  # (SLOTS, 1 + kinds)
    scales = np.abs(columns).max(0) / 127
    body = np.rint(columns / scales).astype(np.int8).tobytes()
    biases = np.concatenate([kept.intercept_, kind.intercept_])
    head = {
        "scales": [round(float(one), 9) for one in scales],
        "biases": [round(float(one), 6) for one in biases],
        "crc32": crc32(body),
    }
    path.write_bytes(json.dumps(head).encode() + b"\n" + body)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path)
    options: Any = parser.parse_args()
    every = units()
    features = matrix(every)
    measured(every, features)
    if options.out:
        write(options.out, every, features)
    return 0


if __name__ == "__main__":
    sys.exit(main())
