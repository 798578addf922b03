"""A memory's text on one line; the part of a long memory that is about a message; the part of a long message that is
about a memory; and how many words both have. Pure.

The models that compare a message with a memory know questions and short messages. In a long one, the parts that have
nothing to do with a memory outweigh those that have, and any long text has something in common with everything. One
meaningful word in common is chance ("commit this" and a note on commits); two, or one exact name, seldom are.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache

from .describe import STEM, grams, inflected
from .lexicon import FUNCTION_WORDS

# A text of more characters, which the embedder does not read to its end, is found by its parts too, of about PART
# characters each, longer ones where there would be too many.
LONG, PART, MOST_PARTS = 800, 400, 100
_SENTENCE = r"(?<=[.!?…])\s+|(?<=[。！？])|\n"
# Characters of a very long text that are looked at.
LOOKED_AT = 50_000
_WORD = re.compile(r"\w{3,}")
# Joiners that writing needs although they are invisible; every other invisible character could hide something.
_JOINERS = "\u200c\u200d"


def one_line(text: str) -> str:
    """Return one line: white space becomes single spaces; invisible characters (controls, overrides, tags) go.

    So no text can begin a line of its own, or show something other than it says.
    """
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return "".join(char for char in line if char.isprintable() or char in _JOINERS)


def words_of(text: str) -> frozenset[str]:
    """Return the words of a message by which passages are chosen, case folded."""
    return frozenset(map(str.casefold, _WORD.findall(text[:LOOKED_AT])))


def excerpt(text: str, words: frozenset[str], limit: int, part: str = "") -> tuple[str, bool]:
    """Return one line of at most `limit` characters, and whether something was left out.

    Of a longer text the passage with most of `words`, within a `part` of it if one is given; the first of equals.
    Linear.
    """
    whole = part or text
    line = one_line(whole[: LOOKED_AT + 1])
    if len(line) <= limit - 2 * bool(part) and len(whole) <= LOOKED_AT:
        begin, end = ("" if text.startswith(part) else "…"), ("…" if part else "")
        return f"{begin}{line}{end}", bool(part)
    start, line = _part(line[:LOOKED_AT], words, max(1, limit - 2))
    return ("…" if start or not text.startswith(part) else "") + line + "…", True


def sections(text: str) -> list[str]:
    """Return the parts of a long text, neighbouring sentences and lines; none of another text."""
    if len(text) <= LONG:
        return []
    ends = [match.end() for match in re.finditer(_SENTENCE, text)]
    bounds = [0]
    for end in [*ends, len(text)]:
        while end - bounds[-1] > PART:  # no sentence
            space = text.rfind(" ", bounds[-1] + PART // 2, bounds[-1] + PART) + 1
            bounds.append(space or bounds[-1] + PART)
        bounds.append(end)
    count = min(MOST_PARTS, -(-len(text) // PART))
    parts = [""] * count
    for start, end in itertools.pairwise(bounds):  # into the part that its middle lies in
        parts[(start + end) * count // (2 * len(text) + 1)] += text[start:end]
    return [part.strip() for part in parts if part.strip()]


def passage(text: str, words: frozenset[str], limit: int) -> str:
    """Return an excerpt without marks for what is left out; a text of at most `limit` characters as it is."""
    return text if len(text) <= limit else _part(one_line(text[:LOOKED_AT]), words, limit)[1]


def _part(line: str, words: frozenset[str], space: int) -> tuple[int, str]:
    """Return the part with most of the words, and where it begins: shortly before the first of them."""
    places = [(match.start(), word) for match in _WORD.finditer(line) if (word := match[0].casefold()) in words]
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
    start = max(0, where - space // 8)
    if start:
        # Begin with a word, not within one.
        start = line.find(" ", start, start + 30) + 1 or start
    return start, line[start : start + space].rstrip()


# Characters that are looked at, and the shortest word that counts.
COMPARED, SHORTEST = 20_000, 3
# An exact name (a ticket, an error code) is as seldom a coincidence as two words.
EXACT_WEIGHT = 2
# English function words that can change a statement, and words of messages to an agent on any subject.
SAID_ANYWAY = FUNCTION_WORDS | frozenset(
    "not no can could should would will may might must was were did had some like please use make want need let too "  # noqa: SIM905
    "very now again new other only still".split()
)
PLAIN_WORD = re.compile(r"[^\W_]+")
_EXACT = re.compile(r"(?=\w*\d)(?=\w*[^\W\d_])\w{3,}|\d{3,}")


def shared_weight(message: str, text: str) -> int:
    """Return the weight of the message's words that the text has, with any ending; exact names count double."""
    there: dict[str, list[str]] = {}
    for term in _words(text):
        there.setdefault(term[:STEM], []).append(term)
    return sum(
        EXACT_WEIGHT if _EXACT.fullmatch(word) else 1
        for word in _words(message)
        if any(word == other or inflected(word, other) for other in there.get(word[:STEM], ()))
    )


@lru_cache(maxsize=32)
def _words(text: str) -> frozenset[str]:
    text = text[:COMPARED]
    kept = {word for word in PLAIN_WORD.findall(text.casefold()) if word not in SAID_ANYWAY and len(word) >= SHORTEST}
    # Text without spaces is compared by pairs of characters.
    return frozenset({word for word in kept if word.isascii() or not grams(word)} | set(grams(text).casefold().split()))


# Characters of a message that are looked at.
READ = 4_000
# Words of a part at most, if the message pauses so often; a longer clause stays whole.
WORDS = 20
# Characters at the beginning of two words that are the same in inflections of one.
BEGINNING = 5
# Compiled, and kept by re's own cache, when a long message comes. Of text in which a run of white space is one blank or
# one new line.
_END = r"(?<=[.!?…])[\"')*”]* |\n"
_PAUSE = r"(?<=[,;:]) | [–—-] "
_BLANKS = r"[^\S\n]+"
_LINES = r" ?\n[ \n]*"


def parts(message: str) -> list[str]:
    """Return runs of neighbouring sentences, each as long as `WORDS` words allow; a longer sentence is cut at its
    commas. A message of at most so many words stays whole, and so does one in a script without spaces: the judge does
    not read those."""
    message = message[:READ]
    if len(message.split()) <= WORDS:
        return [message]
    message = re.sub(_LINES, "\n", re.sub(_BLANKS, " ", message)).strip()
    pieces: list[tuple[str, int]] = []
    for sentence in re.split(_END, message):
        clauses = [sentence] if len(sentence.split()) <= WORDS else re.split(_PAUSE, sentence)
        pieces += [(clause, count) for clause in clauses if (count := len(clause.split()))]
    parts: list[str] = []
    until = 0
    for first in range(len(pieces)):
        last, words = first + 1, pieces[first][1]
        while last < len(pieces) and words + pieces[last][1] <= WORDS:
            words += pieces[last][1]
            last += 1
        if last > until:  # else it is within the one before
            parts.append(" ".join(piece for piece, _ in pieces[first:last]))
            until = last
    return parts or [message]


def nearest(parts: Sequence[str], text: str) -> str:
    """Return the part that has most words of a text; of equals the longest."""
    if len(parts) == 1:
        return parts[0]
    there = _stems(text)
    return max(parts, key=lambda part: (len(_stems(part) & there), len(part)))


@lru_cache(maxsize=256)  # each part is compared with each text
def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:BEGINNING] for word in _WORD.findall(text.casefold()) if word not in SAID_ANYWAY)
