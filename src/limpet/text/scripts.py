"""Which scripts a text is written in."""

from __future__ import annotations

import re

_FOREIGN = re.compile("[^\\W\\d_\u0000-\u024f]")
_LETTER = re.compile(r"[^\W\d_]")


def latin_share(text: str) -> float:
    """The share of a text's letters that are Latin; 1 for a text without letters."""
    if text.isascii():
        return 1.0
    letters = len(_LETTER.findall(text))
    return 1.0 - len(_FOREIGN.findall(text)) / letters if letters else 1.0
