"""All that hangs on the file of limpet's own model: its sha256 and its calibration.

    make embedder-figures                   # of the file that is there
    make embedder-figures MODEL=FILE.onnx   # puts another one, with the weights beside it, in its place first

Prints what the thresholds on cosines (rank/constants.py) find on the tuning half, after the calibration. A text has one
vector, alone and in a batch (1.0 in the last line).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from limpet.features.embedders.guarded import measured, pairs
from limpet.vectors.calibration import Calibration
from limpet.vectors.embedder import load_embedder
from limpet.vectors.encoder import digest
from limpet.vectors.wordpiece import DATA
from tests.quality.halves import is_held_back, read

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def put(model: str | None) -> None:
    """Put a file in the place of ours, if one is named, and the sha256 of what is there beside it."""
    if model is not None:
        for suffix in (".onnx", ".safetensors"):
            shutil.copyfile(Path(model).with_suffix(suffix), Path(DATA) / f"limpet{suffix}")
    _write(sha256=digest(str(Path(DATA) / "limpet.safetensors")))


def run(*, write: bool) -> dict[str, Any]:
    """Measure what is there; with `write` put the calibration into the package. Returns the figures.

    In a process that began after `put`: the fingerprint is made of the sha256 when it starts.
    """
    embedder: Any = load_embedder("limpet")
    calibration = measured(embedder)
    print("calibration:", *calibration, "for", embedder.fingerprint)
    if write:
        _write(calibration=list(calibration))
    found = thresholds(embedder, calibration)
    for name, figure in found.items():
        print(f"{name}: {figure}")
    return {"fingerprint": embedder.fingerprint, "calibration": calibration, "thresholds": found}


def thresholds(embedder: Any, calibration: Calibration) -> dict[str, Any]:
    """What the thresholds find, on tuning halves; cosines where the calibration moves them to."""
    rows = [row for row in read("duplicate_pairs.jsonl") if not is_held_back(row["a"], row["b"])]
    found: dict[str, Any] = {}
    for label in ("same", "different"):
        cosines = calibration.of_texts(
            _cosines(embedder, [(row["a"], row["b"]) for row in rows if row["label"] == label])
        )
        found[f"{label}, cosines"] = np.quantile(cosines, QUANTILES).round(2).tolist()
    answered = pairs()
    questions = np.stack([embedder.embed_query(question) for question, _ in answered])
    cosines = calibration.of_question(questions @ embedder.embed_passages([answer for _, answer in answered]).T)
    found["question and answer"] = np.quantile(np.diag(cosines), QUANTILES).round(2).tolist()
    apart = cosines[~np.eye(len(answered), dtype=bool)]
    found["question and another text"] = np.quantile(apart, QUANTILES).round(2).tolist()
    texts = sorted({row["a"] for row in rows})
    alone = np.stack([embedder.embed_query(text) for text in texts])
    found["a text alone and in a batch, least"] = round(float((alone * embedder.embed_passages(texts)).sum(1).min()), 4)
    return found


def _cosines(embedder: Any, several: list[tuple[str, str]]) -> np.ndarray:
    one, other = (embedder.embed_passages(list(side)) for side in zip(*several, strict=True))
    return (one * other).sum(axis=1)


def _write(**figures: Any) -> None:
    path = Path(DATA) / "limpet.json"
    known = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(known | figures, indent=2) + "\n", encoding="utf-8")
