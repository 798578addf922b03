"""Lists of the index's words as arrays, read when a query first has the word, and BM25 over them.

The scores are those of FTS5's own bm25() over the expression that `search.py` would ask for, to the last bit: the same
products, summed in the same order. So a process answers alike with and without these arrays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import apsw
import numpy as np

from ..contract import ArrayHits, Filter
from .search import BM25_B, BM25_K1, Lexical, carray, choose, topic_expressions

if TYPE_CHECKING:
    from .columns import SqliteColumns

# Occurrences that all lists may hold together; beyond it they are dropped and read again as queries need them.
MAX_HELD = 12_000_000
# Occurrences up to which a list is read before anything is known about the word.
READ_AT_ONCE = 4_096
# With more new bodies than this at a time, reading lists again is cheaper than adding to them.
MAX_ADDED = 16
# What an occurrence counts in BM25, by column: text, topics, labels, dates, scope. As in `search._SCORED`.
_WEIGHTS = np.array([1.0, 1.0, 0.5, 1.0, 0.0])
# In `Posting.fields`: a date has the word, a label has it, and how many topics' words are it.
_DATES, _LABELS, _TOPIC = 1, 2, 4
_FIELDS = np.array([0, _TOPIC, _LABELS, _DATES, 0], dtype=np.int32)
_COLUMN = "CASE col WHEN 'content' THEN 0 WHEN 'topics' THEN 1 WHEN 'labels' THEN 2 WHEN 'dates' THEN 3 ELSE 4 END"
_READ = f"SELECT count(*), group_concat(place) FROM (SELECT doc * 8 + {_COLUMN} AS place FROM temp.word WHERE term = ? LIMIT ?)"


class Posting(NamedTuple):
    """The bodies that have a word, in order; `frequency` as BM25 weighs it."""

    bodies: np.ndarray
    frequency: np.ndarray
    fields: np.ndarray
    anywhere: bool  # in any topic, label or date at all


_EMPTY = Posting(np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.uint8), False)


class Postings:
    """Word lists of one store, as far as they have been asked for."""

    def __init__(self, con: apsw.Connection, lexical: Lexical) -> None:
        self._con = con
        self._lexical = lexical
        con.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.word USING fts5vocab ('main', 'body_fts', 'instance')")
        self._bodies = 0
        self._rows, self._mean = 0, 1.0
        self.forget()

    def forget(self) -> None:
        """Read every list again when it is next needed."""
        self._lists: dict[str, Posting] = {}
        self._counts: dict[str, int] = {}  # in how many bodies each word is
        self._phrases: dict[str, Posting] = {}
        self._held = 0

    def measure(self, bodies: int) -> None:
        """Take in how many texts there are, and how long they are in the mean."""
        self._bodies = bodies
        self._phrases.clear()
        record = self._con.execute("SELECT block FROM body_fts_data WHERE id = 1").get or b""
        counts = varints(record)
        self._rows = counts[0] if counts else 0
        self._mean = sum(counts[1:]) / self._rows if self._rows else 1.0

    def add(self, bodies: Sequence[int]) -> None:
        """Take in new bodies."""
        if not self._counts:
            return
        if len(bodies) > MAX_ADDED:
            self.forget()
            return
        found: dict[str, list[int]] = {}
        texts = self._con.execute(
            "SELECT num, content, topics, labels, dates, scope FROM body JOIN carray(?) ON num = value ORDER BY num",
            (carray(bodies),),
        )
        for body, *columns in texts:
            for column, text in enumerate(columns):
                for stem in self._lexical.tokens(text or ""):
                    if stem in self._counts:
                        found.setdefault(stem, []).append(body * 8 + column)
        for stem, places in found.items():
            new = _posting(np.array(places))
            self._counts[stem] += len(new.bodies)
            if stem in self._lists:
                old = self._lists[stem]
                whole = (np.concatenate(pair) for pair in zip(old[:3], new[:3], strict=True))
                self._lists[stem] = Posting(*whole, anywhere=old.anywhere or new.anywhere)

    def frequency(self, stem: str) -> int:
        """In how many bodies a word is. Its list is read with it, unless the word is too common to be searched for."""
        known = self._counts.get(stem)
        if known is None:
            count, places = self._con.execute(_READ, (stem, READ_AT_ONCE)).fetchone()
            if count < READ_AT_ONCE:
                return self._hold(stem, places)
            known = self._counts[stem] = (
                self._con.execute("SELECT doc FROM body_terms WHERE term = ?", (stem,)).get or 0
            )
        return known

    def posting(self, stem: str) -> Posting:
        self.frequency(stem)
        if stem not in self._lists:
            self._hold(stem, self._con.execute(_READ, (stem, -1)).fetchone()[1])
        return self._lists[stem]

    def _hold(self, stem: str, places: str | None) -> int:
        found = _posting(np.fromstring(places, dtype=np.int64, sep=",")) if places else _EMPTY
        if self._held > MAX_HELD:
            self.forget()
        self._lists[stem] = found
        self._held += len(found.bodies)
        self._counts[stem] = len(found.bodies)
        return len(found.bodies)

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
        return ArrayHits(rows[order], scores[order], stems, sum(stems.values()))

    def _scores(
        self, lists: Sequence[Posting], phrases: int, rare: int, lengths: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        """BM25 of every row: k1, b and the smallest weight of a word as FTS5 has them."""
        norm = BM25_K1 * (1 - BM25_B + BM25_B * lengths.astype(np.float64) / self._mean)
        parts = []
        for one in lists:
            at, there = _at(one, rows)
            frequency = np.where(there, one.frequency[at], 0.0) if len(one.bodies) else np.zeros(len(rows))
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
            found = self._phrases[topic] = Posting(bodies, times.astype(np.float64), np.zeros(len(bodies)), True)
        return found

    def fields(self, bodies: np.ndarray, stems: Mapping[str, float]) -> np.ndarray:
        """What the query's words are worth that stand in topics, labels and dates of some bodies; a label's counts half."""
        topics, labels, dates = np.zeros(len(bodies)), np.zeros(len(bodies)), np.zeros(len(bodies))
        for stem, worth in stems.items():
            one = self.posting(stem)
            if not one.anywhere:
                continue
            at, there = _at(one, bodies)
            fields = np.where(there, one.fields[at], 0)
            topics += worth * (fields >= _TOPIC)
            labels += worth * (fields & _LABELS > 0)
            dates += worth * (fields & _DATES)
        total: np.ndarray = topics + 0.5 * labels + dates
        return total


def _posting(places: np.ndarray) -> Posting:
    """From body * 8 + column of every occurrence, in order of bodies."""
    bodies, columns = places >> 3, places & 7
    first = np.flatnonzero(np.concatenate(([True], bodies[1:] != bodies[:-1])))
    in_fields = bool(((columns > 0) & (columns < 4)).any())
    frequency = np.add.reduceat(_WEIGHTS[columns], first)
    if in_fields:
        flags = np.bitwise_or.reduceat(_FIELDS[columns] & (_DATES | _LABELS), first)
        times = np.add.reduceat((columns == 1).astype(np.int32), first)
        fields = (flags + _TOPIC * np.minimum(times, 63)).astype(np.uint8)
    else:
        fields = np.zeros(len(first), dtype=np.uint8)
    return Posting(bodies[first].astype(np.int32), frequency, fields, in_fields)


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
