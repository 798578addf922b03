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

import onnx
from graph import write
from mean import mean_of

EMBEDDED, JUDGED = 256, 80  # tokens that each reads


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="+")
    parser.add_argument("out", type=Path)
    parser.add_argument("--judge", action="store_true")
    options = parser.parse_args()
    weights = write(mean_of(options.folder), options.out, JUDGED if options.judge else EMBEDDED)
    onnx.checker.check_model(str(options.out))
    data = weights.read_bytes()
    print(f"{weights}: {len(data) / 1e6:.1f} MB, sha256 {hashlib.sha256(data).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
