"""In which script a text is written."""

from __future__ import annotations

import re

_FOREIGN = "[^\\W\\d_\u0000-\u024f]"
_LETTER = r"[^\W\d_]"


def latin_share(text: str) -> float:
    """The share of a text's letters that are Latin; 1 for a text without letters."""
    if text.isascii():
        return 1.0
    letters = len(re.findall(_LETTER, text))
    return 1.0 - len(re.findall(_FOREIGN, text)) / letters if letters else 1.0
