"""How texts are cut into words: by SQLite's own tokenizer, for every engine, so that scores are equal."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

# Distinct terms of a query that are looked up.
MAX_TERMS_LOOKED_UP = 400
# Texts whose index terms are kept: topics, names and dates come again and again.
MAX_STEMMED = 10_000
# FTS5 keeps no more of a word, and cuts a longer one even within a character.
MAX_TERM_BYTES = 32_768

_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])


class Tokenizer:
    def __init__(self, con: apsw.Connection | None = None) -> None:
        self._tokenize = (con or apsw.Connection(":memory:")).fts5_tokenizer(*_TOKENIZER)
        self._stemmed: dict[str, frozenset[str]] = {}

    def tokens(self, text: str) -> Iterator[str]:
        """The index terms of a text, in order, as the index has them."""
        for token in self._tokenize(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False):
            yield _bounded(token[0])

    def stems(self, text: str) -> frozenset[str]:
        found = self._stemmed.get(text)
        if found is None:
            found = frozenset(self.tokens(text))
            if len(self._stemmed) >= MAX_STEMMED:
                self._stemmed.clear()
            self._stemmed[text] = found
        return found

    def terms(self, text: str) -> dict[str, str]:
        """Stem -> the word as it was written, for the first terms of the text."""
        raw = text.encode("utf-8", "replace")
        found: dict[str, str] = {}
        for start, end, *stems in self._tokenize(raw, apsw.FTS5_TOKENIZE_QUERY, None):
            term = _bounded(stems[0])
            if term not in found:
                if len(found) >= MAX_TERMS_LOOKED_UP:
                    break
                found[term] = raw[start:end].decode("utf-8", "replace")
        return found


def _bounded(term: str) -> str:
    """Return the characters of a term that the index keeps whole."""
    if len(term) * 4 <= MAX_TERM_BYTES:
        return term
    return term.encode()[:MAX_TERM_BYTES].decode(errors="ignore")
