"""The arrays of one store, kept as the store is: made when a process asks again, read ahead where that takes long."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable

from ...model.errors import StoreError
from ..heap import give_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..sql.feed import ChangeFeed
    from .columns import Columns

# How long what is read ahead keeps a recall waiting, in seconds.
AHEAD_SECONDS = 0.005


class FollowingArrays:
    """Thread-safe as far as the feed's snapshots are: the arrays are used inside of these."""

    def __init__(self, feed: Callable[[], ChangeFeed]) -> None:
        """`feed`: called when the arrays are made."""
        self._make_feed = feed
        self._made: tuple[ChangeFeed, Columns] | None = None
        self._ahead: threading.Thread | None = None
        self._asked = False

    def close(self) -> None:
        """Let go of what follows the store."""
        self._made = None

    def current(self, deadline: float | None = None, *, build: bool = True) -> Columns | None:
        """None for the first recall, which would have to read everything: most processes make only one."""
        if self._made is None:
            if not build:
                return None
            if not self._asked:
                self._asked = True
                return None
            try:
                from .columns import Columns
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
        """Read what recalls would otherwise have to wait for, a few milliseconds at a time, until all is there."""
        made = self._made
        with contextlib.suppress(StoreError):  # closed, or damaged: whoever asks is told
            while made is not None and not made[1].all_read:
                feed, columns = made
                with feed.snapshot() as version:
                    if self._made is not made:
                        break
                    columns.read_ahead(version, AHEAD_SECONDS)
                time.sleep(0.001)  # whoever waits for the store gets it
        give_back()
        self._ahead = None
