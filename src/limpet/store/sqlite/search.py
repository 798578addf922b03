"""Search in the file: BM25 in two phases, and chunks of codes.

The filter comes before ranking: only texts that its scopes and topics let pass are returned.
"""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

import apsw

from ...model.dataclass import NamedTuple
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
_SCORED = "SELECT rowid, limpet_bm25(body_fts) AS score FROM body_fts WHERE {matching} ORDER BY score, rowid LIMIT ?"
# The weight of an occurrence by column: text, topics, labels, dates, scope, pairs of characters; a word of a label
# counts half: the recorded benchmark.
_WEIGHTS = (1.0, 1.0, 0.5, 1.0, 0.0, 1.0)
# Number, text with its pairs of characters, and the words of its fields, of each text that matches in a small store.
_MATCHING = (
    "SELECT num, content || ' ' || coalesce(grams, ''), concat_ws(' ', topics, labels, dates) FROM body"
    " WHERE num IN (SELECT rowid FROM body_fts WHERE {matching})"
)
_SIZES = "SELECT CAST(group_concat(sz, '') AS BLOB) FROM ({rows}) r CROSS JOIN body_fts_docsize d ON d.id = r.body"
_PROGRESS_STEPS = 5_000
_FOUND = "SELECT rowid AS body FROM body_fts WHERE body_fts MATCH :expression"


class Seen(NamedTuple):
    """The texts that a search may see: they alone count in its statistics."""

    texts: int
    matching: str = "body_fts MATCH ?"  # the condition of those that match an expression
    rows: str = ""  # SQL that selects them; "": they are all


class Scorer:
    """BM25 of a row of FTS5, whose own counts rows that a search may not see."""

    weights: Sequence[float] = ()  # of the first phrases of the expression
    mean = 1.0  # words of a text

    def __call__(self, row: apsw.FTS5ExtensionApi) -> float:
        norm, score = lexical.norm(row.column_size(), self.mean), 0.0
        for phrase, weight in enumerate(self.weights):
            times = 0.0
            for column in row.phrase_columns(phrase):
                times += _WEIGHTS[column] * len(row.phrase_column_offsets(phrase, column))
            score -= lexical.part(weight, times, norm) if times else 0.0
        return score


class SqliteSearch(Search):
    """Full text by FTS5, with what was counted held until the store changes."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.tokenizer = Tokenizer()
        self._scorer = Scorer()
        self._as_of: tuple[object, int] = (None, -1)  # connection and version
        self._counts: dict[tuple[str, str], int] = {}
        self._texts, self._words = 0, 0

    def _feed(self) -> SqliteFeed:
        from .feed import SqliteFeed

        with self._database.reading() as con:
            return SqliteFeed(self._store, con, self.tokenizer)

    def lexical(
        self, text: str, where: Filter, *, limit: int | None, deadline: float | None = None,
        forms: lexical.Forms = lexical.NO_FORMS,
    ) -> LexicalResult:  # fmt: skip
        """Return the best texts for any text: its words are looked up, never interpreted.

        Two phases: rows come from the rarest terms, every term then counts in the BM25 of those rows.
        """
        with self._database.reading() as con:
            if (as_of := (con, self._database.version(con))) != self._as_of:
                if con is not self._as_of[0]:
                    con.register_fts5_function("limpet_bm25", self._scorer)
                self._as_of, self._counts = as_of, {}
                self._texts, self._words = totals(con)
            if deadline is not None and deadline - time.monotonic() < self._texts * SECONDS_PER_TEXT:
                return NO_HITS._replace(complete=False)  # FTS5 looks at no clock while it reads a common word's list
            terms, seen = self.tokenizer.terms(text), self._seen(con, where)
            if not seen.texts:
                return NO_HITS
            frequencies: dict[str, int] = {}
            with self.until(deadline):
                for stem, word in terms.items():
                    counts = [self._count(con, seen, quoted(word), stem)]
                    counts += [self._count(con, seen, quoted(form), form) for form in forms.get(stem, ())]
                    frequencies[stem] = min(sum(counts), seen.texts)
            if len(frequencies) < len(terms):
                return NO_HITS._replace(complete=False)
            absent = [stem for stem, count in frequencies.items() if not count]
            useful, rare = lexical.choose(frequencies, seen.texts, self.tokenizer)
            if not useful:
                return NO_HITS
            words = [either(map(quoted, (terms[term], *forms.get(term, ())))) for _, term in useful]
            topics = self.topic_expressions(where)
            # The common words are looked up only in the rows of the rare ones.
            common = [either(words[rare:] + words[:rare])] if rare < len(words) else []
            expression = " AND ".join([*topics, either(words[:rare]), *common])
            if seen.texts <= lexical.SMALL_STORE:
                matching = con.execute(_MATCHING.replace("{matching}", seen.matching), (expression,))
                return lexical.small_result(self.tokenizer, seen.texts, useful, absent, matching, limit, forms)
            stems, scored, complete = lexical.worth(useful, seen.texts), [], False
            with self.until(deadline):
                of_topics = [self._count(con, seen, topic) for topic in topics]
                self._scorer.weights = lexical.weights(of_topics, stems, seen.texts, rare, forms)
                self._scorer.mean = self._mean(con, seen)
                bound = (expression, -1 if limit is None else limit + 1)
                scored = con.execute(_SCORED.replace("{matching}", seen.matching), bound).fetchall()
                complete = True
            return LexicalResult(
                hits={body: -score for body, score in scored[:limit]}, stems=stems, weight=sum(stems.values()),
                complete=complete, more=limit is not None and len(scored) > limit,
                absent=lexical.absent_worth(len(absent), seen.texts),
            )  # fmt: skip

    def _seen(self, con: apsw.Connection, where: Filter) -> Seen:
        """Return the texts that the scopes of a filter have, or once had if it asks for what was known before."""
        if where.scopes is None:
            return Seen(self._texts)
        if rows := self.once_in(where):
            texts = con.execute(f"SELECT count(*) FROM body WHERE num IN ({rows})").get
            return Seen(texts, f"body_fts MATCH ? AND +rowid IN ({rows})", rows)
        tokens = [scope_token(num) for num in self.scope_numbers(where.scopes)]
        texts = sum([self._count(con, Seen(self._texts), token, token) for token in tokens])
        return Seen(texts) if texts in (0, self._texts) else of_scopes(texts, tokens)

    def _count(self, con: apsw.Connection, seen: Seen, expression: str, stem: str = "") -> int:
        """Count the texts that match an expression. `stem`: it is this word."""
        key = seen.rows, expression
        if (known := self._counts.get(key)) is None:
            if stem and not seen.rows:
                known = con.execute("SELECT doc FROM body_terms WHERE term = ?", (stem,)).get or 0
            else:
                known = count(con, seen, expression)
            self._counts[key] = known
        return known

    def _mean(self, con: apsw.Connection, seen: Seen) -> float:
        """Return how many words a text has on average."""
        if seen.rows and (seen.rows, "") not in self._counts:
            packed = con.execute(_SIZES.replace("{rows}", seen.rows)).get or b""
            self._counts[seen.rows, ""] = lexical.added(packed)
        return self._counts.get((seen.rows, ""), self._words) / seen.texts or 1.0

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
                expressions.append(f"topics : {quoted(topic)}")
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


def totals(con: apsw.Connection) -> tuple[int, int]:
    """Return the number of texts in the index, and of all their words together."""
    texts, *words = lexical.varints(con.execute("SELECT block FROM body_fts_data WHERE id = 1").get or b"\0")
    return texts, sum(words)


def of_scopes(texts: int, tokens: Iterable[str]) -> Seen:
    """Return what some scopes have, by their tokens."""
    scopes = f"scope : {either(tokens)}"
    rows = f"SELECT rowid AS body FROM body_fts WHERE body_fts MATCH '{scopes}'"
    return Seen(texts, f"body_fts MATCH ? || ' AND {scopes}'", rows)


def count(con: apsw.Connection, seen: Seen, expression: str) -> int:
    return int(con.execute(f"SELECT count(*) FROM body_fts WHERE {seen.matching}", (expression,)).get)


def quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def either(expressions: Iterable[str]) -> str:
    return f"({' OR '.join(expressions)})"


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
        text_ids, exact, codes, scales, parts = zip(*vectors, strict=True)
        packed = (text_id | part << 32 for text_id, part in zip(text_ids, parts, strict=True))
        columns = (
            ("codes", b"".join(codes)),
            ("scales", struct.pack(f"<{count}f", *scales)),
            ("bodies", struct.pack(f"<{count}q", *packed)),
            ("scopes", struct.pack(f"<{count}i", *scopes)),
        )
        for column, data in columns:
            with con.blob_open("main", "chunk", column, chunk, True) as blob:
                blob.seek(used * (len(data) // count))
                blob.write(data)
        con.execute("UPDATE chunk SET used = used + ?, version = version + 1 WHERE num = ?", (count, chunk))
        con.executemany(
            "INSERT INTO vector (embedder, body, chunk, slot, exact, part)"
            " VALUES ((SELECT embedder FROM chunk WHERE num = ?2), ?1, ?2, ?3, ?4, ?5)",
            zip(text_ids, repeat(chunk), range(used, used + count), exact, parts, strict=False),
        )
