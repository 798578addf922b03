"""What a store does, for every engine alike. One suite, `tests/contract/`, holds every engine to it.

A store is a set of repositories, one a family of tables. There is one way to write beliefs: `ledger.commit(decide)`.

Needed by type checkers only: import it under `if TYPE_CHECKING`. What a store gives and takes is in `records.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from .features import Checkouts, Devices, Exposures, Journal, Reviews, Sources
from .feed import ChangeFeed, Tokenizer, WordFeed
from .graph import Edges, Graph
from .ledger import Decide, Describe, Ledger
from .memories import Listings, Memories, Sessions
from .search import Mentions, Search
from .work import Erasure, Jobs, Maintenance, Usage, Vectors


class Store(Protocol):
    """A whole store. Thread-safe."""

    @property
    def path(self) -> str: ...

    @property
    def read_only(self) -> bool: ...

    @property
    def begun(self) -> bool:
        """False: a file that the first write will make. Until then everything answers as in an empty store."""
        ...

    @property
    def ledger(self) -> Ledger: ...

    @property
    def memories(self) -> Memories: ...

    @property
    def sessions(self) -> Sessions: ...

    @property
    def listings(self) -> Listings: ...

    @property
    def search(self) -> Search: ...

    @property
    def mentions(self) -> Mentions: ...

    @property
    def edges(self) -> Edges: ...

    @property
    def graph(self) -> Graph: ...

    @property
    def vectors(self) -> Vectors: ...

    @property
    def jobs(self) -> Jobs: ...

    @property
    def usage(self) -> Usage: ...

    @property
    def reviews(self) -> Reviews: ...

    @property
    def journal(self) -> Journal: ...

    @property
    def sources(self) -> Sources: ...

    @property
    def exposures(self) -> Exposures: ...

    @property
    def checkouts(self) -> Checkouts: ...

    @property
    def devices(self) -> Devices: ...

    @property
    def erasure(self) -> Erasure: ...

    @property
    def maintenance(self) -> Maintenance: ...

    def close(self) -> None: ...

    def snapshot(self, deadline: float | None = None) -> AbstractContextManager[None]:
        """All reads inside see one state of the store. `deadline`, on the monotonic clock: a server that says nothing
        until some time after it is a StoreError."""
        ...

    def on_change(self, call: Callable[[], None]) -> Callable[[], None]:
        """`call` is called when anyone has written, as soon as the engine says so, which need not be ever: whoever must
        know looks. Returns what ends that."""
        ...

    def data_version(self) -> int:
        """A number that changes when anything was committed, by whichever process."""
        ...


__all__ = [
    "ChangeFeed", "Checkouts", "Decide", "Describe", "Devices", "Edges", "Erasure", "Exposures", "Graph", "Jobs",
    "Journal", "Ledger", "Listings", "Maintenance", "Memories", "Mentions", "Reviews", "Search", "Sessions", "Sources",
    "Store", "Tokenizer", "Usage", "Vectors", "WordFeed",
]  # fmt: skip
