"""What limpet must beat: plain BM25 and plain vectors, over the same texts, without anything of limpet's ranking.

BM25 is SQLite's FTS5 with its porter stemmer over one column, every word of the question an alternative, common words
left out. Vectors are the embedder's own, compared exactly. Both rank everything there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import numpy as np

from limpet.store.lexical import COMMON_WORDS

BASELINES = ("plain BM25", "plain vectors")
_WORD = re.compile(r"\w+")
_STOP = frozenset(COMMON_WORDS.split())


class Baselines:
    """Texts by id, to be ranked for a question in each of the plain ways."""

    def __init__(self, texts: dict[str, str], embedder: Any) -> None:
        self._ids = list(texts)
        self._embedder = embedder
        self._vectors = embedder.embed_passages(list(texts.values())) if texts else np.zeros((0, 1))
        self._con = apsw.Connection(":memory:")
        self._con.execute("CREATE VIRTUAL TABLE t USING fts5 (content, tokenize = 'porter unicode61')")
        self._con.executemany("INSERT INTO t (rowid, content) VALUES (?, ?)", enumerate(texts.values(), 1))

    def rankings(self, question: str, k: int, among: Sequence[str] | None = None) -> Iterator[tuple[str, list[str]]]:
        """(baseline, the best `k` ids); `among`: only these may be found."""
        allowed = None if among is None else set(among)

        def kept(ranking: Iterator[str]) -> list[str]:
            found = []
            for one in ranking:
                if allowed is None or one in allowed:
                    found.append(one)
                    if len(found) == k:
                        break
            return found

        yield BASELINES[0], kept(self._by_words(question))
        yield BASELINES[1], kept(self._by_meaning(question))

    def _by_words(self, question: str) -> Iterator[str]:
        words = [word for word in _WORD.findall(question.casefold()) if word not in _STOP]
        if not words:
            return
        expression = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        for (row,) in self._con.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank, rowid", (expression,)):
            yield self._ids[row - 1]

    def _by_meaning(self, question: str) -> Iterator[str]:
        cosines = self._vectors @ self._embedder.embed_query(question)
        yield from (self._ids[i] for i in np.argsort(-cosines, kind="stable").tolist())
