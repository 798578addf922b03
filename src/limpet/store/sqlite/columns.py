"""The store's current memories as arrays, for a process that answers many recalls: no row is fetched to be ranked.

One slot a text number, since that is what words and vectors speak of. The arrays follow the store: `refresh` reads new
texts and those of changed memories, whichever process changed them. `postings.py` holds the words.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import numpy as np

from ...model.memory import KINDS
from ..records import ArrayHits, Filter, Use
from . import fulltext
from .filters import carray, scope_number
from .fulltext import Lexical, interrupted
from .posting_lists import among, distinct, varints
from .postings import Postings
from .sql import statements

# Texts read at a time, and how long one recall may read before it answers from SQL, in seconds.
SLICE = 2_000
READ_SECONDS = 0.25
# Texts, or index terms in thirties, that recalls read themselves; more of them are read ahead, beside the recalls.
READ_BY_RECALLS, WORDS_A_TEXT = 30_000, 30
# New texts that do not yet stand in the sorted order of sessions; with more it is sorted anew.
MAX_UNSORTED = 4_096
_NEVER = np.iinfo(np.int64).max
_PLACES = 1 << 40  # positions in one session that keys leave room for

# Name, type, and what stands where there is no value. `num` 0: no current memory has this text.
_COLUMNS: tuple[tuple[str, str, Any], ...] = (
    ("num", "i8", 0), ("scope", "i4", 0), ("state", "i2", 0), ("kind", "i2", 0), ("prior", "i4", 0),
    ("session", "i4", 0), ("position", "i8", 0), ("speaker", "i4", 0), ("valid_from", "i8", 0),
    ("valid_to", "i8", _NEVER), ("observed_at", "i8", 0), ("size", "i4", 0), ("asked", "?", False),
    ("keyed", "?", False), ("tokens", "i4", 0), ("id", "S16", b""), ("described", "i4", 0),
)  # fmt: skip


class SqliteColumns:
    """Arrays by text number. Not thread-safe: used under the lock of the connection that it reads."""

    num: np.ndarray
    scope: np.ndarray
    state: np.ndarray
    kind: np.ndarray
    prior: np.ndarray  # place in `priors`
    session: np.ndarray  # 0 = none
    position: np.ndarray
    speaker: np.ndarray
    valid_from: np.ndarray
    valid_to: np.ndarray
    observed_at: np.ndarray
    size: np.ndarray  # characters of the content
    asked: np.ndarray  # ends with a question mark
    keyed: np.ndarray  # has a key
    tokens: np.ndarray  # index terms of all columns, as BM25 counts them
    id: np.ndarray  # zero bytes at the end are lost, the order is not
    described: np.ndarray  # a hash of topics, labels and dates: have the index's words changed?

    def __init__(self, con: apsw.Connection, lexical: Lexical, *, follows: bool = False) -> None:
        """`follows`: somebody calls `read_ahead` until all is there."""
        self.follows = follows
        self._con = con
        self._lexical = lexical
        self._schema = -1
        self._reset()

    def _reset(self) -> None:
        for name, kind, _ in _COLUMNS:
            setattr(self, name, np.zeros(1, dtype=kind))
        self.postings = Postings(self._con, self._lexical)
        self.words = self.postings.words
        # Kinds, states and speakers share their numbers; kinds come first.
        self.names: list[str | None] = [None, *KINDS]
        self._names = {name: number for number, name in enumerate(self.names)}
        # Prior factors of scores: most memories share the same ones, which are held once. The first: of no memory.
        self.priors: list[tuple[Any, ...]] = [()]
        self._prior_numbers: dict[tuple[Any, ...], int] = {}
        self._version = -1
        self._done = 0  # the last text read
        self._seq = -1  # the last event known
        self._changed: set[bytes] = set()  # memories to read again
        self._used = False
        self._scopes: dict[str, int] = {}
        self._exact: dict[str, np.ndarray] = {}
        self.bodies_of_scope: dict[int, int] = {}
        self._sorted: list[tuple[np.ndarray, np.ndarray]] = []
        self._sorted_to: list[int] = [0, 0]

    # -- following the store

    @property
    def all_read(self) -> bool:
        """Whether nothing is left to be read ahead."""
        return self._version >= 0 and self.postings.all_read

    def read_ahead(self, version: int, seconds: float) -> None:
        """Read what recalls leave unread, for about so long."""
        until = time.monotonic() + seconds
        if self.refresh(version, None, seconds=seconds):
            self.postings.read(until)

    def refresh(self, version: int, deadline: float | None, *, seconds: float = READ_SECONDS) -> bool:
        """Whether the arrays show the store as it is now; False when reading what is missing takes too long."""
        until = time.monotonic() + seconds
        # Half of the time that is left at most: the rest answers the query.
        until = until if deadline is None else min(until, (time.monotonic() + deadline) / 2)
        ahead = seconds < READ_SECONDS
        if version == self._version:
            self._read_words(until)
            return True
        con = self._con
        schema = con.execute("PRAGMA schema_version").get  # a rebuild changes it, see store.py
        if self._note_events() or schema != self._schema:
            self._reset()
            self._schema = schema
            self._note_events()
        last = con.execute("SELECT ifnull(max(num), 0) FROM body").get
        if not ahead and last - self._done > READ_BY_RECALLS and self.follows:
            return False  # a recall that read a part would answer from rows all the same
        self._grow(last + 1)
        while self._done < last:
            if time.monotonic() > until:
                return False
            rows = con.execute(statements()["columns_after"], {"after": self._done, "limit": SLICE}).fetchall()
            self._put(rows)
            self.postings.add([row[0] for row in rows])
            self._done = rows[-1][0]
        if self._changed:
            self._reread(self._changed)
            self._changed = set()
        self._exact.clear()
        self._used = con.execute("SELECT 1 FROM usage LIMIT 1").get is not None
        self.postings.measure(last)
        self._read_words(until)
        self._version = version
        return True

    def _read_words(self, until: float) -> None:
        if self.postings.words_there_are <= READ_BY_RECALLS * WORDS_A_TEXT or not self.follows:
            self.postings.read(until)

    def _note_events(self) -> bool:
        """Note the memories that changed since the last look; whether one was purged. New ones are read as texts."""
        last = self._con.execute("SELECT ifnull(max(seq), 0) FROM event").get
        if self._seq < 0:
            self._seq = last
        rows = self._con.execute(
            "SELECT type, memory FROM event WHERE seq > ? AND type <> 'remembered'", (self._seq,)
        ).fetchall()
        self._seq = last
        self._changed.update(memory for _, memory in rows)
        return any(type == "purged" for type, _ in rows)

    def _reread(self, ids: set[bytes]) -> None:
        rows = self._con.execute(statements()["bodies_of_memories"], {"ids": apsw.carray(tuple(ids))})
        bodies = np.array([row[0] for row in rows], dtype=np.int64)
        if not len(bodies):
            return
        before = self.described[bodies], self.session[bodies], self.position[bodies]
        self._put(
            self._con.execute(statements()["columns_of"], {"bodies": carray(bodies.tolist())}).fetchall(), new=False
        )
        if (before[0] != self.described[bodies]).any():
            self.postings.forget()
        if (before[1] != self.session[bodies]).any() or (before[2] != self.position[bodies]).any():
            self._sorted, self._sorted_to = [], [0, 0]

    def _put(self, rows: Sequence[tuple[Any, ...]], *, new: bool = True) -> None:
        (body, num, scope, state, kind, trust, pinned, session, position, speaker, valid_from, valid_to, importance,
         observations, observed_at, stated, content, topics, labels, dates, id, sizes, key
        ) = zip(*rows, strict=True)  # fmt: skip
        at = np.array(body)
        self._grow(int(at.max()) + 1)
        number = self._number
        values: dict[str, Iterable[Any]] = {
            "num": num,
            "scope": map(scope_number, scope),
            "state": map(number, state),
            "kind": map(number, kind),
            "prior": map(self._prior, kind, importance, pinned, trust, observations, stated),
            "session": session,
            "position": position,
            "speaker": map(number, speaker),
            "valid_from": valid_from,
            "valid_to": valid_to,
            "observed_at": observed_at,
            "size": map(len, content),
            "asked": (text.rstrip().endswith("?") for text in content),
            "keyed": (one is not None for one in key),
            "tokens": map(_count, sizes),
            "id": id,
            "described": (hash(one) & 0x7FFFFFFF for one in zip(topics, labels, dates, strict=True)),
        }
        for name, kind_, nothing in _COLUMNS:
            filled = [nothing if value is None else value for value in values[name]]
            getattr(self, name)[at] = np.array(filled, dtype=kind_)
        if new:
            for one, count in zip(*np.unique(self.scope[at], return_counts=True), strict=True):
                self.bodies_of_scope[int(one)] = self.bodies_of_scope.get(int(one), 0) + int(count)

    def _grow(self, slots: int) -> None:
        have = len(self.num)
        if slots <= have:
            return
        for name, kind, _ in _COLUMNS:
            grown = np.zeros(slots + slots // 8, dtype=kind)  # memory is taken when it is written to
            grown[:have] = getattr(self, name)
            setattr(self, name, grown)

    def _number(self, name: str | None) -> int:
        number = self._names.get(name)
        if number is None:
            number = self._names[name] = len(self.names)
            self.names.append(name)
        return number

    def _prior(self, kind: str | None, *rest: Any) -> int:
        if kind is None:
            return 0
        importance, pinned, trust, observations, stated = rest
        prior = (kind, importance, bool(pinned), trust, observations, stated)
        number = self._prior_numbers.get(prior)
        if number is None:
            number = self._prior_numbers[prior] = len(self.priors)
            self.priors.append(prior)
        return number

    # -- what passes, and what is near

    def scope_numbers(self, names: Iterable[str]) -> list[int]:
        for name in names:
            if name not in self._scopes:
                num = self._con.execute("SELECT num FROM scope WHERE name = ?", (name,)).get
                if num is not None:
                    self._scopes[name] = num
        return [self._scopes[name] for name in dict.fromkeys(names) if name in self._scopes]

    def passing(self, bodies: np.ndarray, where: Filter) -> np.ndarray:
        """Which of some texts pass the filter; it must not ask for what was known at another time."""
        mask = self._among(self.state[bodies], where.states) if where.states else self.num[bodies] > 0
        if where.scopes is not None:
            mask &= among(self.scope[bodies], self.scope_numbers(where.scopes))
        if where.kinds:
            mask &= self._among(self.kind[bodies], where.kinds)
        if where.session is not None:
            found = self._con.execute("SELECT num FROM session WHERE name = ?", (where.session,))
            mask &= among(self.session[bodies], [row[0] for row in found])
        if where.since is not None:
            mask &= self.valid_from[bodies] >= where.since
        if where.until is not None:
            mask &= self.valid_from[bodies] < where.until
        if where.as_of is not None:
            mask &= (self.valid_from[bodies] <= where.as_of) & (where.as_of < self.valid_to[bodies])
        for topic in where.topics:
            mask &= self._with_topic(topic)[bodies]
        return mask

    def allowed(self, where: Filter) -> np.ndarray:
        """Every text that passes the filter, in order."""
        if where.topics:
            some = np.flatnonzero(self._with_topic(where.topics[0]))
        else:
            some = np.flatnonzero(self.num[: self._done + 1])
        return some[self.passing(some, where)]

    def _among(self, numbers: np.ndarray, names: Iterable[str]) -> np.ndarray:
        return among(numbers, [self._names[name] for name in names if name in self._names])

    def _with_topic(self, topic: str) -> np.ndarray:
        """For each slot whether its memory has exactly this topic."""
        found = self._exact.get(topic)
        if found is None:
            found = self._exact[topic] = np.zeros(len(self.num), dtype=bool)
            found[fulltext.allowed(self._con, Filter(topics=(topic,), states=()), self._lexical.stems)] = True
        return found

    def near(self, bodies: np.ndarray, reach: int) -> np.ndarray:
        """Texts up to `reach` places before or after the given ones in their sessions, themselves included."""
        bodies = bodies[self.session[bodies] > 0]
        keys = self.session[bodies] * np.int64(_PLACES) + self.position[bodies]
        self._sort()
        found = [bodies]
        for ordered, order in self._sorted:
            low, high = ordered.searchsorted(keys - reach), ordered.searchsorted(keys + reach, side="right")
            found += [order[start:end] for start, end in zip(low.tolist(), high.tolist(), strict=True) if start < end]
        return distinct(np.concatenate(found))

    def _sort(self) -> None:
        """Texts by session and position: most of them sorted once, the newest beside them."""
        base, end = self._sorted_to
        if end == self._done + 1:
            return
        if self._done + 1 - base > MAX_UNSORTED:
            base = self._done + 1
            self._sorted = [self._by_place(0, base), self._by_place(base, base)]
        else:
            self._sorted[1:] = [self._by_place(base, self._done + 1)]
            self._sorted = self._sorted if base else [self._by_place(0, 0), *self._sorted]
        self._sorted_to = [base, self._done + 1]

    def _by_place(self, start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        bodies = start + np.flatnonzero(self.session[start:end])
        keys = self.session[bodies] * np.int64(_PLACES) + self.position[bodies]
        order = np.argsort(keys, kind="stable")
        return keys[order], bodies[order]

    # -- words and use

    def lexical(self, text: str, where: Filter, *, limit: int | None, deadline: float | None) -> ArrayHits:
        """What `Search.lexical` finds. Raises apsw.InterruptError at the deadline."""
        if self._done <= fulltext.SMALL_STORE:
            found = self._lexical.search(text, where, limit=limit, version=self._version, deadline=deadline)
            bodies = np.array([hit.body for hit in found.hits], dtype=np.int64)
            scores = np.array([hit.score for hit in found.hits])
            return ArrayHits(bodies, scores, found.stems, found.weight, found.complete, found.absent)
        with interrupted(self._con, deadline):
            try:
                # A list that is not there yet may take longer than any deadline.
                held_only = deadline is not None and self.follows
                return self.postings.search(text, where, self, limit=limit, held_only=held_only)
            except apsw.InterruptError:
                return ArrayHits.none()._replace(complete=False)

    def uses(self, bodies: np.ndarray) -> dict[int, Use]:
        """By place in `bodies`, of those that were ever used or judged."""
        if not self._used:
            return {}
        place = {body: i for i, body in enumerate(bodies.tolist())}
        rows = self._con.execute(statements()["usage_of"], {"nums": carray(self.num[bodies].tolist())})
        return {place[body]: Use._make(rest) for body, *rest in rows}


def _count(sizes: bytes | None) -> int:
    """Index terms of a text, from the packed sizes of its columns."""
    return sum(sizes if sizes and max(sizes) < 0x80 else varints(sizes or b""))
