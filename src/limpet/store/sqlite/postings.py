"""Lists of the index's words as arrays, and BM25 over them.

A small store's lists are read all at once, a large one's when a query first has the word.

The scores are those of FTS5's own bm25() over the expression that `search.py` would ask for, to the last bit: the same
products, summed in the same order. So a process answers alike with and without these arrays.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import apsw
import numpy as np

from ..records import ArrayHits, Filter
from .search import BM25_B, BM25_K1, Lexical, carray, choose, topic_expressions

if TYPE_CHECKING:
    from .columns import SqliteColumns

# Occurrences of words that are held at most: a store with fewer is read whole, about 300,000 memories.
MAX_HELD = 12_000_000
# Occurrences that are read at a time of the whole index, and of a word about which nothing is known yet.
SLICE, READ_AT_ONCE = 200_000, 4_096
# With more new bodies than this at a time, reading lists again is cheaper than adding to them.
MAX_ADDED = 16
# What an occurrence counts in BM25, in halves, by column: text, topics, labels, dates, scope, pairs of characters.
# As in `_SCORED`.
_HALVES = np.array([2, 2, 1, 2, 0, 2])
# In `Posting.fields`: a date has the word, a label has it, and how many topics' words are it.
_DATES, _LABELS, _TOPIC = 1, 2, 4
_FLAGS = np.array([0, 0, _LABELS, _DATES, 0, 0])
_COLUMN = (
    "CASE col WHEN 'content' THEN 0 WHEN 'topics' THEN 1 WHEN 'labels' THEN 2 WHEN 'dates' THEN 3 WHEN 'scope' THEN 4"
    " ELSE 5 END"
)
_ONE = (
    "SELECT count(*), group_concat(place)"
    f" FROM (SELECT doc * 8 + {_COLUMN} AS place FROM temp.word WHERE term = ? LIMIT ?)"
)
_ALL = (
    "SELECT term, count(*), group_concat(place)"
    f" FROM (SELECT term, doc * 8 + {_COLUMN} AS place FROM temp.word WHERE term > ? ORDER BY term LIMIT ?)"
    " GROUP BY term ORDER BY term"
)


class Posting(NamedTuple):
    """The bodies that have a word, in order."""

    bodies: np.ndarray
    halves: np.ndarray  # how often, as BM25 weighs it, in halves
    fields: np.ndarray
    anywhere: bool  # in any topic, label or date at all


_EMPTY = Posting(np.zeros(0, np.int32), np.zeros(0, np.uint32), np.zeros(0, np.uint8), False)


class Postings:
    """Word lists of one store, as far as they have been asked for."""

    def __init__(self, con: apsw.Connection, lexical: Lexical) -> None:
        self._con = con
        self._lexical = lexical
        con.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.word USING fts5vocab ('main', 'body_fts', 'instance')")
        self._bodies = 0
        self._rows, self._words, self._mean = 0, 0, 1.0
        self.forget()

    def forget(self) -> None:
        """Read every list again."""
        self._lists: dict[str, Posting] = {}
        self._counts: dict[str, int] = {}  # in how many bodies each word is
        self._phrases: dict[str, Posting] = {}
        self._held = 0
        self._last: str | None = ""  # all words up to it are held; None: all there are

    def measure(self, bodies: int) -> None:
        """Take in how many texts there are, and how long they are in the mean."""
        self._bodies = bodies
        self._phrases.clear()
        record = self._con.execute("SELECT block FROM body_fts_data WHERE id = 1").get or b""
        counts = varints(record)
        self._rows = counts[0] if counts else 0
        self._words = sum(counts[1:])
        self._mean = self._words / self._rows if self._rows else 1.0

    def read(self, until: float) -> None:
        """Read a small store's lists in order, as far as the time goes; `until` on the monotonic clock."""
        while self._last is not None and self._words <= MAX_HELD and time.monotonic() < until:
            rows = self._con.execute(_ALL, (self._last, SLICE)).fetchall()
            if sum(row[1] for row in rows) < SLICE:
                self._last = None
            elif len(rows) == 1:
                # More than a slice: the list is read when it is asked for, which is hardly ever.
                self._last = rows[0][0]
                self._count(self._last)
                continue
            else:
                self._last = rows[-2][0]
                rows.pop()  # cut off
            if not rows:
                return
            places = np.fromstring(",".join(row[2] for row in rows), dtype=np.int64, sep=",")
            counts = np.array([row[1] for row in rows])
            whole, ends = _posting(places, np.repeat(np.arange(len(rows)), counts))
            starts = np.concatenate(([0], ends[:-1]))
            anywhere = np.logical_or.reduceat(whole.fields > 0, starts).tolist()
            start = 0
            for (stem, _, _), end, fields in zip(rows, ends.tolist(), anywhere, strict=True):
                part = slice(start, end)
                self._lists[stem] = Posting(whole.bodies[part], whole.halves[part], whole.fields[part], fields)
                self._counts[stem] = end - start
                start = end
            self._held += start

    def add(self, bodies: Sequence[int]) -> None:
        """Take in new bodies."""
        if not self._counts and self._last == "":
            return
        if len(bodies) > MAX_ADDED:
            self.forget()
            return
        found: dict[str, list[int]] = {}
        texts = self._con.execute(
            "SELECT num, content, topics, labels, dates, scope, grams FROM carray(?) CROSS JOIN body ON num = value",
            (carray(bodies),),
        )
        for body, *columns in texts:
            for column, text in enumerate(columns):
                for stem in self._lexical.tokens(text or ""):
                    if stem in self._counts or self._covers(stem):
                        found.setdefault(stem, []).append(body * 8 + column)
        for stem, places in found.items():
            new, _ = _posting(np.array(places))
            known = self._counts.get(stem, 0)
            self._counts[stem] = known + len(new.bodies)
            if stem in self._lists or not known:
                old = self._lists.get(stem, _EMPTY)
                bodies_, halves, fields = (np.concatenate(pair) for pair in zip(old[:3], new[:3], strict=True))
                self._lists[stem] = Posting(bodies_, halves, fields, old.anywhere or new.anywhere)

    def _covers(self, stem: str) -> bool:
        """Whether the index has been read beyond this word: what is not held of it is not there."""
        return self._last is None or stem.encode() < self._last.encode()

    def frequency(self, stem: str) -> int:
        """In how many bodies a word is. Its list is read with it, unless the word is too common to be searched for."""
        known = self._counts.get(stem)
        if known is not None:
            return known
        if self._last is None:
            return 0
        count, places = self._con.execute(_ONE, (stem, READ_AT_ONCE)).fetchone()
        if count < READ_AT_ONCE:
            return len(self._hold(stem, places).bodies)
        return self._count(stem)

    def _count(self, stem: str) -> int:
        known = self._counts[stem] = self._con.execute("SELECT doc FROM body_terms WHERE term = ?", (stem,)).get or 0
        return known

    def posting(self, stem: str) -> Posting:
        found = self._lists.get(stem)
        if found is None and not self.frequency(stem):
            return _EMPTY
        return found or self._lists.get(stem) or self._hold(stem, self._con.execute(_ONE, (stem, -1)).fetchone()[1])

    def _hold(self, stem: str, places: str | None) -> Posting:
        found = _posting(np.fromstring(places, dtype=np.int64, sep=","))[0] if places else _EMPTY
        if self._held > MAX_HELD:
            self.forget()
        self._lists[stem] = found
        self._held += len(found.bodies)
        self._counts[stem] = len(found.bodies)
        return found

    def search(self, text: str, where: Filter, columns: SqliteColumns) -> ArrayHits:
        """All bodies that have the query's rarer words, best first, as `search.Lexical.search` finds them."""
        terms = self._lexical.terms(text)
        useful, rare = choose(terms, self.frequency, self._bodies)
        if not useful:
            return ArrayHits.none()
        within = self._within(where, columns)
        if within is None:
            return ArrayHits.none()
        lists = [self.posting(stem) for _, stem in useful]
        rows = lists[0].bodies if rare == 1 else np.unique(np.concatenate([one.bodies for one in lists[:rare]]))
        scopes, phrases = within
        if scopes is not None:
            rows = rows[np.isin(columns.scope[rows], scopes)]
        for phrase in phrases:
            rows = rows[_at(phrase, rows)[1]]
        stems = {stem: max(1e-6, math.log((self._bodies - df + 0.5) / (df + 0.5))) for df, stem in useful}
        scores = self._scores([*phrases, *lists], len(phrases), rare, columns.tokens[rows], rows)
        order = np.argsort(-scores, kind="stable")
        absent = sum(not self.frequency(stem) for stem in terms) * math.log((self._bodies + 0.5) / 0.5)
        return ArrayHits(rows[order], scores[order], stems, sum(stems.values()), absent=absent)

    def _scores(
        self, lists: Sequence[Posting], phrases: int, rare: int, lengths: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        """BM25 of every row: k1, b and the smallest weight of a word as FTS5 has them."""
        norm = BM25_K1 * (1 - BM25_B + BM25_B * lengths.astype(np.float64) / self._mean)
        parts = []
        for one in lists:
            at, there = _at(one, rows)
            frequency = np.where(there, one.halves[at] * 0.5, 0.0) if len(one.bodies) else np.zeros(len(rows))
            hits = len(one.bodies)
            weight = math.log((self._rows - hits + 0.5) / (hits + 0.5)) if self._rows - hits > hits else 0.0
            parts.append((weight if weight > 0 else 1e-6) * (frequency * (BM25_K1 + 1.0) / (frequency + norm)))
        first, last = phrases + rare, len(lists)
        order = [*range(first)]
        if first < last:
            # As `search._expression` lists them: rare, rare again, every common one twice.
            order += [*range(phrases, first), *(i for i in range(first, last) for _ in (0, 1))]
        total = np.zeros(len(rows))
        for i in order:
            total += parts[i]
        return total / 2 if first < last else total

    def _within(self, where: Filter, columns: SqliteColumns) -> tuple[np.ndarray | None, list[Posting]] | None:
        """What every row must be in: scopes, where they are small, and topics. None: nothing can be."""
        phrases = [self._phrase(topic) for topic in where.topics if self._lexical.stems(topic)]
        if where.scopes is None:
            return None, phrases
        scopes = columns.scope_numbers(where.scopes)
        if not scopes:
            return None
        held = sum(columns.bodies_of_scope.get(one, 0) for one in scopes)
        return (np.array(scopes) if held * 2 <= self._bodies else None), phrases

    def _phrase(self, topic: str) -> Posting:
        """The bodies whose topics have the words of a topic one after the other, and how often."""
        found = self._phrases.get(topic)
        if found is None:
            words = list(self._lexical.tokens(topic))
            if len(words) == 1:
                whole = self.posting(words[0])
                times = whole.fields // _TOPIC
                bodies, times = whole.bodies[times > 0], times[times > 0]
            else:
                (expression,) = topic_expressions([topic], self._lexical.stems)
                rows = self._con.execute(
                    "SELECT f.rowid, b.topics FROM body_fts f JOIN body b ON b.num = f.rowid"
                    " WHERE f.body_fts MATCH ? ORDER BY f.rowid",
                    (expression,),
                ).fetchall()
                bodies = np.array([row[0] for row in rows], dtype=np.int64)
                times = np.array([_times(words, list(self._lexical.tokens(row[1]))) for row in rows])
            found = self._phrases[topic] = Posting(bodies, times * 2, np.zeros(len(bodies)), True)
        return found

    def words(self, bodies: np.ndarray, stems: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """What the query's words are worth in topics, labels and dates of some bodies (a label's counts half), and
        which of the words each body has, wherever: (bodies, stems)."""
        topics, labels, dates = np.zeros(len(bodies)), np.zeros(len(bodies)), np.zeros(len(bodies))
        having = np.zeros((len(bodies), len(stems)), dtype=bool)
        for place, (stem, worth) in enumerate(stems.items()):
            one = self.posting(stem)
            at, there = _at(one, bodies)
            having[:, place] = there
            if not one.anywhere:
                continue
            fields = np.where(there, one.fields[at], 0)
            topics += worth * (fields >= _TOPIC)
            labels += worth * (fields & _LABELS > 0)
            dates += worth * (fields & _DATES)
        return topics + 0.5 * labels + dates, having


def _posting(places: np.ndarray, words: np.ndarray | None = None) -> tuple[Posting, np.ndarray]:
    """From body * 8 + column of every occurrence, in order of bodies.

    `words`: the number of each occurrence's word, for several words one after the other; their ends come back too.
    """
    bodies, columns = places >> 3, places & 7
    new = np.concatenate(([True], bodies[1:] != bodies[:-1]))
    if words is not None:
        new[1:] |= words[1:] != words[:-1]
    first = np.flatnonzero(new)
    halves = np.add.reduceat(_HALVES[columns], first).astype(np.uint32)
    in_fields = bool(((columns > 0) & (columns < 4)).any())
    if in_fields:
        times = np.add.reduceat((columns == 1).astype(np.int64), first)
        fields = (np.bitwise_or.reduceat(_FLAGS[columns], first) + _TOPIC * np.minimum(times, 63)).astype(np.uint8)
    else:
        fields = np.zeros(len(first), dtype=np.uint8)
    ends = np.array([len(first)]) if words is None else np.searchsorted(words[first], np.arange(words[-1] + 1), "right")
    return Posting(bodies[first].astype(np.int32), halves, fields, in_fields), ends


def _at(one: Posting, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each row stands in a list, and whether it does."""
    if not len(one.bodies):
        return np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=bool)
    at = np.minimum(np.searchsorted(one.bodies, rows), len(one.bodies) - 1)
    return at, one.bodies[at] == rows


def _times(words: list[str], text: list[str]) -> int:
    """How often some words stand one after the other."""
    return sum(text[i : i + len(words)] == words for i in range(len(text) - len(words) + 1))


def varints(data: bytes) -> list[int]:
    """SQLite's variable-length integers, as FTS5 packs the sizes of texts."""
    found, value = [], 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            found.append(value)
            value = 0
    return found
