"""What `store/arrays/` is fed with: what is there, and what changed. Any engine can give it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from ..arrays.feed_records import Changes, IndexedText, TextColumns, WordLists
from ..records import UseCounts

if TYPE_CHECKING:
    import numpy as np


class ChangeFeed(Protocol):
    """The texts of a store with the current memory of each. Used within its snapshots only."""

    @property
    def words(self) -> WordFeed: ...

    @property
    def in_pieces(self) -> bool:
        """Whether a large store is read beside the recalls, piece by piece, and not by the first that asks."""
        ...

    def snapshot(self) -> AbstractContextManager[int]:
        """All reads inside see one state of the store, and nobody else reads meanwhile. Gives its data version."""
        ...

    def within(self, deadline: float | None) -> AbstractContextManager[None]:
        """Reads inside end at the deadline, on the monotonic clock, and with them the block: nothing is raised."""
        ...

    def changes(self, since: object | None) -> Changes:
        """What changed since a revision that was given before; None: none was."""
        ...

    def texts_after(self, text_id: int, *, most: int) -> TextColumns:
        """The next texts, in order."""
        ...

    def texts(self, text_ids: Sequence[int]) -> TextColumns:
        """Those that are there."""
        ...

    def uses(self, rows: Sequence[int]) -> dict[int, UseCounts]:
        """By text id, the use of those memories that were ever used or judged. `rows`: theirs."""
        ...

    def with_topic(self, topic: str) -> list[int]:
        """The texts whose memory has exactly this topic, whatever its case."""
        ...

    def scope_number(self, name: str) -> int | None: ...

    def session_numbers(self, name: str) -> list[int]: ...


class Tokenizer(Protocol):
    """How the full-text index cuts texts into words. Equal in every engine, so that scores are."""

    def tokens(self, text: str) -> Iterator[str]:
        """The index terms of a text, in order."""
        ...

    def stems(self, text: str) -> frozenset[str]:
        """Each of them once."""
        ...

    def terms(self, text: str) -> dict[str, str]:
        """The first index terms of a query -> the words as they were written."""
        ...


class WordFeed(Protocol):
    """The full-text index, word by word, in the order of the words as code points.

    An occurrence is text id * 8 + the place of its column in `IndexedText`, less one. Those of a word are in order.
    """

    @property
    def tokenizer(self) -> Tokenizer: ...

    def totals(self) -> tuple[int, int]:
        """How many texts the index has, and how many words all of them together."""
        ...

    def frequency(self, word: str) -> int:
        """In how many texts a word is."""
        ...

    def occurrences(self, word: str, *, most: int | None = None) -> np.ndarray:
        """Where a word is: the first places, int64."""
        ...

    def lists_after(self, word: str, *, most: int) -> WordLists:
        """All places of the words that follow, of as many words as have fewer together than so many. A word that has
        more comes alone, without its places."""
        ...

    def texts(self, text_ids: Iterable[int]) -> Iterable[IndexedText]:
        """Those that are there."""
        ...

    def with_topic_words(self, topic: str) -> list[tuple[int, str]]:
        """The texts in whose topics the words of a topic stand one after the other, and these topics, in order."""
        ...
