"""Whether words stand in a text, whole: what a person chooses memories by, also to erase them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from .describe import RUN


def all_stand(words: str) -> Callable[[str], bool]:
    """Test whether a text has each of these words somewhere, whatever its case; of none, any text has.

    What is written without spaces is found in any place; an underscore parts words.
    """
    patterns = [re.compile(_whole(word)) for word in words.casefold().split()]
    return lambda text: all(one.search(text.casefold()) for one in patterns)


def _whole(word: str) -> str:
    before = r"(?<![^\W_])" if _parted(word[0]) else ""
    return before + re.escape(word) + (r"(?![^\W_])" if _parted(word[-1]) else "")


def _parted(character: str) -> bool:
    return character.isalnum() and not re.match(RUN, character)
