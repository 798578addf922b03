"""Leave a model's weights in 8 bits and its activations in floats, from a file that quantises both.

    python training/weight_only.py IN.onnx OUT.onnx

What quantises activations as they come takes one scale for all texts that run together: the same text then has another
vector in other company (cosine .98 to .995), and on processors without 8-bit dot products another one again. A store
compares vectors that were made in years, on several machines. Needs `onnx` (training/requirements.txt).
"""

from __future__ import annotations

import sys

import onnx
from onnx import TensorProto, helper, numpy_helper


def main(source: str, target: str) -> None:
    model = onnx.load(source)
    graph = model.graph
    weights = {one.name: one for one in graph.initializer}
    made = {name: node for node in graph.node for name in node.output}
    readers: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    instead: dict[str, list[onnx.NodeProto]] = {}  # output of a product -> the nodes that make it now
    gone: set[str] = set()
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        given, weight, _, zero = node.input
        if numpy_helper.to_array(weights[zero]).any():
            raise SystemExit(f"{weight} is not quantised around zero")
        (cast,) = readers[node.output[0]]
        (product,) = readers[cast.output[0]]
        scales = made[next(name for name in product.input if name != cast.output[0])]
        scale = next(name for name in scales.input if name in weights)
        gone |= {made[given].output[0], node.output[0], cast.output[0], scales.output[0]}
        instead[product.output[0]] = [
            helper.make_node("Cast", [weight], [f"{weight}_float"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{weight}_float", scale], [f"{weight}_scaled"]),
            helper.make_node("MatMul", [made[given].input[0], f"{weight}_scaled"], [product.output[0]]),
        ]
    nodes = [one for node in graph.node if node.output[0] not in gone for one in instead.get(node.output[0], [node])]
    del graph.node[:]
    graph.node.extend(nodes)
    read = {name for node in nodes for name in node.input}
    kept = [one for one in graph.initializer if one.name in read]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    onnx.checker.check_model(model)
    onnx.save(model, target)
    sys.stdout.write(f"{target}: {len(instead)} products\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
