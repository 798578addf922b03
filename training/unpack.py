"""A BERT's weights out of an int8 ONNX file, for torch: of a cross-encoder, or of an embedder that export.py wrote.

    python training/unpack.py model.onnx vocab.txt OUT [--layers 0,1,4,6,7,8]

What graph.py writes is read, and what `optimum` and onnxruntime's dynamic quantisation make of
`BertForSequenceClassification` with one label, or of `BertModel`: there a matrix is known by the bias that is added
behind it; its values are (q - zero point) x scale.
`--layers`: these alone.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from graph import read
from onnx import numpy_helper
from transformers import BertConfig, BertForSequenceClassification, BertModel

HEADS = 12
# What names of parameters begin with; what export.py writes has "model." before them.
PARAMETER = re.compile(r"(model|bert|classifier|embeddings|encoder)\.")


def unpacked(path: str) -> dict[str, torch.Tensor]:
    """The parameters by their names in torch, in 32 bits."""
    graph = onnx.load(path).graph
    if not any(node.op_type == "MatMulInteger" for node in graph.node):
        state = read(Path(path))
        above = "bert." if "classifier.weight" in state else ""
        names = {name: name if name.startswith("classifier.") else above + name for name in state}
        return {names[name]: torch.from_numpy(np.array(value)) for name, value in state.items()}
    known = {one.name: numpy_helper.to_array(one).copy() for one in graph.initializer}
    found: dict[str, np.ndarray] = {}
    # What reads an output: to get from a matrix to the bias behind it.
    readers: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    for name, value in known.items():
        if value.dtype == np.float32 and not name.endswith("_scale") and PARAMETER.match(name):
            found[name] = value
        if name.endswith("_quantized") and PARAMETER.match(name) and "embeddings." in name:
            found[name.removesuffix("_quantized")] = plain(known, name)
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            (bias,) = biases(node, readers, known)
            found[bias.removesuffix("bias") + "weight"] = plain(known, node.input[1]).T
        elif node.op_type in ("Gemm", "MatMul") and node.input[1] in known:
            bias = node.input[2] if node.op_type == "Gemm" else biases(node, readers, known)[0]
            transposed = any(one.name == "transB" and one.i for one in node.attribute)
            weight = known[node.input[1]]
            found[bias.removesuffix("bias") + "weight"] = weight if transposed else weight.T
    return {name.removeprefix("model."): torch.from_numpy(np.ascontiguousarray(value)) for name, value in found.items()}


def plain(known: dict[str, np.ndarray], name: str) -> np.ndarray:
    stem = name.removesuffix("_quantized")
    zero, scale = known[f"{stem}_zero_point"], known[f"{stem}_scale"]
    return ((known[name].astype(np.float32) - zero.astype(np.float32)) * scale).astype(np.float32)


def biases(node: Any, readers: dict[str, list[Any]], known: dict[str, np.ndarray]) -> list[str]:
    """Names of the biases added behind a matrix, over casts and scales."""
    at = [node]
    for _ in range(6):
        after = [one for each in at for out in each.output for one in readers.get(out, ())]
        names = [
            i for one in after if one.op_type in ("Add", "Gemm") for i in one.input if i.endswith("bias") and i in known
        ]
        if names:
            return names
        at = after
    raise SystemExit(f"no bias behind {node.name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("vocabulary", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--layers", help="numbers of the layers that stay")
    options = parser.parse_args()
    state = unpacked(options.model)
    is_judge = "classifier.weight" in state
    above = "bert." if is_judge else ""
    every = 1 + max(int(match[1]) for match in map(re.compile(rf"{above}encoder\.layer\.(\d+)").match, state) if match)
    kept = [int(one) for one in options.layers.split(",")] if options.layers else list(range(every))
    inside = {}
    for name, value in state.items():
        match = re.match(rf"{above}encoder\.layer\.(\d+)\.(.+)", name)
        if match is None:
            inside[name] = value
        elif int(match[1]) in kept:
            inside[f"{above}encoder.layer.{kept.index(int(match[1]))}.{match[2]}"] = value
    words, width = state[f"{above}embeddings.word_embeddings.weight"].shape
    config = BertConfig(
        vocab_size=words, hidden_size=width, num_hidden_layers=len(kept), num_attention_heads=HEADS,
        intermediate_size=state[f"{above}encoder.layer.0.intermediate.dense.weight"].shape[0], num_labels=1,
    )  # fmt: skip
    model = BertForSequenceClassification(config) if is_judge else BertModel(config, add_pooling_layer=False)
    missing, more = model.load_state_dict(inside, strict=False)
    if [name for name in missing if not name.endswith("position_ids")] or more:
        raise SystemExit(f"missing {missing}, unknown {more}")
    model.save_pretrained(options.out)
    shutil.copy(options.vocabulary, options.out / "vocab.txt")
    return 0


if __name__ == "__main__":
    sys.exit(main())
