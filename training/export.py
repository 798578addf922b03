"""The int8 ONNX file of a trained folder: weights of matrix products in 8 bits, activations quantised as they come.

    python training/export.py FOLDER [FOLDER ...] OUT.onnx
    python training/export.py --judge FOLDER OUT.onnx

Of several folders the mean of their weights is taken (mean.py). `--judge`: of a cross-encoder, which gives log-odds.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from pathlib import Path

import onnx
import torch
from mean import mean_of
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.shape_inference import quant_pre_process
from transformers import BertForSequenceClassification


class LogOdds(torch.nn.Module):
    def __init__(self, folder: str) -> None:
        super().__init__()
        self.model = BertForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor) -> object:
        return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).logits


class Hidden(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor) -> object:
        return self.model(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="+")
    parser.add_argument("out", type=Path)
    parser.add_argument("--judge", action="store_true")
    options = parser.parse_args()
    model = LogOdds(options.folder[0]) if options.judge else Hidden(mean_of(options.folder))
    result = "log_odds" if options.judge else "hidden"
    inputs = tuple(torch.ones(2, 16, dtype=torch.int64) for _ in range(3))
    names = ["input_ids", "attention_mask", "token_type_ids"]
    with tempfile.TemporaryDirectory() as place:
        whole, ready = Path(place) / "whole.onnx", Path(place) / "ready.onnx"
        axes = {name: {0: "batch", **({} if name == "log_odds" else {1: "length"})} for name in [*names, result]}
        torch.onnx.export(
            model, inputs, str(whole), input_names=names, output_names=[result], dynamic_axes=axes,
            opset_version=17, dynamo=False,
        )  # fmt: skip
        quant_pre_process(str(whole), str(ready), skip_symbolic_shape=True)
        quantize_dynamic(str(ready), str(options.out), weight_type=QuantType.QInt8, per_channel=True)
    onnx.checker.check_model(str(options.out))
    data = options.out.read_bytes()
    print(f"{options.out}: {len(data) / 1e6:.1f} MB, sha256 {hashlib.sha256(data).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
