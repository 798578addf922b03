"""The store's current memories as arrays, for a process that answers many recalls: no row is fetched to be ranked.

One slot a text number, as for words and vectors. The arrays follow the store: `refresh` reads new texts and those of
changed memories, whichever process changed them. `postings.py` holds the words.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.memory import KINDS, Filter
from ..records import UseCounts
from .postings import NOTHING, ArrayHits, Postings, Seen, among, distinct

if TYPE_CHECKING:
    from ..lexical import Forms
    from ..sql.feed import ChangeFeed, TextColumns

# Texts read at a time, and how long one recall may read before it answers from rows, in seconds.
SLICE = 2_000
READ_SECONDS = 0.25
# Texts, or thirty times so many index terms, that recalls read themselves; more are read ahead, beside the recalls.
READ_BY_RECALLS, WORDS_A_TEXT = 30_000, 30
# Seconds that reading the lists of a query's words may take for each word of the index: with less time until its
# deadline a recall does without lists that are not held.
SECONDS_PER_WORD = 1e-6
# New texts that are not yet in the sorted order of sessions; with more it is sorted again.
MAX_UNSORTED = 4_096
# Scopes that were asked together are held with a mask of their texts: so many.
MOST_SEEN = 16
_NEVER = np.iinfo(np.int64).max
_PLACES = 1 << 40  # positions in one session that keys leave room for

# Name, type, and the value for none.
_COLUMNS: tuple[tuple[str, str, Any], ...] = (
    ("row", "i8", 0), ("scope", "i4", 0), ("state", "i2", 0), ("kind", "i2", 0), ("prior", "i4", 0),
    ("session", "i4", 0), ("position", "i8", 0), ("speaker", "i4", 0), ("valid_from", "i8", 0),
    ("valid_to", "i8", _NEVER), ("observed_at", "i8", 0), ("size", "i4", 0), ("asked", "?", False),
    ("keyed", "?", False), ("length", "i4", 0), ("id", "S16", b""), ("described", "i4", 0),
)  # fmt: skip


class Columns:
    """Arrays by text id. Valid within one snapshot of the feed; not thread-safe.

    `kind`, `state` and `speaker` hold places in `names`, `prior` in `priors`.
    """

    row: np.ndarray  # 0: of no current memory
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
    length: np.ndarray  # index terms of all columns, as BM25 counts them
    id: np.ndarray  # zero bytes at the end are lost, the order is not
    described: np.ndarray  # a hash of topics, labels and dates: have the index's words changed?

    def __init__(self, feed: ChangeFeed) -> None:
        self._feed = feed
        self._revision: object | None = None
        self._reset()

    def _reset(self) -> None:
        for name, kind, _ in _COLUMNS:
            setattr(self, name, np.zeros(1, dtype=kind))
        self.postings = Postings(self._feed.words)
        # Kinds, states and speakers share their numbers; kinds come first.
        self.names: list[str | None] = [None, *KINDS]
        self._names = {name: number for number, name in enumerate(self.names)}
        # Prior factors of scores: most memories share the same ones, which are held once. The first: of no memory.
        self.priors: list[tuple[Any, ...]] = [()]
        self._prior_numbers: dict[tuple[Any, ...], int] = {}
        self._version = -1
        self._done = 0  # the last text read
        self._changed: set[int] = set()  # texts to read again
        self._used = False
        self._scopes: dict[str, int] = {}
        self._exact: dict[str, np.ndarray] = {}
        self._seen: dict[tuple[str, ...], Seen] = {}  # by scopes, as of this version
        self._sorted: list[tuple[np.ndarray, np.ndarray]] = []
        self._sorted_to: list[int] = [0, 0]

    # -- following the store

    @property
    def all_read(self) -> bool:
        """True if nothing is left to be read ahead."""
        return self._version >= 0 and self.postings.all_read

    def refresh(self, version: int, deadline: float | None, *, seconds: float = READ_SECONDS) -> bool:
        """Update the arrays to the store. Return False if there is no time to read what is missing."""
        until = time.monotonic() + seconds
        # At most half of the remaining time: the rest answers the query.
        until = until if deadline is None else min(until, (time.monotonic() + deadline) / 2)
        ahead = seconds < READ_SECONDS
        if version == self._version:
            self._read_words(until)
            return True
        changes = self._feed.changes(self._revision)
        if changes.anew:
            self._reset()
        self._revision, last = changes.revision, changes.last
        self._changed.update(changes.text_ids)
        if not ahead and last - self._done > READ_BY_RECALLS and self._feed.in_pieces:
            return False  # with a part of the texts, a recall would have to answer from rows anyway
        self._grow(last + 1)
        while self._done < last:
            if time.monotonic() > until:
                return False
            texts = self._feed.texts_after(self._done, most=SLICE)
            self._put(texts)
            self.postings.add(texts["text_id"])
            self._done = texts["text_id"][-1]
        if self._changed:
            text_ids = np.array(sorted(self._changed), dtype=np.int64)
            described, session, position = self.described[text_ids], self.session[text_ids], self.position[text_ids]
            self._put(self._feed.texts(text_ids.tolist()))
            if (described != self.described[text_ids]).any():
                self.postings.forget()
            if (session != self.session[text_ids]).any() or (position != self.position[text_ids]).any():
                self._sorted, self._sorted_to = [], [0, 0]
            self._changed.clear()
        self._exact.clear()
        self._seen.clear()
        self._used = changes.used
        self.postings.measure()
        self._read_words(until)
        self._version = version
        return True

    def _read_words(self, until: float) -> None:
        if self.postings.whole.words <= READ_BY_RECALLS * WORDS_A_TEXT or not self._feed.in_pieces:
            self.postings.read(until)

    def _put(self, texts: TextColumns) -> None:
        if not texts["text_id"]:
            return
        at = np.array(texts["text_id"])
        self._grow(int(at.max()) + 1)
        factors = zip(texts["kind"], texts["importance"], texts["pinned"], texts["trust"], texts["observations"],
                      texts["stated_confidence"], strict=True)  # fmt: skip
        indexed = zip(texts["topics"], texts["labels"], texts["dates"], strict=True)
        values: dict[str, Iterable[Any]] = texts | {
            "prior": (
                0
                if kind is None
                else _numbered((kind, importance, bool(pinned), *others), self._prior_numbers, self.priors)
                for kind, importance, pinned, *others in factors
            ),
            "size": map(len, texts["content"]),
            "asked": (text.rstrip().endswith("?") for text in texts["content"]),
            "keyed": (key is not None for key in texts["key"]),
            "described": (hash(fields) & 0x7FFFFFFF for fields in indexed),
        }
        for name in ("state", "kind", "speaker"):
            values[name] = (_numbered(value, self._names, self.names) for value in texts[name])
        for name, kind, nothing in _COLUMNS:
            filled = [nothing if value is None else value for value in values[name]]
            getattr(self, name)[at] = np.array(filled, dtype=kind)

    def _grow(self, slots: int) -> None:
        have = len(self.row)
        if slots <= have:
            return
        for name, kind, _ in _COLUMNS:
            grown = np.zeros(slots + slots // 8, dtype=kind)  # memory is taken when it is written to
            grown[:have] = getattr(self, name)
            setattr(self, name, grown)

    # -- what passes, and what is near

    def scope_numbers(self, names: Iterable[str]) -> list[int]:
        for name in names:
            if name not in self._scopes:
                for number in self._feed.numbers("scope", name):
                    self._scopes[name] = number
        return [self._scopes[name] for name in dict.fromkeys(names) if name in self._scopes]

    def passing(self, text_ids: np.ndarray, where: Filter) -> np.ndarray:
        """Return a mask of the texts that pass the filter, which must need no rows."""
        mask = among(self.state[text_ids], self._known(where.states)) if where.states else self.row[text_ids] > 0
        if where.scopes is not None:
            mask &= among(self.scope[text_ids], self.scope_numbers(where.scopes))
        if where.kinds:
            mask &= among(self.kind[text_ids], self._known(where.kinds))
        if where.session is not None:
            mask &= among(self.session[text_ids], self._feed.numbers("session", where.session))
        if where.speaker is not None:
            mask &= among(self.speaker[text_ids], self._known((where.speaker,)))
        if where.since is not None:
            mask &= self.valid_from[text_ids] >= where.since
        if where.until is not None:
            mask &= self.valid_from[text_ids] < where.until
        if where.as_of is not None:
            mask &= (self.valid_from[text_ids] <= where.as_of) & (where.as_of < self.valid_to[text_ids])
        for topic in where.topics:
            mask &= self._with_topic(topic)[text_ids]
        return mask

    def allowed(self, where: Filter) -> np.ndarray:
        """Return every text that passes the filter, in order."""
        if where.topics:
            some = np.flatnonzero(self._with_topic(where.topics[0]))
        else:
            some = np.flatnonzero(self.row[: self._done + 1])
        text_ids: np.ndarray = some[self.passing(some, where)]
        return text_ids

    def _known(self, names: Iterable[str]) -> list[int]:
        return [self._names[name] for name in names if name in self._names]

    def _with_topic(self, topic: str) -> np.ndarray:
        """Return a mask of the slots whose memory has exactly this topic, in any case."""
        mask = self._exact.get(topic)
        if mask is None:
            mask = self._exact[topic] = np.zeros(len(self.row), dtype=bool)
            mask[self._feed.with_topic(topic)] = True
        return mask

    def near(self, text_ids: np.ndarray, reach: int) -> np.ndarray:
        """Return texts up to `reach` places before or after the given ones in their sessions, themselves included."""
        base, end = self._sorted_to
        if end != self._done + 1:  # most texts are sorted once, the newest beside them
            end = self._done + 1
            if end - base > MAX_UNSORTED or not self._sorted:
                base = end if end - base > MAX_UNSORTED else 0
                self._sorted = [self._by_place(0, base)]
            self._sorted[1:] = [self._by_place(base, end)]
            self._sorted_to = [base, end]
        text_ids = text_ids[self.session[text_ids] > 0]
        keys = self.session[text_ids] * np.int64(_PLACES) + self.position[text_ids]
        parts = [text_ids]
        for ordered, order in self._sorted:
            low, high = ordered.searchsorted(keys - reach), ordered.searchsorted(keys + reach, side="right")
            parts += [order[start:end] for start, end in zip(low.tolist(), high.tolist(), strict=True) if start < end]
        return distinct(np.concatenate(parts))

    def _by_place(self, start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        text_ids = start + np.flatnonzero(self.session[start:end])
        keys = self.session[text_ids] * np.int64(_PLACES) + self.position[text_ids]
        order = np.argsort(keys, kind="stable")
        return keys[order], text_ids[order]

    # -- words and use

    def seen(self, where: Filter) -> Seen:
        """Return the texts of a filter's scopes."""
        whole = self.postings.whole
        if where.scopes is not None and where.scopes not in self._seen:
            if len(self._seen) >= MOST_SEEN:
                self._seen.clear()
            scopes = self.scope_numbers(where.scopes)
            mask = among(self.scope, scopes)
            seen = Seen(int(np.count_nonzero(mask)), int(self.length[mask].sum()), mask, scopes)
            self._seen[where.scopes] = whole if seen.texts == whole.texts else seen
        return whole if where.scopes is None else self._seen[where.scopes]

    def lexical(
        self, text: str, where: Filter, *, limit: int | None, deadline: float | None, forms: Forms
    ) -> ArrayHits:
        """Search as `Search.lexical` does."""
        with self._feed.within(deadline):
            reading = self.postings.whole.words * SECONDS_PER_WORD
            held_only = self._feed.in_pieces and deadline is not None and deadline - time.monotonic() < reading
            return self.postings.search(text, where, self, limit=limit, forms=forms, held_only=held_only)
        return NOTHING._replace(complete=False)

    def uses(self, text_ids: np.ndarray) -> dict[int, UseCounts]:
        """Return use counts by place in `text_ids`, for those ever used or judged."""
        if not self._used:
            return {}
        place = {text_id: i for i, text_id in enumerate(text_ids.tolist())}
        return {place[text_id]: use for text_id, use in self._feed.uses(self.row[text_ids].tolist()).items()}


def _numbered(value: Any, numbers: dict[Any, int], values: list[Any]) -> int:
    """Return the index of a value in a list, to which it is added when it is new."""
    number = numbers.get(value)
    if number is None:
        number = numbers[value] = len(values)
        values.append(value)
    return number
