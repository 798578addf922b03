"""The gate: whether a message is worth a look-up. A few structural signs, the same in every language, no words.

The gate only saves time: recall still measures what passes, and nothing is injected that does not fit. It uses no
regular expressions: compiling them would take longer than all the rest.
"""

from __future__ import annotations

from itertools import pairwise

# Characters at the beginning and the end of a long message that are read, and that become the query.
HEAD, TAIL = 1_500, 500
# A message of so many words is always looked up; a shorter one needs a sign.
WORDS = 3
# Words of a message that are searched for a sign.
LOOKED_AT = 40
# Scripts that are written without spaces: a character of them is about half a word.
_DENSE = (("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u3040", "\ud7af"))
_QUESTIONS = "?\uff1f\u061f\u037e\u055e\u1367\u2047\u2049"
_QUOTES = '"\u201c\u00ab\u201e\u300c`'


def query_of(message: str) -> str:
    """Return the part of a message to look up; "" if it is not worth a recall."""
    text = message if len(message) <= HEAD + TAIL else message[:HEAD] + "\n" + message[-TAIL:]
    text = text.strip()
    # `opencode run` puts a message into quotation marks: it is no phrase to be found word for word.
    if text.count('"') == 2 and text[0] == text[-1] == '"':
        text = text[1:-1].strip()
    # A client's own commands and notices, not words to an agent.
    if not text or text.startswith(("/", "!", "<")):
        return ""
    words, named = 0.0, any(mark in text for mark in _QUESTIONS + _QUOTES)
    for long in text.split(maxsplit=LOOKED_AT)[:LOOKED_AT]:
        word = long[:60]
        # A run of characters in a script without spaces counts for half as many words.
        dense = sum(any(low <= char <= high for low, high in _DENSE) for char in word[:20])
        words += dense / 2 if dense else float(sum(map(str.isalnum, word[:20])) >= 2)
        named = named or _names_something(word)
        if words >= WORDS or (named and words >= 1):
            return text
    return ""


def _names_something(word: str) -> bool:
    """Return whether a word is a number, a path or dotted name, a joined or camel-cased word, or a handle."""
    inner = word[1:-1]
    return (
        sum(map(str.isdigit, word)) >= 2
        or any(mark in word for mark in "_\\@#")
        or any(mark in inner for mark in "/.:")
        or any(left.islower() and right.isupper() for left, right in pairwise(word))
    )
