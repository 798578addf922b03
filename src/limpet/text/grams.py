"""What full text reads beside the words: pairs of characters where no white space parts words, and the parts of names.

Chinese and Japanese run on, Korean joins particles to its nouns: a word of the question is a part of a longer run.
Any word of two characters or more shares its pairs with the run that holds it. And `rateLimiter` is found by "rate
limiter"; `rate_limiter` is two words to the index anyway.
"""

from __future__ import annotations

import re
import unicodedata

# Kana, Han with its extensions and compatibility forms, Hangul syllables; Thai, Lao and Khmer run on as well.
# Compiled at use: three milliseconds that a cold command seldom needs.
RUN = (
    "[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
    "\u0e00-\u0eff\u1780-\u17ff]"
)


# Whether a text has any: most have none, and this runs at every write.
_MIX = "[a-z0-9][A-Z]|[A-Z]{2}[a-z]"
# Names in mixed case, and where they part: rateLimiter, HTTPServer, parseURL2.
_MIXED = r"\b[A-Za-z]{1,40}?[a-z0-9][A-Z][A-Za-z0-9]{0,60}\b|\b[A-Z]{2,40}[a-z][A-Za-z0-9]{0,60}\b"
_PART = r"[A-Z]{2,}(?=[A-Z][a-z]|\b|\d)|[A-Z]?[a-z]+|[A-Z]+|\d+"


def grams(text: str) -> str:
    """The pairs of every run of such characters and the parts of names in mixed case, each in order, separated by
    spaces; "" for a text without."""
    pairs: list[str] = []
    if re.search(_MIX, text):
        for name in re.findall(_MIXED, text):
            parts = re.findall(_PART, name)
            pairs += parts if len(parts) > 1 else []
    if text.isascii():
        return " ".join(pairs)
    for run in re.findall(RUN + "{2,}", unicodedata.normalize("NFKC", text)):
        pairs += [run[i : i + 2] for i in range(len(run) - 1)]
    return " ".join(pairs)


def with_grams(query: str) -> str:
    """A query as full text is asked for it: its words and its pairs."""
    pairs = grams(query)
    return f"{query} {pairs}" if pairs else query
