"""The reader as the package has it, for torch, to train it on.

    python training/unpack_reader.py START READER.safetensors OUT

START: the folder by unpack_e5.py that its training began with: its weights in 4 bits are exact, what training changed
is added, and its word table has all pieces.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file
from train_reader import RELATIONS
from transformers import BertConfig, BertForSequenceClassification


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("start", type=Path)
    parser.add_argument("reader", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    config = BertConfig.from_pretrained(options.start)
    config.num_labels = len(RELATIONS)
    model = BertForSequenceClassification.from_pretrained(options.start, config=config)
    state, shipped = model.state_dict(), load_file(options.reader)

    def whole(name: str) -> np.ndarray:
        """Of a matrix in 8 bits, its values."""
        return shipped[f"{name}.int8"].astype(np.float32) * shipped[f"{name}.scale"]

    for name in state:
        short = name.removeprefix("bert.")
        if f"{short}.down.int8" in shipped:
            change = (whole(f"{short}.down") @ whole(f"{short}.up")).T
            state[name] += torch.from_numpy(change)
        elif f"{short}.int8" in shipped:
            state[name] = torch.from_numpy(whole(short).T.copy())
        elif short in shipped and state[name].shape == shipped[short].shape:
            state[name] = torch.from_numpy(shipped[short].copy())
    model.load_state_dict(state)
    model.save_pretrained(options.out)
    for path in options.start.glob("*token*"):
        shutil.copy(path, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
