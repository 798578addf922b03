"""Fit the reader's outputs over single texts anew, on what its trained layers give: a regression for each head.

    python training/fit_heads.py FOLDER TEXTS.jsonl OUT

A pass over all texts takes minutes, an epoch of training hours: so rare answers and what is plainly none of them count
as often as they are.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from sklearn.linear_model import LogisticRegression
from train_reader import Reader, alone, wanted

from limpet.vectors.reader import HEADS, RELATIONS

TOGETHER, WEIGHTS = 32, "model.safetensors"
STRENGTH = {"manner": 1.0, "rule": 10.0, "worth": 1.0, "weight": 0.3, "kept": 1.0}  # inverse, of regularisation


@torch.no_grad()
def pooled(reader: Reader, rows: list[dict[str, Any]]) -> np.ndarray:
    """What stands before the outputs: float32 (n, 384)."""
    order = sorted(range(len(rows)), key=lambda place: sum(map(len, alone(rows[place]))))
    values = np.zeros((len(rows), 384), np.float32)
    for start in range(0, len(order), TOGETHER):
        part = order[start : start + TOGETHER]
        tokens = reader.tokens([alone(rows[place]) for place in part])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            values[part] = reader.model.bert(**tokens).pooler_output.float().numpy()
    return values


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("folder", "texts", "out"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    lines = [json.loads(line) for line in options.texts.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in lines if not row.get("held")]
    reader = Reader(str(options.folder))
    reader.model.eval()
    values = pooled(reader, rows)
    shutil.copytree(options.folder, options.out, dirs_exist_ok=True)
    state, start = load_file(options.folder / WEIGHTS), len(RELATIONS)
    for head, answers in HEADS.items():
        labelled = [
            (place, answers.index(label), 1 / len(wanted(row, head)))
            for place, row in enumerate(rows) if head in row for label in wanted(row, head)
        ]  # fmt: skip
        places, labels, shares = map(list, zip(*labelled, strict=True))
        model = LogisticRegression(C=STRENGTH[head], max_iter=4_000).fit(values[places], labels, sample_weight=shares)
        state["classifier.weight"][start : start + len(answers)] = torch.tensor(model.coef_, dtype=torch.float32)
        state["classifier.bias"][start : start + len(answers)] = torch.tensor(model.intercept_, dtype=torch.float32)
        start += len(answers)
    save_file({name: value.contiguous() for name, value in state.items()}, options.out / WEIGHTS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
