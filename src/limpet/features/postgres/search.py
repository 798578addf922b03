"""Full text over rows of words, and what the arrays of a long process are fed with.

BM25 is that of `store/arrays/postings.py`, over the lists of the query's words alone: so scores are those of SQLite.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ...model.dataclass import replace
from ...store import lexical
from ...store.arrays.feed_records import IndexedText, WordLists
from ...store.arrays.postings import Postings
from ...store.records import ALL, Filter, LexicalHit, LexicalResult
from ...store.sql.feed import ChangeFeed, WordFeed
from ...store.sql.filters import filtered, scope_token, visible, was_left
from ...store.sql.search import Search, like_pattern
from ...store.sql.statements import statements
from ...store.sql.store import Store
from .array_values import Numbers
from .connection import TimedOut
from .database import Database
from .index import PostgresTokenizer

_TEXT = "SELECT num, content, topics, labels, dates, scope, grams FROM body WHERE num IN (SELECT value FROM carray(?))"
# A list as one row: what is a row a text costs more to take apart here than to read there.
_PACKED = """string_agg(int8send(body), ''::bytea ORDER BY body) AS bodies,
 string_agg(int4send(length(counts)), ''::bytea ORDER BY body) AS sizes,
 string_agg(counts, ''::bytea ORDER BY body) AS packed"""
_LIST = f"SELECT {_PACKED} FROM (SELECT body, counts FROM posting WHERE word = ? ORDER BY body LIMIT ?) part"
# What a word's rows have to reach at least for so many places, since a row has one or more.
_LISTS = f"""WITH part AS (SELECT word, body, counts FROM posting WHERE word > ? ORDER BY word, body LIMIT ?),
 list AS (SELECT word, int8send(count(*)) AS rows, {_PACKED} FROM part GROUP BY word)
SELECT array_agg(word ORDER BY word), string_agg(rows, ''::bytea ORDER BY word),
 string_agg(bodies, ''::bytea ORDER BY word), string_agg(sizes, ''::bytea ORDER BY word),
 string_agg(packed, ''::bytea ORDER BY word) FROM list"""


class PostgresWordFeed(WordFeed):
    """From rows, a word and a text each."""

    def __init__(self, database: Database, tokenizer: PostgresTokenizer) -> None:
        self._database = database
        self.tokenizer = tokenizer

    def totals(self) -> tuple[int, int]:
        ((texts, words),) = self._database.rows("SELECT texts, words FROM store")
        return texts, words

    def frequency(self, word: str) -> int:
        ((count,),) = self._database.rows("SELECT count(*) FROM posting WHERE word = ?", (word,))
        return int(count)

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
        found = self._database.rows(
            f"SELECT num, topics FROM body WHERE topics IS NOT NULL AND {having} ORDER BY num", tuple(set(words))
        )
        return [(num, topics) for num, topics in found if _follows(words, list(self.tokenizer.tokens(topics)))]


class PostgresFeed(ChangeFeed):
    """From rows. A revision is the place in the ledger, which has no gaps: writers go one by one."""

    _database: Database
    length, lengths = "b.size", ""
    # One by one: a hash of all memories for each slice of texts costs more.
    joins, joined = "LEFT JOIN LATERAL (SELECT * FROM memory m WHERE m.num =", "OFFSET 0) m ON true"

    def __init__(self, store: Store, search: PostgresSearch) -> None:
        super().__init__(store, PostgresWordFeed(search._database, search.tokenizer))
        self._search = search

    def within(self, deadline: float | None) -> contextlib.AbstractContextManager[None]:
        return interrupted(self._database, deadline)

    def _making(self) -> object:
        return self._database.rows("SELECT making FROM store")[0][0]

    def terms_of(self, kept: int) -> int:
        return kept

    def with_topic(self, topic: str) -> list[int]:
        return self._search.allowed(Filter(topics=(topic,), states=()))


class PostgresSearch(Search):
    _database: Database

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.tokenizer = PostgresTokenizer()
        self._lock = threading.Lock()
        self._held: tuple[int, Postings] | None = None

    def lexical(self, text: str, where: Filter, *, limit: int | None, deadline: float | None = None) -> LexicalResult:
        if deadline is not None and deadline <= time.monotonic():
            return LexicalResult(hits=[], stems={}, weight=0.0, complete=False)
        # The store before the lock, as a recall has them: in the other order two threads would wait for each other.
        with self._database.snapshot(deadline), self._lock, interrupted(self._database, deadline):
            with self._database.reading() as con:
                version = self._database.version(con)
                texts = con.execute("SELECT coalesce(max(num), 0) FROM body").get
                if self._held is None or self._held[0] != version:
                    postings = Postings(PostgresWordFeed(self._database, self.tokenizer))
                    postings.measure(texts)
                    self._held = version, postings
                if where.known_at is not None:
                    # As known before, topics and some scopes were others than those in the index.
                    left = where.scopes is not None and was_left(con, where.scopes)
                    where = replace(where, topics=(), scopes=None if left else where.scopes)
            # One more, which tells whether there are more; in a large store SQLite says so already when there may be.
            asked = None if limit is None else limit + lexical.is_small(texts)
            found = self._held[1].search(text, where, _Rows(self._database), limit=asked)  # type: ignore[arg-type]
            hits = zip(found.text_ids.tolist(), found.scores.tolist(), strict=True)
            return LexicalResult(
                hits=[LexicalHit(text_id, score) for text_id, score in hits][:limit],
                stems=found.stems,
                weight=found.weight,
                complete=found.complete,
                more=asked is not None and len(found.text_ids) >= asked,
                absent=found.absent,
            )
        return LexicalResult(hits=[], stems={}, weight=0.0, complete=False)

    def _feed(self) -> PostgresFeed:
        return PostgresFeed(self._store, self)

    def stems(self, texts: Iterable[str]) -> dict[str, frozenset[str]]:
        return {text: self.tokenizer.stems(text) for text in texts}

    def allowed(self, where: Filter) -> list[int]:
        topics = [topic for topic in where.topics if self.tokenizer.stems(topic)] if where.known_at is None else []
        if not topics:
            name = "allowed_of_session" if where.session is not None else "allowed"
            return [row[0] for row in self._database.rows(*filtered(name, where))]
        words = PostgresWordFeed(self._database, self.tokenizer)
        several = [{num for num, _ in words.with_topic_words(topic)} for topic in topics]
        condition, bound = visible(where)
        statement = statements()["allowed_of_topic"].replace("{visible}", condition)
        bound["those"] = Numbers(sorted(set.intersection(*several)))
        found = "SELECT value AS body FROM carray(:those)"
        return [row[0] for row in self._database.rows(statement.replace("{found}", found), bound)]

    def substring(
        self, text: str, where: Filter, *, limit: int, deadline: float | None = None, newest: int = ALL
    ) -> list[int]:
        pattern = like_pattern(text)
        if pattern is None:
            return []
        statement, bound = filtered("substring", where)
        bound |= {"pattern": pattern, "limit": limit, "newest": newest}
        with self._database.snapshot(deadline), interrupted(self._database, deadline):
            return [row[0] for row in self._database.rows(statement, bound)]
        return []


class _Rows:
    """The columns that BM25 asks for, read when they are asked for."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def scope(self) -> _Column:
        return _Column(self._database, "CAST(substr(scope, 2) AS bigint)")

    @property
    def length(self) -> _Column:
        return _Column(self._database, "size")

    @property
    def texts_of_scope(self) -> _Frequencies:
        return _Frequencies(self._database)

    def scope_numbers(self, names: Sequence[str]) -> list[int]:
        return [num for name in dict.fromkeys(names)
                for (num,) in self._database.rows("SELECT num FROM scope WHERE name = ?", (name,))]  # fmt: skip


class _Column:
    def __init__(self, database: Database, column: str) -> None:
        self._database, self._column = database, column

    def __getitem__(self, text_ids: np.ndarray) -> np.ndarray:
        statement = f"SELECT num, {self._column} FROM body WHERE num IN (SELECT value FROM carray(?))"
        found = dict(self._database.rows(statement, (Numbers(text_ids.tolist()),)))
        return np.array([found.get(one, 0) for one in text_ids.tolist()], dtype=np.int64)


class _Frequencies:
    """Texts of a scope: those that have its token."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, scope: int, _: int) -> int:
        word, statement = scope_token(scope), "SELECT count(*) FROM posting WHERE word = ?"
        ((count,),) = self._database.cached(("texts", word), lambda con: con.execute(statement, (word,)).fetchall())
        return int(count)


@contextlib.contextmanager
def interrupted(database: Database, deadline: float | None) -> Iterator[None]:
    """Statements inside end when the deadline comes, and with them the block: nothing is raised. Needs a snapshot."""
    if deadline is None:
        yield
        return
    milliseconds = max(1, int((deadline - time.monotonic()) * 1000))
    with database.reading() as con:
        con.execute(f"SAVEPOINT timed; SET LOCAL statement_timeout = {milliseconds}")
        try:
            yield
        except TimedOut:
            con.execute("ROLLBACK TO SAVEPOINT timed")
        else:
            con.execute("RELEASE SAVEPOINT timed; SET LOCAL statement_timeout = 0")


def _places(bodies: bytes | None, sizes: bytes | None, packed: bytes | None) -> tuple[np.ndarray, np.ndarray]:
    """Occurrences from the packed counts of texts, in order, and how many of each. `sizes`: bytes of the counts."""
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
    found = np.repeat(text * 8 + column, counts)
    return found, np.diff(np.concatenate([[0], np.cumsum(counts)])[after], prepend=0)


def _follows(words: list[str], among: list[str]) -> bool:
    return any(among[at : at + len(words)] == words for at in range(len(among)))
