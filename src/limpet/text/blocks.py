"""Blocks of recalled text in a prompt: their markers, what keeps a memory from leaving its block, and taking them out.

What limpet injected comes back in what clients hand to hooks and keep in transcripts. It is taken out before anything
is stored, so that no memory is ever fed by its own echo.
"""

from __future__ import annotations

import re

OPEN = "<limpet-memory>"
CLOSE = "</limpet-memory>"
# (how an injected block begins, how it ends): ours, and what Gemini CLI wraps hook output in.
_BLOCKS = ((OPEN, CLOSE), ("<hook_context>", "</hook_context>"))
# What would end the block, or begin a turn or a system text, for a model that reads on. `<` and its look-alikes.
_MARKER = re.compile(
    r"[<\uff1c\ufe64\u2039\u3008](?=\s{0,3}[/|!\[]{0,2}\s{0,3}(?:limpet|hook_|system|assistant|user|human|developer|im_|sys|inst|"
    r"instruction|tool_|function_|endoftext|antml))",
    re.IGNORECASE,
)
# Line ends, controls, half characters, and what hides text from people: one line of plain text stays.
_UNSEEN = re.compile(
    "[\x00-\x20\x7f-\xa0\u200b\u2028-\u202e\u2060\u2066-\u2069\ud800-\udfff\ufeff\U000e0000-\U000e007f]+"
)


def plain_line(text: str, limit: int) -> str:
    """A memory as one line that cannot end its block or pose as another speaker, of `limit` characters at most."""
    # Cut first: a text of a megabyte costs no more than its beginning.
    line = _MARKER.sub("\u2039 ", _UNSEEN.sub(" ", text[: 2 * limit + 200])).strip()
    return line if len(line) <= limit and len(text) <= 2 * limit + 200 else line[: limit - 1].rstrip() + "…"


def strip_blocks(text: str) -> str:
    """The text without what was injected into it. A block that is not closed is taken out up to the next empty line."""
    for begin, end in _BLOCKS:
        kept, place = [], 0
        while (start := text.find(begin, place)) >= 0:
            kept.append(text[place:start])
            stop = text.find(end, start)
            if stop >= 0:
                place = stop + len(end)
            else:
                stop = text.find("\n\n", start)
                place = stop if stop >= 0 else len(text)
        text = "".join(kept) + text[place:]
    return text.strip()
