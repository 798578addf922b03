"""Is a message worth a look-up? A few structural signs, the same in every language; no lists of words.

The gate only saves time: what passes is still measured by recall, and nothing is injected that does not fit.
"""

from __future__ import annotations

import re

# Characters of a message that are looked at, and that become the query: the beginning and the end of a long one.
HEAD, TAIL = 1_500, 500
# Scripts that are written without spaces: a character of them is about half a word.
_DENSE = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_WORD = re.compile(r"[^\W_]{2,}")
# A question mark of any script.
_QUESTION = re.compile("[?\uff1f\u061f\u037e\u055e\u1367\u2047-\u2049]")
# What names a thing: code marks, paths and dotted names, joined or camel-cased words, numbers, quotes.
_NAME = re.compile(r"`|\w[/\\.]\w|\w_\w|[a-z][A-Z]|[^\W\d_]-?\d|\d[^\W\d_]|[\"“«„「][^\"”»“」]{3,}|\d{2}|#\d|@\w")


def query_of(message: str) -> str:
    """What of a message is looked up; empty when it is not worth it."""
    text = message if len(message) <= HEAD + TAIL else message[:HEAD] + "\n" + message[-TAIL:]
    text = text.strip()
    # A client's own commands and notices, not words to an agent.
    if not text or text.startswith(("/", "!", "<")):
        return ""
    words = len(_WORD.findall(text)) + len(_DENSE.findall(text)) / 2
    if words >= 3 or (words >= 1 and (_QUESTION.search(text) or _NAME.search(text))):
        return text
    return ""
