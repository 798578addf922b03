"""The feed of a long process's arrays: the part that is the same for every engine with rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...model.memory import Filter
from ..records import UseCounts
from .statements import statements
from .store import Repository

if TYPE_CHECKING:
    from .search import Tokenizer
    from .store import Store


class Changes(NamedTuple):
    """The changes in a store since a revision of it."""

    revision: object  # to ask with the next time
    last: int  # the highest text id there is
    anew: bool  # what was read before says nothing any more
    text_ids: Sequence[int]  # of memories that changed; new ones may be left out
    used: bool  # whether any memory was ever used


# Some texts with the current memory of each, as columns. `length`: how many words of it the full-text index has. Of a
# text that no memory has, what a memory would say is None.
TextColumns = dict[str, Sequence[Any]]
COLUMNS = (
    "text_id", "row", "scope", "state", "kind", "trust", "pinned", "session", "position", "speaker", "valid_from",
    "valid_to", "importance", "observations", "observed_at", "stated_confidence", "content", "topics", "labels",
    "dates", "id", "key", "length",
)  # fmt: skip


class WordLists(NamedTuple):
    """The places of consecutive words of the index."""

    words: list[str]
    sizes: list[int]  # how many places each has
    places: np.ndarray  # all of them, one word's after the other's; int64
    more: bool  # whether other words follow


class IndexedText(NamedTuple):
    """A text as the full-text index has it, a column a field."""

    text_id: int
    content: str
    topics: str | None
    labels: str | None
    dates: str | None
    scope: str | None  # a word that no text can have
    pairs: str | None  # of characters, of what is written without spaces


class WordFeed(ABC):
    """The full-text index, word by word, in the order of the words as code points.

    An occurrence is text id * 8 + the place of its column in `IndexedText`, less one. Those of a word are in order.
    """

    tokenizer: Tokenizer

    @abstractmethod
    def totals(self) -> tuple[int, int]:
        """Return the number of texts in the index, and of all their words together."""

    @abstractmethod
    def frequency(self, word: str) -> int:
        """Return the number of texts that have a word."""

    @abstractmethod
    def frequencies(self, terms: Mapping[str, str], scopes: Sequence[int]) -> dict[str, int]:
        """Return the number of texts of some scopes that have each of some words. `terms`: how each is written."""

    @abstractmethod
    def occurrences(self, word: str, *, most: int | None = None) -> np.ndarray:
        """Return the first places of a word, int64."""

    @abstractmethod
    def lists_after(self, word: str, *, most: int) -> WordLists:
        """Return all places of the next words, as many words as have fewer places together than so many. A word that
        has more comes alone, without its places."""

    @abstractmethod
    def texts(self, text_ids: Iterable[int]) -> Iterable[IndexedText]:
        """Return those of some texts that exist."""

    @abstractmethod
    def with_topic_words(self, topic: str) -> list[tuple[int, str]]:
        """Return the texts whose topics have the words of a topic in a row, and these topics, in order."""


class ChangeFeed(Repository, ABC):
    """A feed of changes: new texts by their numbers, changed memories by the ledger."""

    def __init__(self, store: Store, words: WordFeed) -> None:
        super().__init__(store)
        self.words = words
        self.within = store.search.until
        # Whether a large store is read beside the recalls, piece by piece, and not by the first that asks.
        self.in_pieces = store.path != ":memory:"

    @contextmanager
    def snapshot(self) -> Iterator[int]:
        """Give all reads inside one state of the store, with no other reader meanwhile. Yields its data version."""
        with self._database.snapshot(), self._database.reading() as con:
            yield self._database.version(con)

    @abstractmethod
    def _making(self) -> object:
        """Return a value that changes when rows are made anew without an event."""

    # How many index terms a text has: what is selected, and the join that it takes.
    length: str
    lengths: str
    joins, joined = "LEFT JOIN memory m ON m.num =", ""

    @abstractmethod
    def terms_of(self, kept: Any) -> int:
        """Index terms of a text, from `length`."""

    def texts_after(self, text_id: int, *, most: int) -> TextColumns:
        """Return the next texts, in order."""
        return self._columns("columns_after", {"after": text_id, "limit": most})

    def texts(self, text_ids: Sequence[int]) -> TextColumns:
        """Return the columns of those texts that exist."""
        return self._columns("columns_of", {"bodies": self._database.numbers(text_ids)})

    def _columns(self, name: str, bound: dict[str, Any]) -> TextColumns:
        statement = statements()[name]
        for part in ("length", "lengths", "joins", "joined"):
            statement = statement.replace("{" + part + "}", getattr(self, part))
        rows = self._database.rows(statement, bound)
        columns = dict(zip(COLUMNS, zip(*rows, strict=True) if rows else [()] * len(COLUMNS), strict=True))
        return columns | {"length": list(map(self.terms_of, columns["length"]))}

    def with_topic(self, topic: str) -> list[int]:
        """Return the texts whose memory has exactly this topic, whatever its case."""
        return self._store.search.allowed(Filter(topics=(topic,), states=()))

    def changes(self, since: object | None) -> Changes:
        """Return the changes since an earlier revision, or with None since the beginning."""
        making = self._making()
        with self._database.reading() as con:
            event = con.execute("SELECT seq, id FROM event ORDER BY seq DESC LIMIT 1").get or (0, b"")
            last = con.execute("SELECT coalesce(max(num), 0) FROM body").get
            used = con.execute("SELECT 1 FROM usage LIMIT 1").get is not None
            anew, text_ids = True, []
            seq, id = since[1] if isinstance(since, tuple) and since[0] == making else (None, b"")
            # A standby that took over need not have all events that its primary had.
            if seq == 0 or (seq and con.execute("SELECT id FROM event WHERE seq = ?", (seq,)).get == id):
                later = "SELECT type, memory FROM event WHERE seq > ? AND type <> 'remembered'"
                rows = con.execute(later, (seq,)).fetchall()
                anew = any(type == "purged" for type, _ in rows)
                if rows and not anew:
                    ids = self._database.ids({memory for _, memory in rows})
                    text_ids = [row[0] for row in con.execute(statements()["bodies_of_memories"], {"ids": ids})]
        return Changes((making, event), last, anew, text_ids, used)

    def uses(self, rows: Sequence[int]) -> dict[int, UseCounts]:
        """Return by text id the use of those memories that were ever used or judged. `rows`: theirs."""
        counts = self._ask("usage_of", nums=self._database.numbers(rows))
        return {text_id: UseCounts._make(use) for text_id, *use in counts}

    def numbers(self, table: str, name: str) -> list[int]:
        """Return the numbers of the scopes or sessions of a name."""
        return [row[0] for row in self._database.rows(f"SELECT num FROM {table} WHERE name = ?", (name,))]
