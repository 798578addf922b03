"""The mean of the weights of several trained folders, as a folder: a start for another run, or what is exported.

    python training/mean.py FOLDER [FOLDER ...] OUT [--shares 0.6,0.4]

Runs from the same start, with other negatives and other data, do together better than each alone (Wortsman et al.,
Model soups, ICML 2022).
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

WEIGHTS = "model.safetensors"


def mean_of(folders: list[str], shares: list[float] | None = None) -> dict[str, np.ndarray]:
    """The mean of each parameter, float32, by its name. `shares`: of each folder; else all alike."""
    states = [load_file(Path(folder) / WEIGHTS) for folder in folders]
    return {
        name: np.average([state[name] for state in states], axis=0, weights=shares).astype(np.float32)
        for name, value in states[0].items()
        if np.issubdtype(value.dtype, np.floating)
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="+")
    parser.add_argument("out", type=Path)
    parser.add_argument("--shares", help="of each folder in the mean, with commas")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for path in Path(options.folder[0]).iterdir():
        if path.name != WEIGHTS:
            shutil.copy(path, options.out)
    shares = [float(share) for share in options.shares.split(",")] if options.shares else None
    save_file(mean_of(options.folder, shares), options.out / WEIGHTS, metadata={"format": "pt"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
