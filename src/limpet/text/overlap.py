"""How much of what a message speaks of a text speaks of too: words that carry a meaning, counted. Pure.

One such word in common is chance ("commit this" and a note on commits); two, or one exact name, seldom are.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .describe import grams
from .lexicon import FUNCTION_WORDS

# Characters that are looked at, and the shortest word that counts.
LOOKED_AT, SHORTEST = 20_000, 3
# An exact name (a ticket, an error code) is hit by chance as seldom as two words.
EXACT_WEIGHT = 2
# Letters that two inflections of a word have in common at least, and how many their ends may differ in.
STEM, END = 4, 3
# Function words of English that can change a statement, and what messages to an agent say whatever they are about.
SAID_ANYWAY = FUNCTION_WORDS | frozenset(
    "not no can could should would will may might must was were did had some like please use make want need let too "  # noqa: SIM905
    "very now again new other only still".split()
)
_WORD = re.compile(r"[^\W_]+")
_EXACT = re.compile(r"(?=\w*\d)(?=\w*[^\W\d_])\w{3,}|\d{3,}")


def shared_weight(message: str, text: str) -> int:
    """Words of the message that the text has, in any inflection of their end; exact names count double."""
    there: dict[str, list[str]] = {}
    for one in _words(text):
        there.setdefault(one[:STEM], []).append(one)
    return sum(
        _weight(word) for word in _words(message) if any(_alike(word, one) for one in there.get(word[:STEM], ()))
    )


def _weight(word: str) -> int:
    return EXACT_WEIGHT if _EXACT.fullmatch(word) else 1


@lru_cache(maxsize=32)
def _words(text: str) -> frozenset[str]:
    text = text[:LOOKED_AT]
    words = {one for one in _WORD.findall(text.casefold()) if one not in SAID_ANYWAY and len(one) >= SHORTEST}
    # What is written without spaces is read by pairs of characters.
    return frozenset({one for one in words if one.isascii() or not grams(one)} | set(grams(text).casefold().split()))


def _alike(one: str, other: str) -> bool:
    """Whether two words are the same but for their ends."""
    stem = max(STEM, max(len(one), len(other)) - END)
    return one == other or (min(len(one), len(other)) >= stem and one[:stem] == other[:stem])
