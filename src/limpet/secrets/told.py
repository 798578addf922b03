"""Secrets that a sentence tells: found by a model that reads the passage, where its words make one likely.

A table of hashed words (training/fit_told.py) says which passages the model reads: few of those that hold no secret, so
that a text without one is stored without loading it.
"""

from __future__ import annotations

import os.path
import re
from functools import lru_cache
from zlib import crc32

# Rows of the table; a passage with this score or more is read by the model.
ROWS, SCALE, READ_FROM = 32_768, 16, 0.0
# Characters of a passage, and of what stands before it that is read with it; passages of one text
# that are read, and how often at most.
PASSAGE, BEFORE, MOST, ROUNDS = 500, 100, 48, 5
# Log-odds from which a part is a secret, and from which a part beside one belongs to it.
SURE_FROM, BESIDE_FROM = 3.0, -1.0
_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_SMALL, _LARGE, _DIGITS, _SIGN = map(re.compile, ("[^\\W\\d_A-Z]+", "[A-Z]+", r"\d+", r"[^\w]|_"))
MARK = "[redacted:password]"
MARKS = re.compile(r"\[redacted:[a-z0-9-]+\]")
# What may stand at either end of a secret without belonging to it.
_ENDS = ".,;:?\"'`()[]{}<>\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u300c\u300d\u2026|*_="


@lru_cache(maxsize=1)
def _table() -> bytes:
    with open(os.path.join(os.path.dirname(__file__), "told.bin"), "rb") as file:  # noqa: PTH118, PTH120, PTH123
        return file.read()


def places(text: str) -> list[int]:
    """Return the rows of the table for what a passage has, each once.

    Its words, the looks of those that are odd, each alone and with the word on either side, and its length.
    """
    words = [word.strip(_ENDS) for word in text.split()]
    has = {f"#{len(word)}" if word.isdigit() else word for word in _WORD.findall(text.lower())}
    odd = [(place, _look(word)) for place, word in enumerate(words) if not word.isalpha()]
    for place, look in odd:
        has |= {look, f"{words[place - 1].lower() if place else ''} {look}"}
        has.add(f"{look} {words[place + 1].lower() if place + 1 < len(words) else ''}")
    has |= {f"length {min(12, len(words) // 3)}", f"odd {min(3, len(odd))}"}
    return sorted({crc32(name.encode(errors="surrogatepass")) % ROWS for name in has})


def _look(word: str) -> str:
    """Return what a word is made of: `Trout-19` is `look Aa-2`."""
    word = _SMALL.sub("a", _LARGE.sub("A", word))
    return "look " + _DIGITS.sub(lambda digits: str(min(len(digits[0]), 9)), _SIGN.sub("-", word))[:8]


def score(text: str) -> float:
    """Return the log-odds that a passage tells a secret, by its words alone."""
    table = _table()
    total = sum(table[place] - 128 for place in places(text)) / SCALE
    return total + int.from_bytes(table[ROWS:], "big", signed=True) / SCALE


def passages(text: str) -> list[tuple[int, int]]:
    """Return the spans of the passages of a text: whole lines where it has them, else words."""
    spans, start = [], 0
    while start < len(text):
        end = start + PASSAGE
        if end < len(text):
            line = text.rfind("\n", start, end) + 1
            end = line if line > start else max(text.rfind(" ", start, end) + 1, start + PASSAGE // 2)
        spans.append((start, min(end, len(text))))
        start = end
    return spans


def is_likely(text: str) -> bool:
    """Return whether the words of a text make a secret likely."""
    return bool(_likely(text))


def _likely(text: str) -> list[tuple[float, int, int, int]]:
    """Return the passages that the model reads: their score, where their context begins, and their span."""
    likely = []
    for start, end in passages(text):
        before = max(0, start - BEFORE)
        if (value := score(text[before:end])) >= READ_FROM:
            likely.append((value, before, start, end))
    return likely


def without_told(text: str) -> str:
    """Return the text with a mark in the place of each secret that it tells. Raises EmbedderUnavailable."""
    for _ in range(ROUNDS):  # what stands beside a secret is read anew without it
        given = text
        chosen = sorted(_likely(text), reverse=True)[:MOST]
        # From the end on, so that the places of those before stay as they are.
        for _, before, start, end in sorted(chosen, key=lambda passage: -passage[2]):
            for first, last in reversed(_told(text[before:end])):
                if last > start - before:
                    text = text[: before + first] + MARK + text[before + last :]
        if text == given:
            break
    return text


@lru_cache(maxsize=4096)  # an import reads the same texts more than once
def _told(passage: str) -> list[tuple[int, int]]:
    """Return the spans of parts that are secrets, whole: with the parts beside them that may belong to them."""
    from ..vectors.tagger import shared
    from .values import is_none

    marks = [mark.span() for mark in MARKS.finditer(passage)]
    tags = [tag for tag in shared().odds(passage) if not any(tag[0] < last and tag[1] > first for first, last in marks)]
    runs: list[list[tuple[int, int, float]]] = []
    for tag in (tag for tag in tags if tag[2] >= BESIDE_FROM):
        if runs and runs[-1][-1][1] == tag[0]:
            runs[-1].append(tag)
        else:
            runs.append([tag])
    sure = [max(odds for _, _, odds in run) >= SURE_FROM for run in runs]
    for order in (range(1, len(runs)), range(len(runs) - 2, -1, -1)):  # a phrase is whole: word by word, either way
        for place in order:
            beside = place - order.step
            first, last = sorted((place, beside))
            if sure[beside] and passage[runs[first][-1][1] : runs[last][0][0]] == " ":
                sure[place] = True
    spans = [
        span
        for run, is_sure in zip(runs, sure, strict=True)
        if is_sure and (span := _trimmed(passage, run[0][0], run[-1][1])) and not is_none(passage, span[0])
    ]
    # A text that is nothing but a value tells nobody what it is for.
    hidden = {place for start, end in spans for place in range(start, end)}
    return [] if all(place in hidden for place, sign in enumerate(passage) if sign.isalnum()) else spans


def _trimmed(passage: str, start: int, end: int) -> tuple[int, int] | None:
    """Return a span without the signs at its ends; None if nothing else is in it."""
    while start < end and passage[start] in _ENDS:
        start += 1
    while end > start and passage[end - 1] in _ENDS:
        end -= 1
    return (start, end) if start < end else None
