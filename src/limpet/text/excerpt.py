"""A memory's text on one line, and the part of a long one that speaks of a message. Pure."""

from __future__ import annotations

import re

# Characters of a very long text that are looked at.
LOOKED_AT = 50_000
_WORD = re.compile(r"\w{3,}")
# Joiners that writing needs although they are invisible; every other invisible character could hide something.
_JOINERS = "\u200c\u200d"


def one_line(text: str) -> str:
    """White space becomes single spaces; characters that do not show (controls, overrides, tags) are left out.

    So no text can begin a line of its own, or show something else than it says.
    """
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return "".join(one for one in line if one.isprintable() or one in _JOINERS)


def words_of(text: str) -> frozenset[str]:
    """The words of a message by which passages are chosen, case folded."""
    return frozenset(map(str.casefold, _WORD.findall(text[:LOOKED_AT])))


def excerpt(text: str, words: frozenset[str], limit: int) -> tuple[str, bool]:
    """One line of at most `limit` characters, and whether something was left out.

    Of a longer text the passage with most of `words`; the first of equals. Linear.
    """
    line = one_line(text[: LOOKED_AT + 1])
    if len(line) <= limit and len(text) <= LOOKED_AT:
        return line, False
    start, part = _part(line[:LOOKED_AT], words, max(1, limit - 2))
    return ("…" if start else "") + part + "…", True


def passage(text: str, words: frozenset[str], limit: int) -> str:
    """The same without marks for what is left out; a text of at most `limit` characters as it is."""
    return text if len(text) <= limit else _part(one_line(text[:LOOKED_AT]), words, limit)[1]


def _part(line: str, words: frozenset[str], space: int) -> tuple[int, str]:
    """Where the part with most of the words begins, and it."""
    start = _densest(line, words, space)
    if start:
        # Begin with a word, not within one.
        start = line.find(" ", start, start + 30) + 1 or start
    return start, line[start : start + space].rstrip()


def _densest(line: str, words: frozenset[str], space: int) -> int:
    """Where the window of `room` characters begins that has most of the words, a little before the first of them."""
    places = [(one.start(), word) for one in _WORD.finditer(line) if (word := one[0].casefold()) in words]
    best, where, first = 0, 0, 0
    inside: dict[str, int] = {}
    for last, (place, word) in enumerate(places):
        inside[word] = inside.get(word, 0) + 1
        while place - places[first][0] > space * 3 // 4:
            gone = places[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            first += 1
        if len(inside) > best:
            best, where = len(inside), places[first][0]
        if last > 2_000:
            break
    return max(0, where - space // 8)
