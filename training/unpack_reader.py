"""The reader as the package has it, for torch, to train it on.

    python training/unpack_reader.py START READER.safetensors OUT

START: the folder by unpack_e5.py that its training began with, of which its word table has all pieces.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import narrow
import numpy as np
import torch
from graph import SCALE, STORED, WORDS
from safetensors.numpy import load_file
from train_reader import OUTPUTS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("start", type=Path)
    parser.add_argument("reader", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    model, shipped = narrow.load(options.start, OUTPUTS), load_file(options.reader)
    for number, layer in enumerate(model.bert.encoder.layer):
        narrow.resize(layer, len(shipped[f"encoder.layer.{number}.intermediate.dense.bias"]))
    state = model.state_dict()
    for name in state:
        short = name.removeprefix("bert.")
        if short + STORED in shipped and short != WORDS:
            whole = (shipped[short + STORED].astype(np.float32) * shipped[short + SCALE]).T
        elif short in shipped and (state[name].shape == shipped[short].shape or name.startswith("classifier")):
            whole = shipped[short]
        else:
            continue
        state[name][: len(whole)] = torch.from_numpy(whole.copy())  # a classifier may have got more outputs since
    model.load_state_dict(state)
    narrow.save(model, options.start, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
