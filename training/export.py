"""Write a trained folder as the two files that the package reads (graph.py).

    python training/export.py FOLDER [FOLDER ...] OUT.onnx
    python training/export.py --judge FOLDER OUT.onnx

Of several folders the mean of their weights is taken (mean.py). `--judge`: of the relevance judge, which reads fewer
tokens.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

import numpy as np
import onnx
from graph import WORD_LEVELS, WORDS, write
from mean import mean_of

UNUSED = "[unused"  # how pieces begin that no text is cut into
EMBEDDED, JUDGED = (256, 80), (80, WORD_LEVELS)  # tokens that each reads, levels of its word table


def cleared(state: dict[str, np.ndarray], vocabulary: Path) -> dict[str, np.ndarray]:
    """The same with zeros for the pieces that are never read, which take no room in a wheel."""
    never = [i for i, piece in enumerate(vocabulary.read_text("utf-8").splitlines()) if piece.startswith(UNUSED)]
    for name, table in state.items():
        if name.endswith(WORDS):
            table[never] = 0
    return state


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="+")
    parser.add_argument("out", type=Path)
    parser.add_argument("--judge", action="store_true")
    options = parser.parse_args()
    state = cleared(mean_of(options.folder), Path(options.folder[0]) / "vocab.txt")
    weights = write(state, options.out, *(JUDGED if options.judge else EMBEDDED))
    onnx.checker.check_model(str(options.out))
    data = weights.read_bytes()
    print(f"{weights}: {len(data) / 1e6:.1f} MB, sha256 {hashlib.sha256(data).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
