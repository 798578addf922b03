"""Full text in SQL: BM25 in two phases.

The filter comes before ranking: it returns only what its scopes and topics let pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import apsw

from .. import lexical
from ..records import Filter, LexicalHit, LexicalResult
from ..sql.filters import filtered, scope_token, visible, was_left
from ..sql.statements import statements
from ..sql.tokenizer import Tokenizer

# What a search may take for each text of a large store: with less time until its deadline it is not begun.
SECONDS_PER_TEXT = 2e-7
# BM25 over text, topics, labels, dates, pairs of characters; a word of a label counts half: the recorded benchmark.
_SCORED = (
    "SELECT rowid, bm25(body_fts, 1, 1, 0.5, 1, 0, 1) AS score FROM body_fts WHERE body_fts MATCH ?"
    " ORDER BY score, rowid LIMIT ?"
)
_PROGRESS_STEPS = 5_000
_FOUND = "SELECT rowid AS body FROM body_fts WHERE body_fts MATCH :expression"


class Lexical(Tokenizer):
    """Full-text search on one connection, with its document frequencies cached until the store changes."""

    def __init__(self, con: apsw.Connection) -> None:
        super().__init__(con)
        self._con = con
        self._frequencies: dict[str, int] = {}
        self._version = -1
        self._texts = 0

    def search(
        self, text: str, where: Filter, *, limit: int | None, version: int, deadline: float | None
    ) -> LexicalResult:
        """Best texts for any text whatever: its words are looked up, never interpreted.

        Two phases: rows come from the rarest terms, every term then counts in the BM25 of those rows.
        """
        if version != self._version:
            self._frequencies.clear()
            self._version = version
            self._texts = self._con.execute("SELECT ifnull(max(num), 0) FROM body").get
        if deadline is not None and deadline - time.monotonic() < self._texts * SECONDS_PER_TEXT:
            # FTS5 looks at no clock while it goes through a common word's list.
            return LexicalResult(hits=[], stems={}, weight=0.0, complete=False)
        terms = self.terms(text)
        useful, rare = lexical.choose(terms, self._frequency, self._texts, self)
        within = self._within(where)
        if not useful or within is None:
            return LexicalResult(hits=[], stems={}, weight=0.0)
        words = [terms[term] for _, term in useful]
        expression, factor = _expression(words[:rare], words[rare:])
        expression = " AND ".join([*within, f"({expression})"])
        absent = [stem for stem in terms if not self._frequency(stem)]
        if lexical.is_small(self._texts):
            return self._small(expression, useful, absent, limit)
        stems = lexical.worth(useful, self._texts)
        scored, complete = self._scored(expression, limit, deadline)
        return LexicalResult(
            hits=[LexicalHit(body, -score / factor) for body, score in scored],
            stems=stems,
            weight=sum(stems.values()),
            complete=complete,
            more=len(scored) == limit,
            absent=lexical.absent_worth(len(absent), self._texts),
        )

    def _small(
        self, expression: str, useful: list[tuple[int, str]], absent: list[str], limit: int | None
    ) -> LexicalResult:
        matching = self._con.execute(
            "SELECT num, concat_ws(' ', content, grams), concat_ws(' ', topics, labels, dates) FROM body"
            " WHERE num IN (SELECT rowid FROM body_fts WHERE body_fts MATCH ?)",
            (expression,),
        )
        return lexical.small_result(self, self._texts, useful, absent, matching, limit)

    def _frequency(self, stem: str) -> int:
        known = self._frequencies.get(stem)
        if known is None:
            known = self._con.execute("SELECT doc FROM body_terms WHERE term = ?", (stem,)).get or 0
            self._frequencies[stem] = known
        return known

    def _within(self, where: Filter) -> list[str] | None:
        """Index expressions that every row must match: topics, and small scopes. None: nothing can."""
        found = []
        if where.known_at is None:
            found = topic_expressions(where.topics, self.stems)
        if where.scopes is None or (where.known_at is not None and was_left(self._con, where.scopes)):
            return found
        names = ", ".join("?" * len(where.scopes))
        tokens = [
            scope_token(row[0])
            for row in self._con.execute(f"SELECT num FROM scope WHERE name IN ({names})", where.scopes)
        ]
        if not tokens:
            return None
        # A scope that holds most rows anyway restricts nothing.
        if sum(map(self._frequency, tokens)) * 2 <= self._texts:
            found.append(f"scope : ({' OR '.join(tokens)})")
        return found

    def _scored(
        self, expression: str, most: int | None, deadline: float | None
    ) -> tuple[list[tuple[int, float]], bool]:
        """(text id, score) best first, lower is better as FTS5 has it; at most `most`."""
        try:
            with interrupted(self._con, deadline):
                return self._con.execute(_SCORED, (expression, -1 if most is None else most)).fetchall(), True
        except apsw.InterruptError:
            return [], False


@contextmanager
def interrupted(con: apsw.Connection, deadline: float | None) -> Iterator[None]:
    """Statements inside end with apsw.InterruptError when the deadline comes."""
    if deadline is None:
        yield
        return
    con.set_progress_handler(lambda: time.monotonic() > deadline, _PROGRESS_STEPS)
    try:
        yield
    finally:
        con.set_progress_handler(None)


def topic_expressions(topics: Iterable[str], stems: Callable[[str], frozenset[str]]) -> list[str]:
    """For each topic the index expression that its rows match, some others too; none for one without words."""
    return ['topics : "' + topic.replace('"', '""') + '"' for topic in topics if stems(topic)]


def allowed(con: apsw.Connection, where: Filter, stems: Callable[[str], frozenset[str]]) -> list[int]:
    """Every text that passes the filter, found by topic or session where one is asked for."""
    topics = topic_expressions(where.topics, stems) if where.known_at is None else []
    if topics:
        condition, bound = visible(where)
        statement = statements()["allowed_of_topic"].replace("{visible}", condition).replace("{found}", _FOUND)
        bound["expression"] = " AND ".join(topics)
    else:
        statement, bound = filtered("allowed_of_session" if where.session is not None else "allowed", where)
    return [row[0] for row in con.execute(statement, bound)]


def _expression(rare: list[str], common: list[str]) -> tuple[str, int]:
    """FTS5 expression whose rows come from the rare words, and the factor by which it multiplies BM25.

    `(rare) AND (rare OR common OR common)`: FTS5 counts a phrase once for every place in the expression, so rare and
    common words both count twice; the common ones are looked up only in the rows of the rare ones.
    """
    quoted = [f'"{word}"' for word in (w.replace('"', '""') for w in rare)]
    if not common:
        return " OR ".join(quoted), 1
    twice = [f'"{word}" OR "{word}"' for word in (w.replace('"', '""') for w in common)]
    return f"({' OR '.join(quoted)}) AND ({' OR '.join(quoted + twice)})", 2
