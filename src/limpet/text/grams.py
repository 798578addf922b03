"""Overlapping pairs of characters, for scripts whose words no white space parts: what full text reads beside the words.

Chinese and Japanese run on, Korean joins particles to its nouns: a word of the question is a part of a longer run.
Any word of two characters or more shares its pairs with the run that holds it.
"""

from __future__ import annotations

import re
import unicodedata

# Kana, Han with its extensions and compatibility forms, Hangul syllables; Thai, Lao and Khmer run on as well.
# Compiled at use: three milliseconds that a cold command seldom needs.
_RUN = (
    "[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
    "\u0e00-\u0eff\u1780-\u17ff]{2,}"
)


def grams(text: str) -> str:
    """The pairs of every run of such characters, in order, separated by spaces; "" for a text without."""
    if text.isascii():
        return ""
    pairs: list[str] = []
    for run in re.findall(_RUN, unicodedata.normalize("NFKC", text)):
        pairs += [run[i : i + 2] for i in range(len(run) - 1)]
    return " ".join(pairs)


def with_grams(query: str) -> str:
    """A query as full text is asked for it: its words and its pairs."""
    pairs = grams(query)
    return f"{query} {pairs}" if pairs else query
