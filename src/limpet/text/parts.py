"""A long message in parts as long as a question, and which of them speaks of a text. Pure.

What compares a message with a memory knows questions and short messages. In a long one, what has nothing to do with a
memory outweighs what has; and whatever is long has something in common with everything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from .overlap import SAID_ANYWAY

# Characters of a message that are looked at.
READ = 4_000
# Words of a part at most, where the message pauses so often; what is no longer stays whole.
WORDS = 20
# Characters at the beginning of two words that are the same in inflections of one.
STEM = 5
# Compiled, and kept by re's own cache, when a long message comes. Of text in which a run of white space is one blank or
# one new line.
_END = r"(?<=[.!?…])[\"')*”]* |\n"
_PAUSE = r"(?<=[,;:]) | [–—-] "
_BLANKS = r"[^\S\n]+"
_LINES = r" ?\n[ \n]*"
_WORD = r"\w{3,}"


def parts(message: str) -> list[str]:
    """Runs of neighbouring sentences of `WORDS` words at most, each as long as can be; of a longer sentence, of what is
    between its commas. A message of at most so many words as it is, and so is one in a script without blanks: the judge
    does not read those."""
    message = message[:READ]
    if len(message.split()) <= WORDS:
        return [message]
    message = re.sub(_LINES, "\n", re.sub(_BLANKS, " ", message)).strip()
    pieces: list[tuple[str, int]] = []
    for sentence in re.split(_END, message):
        several = [sentence] if len(sentence.split()) <= WORDS else re.split(_PAUSE, sentence)
        pieces += [(one, count) for one in several if (count := len(one.split()))]
    found: list[str] = []
    until = 0
    for first in range(len(pieces)):
        last, words = first + 1, pieces[first][1]
        while last < len(pieces) and words + pieces[last][1] <= WORDS:
            words += pieces[last][1]
            last += 1
        if last > until:  # else it is within the one before
            found.append(" ".join(one for one, _ in pieces[first:last]))
            until = last
    return found or [message]


def nearest(several: Sequence[str], text: str) -> str:
    """The part that has most words of a text; of equals the longest."""
    if len(several) == 1:
        return several[0]
    there = _stems(text)
    return max(several, key=lambda one: (len(_stems(one) & there), len(one)))


@lru_cache(maxsize=256)  # each part is compared with each text
def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:STEM] for word in re.findall(_WORD, text.casefold()) if word not in SAID_ANYWAY)
