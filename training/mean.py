"""The mean of the weights of several trained folders, as a folder: a start for another run, or what is exported.

    python training/mean.py FOLDER [FOLDER ...] OUT [--judge]

`--judge`: of cross-encoders, which have one more layer than embedders.

Runs from the same start, with other negatives and other data, do together better than each alone (Wortsman et al.,
Model soups, ICML 2022).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer


def mean_of(folders: list[str], kind: type = AutoModel) -> torch.nn.Module:
    model, *others = (kind.from_pretrained(one, attn_implementation="eager").eval() for one in folders)
    with torch.no_grad():
        for first, *same in zip(model.parameters(), *(one.parameters() for one in others), strict=True):
            first.copy_(sum(same, first.clone()) / (1 + len(same)))
    return model


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="+")
    parser.add_argument("out", type=Path)
    parser.add_argument("--judge", action="store_true")
    options = parser.parse_args()
    kind = AutoModelForSequenceClassification if options.judge else AutoModel
    mean_of(options.folder, kind).save_pretrained(options.out)
    AutoTokenizer.from_pretrained(options.folder[0]).save_pretrained(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
