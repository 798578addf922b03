"""Write a trained reader as the package reads it: matrices in 8 bits, and a word table of the pieces it needs.

    python training/export_reader.py FOLDER PIECES OUT_FOLDER [--count 12800]

PIECES: a JSON list of pieces, the commonest first (count_pieces.py); the word table has `--count` of them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from graph import POSITIONS, SCALE, STORED, WORD_LEVELS, WORDS, file_of, in_8_bits
from safetensors.numpy import load_file

MARKS = 4
READ = 112  # tokens, and so many places


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("pieces", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=12_800)
    options = parser.parse_args()
    vocabulary = json.loads((options.folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    number = {piece: i for i, (piece, _) in enumerate(vocabulary)}
    chosen = [
        piece for piece in json.loads(options.pieces.read_text(encoding="utf-8")) if number.get(piece, 0) >= MARKS
    ]
    kept = [*range(MARKS), *(number[piece] for piece in chosen[: options.count])]
    lines = [f"{vocabulary[i][0]}\t{vocabulary[i][1]:.4f}\n" for i in kept]
    (options.out / "reader.pieces").write_text("".join(lines), encoding="utf-8")
    tensors: dict[str, np.ndarray] = {}
    for name, value in load_file(options.folder / "model.safetensors").items():
        short = name.removeprefix("bert.")
        if short == WORDS:
            tensors[short + STORED], tensors[short + SCALE] = in_8_bits(value[kept], axis=1, levels=WORD_LEVELS)
        elif short == POSITIONS:
            tensors[short] = value[:READ]
        elif value.ndim == 2 and not short.startswith("embeddings."):
            tensors[short + STORED], tensors[short + SCALE] = in_8_bits(value.T, axis=0)
        elif value.dtype == np.float32:
            tensors[short] = value
    path = options.out / "reader.safetensors"
    path.write_bytes(file_of(tensors)[0])
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, {len(kept)} pieces")
    print("sha256", hashlib.sha256(path.read_bytes()).hexdigest())
    return 0


if __name__ == "__main__":
    sys.exit(main())
