"""Attribution: whether work that was done after a text was read uses it, by words that can only be from the text."""

from __future__ import annotations

import re

from .describe import grams

# Shorter words are mostly grammar; longer texts than this are judged by their beginning.
SHORTEST, LOOKED_AT = 4, 50_000
# An exact name or a number says more than a word, and is rarely hit by chance.
EXACT_WEIGHT, WORD_WEIGHT = 2, 1
# The share of words that only the text could have given and that must be there; at least two words or one exact name.
SHARE, LEAST = 0.5, 2
_WORD = re.compile(r"[^\W_]+(?:[._/:-][^\W_]+)*")


def was_used(text: str, work: str, known: str) -> bool | None:
    """Return whether `work` uses what `text` adds to `known`, read before. None: `text` adds too little to tell.

    Deterministic and strict: work that says the same in other words does not count.
    """
    new = weigh_words(text)
    for word in weigh_words(known):
        new.pop(word, None)
    weight = sum(new.values())
    if weight < LEAST:
        return None
    there = weigh_words(work)
    shared = sum(each for word, each in new.items() if word in there)
    return shared >= max(LEAST, SHARE * weight)


def weigh_words(text: str) -> dict[str, int]:
    """Return the weight of each word that counts."""
    text = text[:LOOKED_AT].casefold()
    weights = dict.fromkeys(grams(text).split(), WORD_WEIGHT)
    for word in _WORD.findall(text):
        exact = any(map(str.isdigit, word)) or any(mark in word for mark in "._/:")
        if exact and len(word) > 1:
            weights[word] = EXACT_WEIGHT
        elif len(word) >= SHORTEST and not grams(word):
            weights[word] = WORD_WEIGHT
    return weights
