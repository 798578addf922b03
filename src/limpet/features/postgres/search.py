"""Full text over rows of words, vectors as rows, and the feed of a long process's arrays.

BM25 is that of `store/arrays/postings.py` over the query's words, so scores equal SQLite's. A vector is a slot of a
chunk, with its code and its float16.
"""

from __future__ import annotations

import contextlib
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from ...model.dataclass import replace
from ...model.memory import Filter
from ...store.arrays.postings import Postings, Seen, occurrences
from ...store.lexical import NO_FORMS, Forms
from ...store.records import ALL, NO_HITS, LexicalResult, NewVector, VectorChunk
from ...store.sql import store
from ...store.sql.feed import ChangeFeed, IndexedText, WordFeed, WordLists
from ...store.sql.search import CHUNK_SLOTS, Search, Tokenizer, Vectors
from ...store.sql.statements import filtered, scope_token
from ...store.sql.store import Store, TimedOut
from .connection import Numbers, Session, Words
from .index import LATER, PostgresTokenizer

_CHUNK = (
    "SELECT c.version, c.used, string_agg(s.code, ''::bytea ORDER BY s.slot),"
    " string_agg(s.scale, ''::bytea ORDER BY s.slot),"
    " array_agg(s.body | (CAST(s.part AS bigint) << 32) ORDER BY s.slot),"
    " array_agg(s.scope ORDER BY s.slot) FROM chunk c JOIN slot s ON s.embedder = c.embedder AND s.chunk = c.num"
    " WHERE c.num = ? GROUP BY c.version, c.used"
)
_SLOT = (
    "INSERT INTO slot (embedder, chunk, slot, body, part, scope, code, scale, exact) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_TEXT = "SELECT num, content, topics, labels, dates, scope, grams FROM body WHERE num IN (SELECT value FROM carray(?))"
# A list as one row: a row for each text would be slower to unpack here.
_PACKED = """string_agg(int8send(body), ''::bytea ORDER BY body) AS bodies,
 string_agg(int4send(length(counts)), ''::bytea ORDER BY body) AS sizes,
 string_agg(counts, ''::bytea ORDER BY body) AS packed"""
_LIST = f"SELECT {_PACKED} FROM (SELECT body, counts FROM posting WHERE word = ? ORDER BY body LIMIT ?) part"
_FREQUENCIES = """SELECT word, count(*) FROM posting WHERE word = ANY(CAST(? AS text[]))
 AND body IN (SELECT body FROM posting WHERE word = ANY(CAST(? AS text[]))) GROUP BY word"""
# At most so many rows of lists, since a row has one place or more.
_LISTS = f"""WITH part AS (SELECT word, body, counts FROM posting WHERE word > ? ORDER BY word, body LIMIT ?),
 list AS (SELECT word, int8send(count(*)) AS rows, {_PACKED} FROM part GROUP BY word)
SELECT array_agg(word ORDER BY word), string_agg(rows, ''::bytea ORDER BY word),
 string_agg(bodies, ''::bytea ORDER BY word), string_agg(sizes, ''::bytea ORDER BY word),
 string_agg(packed, ''::bytea ORDER BY word) FROM list"""


class PostgresWordFeed(WordFeed):
    """A word feed from rows, one for each word and text."""

    def __init__(self, database: store.Database, tokenizer: Tokenizer) -> None:
        self._database = database
        self.tokenizer = tokenizer

    def totals(self) -> tuple[int, int]:
        ((texts, words),) = self._database.rows("SELECT texts, words FROM store")
        return texts, words

    def frequency(self, word: str) -> int:
        ((count,),) = self._database.rows("SELECT count(*) FROM posting WHERE word = ?", (word,))
        return int(count)

    def frequencies(self, terms: Mapping[str, str], scopes: Sequence[int]) -> dict[str, int]:
        words, tokens = Words(terms), Words(map(scope_token, scopes))
        return dict.fromkeys(terms, 0) | dict(self._database.rows(_FREQUENCIES, (words, tokens)))

    def occurrences(self, word: str, *, most: int | None = None) -> np.ndarray:
        (packed,) = self._database.rows(_LIST, (word, ALL if most is None else most))
        return _places(*packed)[0][:most]

    def lists_after(self, word: str, *, most: int) -> WordLists:
        ((words, rows, *packed),) = self._database.rows(_LISTS, (word, most))
        if words is None:
            return WordLists([], [], np.zeros(0, np.int64), False)
        places, each = _places(*packed)
        ends = np.cumsum(np.frombuffer(rows, ">i8"))  # rows up to each word
        held = np.concatenate([[0], np.cumsum(each)])[ends]  # places up to each word
        fit = int(np.searchsorted(held, most))
        if len(each) >= most:
            fit = min(fit, len(words) - 1)  # the last one may be cut off
        if words and not fit:
            return WordLists(words[:1], [most], np.zeros(0, np.int64), True)
        sizes = np.diff(held[:fit], prepend=0).tolist()
        return WordLists(words[:fit], sizes, places[: sum(sizes)], fit < len(words))

    def texts(self, text_ids: Iterable[int]) -> Iterable[IndexedText]:
        return map(IndexedText._make, self._database.rows(_TEXT, (Numbers(text_ids),)))

    def with_topic_words(self, topic: str) -> list[tuple[int, str]]:
        words = list(self.tokenizer.tokens(topic))
        having = " AND ".join("num IN (SELECT body FROM posting WHERE word = ?)" for _ in set(words))
        rows = self._database.rows(
            f"SELECT num, topics FROM body WHERE topics IS NOT NULL AND {having} ORDER BY num", tuple(set(words))
        )
        return [(num, topics) for num, topics in rows if occurrences(words, list(self.tokenizer.tokens(topics)))]


class PostgresFeed(ChangeFeed):
    """A change feed from rows. A revision is the place in the ledger, which has no gaps: writers go one by one."""

    _database: store.Database
    length, lengths = "b.size", ""
    # One by one: a hash of all memories for each slice of texts costs more.
    joins, joined = "LEFT JOIN LATERAL (SELECT * FROM memory m WHERE m.num =", "OFFSET 0) m ON true"

    def __init__(self, store: Store, tokenizer: Tokenizer) -> None:
        super().__init__(store, PostgresWordFeed(store.database, tokenizer))

    def _making(self) -> object:
        return self._database.rows("SELECT making FROM store")[0][0]

    def terms_of(self, kept: int) -> int:
        return kept


class PostgresSearch(Search):
    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.tokenizer = PostgresTokenizer()
        self._lock = threading.Lock()
        self._held: tuple[int, Postings, _Rows] | None = None

    between = "SELECT DISTINCT word FROM posting WHERE word >= ? AND word < ?"

    def lexical(
        self, text: str, where: Filter, *, limit: int | None, deadline: float | None = None, forms: Forms = NO_FORMS
    ) -> LexicalResult:
        if deadline is not None and deadline <= time.monotonic():
            return NO_HITS._replace(complete=False)
        # The store before the lock, as a recall has them: in the other order two threads would wait for each other.
        with self.until(deadline), self._lock:
            with self._database.reading() as con:
                version = self._database.version(con)
                if self._held is None or self._held[0] != version:
                    postings = Postings(PostgresWordFeed(self._database, self.tokenizer))
                    postings.measure()
                    self._held = version, postings, _Rows(self, self._database, postings.whole)
                if where.known_at is not None:
                    where = replace(where, topics=())  # at an earlier time, they differed from those in the index
            # One more, to know whether there are more.
            asked = None if limit is None else limit + 1
            _, postings, rows = self._held
            hits = postings.search(text, where, rows, limit=asked, forms=forms)  # type: ignore[arg-type]
            return LexicalResult(
                hits=dict(zip(hits.text_ids[:limit].tolist(), hits.scores[:limit].tolist(), strict=True)),
                stems=hits.stems, weight=hits.weight, complete=hits.complete, absent=hits.absent,
                more=asked is not None and len(hits.text_ids) >= asked,
            )  # fmt: skip
        return NO_HITS._replace(complete=False)

    def _feed(self) -> PostgresFeed:
        return PostgresFeed(self._store, self.tokenizer)

    def allowed(self, where: Filter) -> list[int]:
        topics = [topic for topic in where.topics if self.tokenizer.counts(topic)] if where.known_at is None else []
        if not topics:
            return [row[0] for row in self._ask("allowed" if where.session is None else "allowed_of_session", where)]
        words = PostgresWordFeed(self._database, self.tokenizer)
        sets = [{num for num, _ in words.with_topic_words(topic)} for topic in topics]
        statement, bound = filtered("allowed_of_topic", where)
        statement = statement.replace("{found}", "SELECT value AS body FROM carray(:those)")
        bound["those"] = Numbers(sorted(set.intersection(*sets)))
        return [row[0] for row in self._database.rows(statement, bound)]

    @contextlib.contextmanager
    def until(self, deadline: float | None) -> Iterator[None]:
        with self._database.snapshot(deadline), self._database.reading() as con:
            if deadline is None:
                yield
                return
            milliseconds = max(1, int((deadline - time.monotonic()) * 1000))
            con.execute(f"SAVEPOINT timed; SET LOCAL statement_timeout = {milliseconds}")
            try:
                yield
            except TimedOut:
                con.execute("ROLLBACK TO SAVEPOINT timed")
            else:
                con.execute("RELEASE SAVEPOINT timed; SET LOCAL statement_timeout = 0")


class _Rows:
    """The columns that BM25 asks for, read when they are asked for; as of one version of the store."""

    def __init__(self, search: PostgresSearch, database: store.Database, whole: Seen) -> None:
        self._search, self._database, self._whole = search, database, whole
        self.length = _Column(database, "size")
        self._seen: dict[tuple[str, ...], Seen] = {}

    def seen(self, where: Filter) -> Seen:
        """Return the texts that the scopes of a filter have, or once had if it asks for what was known before."""
        if where.scopes is None:
            return self._whole
        once = self._search.once_in(where)
        key = once, *where.scopes
        if key not in self._seen:
            scopes = None if once else self._search.scope_numbers(where.scopes)
            bound = () if scopes is None else (Words(map(scope_token, scopes)),)
            condition = f"num IN ({once})" if once else "scope = ANY(CAST(? AS text[]))"
            sizes = f"SELECT count(*), coalesce(sum(size), 0) FROM body WHERE {condition}"
            ((texts, words),) = self._database.rows(sizes, bound)
            seen = Seen(texts, int(words), _Column(self._database, condition, *bound), scopes)
            self._seen[key] = self._whole if texts == self._whole.texts else seen
        return self._seen[key]


class _Column:
    """The value of a column, or whether a condition holds, by text id."""

    def __init__(self, database: store.Database, column: str, *bound: Words) -> None:
        self._database, self._column, self._bound = database, column, bound

    def __getitem__(self, text_ids: np.ndarray) -> np.ndarray:
        statement = f"SELECT num, {self._column} FROM body WHERE num IN (SELECT value FROM carray(?))"
        rows = dict(self._database.rows(statement, (*self._bound, Numbers(text_ids.tolist()))))
        return np.array([rows[id] for id in text_ids.tolist()])


def _places(bodies: bytes | None, sizes: bytes | None, packed: bytes | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the occurrences in the packed counts of texts, in order, and how many of each. `sizes`: in bytes."""
    if not (bodies and sizes and packed):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    digits = np.frombuffer(packed, np.uint8)
    ends = np.flatnonzero(digits < 0x80)  # the last digit of each count
    starts = np.concatenate([[0], ends[:-1] + 1])
    shifts = np.repeat(ends, ends - starts + 1) - np.arange(len(digits))
    values = (digits & 0x7F).astype(np.int64) << 7 * shifts
    counts = np.add.reduceat(values, starts)
    after = np.searchsorted(ends, np.cumsum(np.frombuffer(sizes, ">i4")))  # counts up to each text
    columns = np.diff(after, prepend=0)
    text = np.repeat(np.frombuffer(bodies, ">i8").astype(np.int64), columns)
    column = np.arange(len(counts)) - np.repeat(after - columns, columns)
    places = np.repeat(text * 8 + column, counts)
    return places, np.diff(np.concatenate([[0], np.cumsum(counts)])[after], prepend=0)


class PostgresVectors(Vectors):
    def _chunk(self, con: Session, num: int) -> VectorChunk:
        version, used, codes, scales, bodies, scopes = con.execute(_CHUNK, (num,)).fetchone()
        packed = struct.pack(f"<{used}q", *bodies), struct.pack(f"<{used}i", *scopes)
        return VectorChunk(num, version, used, codes, scales, *packed)

    def _new_chunk(self, con: Session, embedder: int) -> int:
        return int(con.execute("INSERT INTO chunk (embedder) VALUES (?) RETURNING num", (embedder,)).get)

    def _put(self, con: Session, chunk: int, used: int, vectors: Sequence[NewVector], scopes: Sequence[int]) -> None:
        embedder = con.execute(
            f"UPDATE chunk SET used = used + ?, version = {LATER} WHERE num = ? RETURNING embedder",
            (len(vectors), chunk),
        ).get
        places = zip(range(used, CHUNK_SLOTS), vectors, scopes)  # noqa: B905
        slots = [
            (embedder, chunk, slot, v.text_id, v.part, scope, v.code, struct.pack("<f", v.scale), v.exact)
            for slot, v, scope in places
        ]
        con.executemany(_SLOT, slots)
