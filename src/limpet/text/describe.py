"""The words of a memory that the search index reads beside its text: dates, pairs of characters, parts of names.

Chinese and Japanese have no spaces, and Korean joins particles to its nouns, so a word of the question is a part of a
longer run. Any word of two characters or more shares its pairs with the run that holds it. And `rateLimiter` is found
by "rate limiter"; `rate_limiter` is two words to the index anyway.

Also a test whether whole words are in a text: people choose memories by it, even to erase them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime

from ..model.clock import MICROSECONDS_PER_SECOND
from ..model.memory import RUN
from .normalise import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model.state import MemoryState, SearchFields

WORD = re.compile(r"\w+")
MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
# Names of metadata that limpet writes itself: in every memory of a source, they tell none from another.
OWN_NAMES = frozenset(("adapter", "client", "document", "evidence", "file", "heading", "organized", "rule"))
# A letter, and one that is not Latin.
_LETTER, _FOREIGN = r"[^\W\d_]", "[^\\W\\d_\u0000-\u024f]"
# Whether a text has any: most have none, and this runs at every write.
_MIX = "[a-z0-9][A-Z]|[A-Z]{2}[a-z]"
# Names in mixed case, and where they part: rateLimiter, HTTPServer, parseURL2.
_MIXED = r"\b[A-Za-z]{1,40}?[a-z0-9][A-Z][A-Za-z0-9]{0,60}\b|\b[A-Z]{2,40}[a-z][A-Za-z0-9]{0,60}\b"
_PART = r"[A-Z]{2,}(?=[A-Z][a-z]|\b|\d)|[A-Z]?[a-z]+|[A-Z]+|\d+"


def describe(state: MemoryState, mark: int | None = None) -> SearchFields:
    """Search fields of a memory's state; all None for one without content. `mark`: its fingerprint, if known."""
    from ..model.state import SearchFields  # a recall does without it

    if state.content is None:
        return SearchFields(None, None, None, None)
    words = labels(state.metadata)
    if state.speaker:
        words.append(state.speaker)
    if state.key:
        words.append(key_words(state.key))
    if mark is None:
        mark = fingerprint(state.scope, state.kind, state.speaker, state.key, state.content)
    topics = " ".join(state.topics)
    pairs = grams(f"{state.content} {topics}")
    return SearchFields(mark, topics or None, " ".join(words) or None, date_words(state.valid_from), pairs or None)


def key_words(key: str) -> str:
    """Return the words of a key: `user.home_city` -> "user home city"."""
    return " ".join(WORD.findall(key.replace("_", " ")))


def searchable(text: str, key: str | None, named: Iterable[str] = ()) -> str:
    """Return the text as models read it: with its key, since "Tampa" alone says nothing, and its topics or what else it
    is `named`."""
    text = text if key is None else f"{key_words(key)}: {text}"
    names = " ".join(named)
    return f"{text} ({names})" if names else text


def labels(metadata: Mapping[str, Any]) -> list[str]:
    """Return metadata as words, a name with its value each: "priority 2". Of records within them only the values."""
    return [
        " ".join((*(() if name in OWN_NAMES or isinstance(value, dict) else (name,)), *leaves(value)))
        for name, value in metadata.items()
    ]


def leaves(value: Any) -> Iterator[str]:
    """Yield the texts and numbers in nested metadata, in order; no keys, true or false."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def date_words(at: int) -> str:
    """Return a time in words for the index: "friday 7 may 2023"; "" beyond the calendar. `at`: microseconds UTC."""
    try:
        day = datetime.fromtimestamp(at // MICROSECONDS_PER_SECOND, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{WEEKDAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]} {day.year}"


def grams(text: str) -> str:
    """Return the character pairs of every run without spaces and the parts of names in mixed case, in order, separated
    by spaces; "" for a text without."""
    pairs: list[str] = []
    if re.search(_MIX, text):
        for name in re.findall(_MIXED, text):
            parts = re.findall(_PART, name)
            pairs += parts if len(parts) > 1 else []
    if text.isascii():
        return " ".join(pairs)
    for run in re.findall(RUN + "{2,}", unicodedata.normalize("NFKC", text)):
        pairs += [run[i : i + 2] for i in range(len(run) - 1)]
    return " ".join(pairs)


def with_grams(query: str) -> str:
    """Return a query for full text: its words and its pairs."""
    pairs = grams(query)
    return f"{query} {pairs}" if pairs else query


# Letters that two forms of a word have in common at least, and how many their ends may differ in.
STEM, END = 4, 3


def letters(word: str) -> str:
    """Return a word by its letters: a syllable of Hangul has two or three."""
    return word if word.isascii() else unicodedata.normalize("NFD", word)


def beginning(word: str) -> str:
    """Return what every form of a word begins with; "" for a word that is too short to have one."""
    stem = max(STEM, len(letters(word)) - END)
    if len(letters(word)) < STEM:
        return ""
    while len(letters(word)) > stem and len(word) > 1:
        word = word[:-1]
    return word


def inflected(word: str, other: str) -> bool:
    """Return whether two words are the same but for their ends, in letters: one with another number is another code."""
    word, other = letters(word), letters(other)
    stem = max(STEM, max(len(word), len(other)) - END)
    same = min(len(word), len(other)) >= stem and word[:stem] == other[:stem]
    return same and not any(map(str.isdigit, word[stem:] + other[stem:]))


# Models of Latin letters understand a text with this share of them.
LATIN = 0.5


def latin_share(text: str) -> float:
    """Return the share of a text's letters that are Latin; 1 for a text without letters."""
    if text.isascii():
        return 1.0
    letters = len(re.findall(_LETTER, text))
    return 1.0 - len(re.findall(_FOREIGN, text)) / letters if letters else 1.0


def all_stand(words: str) -> Callable[[str], bool]:
    """Return a test whether a text has all these words, in any case; without words, every text passes.

    A word of a script without spaces is found anywhere in a text; an underscore separates words.
    """
    patterns = []
    for word in words.casefold().split():
        begins, ends = (char.isalnum() and not re.match(RUN, char) for char in (word[0], word[-1]))
        before, after = r"(?<![^\W_])" if begins else "", r"(?![^\W_])" if ends else ""
        patterns.append(before + re.escape(word) + after)
    return lambda text: all(re.search(pattern, text.casefold()) for pattern in patterns)
