"""The rows that search reads: texts cut into words, the fields that ranking needs, and vectors.

Full text and the form of codes belong to the engine. SQLite's tokenizer cuts texts for every engine, so that scores are
equal.
"""

from __future__ import annotations

import contextlib
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache

import apsw

from ...model.errors import BadInput, EmbedderUnavailable, StoreError
from ...model.memory import Filter
from ..heap import give_back
from ..lexical import NO_FORMS, Forms
from ..records import AGAIN, ALL, Candidate, EmbedderRow, LexicalResult, NewVector, VectorChunk
from .jobs import EMBED
from .memories import scope_list
from .statements import statements
from .store import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..arrays.columns import Columns
    from .feed import ChangeFeed
    from .store import Store

# Distinct terms of a query that are looked up.
MAX_TERMS_LOOKED_UP = 400
# Texts whose index terms are kept: those of a small store, topics, names and dates come again and again.
MAX_STEMMED = 10_000
# FTS5 keeps no more of a word, and cuts a longer one even within a character.
MAX_TERM_BYTES = 32_768
# With so few texts rows are as fast as arrays, and need not follow the store.
ROWS_UP_TO = 300
# Seconds that reading ahead may keep a recall waiting.
AHEAD_SECONDS = 0.005
# Codes in one chunk: at 384 dimensions a chunk is 384 KiB, read in one go.
CHUNK_SLOTS = 1_024
# The newest chunk, and how much of it is used.
_NEWEST_CHUNK = "SELECT num, used FROM chunk WHERE embedder = ? ORDER BY num DESC LIMIT 1"
# Those of some texts that exist and have no vector of an embedder yet, and their scopes.
_WITHOUT = (
    "SELECT b.num, b.scope FROM carray(?1) c JOIN body b ON b.num = c.value"
    " WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.embedder = ?2 AND v.body = b.num AND v.part = ?3)"
)
_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])


class Tokenizer:
    def __init__(self) -> None:
        self._tokenize = apsw.Connection(":memory:").fts5_tokenizer(*_TOKENIZER)
        # The index terms of a text, and how often it has each.
        self.counts = lru_cache(MAX_STEMMED)(lambda text: Counter(self.tokens(text)))

    def tokens(self, text: str) -> Iterator[str]:
        """Yield the index terms of a text, in order, as the index has them."""
        for token in self._tokenize(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False):
            yield _bounded(token[0])

    def terms(self, text: str) -> dict[str, str]:
        """Return stem -> the word as it was written, for the first terms of the text."""
        raw = text.encode("utf-8", "replace")
        words: dict[str, str] = {}
        for start, end, *stems in self._tokenize(raw, apsw.FTS5_TOKENIZE_QUERY, None):
            term = _bounded(stems[0])
            if term not in words:
                if len(words) >= MAX_TERMS_LOOKED_UP:
                    break
                words[term] = raw[start:end].decode("utf-8", "replace")
        return words


def _bounded(term: str) -> str:
    """Return the characters of a term that the index keeps whole."""
    if len(term) * 4 <= MAX_TERM_BYTES:
        return term
    return term.encode()[:MAX_TERM_BYTES].decode(errors="ignore")


class FollowingArrays:
    """The arrays that follow a store. Thread-safe as far as the feed's snapshots are, in which they are used."""

    def __init__(self, store: Store, feed: Callable[[], ChangeFeed]) -> None:
        """Set up the search. `feed`: called when the arrays are made."""
        self._store, self._make_feed = store, feed
        self._made: tuple[ChangeFeed, Columns] | None = None
        self._ahead: threading.Thread | None = None
        self._asked = False

    def close(self) -> None:
        """Free the arrays."""
        self._made = None

    def current(self, deadline: float | None = None, *, build: bool = True) -> Columns | None:
        """Return the arrays; None for few texts, and for a process's first recall, which is often its only one."""
        if self._made is None:
            if not (build and self._asked):
                self._asked |= build
                return None
            if self._store.database.rows("SELECT coalesce(max(num), 0) FROM body")[0][0] <= ROWS_UP_TO:
                return None
            try:
                from ..arrays.columns import Columns
            except ImportError:  # no NumPy, or a broken one: rows answer
                return None
            feed = self._make_feed()
            self._made = feed, Columns(feed)
        feed, columns = self._made
        with feed.snapshot() as version:
            current = columns.refresh(version, deadline)
            if not (current and columns.all_read) and self._ahead is None and feed.in_pieces:
                self._ahead = threading.Thread(target=self._read_ahead, name="limpet-read", daemon=True)
                self._ahead.start()
            return columns if current else None

    def _read_ahead(self) -> None:
        """Read what recalls would wait for, a few milliseconds at a time, until all is there."""
        made = self._made
        with contextlib.suppress(StoreError):  # closed, or damaged: whoever asks is told
            while made is not None and not made[1].all_read:
                feed, columns = made
                with feed.snapshot() as version:
                    if self._made is not made:
                        break
                    until = time.monotonic() + AHEAD_SECONDS
                    if columns.refresh(version, None, seconds=AHEAD_SECONDS):
                        columns.postings.read(until)
                time.sleep(0.001)  # whoever waits for the store gets it
        give_back()
        self._ahead = None


class Search(Repository, ABC):
    """The current memories by their texts. A text is known by its number."""

    tokenizer: Tokenizer

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        # Current memories as arrays, for a process that asks often.
        self.arrays = FollowingArrays(store, self._feed)

    @abstractmethod
    def _feed(self) -> ChangeFeed: ...

    @abstractmethod
    def lexical(
        self, text: str, where: Filter, *, limit: int | None, deadline: float | None = None, forms: Forms = NO_FORMS
    ) -> LexicalResult: ...

    # The terms of the index from one on, before another.
    between = "SELECT term FROM body_terms WHERE term >= ? AND term < ?"

    def beginning_with(self, letters: str) -> list[str]:
        """Return the index's terms that begin so."""
        return [term for (term,) in self._database.rows(self.between, (letters, f"{letters}\U0010ffff"))]

    @abstractmethod
    def allowed(self, where: Filter) -> list[int]:
        """Return every text that passes the filter."""

    @abstractmethod
    def until(self, deadline: float | None) -> contextlib.AbstractContextManager[None]:
        """End reads inside, and the block itself, at the deadline on the monotonic clock, without an exception."""

    def stems(self, texts: Iterable[str]) -> dict[str, Set[str]]:
        """Return the index terms of some short texts, as they stand in `LexicalResult.stems`."""
        return {text: self.tokenizer.counts(text).keys() for text in texts}

    def substring(
        self, text: str, where: Filter, *, limit: int, deadline: float | None = None, newest: int = ALL
    ) -> list[int]:
        """Return texts that hold a text as it is; none when the deadline comes first. `newest`: look only at so many
        memories of each scope, the last ones."""
        literal = text.strip()[:200].replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        if literal:
            with self.until(deadline):
                bound = {
                    "pattern": f"%{literal}%",
                    "limit": limit,
                    "newest": newest,
                    "scopes": scope_list(where.scopes),
                }
                return [row[0] for row in self._ask("substring", where, **bound)]
        return []

    def candidates(self, bodies: Iterable[int], where: Filter) -> list[Candidate]:
        """Return the candidates among some texts that pass the filter."""
        wanted = list(bodies)
        rows = self._ask("candidates", where, bodies=self._database.numbers(wanted)) if wanted else []
        return list(map(Candidate._make, rows))

    def neighbours(self, nums: Iterable[int], where: Filter, *, reach: int) -> list[Candidate]:
        """Return memories up to `reach` places before or after the rows in their sessions, some more than once."""
        wanted = list(nums)
        rows = self._ask("neighbours", where, nums=self._database.numbers(wanted), reach=reach) if wanted else []
        return list(map(Candidate._make, rows))

    def texts(self, bodies: Sequence[int]) -> list[tuple[int, str, str | None, str | None]]:
        """Return (number, text, key, words of its topics; either or None) of those that exist."""
        return self._ask("texts", bodies=self._database.numbers(bodies))

    def merged(self, bodies: Collection[int]) -> dict[int, tuple[bytes, str, int | None]]:
        """Return (id, content, text of the active memory that speaks for it) of those among some texts that were
        merged."""
        rows = self._ask("merged_texts", bodies=self._database.numbers(bodies)) if bodies else []
        return {body: (id, content, into) for body, id, content, into in rows}

    def texts_of(self, ids: Sequence[bytes]) -> list[int]:
        """Return the texts of the current versions of some memories."""
        by_id = dict(self._ask("bodies_of_current", ids=self._database.ids(ids))) if ids else {}
        return [by_id[id] for id in ids if id in by_id]

    def once_in(self, where: Filter) -> str:
        """Return SQL that selects the texts that the scopes of a filter ever had, if it asks for what was known before
        and a memory was ever moved out of one of them: its text is elsewhere now. Else ""."""
        if where.scopes is None or where.known_at is None:
            return ""
        scopes = f"scope IN ({', '.join(map(str, self.scope_numbers(where.scopes))) or '0'})"
        left = self._database.rows(f"SELECT 1 FROM scope_left WHERE {scopes} LIMIT 1")
        return f"SELECT DISTINCT body FROM memory WHERE {scopes}" if left else ""

    def standing_for(self, bodies: Sequence[int]) -> list[tuple[int, int]]:
        """Return (text, text of a later one in its place) for those whose memories were replaced."""
        return self._ask("standing_for", bodies=self._database.numbers(bodies)) if bodies else []

    def scope_numbers(self, names: Sequence[str]) -> list[int]:
        """Return the numbers that stand for scopes in vector chunks; unknown names are left out."""
        marks = ", ".join("?" * len(names))
        return [row[0] for row in self._database.rows(f"SELECT num FROM scope WHERE name IN ({marks})", tuple(names))]


class Vectors(Repository, ABC):
    def embedder(self) -> EmbedderRow | None:
        """Return the embedder of this store, None before its first use."""
        rows = self._database.rows(
            "SELECT e.num, e.fingerprint, e.name, e.dimensions,"
            " EXISTS (SELECT 1 FROM chunk c WHERE c.embedder = e.num),"
            " NOT EXISTS (SELECT 1 FROM job j WHERE j.kind = ? AND j.state = 'waiting'),"
            " e.unrelated, e.related, e.apart FROM embedder e",
            (AGAIN,),
        )
        for *known, has_vectors, is_complete, unrelated, related, apart in rows:
            calibration = None if apart is None else (unrelated, related, apart)
            return EmbedderRow._make((*known, bool(has_vectors), bool(is_complete), calibration))
        return None

    def register(self, fingerprint: str, name: str, dimensions: int) -> EmbedderRow:
        """Make this the store's embedder and return its row. Another one goes with its vectors, and the texts that had
        one wait for a new one. Raises BadInput."""
        with self._database.writing() as con:
            row = self.embedder()
            if row is None or row.fingerprint != fingerprint:
                con.execute(
                    "INSERT INTO job (kind, subject, not_before) SELECT ?, body, 0 FROM vector WHERE part = 0"
                    " ON CONFLICT DO NOTHING",
                    (AGAIN,),
                )
                num = con.execute(
                    "INSERT INTO embedder (fingerprint, name, dimensions) VALUES (?, ?, ?) RETURNING num",
                    (fingerprint, name, dimensions),
                ).get
                con.execute("DELETE FROM vector WHERE embedder <> ?", (num,))
                con.execute("DELETE FROM chunk WHERE embedder <> ?", (num,))
                con.execute("DELETE FROM embedder WHERE num <> ?", (num,))
                row = self.embedder()
                assert row is not None
            if row.dimensions != dimensions:
                raise BadInput(f"embedder {name} has {dimensions} dimensions, its stored vectors {row.dimensions}")
            return row

    def calibrate(self, num: int, calibration: tuple[float, float, float]) -> None:
        """Note how an embedder's cosines lie (vectors/calibration.py)."""
        with self._database.writing() as con:
            con.execute("UPDATE embedder SET unrelated = ?, related = ?, apart = ? WHERE num = ?", (*calibration, num))

    def add(
        self,
        embedder: int,
        vectors: Sequence[NewVector],
        *,
        done: Sequence[int] = (),
        kind: str = EMBED,
        then: Mapping[str, Sequence[int]] | None = None,
        at: int = 0,
    ) -> int:
        """Store vectors of texts that are still there: of their beginnings, or of all their parts. In the same
        transaction the jobs of a `kind` about the texts `done` end, and the jobs `then` begin: of each kind about some
        texts. Returns how many were stored. Raises EmbedderUnavailable if another embedder took its place."""
        with self._database.writing() as con:
            if not con.execute("SELECT count(*) FROM embedder WHERE num = ?", (embedder,)).get:
                raise EmbedderUnavailable("meanwhile the vectors are made by another embedder")
            first = min((vector.part for vector in vectors), default=0)
            texts = self._database.numbers({vector.text_id for vector in vectors})
            scope_of = dict(con.execute(_WITHOUT, (texts, embedder, first)).fetchall())
            fresh = [vector for vector in vectors if vector.text_id in scope_of]
            scopes = [int(scope_of[vector.text_id][1:]) for vector in fresh]
            start = 0
            while start < len(fresh):
                chunk, used = con.execute(_NEWEST_CHUNK, (embedder,)).fetchone() or (0, CHUNK_SLOTS)
                if used >= CHUNK_SLOTS:
                    chunk, used = self._new_chunk(con, embedder), 0
                end = start + CHUNK_SLOTS - used
                self._put(con, chunk, used, fresh[start:end], scopes[start:end])
                start = end
            self._store.jobs.finish(kind, done)
            for following, subjects in (then or {}).items():
                self._store.jobs.enqueue(following, subjects, at)
        self._database.loaded(len(fresh))
        return len(fresh)

    def chunks(
        self, embedder: int, known: dict[int, int], *, most: int | None = None
    ) -> tuple[list[VectorChunk], list[int]]:
        """Return chunks whose version differs from `known`, `most` of them, the newest first, and the numbers of all
        chunks, in order. Call it within a snapshot."""
        with self._database.reading() as con:
            versions = con.execute(statements()["chunks_changed"], {"embedder": embedder}).fetchall()
            wanted = [num for num, version in reversed(versions) if known.get(num) != version][:most]
            return [self._chunk(con, num) for num in wanted], list(dict(versions))

    def exact(self, embedder: int, bodies: Sequence[int]) -> list[tuple[int, bytes]]:
        """Return (text, vector of float16) of those that have one."""
        return self._ask("exact_vectors", embedder=embedder, bodies=self._database.numbers(bodies))

    @abstractmethod
    def _chunk(self, con: Any, num: int) -> VectorChunk: ...

    @abstractmethod
    def _new_chunk(self, con: Any, embedder: int) -> int:
        """Add an empty chunk and return its number."""

    @abstractmethod
    def _put(self, con: Any, chunk: int, used: int, vectors: Sequence[NewVector], scopes: Sequence[int]) -> None:
        """Put codes and exact vectors into the free slots of a chunk. `scopes`: of their texts."""
