"""The pieces of words that the reader keeps: the commonest of eight languages and of what it is trained on.

    python training/count_pieces.py tokenizer.json OUT.json TEXT.jsonl [TEXT.jsonl ...]

Words and how often they are come from `wordfreq` (Apache-2.0; its lists are under licences of their own, and only the
order of pieces is taken from them). OUT is a JSON list, the commonest first.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

from tokenizers import Tokenizer
from wordfreq import iter_wordlist, word_frequency

# How much a language weighs; words of each that are split.
LANGUAGES, WORDS = {"en": 4, "de": 1, "fr": 1, "es": 1, "it": 1, "pt": 1, "nl": 1, "pl": 1}, 60_000
TEXTS = re.compile(r'"(?:old|new|text|q|content|message)": "((?:[^"\\]|\\.)*)"')


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tokenizer")
    parser.add_argument("out", type=Path)
    parser.add_argument("texts", nargs="*", type=Path)
    options = parser.parse_args()
    tokenizer = Tokenizer.from_file(options.tokenizer)
    common: Counter[str] = Counter()
    for language, weight in LANGUAGES.items():
        words = list(islice(iter_wordlist(language, "best"), WORDS))
        for capital, share in ((False, 0.8), (True, 0.5 if language == "de" else 0.2)):
            split = tokenizer.encode_batch(
                [word.capitalize() if capital else word for word in words], add_special_tokens=False
            )
            for word, pieces in zip(words, split, strict=True):
                for piece in pieces.tokens:
                    common[piece] += weight * share * word_frequency(word, language)
    own: Counter[str] = Counter()
    for path in options.texts:
        for pieces in tokenizer.encode_batch(TEXTS.findall(path.read_text(encoding="utf-8")), add_special_tokens=False):
            own.update(pieces.tokens)
    all_common, all_own = sum(common.values()), max(1, sum(own.values()))
    worth = {piece: common[piece] / all_common + own[piece] / all_own for piece in {*common, *own}}
    options.out.write_text(json.dumps(sorted(worth, key=lambda piece: -worth[piece])), encoding="utf-8")
    print(f"{len(worth):,} pieces")
    return 0


if __name__ == "__main__":
    sys.exit(main())
