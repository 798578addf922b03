"""The shape of an answer, read from its question alone: a linear model over its words and runs of characters.

Questions of every form use few words, so that a table of weights by hashed words is enough, and needs no NumPy.
`training/fit_shape.py` makes it; docs/log.md has its figures.
"""

from __future__ import annotations

import json
import math
import os
import re
import unicodedata
from functools import lru_cache
from zlib import crc32

# The answer is one memory; every memory that answers; how many do; what is remembered at all; what happened in a time.
ONE, ALL, COUNT, MEMORY, OF_TIME = SHAPES = ("one", "all", "count", "memory", "time")
SEVERAL = (ALL, COUNT)
# Probability from which a question has another shape than one. Chosen on questions of held-back authors.
SHAPED_FROM = 0.4
# Of a long message its first and last words.
ENDS = 30
RUNS = (3, 4, 5)
_WORD = re.compile(r"\w+|[?!]")
_FILE = os.path.join(os.path.dirname(__file__), "shape.bin")  # noqa: PTH118, PTH120


def features(question: str) -> set[int]:
    """Return the hashes of a question's words, of neighbouring words, and of runs of characters."""
    words = _WORD.findall(unicodedata.normalize("NFKC", question[:2_000]).lower())
    if len(words) > 2 * ENDS:
        words = words[:ENDS] + words[-ENDS:]
    parts = []
    for before, word, after in zip(["<", *words], words, [*words[1:], ">"], strict=False):
        padded = f" {word} "
        parts += [f"w{word}", f"b{before} {word}", f"t{before} {word} {after}", f"s{before} {after}"]
        parts += [padded[i : i + size] for size in RUNS for i in range(len(padded) - size + 1)]
    parts += [f"first {' '.join(words[:2])}", f"last {' '.join(words[-2:])}"]
    return {crc32(part.encode("utf-8", "replace")) for part in parts}


def probabilities(question: str) -> dict[str, float]:
    """Return how likely each of SHAPES is."""
    scale, bias, table = _weights()
    buckets = {value % (len(table) // len(SHAPES)) for value in features(question)}
    rows = [table[len(SHAPES) * bucket : len(SHAPES) * (bucket + 1)] for bucket in buckets]
    share = scale / math.sqrt(len(rows))
    odds = [bias[i] + share * sum(row[i] for row in rows) for i in range(len(SHAPES))]
    most = max(odds)
    parts = [math.exp(value - most) for value in odds]
    return {name: part / sum(parts) for name, part in zip(SHAPES, parts, strict=True)}


def shape_of(question: str) -> str:
    """Return the likeliest of the other SHAPES if it is likely enough, or else ONE."""
    likely = probabilities(question)
    best = max(SHAPES[1:], key=likely.__getitem__)
    return best if likely[best] >= SHAPED_FROM else ONE


@lru_cache(maxsize=1)
def _weights() -> tuple[float, list[float], memoryview]:
    """Return the scale of the weights, the bias of each shape, and the weights: int8, a row for each bucket."""
    with open(_FILE, "rb") as file:  # noqa: PTH123
        head = json.loads(file.readline())
        return head["scale"], head["bias"], memoryview(file.read()).cast("b")
