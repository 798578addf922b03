"""Search in the file: BM25 in two phases, and chunks of codes.

The filter comes before ranking: only texts that its scopes and topics let pass are returned.
"""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Iterator, Sequence
from itertools import repeat

import apsw

from ...model.memory import Filter
from .. import lexical
from ..records import NO_HITS, LexicalResult, NewVector, VectorChunk
from ..sql.search import CHUNK_SLOTS, Search, Tokenizer, Vectors
from ..sql.statements import filtered, scope_token
from ..sql.store import TimedOut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..sql.store import Store
    from .feed import SqliteFeed

# Seconds that a search may take for each text of a large store: with less time until its deadline it does not begin.
SECONDS_PER_TEXT = 2e-7
# BM25 over text, topics, labels, dates, pairs of characters; a word of a label counts half: the recorded benchmark.
_SCORED = (
    "SELECT rowid, bm25(body_fts, 1, 1, 0.5, 1, 0, 1) AS score FROM body_fts WHERE body_fts MATCH ?"
    " ORDER BY score, rowid LIMIT ?"
)
# Number, text with its pairs of characters, and the words of its fields, of each text that matches in a small store.
_MATCHING = (
    "SELECT num, content || ' ' || coalesce(grams, ''), concat_ws(' ', topics, labels, dates) FROM body"
    " WHERE num IN (SELECT rowid FROM body_fts WHERE body_fts MATCH ?)"
)
_PROGRESS_STEPS = 5_000
_FOUND = "SELECT rowid AS body FROM body_fts WHERE body_fts MATCH :expression"


class SqliteSearch(Search):
    """Full text by FTS5, with document frequencies held until the store changes."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.tokenizer = Tokenizer()
        self._as_of: tuple[object, int] = (None, -1)  # connection and version
        self._frequencies: dict[str, int] = {}
        self._texts = 0

    def _feed(self) -> SqliteFeed:
        from .feed import SqliteFeed

        with self._database.reading() as con:
            return SqliteFeed(self._store, con, self.tokenizer)

    def lexical(self, text: str, where: Filter, *, limit: int | None, deadline: float | None = None) -> LexicalResult:
        """Return the best texts for any text: its words are looked up, never interpreted.

        Two phases: rows come from the rarest terms, every term then counts in the BM25 of those rows.
        """
        with self._database.reading() as con:
            if (as_of := (con, self._database.version(con))) != self._as_of:
                self._as_of, self._frequencies = as_of, {}
                self._texts = con.execute("SELECT ifnull(max(num), 0) FROM body").get
            if deadline is not None and deadline - time.monotonic() < self._texts * SECONDS_PER_TEXT:
                return NO_HITS._replace(complete=False)  # FTS5 looks at no clock while it reads a common word's list
            terms = self.tokenizer.terms(text)
            frequencies, absent = {}, []
            for stem in terms:
                frequencies[stem] = self._frequency(con, stem)
                if not frequencies[stem]:
                    absent.append(stem)
            useful, rare = lexical.choose(frequencies, self._texts, self.tokenizer)
            within = self._within(con, where)
            if not useful or within is None:
                return NO_HITS
            words = [terms[term] for _, term in useful]
            expression, factor = _expression(words[:rare], words[rare:])
            expression = " AND ".join([*within, f"({expression})"])
            if self._texts <= lexical.SMALL_STORE:
                matching = con.execute(_MATCHING, (expression,))
                return lexical.small_result(self.tokenizer, self._texts, useful, absent, matching, limit)
            stems = lexical.worth(useful, self._texts)
            scored, complete = [], False
            with self.until(deadline):
                scored = con.execute(_SCORED, (expression, -1 if limit is None else limit)).fetchall()
                complete = True
            return LexicalResult(
                hits={body: -score / factor for body, score in scored},
                stems=stems,
                weight=sum(stems.values()),
                complete=complete,
                more=len(scored) == limit,
                absent=lexical.absent_worth(len(absent), self._texts),
            )

    def _frequency(self, con: apsw.Connection, stem: str) -> int:
        known = self._frequencies.get(stem)
        if known is None:
            known = con.execute("SELECT doc FROM body_terms WHERE term = ?", (stem,)).get or 0
            self._frequencies[stem] = known
        return known

    def _within(self, con: apsw.Connection, where: Filter) -> list[str] | None:
        """Index expressions that every row must match: topics, and small scopes. None: nothing can."""
        expressions = self.topic_expressions(where)
        if where.scopes is None or (where.known_at is not None and self.was_left(where.scopes)):
            return expressions
        tokens, held = [], 0
        for num in self.scope_numbers(where.scopes):
            tokens.append(scope_token(num))
            held += self._frequency(con, tokens[-1])
        if not tokens:
            return None
        # A scope that holds most rows anyway restricts nothing.
        if held * 2 <= self._texts:
            expressions.append(f"scope : ({' OR '.join(tokens)})")
        return expressions

    @contextlib.contextmanager
    def until(self, deadline: float | None) -> Iterator[None]:
        with self._database.reading() as con, contextlib.suppress(apsw.InterruptError, TimedOut):
            if deadline is not None:
                con.set_progress_handler(lambda: time.monotonic() > deadline, _PROGRESS_STEPS)
            try:
                yield
            finally:
                con.set_progress_handler(None)

    def topic_expressions(self, where: Filter) -> list[str]:
        """Return for each topic an index expression that its rows match, and some others too; [] without words or as of
        before: the index has only today's topics."""
        expressions = []
        for topic in where.topics if where.known_at is None else ():
            if self.tokenizer.counts(topic):
                expressions.append('topics : "' + topic.replace('"', '""') + '"')
        return expressions

    def allowed(self, where: Filter) -> list[int]:
        topics = self.topic_expressions(where)
        if topics:
            statement, bound = filtered("allowed_of_topic", where)
            statement = statement.replace("{found}", _FOUND)
            bound["expression"] = " AND ".join(topics)
        else:
            statement, bound = filtered("allowed_of_session" if where.session is not None else "allowed", where)
        return [row[0] for row in self._database.rows(statement, bound)]


def _expression(rare: list[str], common: list[str]) -> tuple[str, int]:
    """Return the FTS5 expression whose rows come from the rare words, and its factor of BM25.

    `(rare) AND (rare OR common OR common)`: FTS5 counts a phrase once for every place in the expression, so rare and
    common words both count twice; the common ones are looked up only in the rows of the rare ones.
    """
    quoted = ['"' + word.replace('"', '""') + '"' for word in [*rare, *common]]
    first, others = quoted[: len(rare)], quoted[len(rare) :]
    if not others:
        return " OR ".join(first), 1
    return f"({' OR '.join(first)}) AND ({' OR '.join([*first, *others, *others])})", 2


def new_chunk(con: apsw.Connection, embedder: int) -> int:
    """Add an empty chunk for an embedder and return its number."""
    con.execute(
        "INSERT INTO chunk (embedder, version, used, codes, scales, bodies, scopes)"
        " SELECT num, 1, 0, zeroblob(?2 * dimensions), zeroblob(?2 * 4), zeroblob(?2 * 8), zeroblob(?2 * 4)"
        " FROM embedder WHERE num = ?1",
        (embedder, CHUNK_SLOTS),
    )
    return con.last_insert_rowid()


class SqliteVectors(Vectors):
    def _chunk(self, con: apsw.Connection, num: int) -> VectorChunk:
        version, used, *parts = con.execute(
            "SELECT c.version, c.used, e.dimensions, c.codes, c.scales, c.bodies, c.scopes FROM chunk c"
            " JOIN embedder e ON e.num = c.embedder WHERE c.num = ?",
            (num,),
        ).fetchone()
        dimensions, codes, scales, bodies, scopes = parts
        held = codes[: used * dimensions], scales[: used * 4], bodies[: used * 8], scopes[: used * 4]
        return VectorChunk(num, version, used, *held)

    _new_chunk = staticmethod(new_chunk)

    def _put(
        self, con: apsw.Connection, chunk: int, used: int, vectors: Sequence[NewVector], scopes: Sequence[int]
    ) -> None:
        count = len(vectors)
        text_ids, exact, codes, scales = zip(*vectors, strict=True)
        columns = (
            ("codes", b"".join(codes)),
            ("scales", struct.pack(f"<{count}f", *scales)),
            ("bodies", struct.pack(f"<{count}q", *text_ids)),
            ("scopes", struct.pack(f"<{count}i", *scopes)),
        )
        for column, data in columns:
            with con.blob_open("main", "chunk", column, chunk, True) as blob:
                blob.seek(used * (len(data) // count))
                blob.write(data)
        con.execute("UPDATE chunk SET used = used + ?, version = version + 1 WHERE num = ?", (count, chunk))
        con.executemany(
            "INSERT INTO vector (embedder, body, chunk, slot, exact)"
            " VALUES ((SELECT embedder FROM chunk WHERE num = ?2), ?1, ?2, ?3, ?4)",
            zip(text_ids, repeat(chunk), range(used, used + count), exact, strict=False),
        )
