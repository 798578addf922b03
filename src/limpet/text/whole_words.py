"""Whether words stand in a text, whole: what a person names a memory by, also to erase it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .grams import RUN


def stand(words: Sequence[str], *, beginning: bool = False) -> Callable[[str], bool]:
    """Whether a text has these words one after the other, whatever its case. `words`: casefolded, none empty.

    `beginning`: that of a word will do, but a number is one only whole. What is written without spaces is found in any
    place; an underscore parts words.
    """
    first, last = words[0][0], words[-1][-1]
    before = r"(?<![^\W_])" if _parted(first) else ""
    after = (r"(?!\d)" if last.isdigit() else "") if beginning else r"(?![^\W_])" if _parted(last) else ""
    pattern = re.compile(before + r"\s+".join(map(re.escape, words)) + after)
    return lambda text: pattern.search(text.casefold()) is not None


def all_stand(words: str) -> Callable[[str], bool]:
    """Whether a text has each of these words somewhere; of none, any text has."""
    tests = [stand([word]) for word in words.casefold().split()]
    return lambda text: all(test(text) for test in tests)


def _parted(character: str) -> bool:
    return character.isalnum() and not re.match(RUN, character)
