"""The ONNX graph of a BERT encoder: fused operators, products in 32 bits, weights stored in 8 bits in a file beside it.

Every matrix is stored as int8 with one scale a column, the word table in 7 of the 8 bits with one scale a row: an
eighth less in a wheel, and vectors move by a ten-thousandth. The runtime multiplies the matrices out when it loads the
file; of the word table it multiplies the rows that a text asks for. Sums are made in floating point, so a text has one
result on every processor, alone or in a batch.

Parameters keep their names in torch, without what stands before `embeddings.` and `encoder.`: `read` gives them back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HEADS = 12
EPSILON = 1e-12
MICROSOFT = "com.microsoft"  # operators of onnxruntime, fused
STORED, SCALE = ".int8", ".scale"
WORD_LEVELS = 63  # of the judge's and the reader's word tables: as many values on each side of zero
DTYPES = (TensorProto.FLOAT, TensorProto.INT8)
NAMES = {"float32": "F32", "int8": "I8"}  # as safetensors names them
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
WORDS, POSITIONS, KINDS = (f"embeddings.{name}_embeddings.weight" for name in ("word", "position", "token_type"))


class Graph:
    """Nodes and parameters of a graph that is being written."""

    def __init__(self, state: Mapping[str, np.ndarray], levels: int) -> None:
        self.state, self.levels = state, levels
        self.nodes: list[onnx.NodeProto] = []
        self.parameters: dict[str, onnx.TensorProto] = {}

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        """Append a node with one output. Return the output's name."""
        output = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def constant(self, name: str, value: np.ndarray) -> str:
        self.parameters[name] = numpy_helper.from_array(np.array(value, order="C"), name)
        return name

    def plain(self, name: str) -> str:
        """A parameter in 32 bits: biases, norms, the tables of positions and kinds."""
        return self.constant(name, self.state[name].astype(np.float32))

    def matrix(self, name: str) -> str:
        """A matrix of torch, (out, in), as (in, out) in 8 bits with one scale a column of it."""
        stored, scale = in_8_bits(self.state[name].T, axis=0)
        whole = self.add("Cast", self.constant(name + STORED, stored), to=TensorProto.FLOAT)
        return self.add("Mul", whole, self.constant(name + SCALE, scale))

    def norm(self, layer: str, first: str, second: str, bias: str) -> str:
        """The norm of a layer over the sum of both and a bias."""
        weights = self.plain(f"{layer}.LayerNorm.weight"), self.plain(f"{layer}.LayerNorm.bias")
        return self.add(
            "SkipLayerNormalization", first, second, *weights, self.plain(bias), domain=MICROSOFT, epsilon=EPSILON
        )

    def encoder(self) -> str:
        """All layers: float32 (texts, tokens, width). With a classifier the last gives the first token alone."""
        stored, scale = in_8_bits(self.state[WORDS], axis=1, levels=self.levels)
        rows = self.add("Gather", self.constant(WORDS + STORED, stored), "input_ids")
        rows = self.add("Cast", rows, to=TensorProto.FLOAT)
        rows = self.add("Mul", rows, self.add("Gather", self.constant(WORDS + SCALE, scale), "input_ids"))
        length = self.add("Slice", self.add("Shape", "input_ids"), self._whole("one", 1), self._whole("two", 2))
        places = self.add("Slice", self.plain(POSITIONS), self._whole("zero", 0), length, self._whole("zero", 0))
        rows = self.add("Add", self.add("Add", rows, places), self.add("Gather", self.plain(KINDS), "token_type_ids"))
        norm = (self.plain(f"embeddings.LayerNorm.{part}") for part in ("weight", "bias"))
        hidden = self.add("LayerNormalization", rows, *norm, epsilon=EPSILON)
        self.mask = self.add("Cast", "attention_mask", to=TensorProto.INT32)
        layers = len({name.split(".")[2] for name in self.state if name.startswith("encoder.layer.")})
        for layer in range(layers):
            only_first = layer == layers - 1 and "classifier.weight" in self.state
            hidden = self._layer(f"encoder.layer.{layer}", hidden, only_first=only_first)
        return hidden

    def _layer(self, name: str, hidden: str, *, only_first: bool) -> str:
        parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        weights = self.add("Concat", *(self.matrix(f"{part}.weight") for part in parts), axis=1)
        biases = self.add("Concat", *(self.plain(f"{part}.bias") for part in parts), axis=0)
        attention = self.add("Attention", hidden, weights, biases, self.mask, domain=MICROSOFT, num_heads=HEADS)
        if only_first:
            attention, hidden = (self.add("Gather", of, self._whole("zero", 0), axis=1) for of in (attention, hidden))
        attention = self.add("MatMul", attention, self.matrix(f"{name}.attention.output.dense.weight"))
        hidden = self.norm(f"{name}.attention.output", attention, hidden, f"{name}.attention.output.dense.bias")
        wide = self.add("MatMul", hidden, self.matrix(f"{name}.intermediate.dense.weight"))
        wide = self.add("BiasGelu", wide, self.plain(f"{name}.intermediate.dense.bias"), domain=MICROSOFT)
        narrow = self.add("MatMul", wide, self.matrix(f"{name}.output.dense.weight"))
        return self.norm(f"{name}.output", narrow, hidden, f"{name}.output.dense.bias")

    def logits(self, hidden: str) -> str:
        """What the classifier makes of the first token: float32 (texts, labels)."""
        first = self.add("Gather", hidden, self._whole("first", 0, shape=()), axis=1)
        pooled = self.add("MatMul", first, self.matrix("pooler.dense.weight"))
        pooled = self.add("Tanh", self.add("Add", pooled, self.plain("pooler.dense.bias")))
        return self.add(
            "Add", self.add("MatMul", pooled, self.matrix("classifier.weight")), self.plain("classifier.bias")
        )

    def _whole(self, name: str, value: int, shape: tuple[int, ...] = (1,)) -> str:
        return self.constant(name, np.full(shape, value, dtype=np.int64))

    def model(self, result: str, name: str, shape: list[str | int]) -> onnx.ModelProto:
        self.nodes.append(helper.make_node("Identity", [result], [name]))
        inputs = [helper.make_tensor_value_info(one, TensorProto.INT64, ["texts", "tokens"]) for one in INPUTS]
        output = helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, "encoder", inputs, [output], list(self.parameters.values()))
        versions = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=8)


def in_8_bits(values: np.ndarray, axis: int, levels: int = 127) -> tuple[np.ndarray, np.ndarray]:
    """int8 values up to `levels` and float32 scales, one for all that lies along the axis."""
    scale = (np.abs(values).max(axis=axis, keepdims=True) / levels).clip(1e-12).astype(np.float32)
    return np.rint(values / scale).astype(np.int8), scale


def write(state: Mapping[str, np.ndarray], path: Path, tokens: int, levels: int = WORD_LEVELS) -> Path:
    """Write an encoder: its logits if `state` has a classifier, else the hidden states of its tokens.

    `tokens`: that are ever read; so many places are kept. `levels`: of the word table.
    `path` gets the operators; the weights go beside it, in the format safetensors. Returns the path of the weights.
    """
    state = {name.removeprefix("model.").removeprefix("bert."): value for name, value in state.items()}
    state[POSITIONS] = state[POSITIONS][:tokens]
    graph = Graph(state, levels)
    hidden = graph.encoder()
    if "classifier.weight" in state:
        model = graph.model(graph.logits(hidden), "logits", ["texts", len(state["classifier.bias"])])
    else:
        model = graph.model(hidden, "last_hidden_state", ["texts", "tokens", state[WORDS].shape[1]])
    weights = path.with_suffix(".safetensors")
    _move_out(model, weights)
    path.write_bytes(model.SerializeToString())
    return weights


def file_of(tensors: Mapping[str, np.ndarray]) -> tuple[bytes, dict[str, tuple[int, int]]]:
    """A file in the format safetensors, and where each tensor lies in it: its offset and length.

    Those in 32 bits come first, so that each lies at a multiple of its size.
    """
    ordered = sorted(tensors.items(), key=lambda item: -item[1].itemsize)
    header, at = {}, 0
    for name, value in ordered:
        header[name] = {
            "dtype": NAMES[value.dtype.name], "shape": list(value.shape), "data_offsets": [at, at + value.nbytes]
        }  # fmt: skip
        at += value.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    data = b"".join([len(text).to_bytes(8, "little"), text, *(value.tobytes() for _, value in ordered)])
    begun = 8 + len(text)
    return data, {
        name: (begun + one["data_offsets"][0], one["data_offsets"][1] - one["data_offsets"][0])
        for name, one in header.items()
    }


def _move_out(model: onnx.ModelProto, path: Path) -> None:
    """Put the parameters into a file of their own."""
    moved = [tensor for tensor in model.graph.initializer if tensor.data_type in DTYPES]
    data, places = file_of({tensor.name: numpy_helper.to_array(tensor) for tensor in moved})
    path.write_bytes(data)
    for tensor in moved:
        offset, length = places[tensor.name]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", path.name), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))


def read(path: Path) -> dict[str, np.ndarray]:
    """The parameters that `write` was given, to the last bit of 8. `path`: of the operators."""
    loaded = onnx.load(path).graph.initializer
    stored = {one.name: numpy_helper.to_array(one) for one in loaded if one.data_type in DTYPES}
    state = {name: value for name, value in stored.items() if not name.endswith((STORED, SCALE))}
    for name in (name.removesuffix(STORED) for name in stored if name.endswith(STORED)):
        value = stored[name + STORED].astype(np.float32) * stored[name + SCALE]
        state[name] = value if name == WORDS else value.T
    return state
