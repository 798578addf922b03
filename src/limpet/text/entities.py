"""Named things in a text, found by their form alone: symbols of code, flags, paths, URLs, identifiers, names, quotes.

No model and no list of words: what is written like a name is one. A thing is known by its folded name, which is the
same for `RateLimiter`, `rate_limiter` and "rate limiter".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from .describe import MONTHS, WEEKDAYS
from .lexicon import FUNCTION_WORDS, NEGATORS

# Characters of a text that are read, things that one text names, and characters of a name. A text hardly speaks of what
# it names later.
READ, MOST, LONGEST = 4_000, 24, 120

# Each part begins at a boundary and has bounds, so that no text takes long. Plain words come first: they are most of a
# text, and passed over whole.
_THINGS = r"""
    (?P<plain>[ ,;]+|\b\w{81,}|(?!port[ ]\d)(?<![\w/.@~#-])[a-zß-öø-ÿ]{1,40}(?=[\s,;?!)]|[.:](?:\s|$)|$))
  | (?P<url>\bhttps?://[^\s<>"'`)\]]{3,200})
  | (?P<quoted>`[^`\n]{2,80}`|"[^"\n]{2,60}"|“[^”\n]{2,60}”|「[^」\n]{1,40}」|『[^』\n]{1,40}』)
  | (?P<path>(?<![\w/.])(?:~|\.{1,2}|[A-Za-z_@][\w.@-]{0,60})?(?:/[\w.@{}%+-]{1,60}){1,12}/?
            |(?<![\w-])[\w-]{1,60}\.(?:py|js|ts|tsx|jsx|go|rs|java|kt|rb|php|c|h|cpp|cs|swift|sql|sh|md|txt|json|toml|ya?ml
                             |ini|cfg|conf|env|lock|html|css|csv|xml|proto|tf|log|db)\b)
  | (?P<flag>(?<![\w-])--[a-z][\w-]{1,40})
  | (?P<ticket>\b[A-Z][A-Z0-9]{1,9}-\d{1,8}\b|(?<![\w&])\#\d{1,8}\b)
  | (?P<sha>\b(?=[a-f]{0,39}\d)(?=\d{0,39}[a-f])[0-9a-f]{7,40}\b)
  | (?P<version>\bv?\d{1,5}\.\d{1,5}(?:\.\d{1,5}){1,3}\b|\bv\d{1,5}(?:\.\d{1,5})?\b)
  | (?P<port>(?:\bport\s|(?<=[^\W\d]):)\d{2,5}\b|(?<=\d):\d{3,5}\b)        # 18:00 is a time
  | (?P<code>\b[A-Za-z]\w{0,60}(?:(?:::|->|\.)[A-Za-z_]\w{1,60}){1,5}(?:\(\))?  # db.pool, Engine::run
            |\b[A-Za-z]\w{0,60}\(\)
            |\b[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,8}\b           # pool_size, MAX_ROWS
            |\b[a-z]{1,40}[a-z0-9]{0,20}(?:[A-Z][A-Za-z0-9]{0,40}){1,6}\b       # rateLimiter
            |\b(?:[A-Z][a-z0-9]{1,40}){2,6}\b                                    # RateLimiter
            |\b[A-Z][A-Z0-9]{1,12}\b)                                            # WAL, S3
  | (?P<name>\b[A-ZÀ-ÖØ-ÞΑ-ΩА-Я][^\W\d_]{1,40}\b(?!['’](?:t|ll|re|ve|d|m)\b)
             (?:[ '’-](?:(?:of|de|van|von|der|la|le)[ ])?[A-ZÀ-ÖØ-ÞΑ-ΩА-Я][^\W_]{1,40}){0,3})
"""
_PARTS = r"[A-Z]{2,}(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+"
_DATES = {*WEEKDAYS, *(f"{day}s" for day in WEEKDAYS), *MONTHS, "today", "yesterday", "tomorrow"}
_NO_NAME = FUNCTION_WORDS | NEGATORS | _DATES | {"i", "ok", "yes"}


class Entity(NamedTuple):
    """A thing that a text names. `name` as it is written, `folded` as it is known."""

    kind: str  # url, path, code, flag, identifier, quoted, name
    name: str
    folded: str


def entities(text: str) -> list[Entity]:
    """Return the things that a text names, in their order, each once; at most `MOST`."""
    by_name: dict[str, Entity] = {}
    for entity in _all(text[:READ]):
        if 1 < len(entity.folded) <= LONGEST:
            by_name.setdefault(entity.folded, entity)
            if len(by_name) == MOST:
                break
    return list(by_name.values())


def _all(text: str) -> Iterator[Entity]:
    for match in re.finditer(_THINGS, text, re.VERBOSE):
        kind, written = match.lastgroup or "", match[0]
        if kind == "quoted":
            inner = written[1:-1].strip()
            if len(inner.split()) <= 6:
                yield Entity("quoted", inner, as_words(inner))
            yield from (entity for entity in _all(inner) if entity.kind != "name")
        elif kind == "url":
            written = written.rstrip(".,;:!?")
            yield Entity("url", written, written.casefold().rstrip("/"))
        elif kind == "path":
            written = written.rstrip(".")
            if written[0] in "/~." or "." in written or written.count("/") > 1:  # not "and/or"
                yield Entity("path", written, written.casefold().rstrip("/"))
        elif kind == "code":
            yield Entity("code", written, as_words(written))
        elif kind == "name":
            yield from _names(written)
        elif kind == "port":
            port = "port " + written.lstrip("port :")
            yield Entity("identifier", port, port)
        elif kind == "flag":
            yield Entity("flag", written, written.casefold())
        elif kind != "plain":
            yield Entity("identifier", written, written.casefold().lstrip("#" if kind == "ticket" else "v"))


def _names(name: str) -> Iterator[Entity]:
    """Yield a name and its parts. A common word that begins a sentence has a capital too, but is no name."""
    parts = name.split(" ")
    while parts and parts[0].casefold() in _NO_NAME:
        del parts[0]
    while parts and parts[-1].casefold() in _NO_NAME:
        del parts[-1]
    if not parts:
        return
    whole = " ".join(parts)
    yield Entity("name", whole, as_words(whole))
    if len(parts) > 1:
        yield from (Entity("name", part, as_words(part)) for part in parts if part.casefold() not in _NO_NAME)


def as_words(name: str) -> str:
    """Return a name as words: `RateLimiter`, `rate_limiter` and "Rate limiter" are "rate limiter"."""
    folded = unicodedata.normalize("NFKC", name)
    return " ".join(part.casefold() for part in re.findall(_PARTS, folded))
