"""Write a trained reader as the package reads it: its start in 4 bits, what training changed as two narrow matrices.

    python training/export_reader.py FOLDER START PIECES PAIRS OUT_FOLDER [--count 15000] [--rank 32]

START: the folder that training began with (unpack_e5.py), whose weights are exact in 4 bits: a block of 32 along a
matrix's input has one scale in 16 bits. In so few bits what training changed would be lost, so it is kept beside it, as
the product of two narrow matrices in 8 bits, of `--rank` in the mean: those that lose least of what each matrix gives
for a sample of PAIRS (a folder, as train_reader.py takes it). PIECES: a JSON list of pieces, the commonest first
(count_pieces.py); the word table has `--count` of them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file
from train_reader import Reader, written
from transformers import BertForSequenceClassification

BLOCK, MARKS = 32, 4
# Pairs by which it is measured what a matrix gives, and how far their products are taken for what any text gives.
SAMPLE, SMOOTHING = 600, 0.01


def halves(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """uint8 (rows, columns / 2) and float16 (rows, columns / BLOCK): the scale of a block is what loses least."""
    blocks = matrix.reshape(len(matrix), -1, BLOCK)
    outer = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=2)[..., None], axis=2)
    best = np.full(outer.shape, np.inf)
    kept = np.zeros_like(outer)
    for part in (0.8, 0.85, 0.9, 0.95, 1.0):
        for edge in (-8.0, 7.0):
            scale = (part * outer / edge).astype(np.float16).astype(np.float32)
            scale[scale == 0] = 1e-6
            lost = ((np.rint(blocks / scale).clip(-8, 7) * scale - blocks) ** 2).sum(axis=2, keepdims=True)
            kept, best = np.where(lost < best, scale, kept), np.minimum(lost, best)
    numbers = (np.rint(blocks / kept).clip(-8, 7) + 8).astype(np.uint8).reshape(len(matrix), -1)
    return numbers[:, ::2] | numbers[:, 1::2] << 4, kept[..., 0].astype(np.float16)


def inputs(folder: Path, pairs: Path) -> dict[str, np.ndarray]:
    """What each matrix of the encoder is given for some pairs: by its name float64 (in, in), sums of products."""
    reader = Reader(str(folder), None)
    reader.model.eval()
    sums: dict[str, np.ndarray] = {}

    def noted(name: str) -> Any:
        def note(_: Any, given: Any) -> None:
            flat = given[0].reshape(-1, given[0].shape[-1]).double().numpy()
            sums[name] = sums.get(name, 0.0) + flat.T @ flat

        return note

    for name, module in reader.model.bert.encoder.named_modules():
        if isinstance(module, torch.nn.Linear):
            module.register_forward_pre_hook(noted(f"encoder.{name}.weight"))
    rows = [json.loads(line) for path in sorted(pairs.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    rows = random.Random(1).sample(rows, SAMPLE)
    with torch.no_grad():
        reader.logits([(written(row, "old"), written(row, "new")) for row in rows])
    return sums


def factors(
    changes: dict[str, np.ndarray], given: dict[str, np.ndarray], rank: int
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Of changes (out, in) by name the two matrices whose product loses least of what they give: float32 (in, r) and
    (r, out). The ranks differ: each goes where a parameter saves most."""
    parts, worths = {}, []
    for name, change in changes.items():
        sums = given[name] / np.trace(given[name]) * len(given[name])
        root = np.linalg.cholesky(sums + SMOOTHING * np.eye(len(sums)))
        left, sizes, right = np.linalg.svd(change @ root, full_matrices=False)
        parts[name] = left, sizes, np.linalg.solve(root.T, right.T)
        worths += [(size**2 / sum(change.shape), name) for size in sizes.tolist()]
    room = rank * sum(sum(change.shape) for change in changes.values())
    ranks = dict.fromkeys(changes, 0)
    for _, name in sorted(worths, reverse=True):
        if (room := room - sum(changes[name].shape)) < 0:
            break
        ranks[name] += 1
    found = {}
    for name, (left, sizes, right) in parts.items():
        kept = max(1, ranks[name])
        root = np.sqrt(sizes[:kept])
        found[name] = (right[:, :kept] * root).astype(np.float32), (root[:, None] * left[:, :kept].T).astype(np.float32)
    return found


def columns(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int8 (in, out), and a float32 scale each column."""
    scale = (np.abs(matrix).max(axis=0, keepdims=True) / 127).clip(1e-12).astype(np.float32)
    return np.rint(matrix / scale).astype(np.int8), scale


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("start", type=Path)
    parser.add_argument("pieces", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=15_000)
    parser.add_argument("--rank", type=int, default=32)
    options = parser.parse_args()
    vocabulary = json.loads((options.start / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    number = {piece: i for i, (piece, _) in enumerate(vocabulary)}
    chosen = [
        piece for piece in json.loads(options.pieces.read_text(encoding="utf-8")) if number.get(piece, 0) >= MARKS
    ]
    kept = [*range(MARKS), *(number[piece] for piece in chosen[: options.count])]
    lines = [f"{vocabulary[i][0]}\t{vocabulary[i][1]:.4f}\n" for i in kept]
    (options.out / "reader.pieces").write_text("".join(lines), encoding="utf-8")
    state = BertForSequenceClassification.from_pretrained(options.folder).state_dict()
    start = load_file(options.start / "model.safetensors")
    tensors: dict[str, np.ndarray] = {}
    changes = {
        name: state[f"bert.{name}"].float().numpy() - value
        for name, value in start.items()
        if name.startswith("encoder.") and value.ndim == 2
    }
    narrow = factors(changes, inputs(options.folder, options.pairs), options.rank)
    for name, value in ((name.removeprefix("bert."), value.float().numpy()) for name, value in state.items()):
        if name == "embeddings.word_embeddings.weight":
            tensors[f"{name}.int4"], tensors[f"{name}.scale"] = halves(value[kept])
        elif name in narrow:
            tensors[f"{name}.int4"], tensors[f"{name}.scale"] = halves(start[name])
            for part, factor in zip(("down", "up"), narrow[name], strict=True):
                tensors[f"{name}.{part}.int8"], tensors[f"{name}.{part}.scale"] = columns(factor)
        elif name in ("pooler.dense.weight", "classifier.weight"):
            tensors[f"{name}.int8"], tensors[f"{name}.scale"] = columns(value.T)
        elif name == "embeddings.position_embeddings.weight":
            tensors[name] = value[:128]
        elif value.dtype == np.float32:
            tensors[name] = value
    path = options.out / "reader.safetensors"
    kinds = {"float32": "F32", "float16": "F16", "uint8": "U8", "int8": "I8"}
    ordered = sorted(tensors.items(), key=lambda item: -item[1].itemsize)
    header, at = {}, 0
    for name, value in ordered:
        header[name] = {
            "dtype": kinds[value.dtype.name], "shape": list(value.shape), "data_offsets": [at, at + value.nbytes]
        }  # fmt: skip
        at += value.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    data = b"".join([len(text).to_bytes(8, "little"), text, *(value.tobytes() for _, value in ordered)])
    path.write_bytes(data)
    print(f"{path}: {len(data) / 1e6:.1f} MB, {len(kept)} pieces, sha256 {hashlib.sha256(data).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
