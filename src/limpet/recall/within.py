"""Somebody else's code beside a recall that has a deadline: it answers in time, or the recall goes on without it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..model.errors import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np

    from ..vectors.embedder import Embedder


T = TypeVar("T")


class Late(Exception):
    """It did not answer in time; says why."""


# What is still at work for a recall that has gone on without it, by who it is.
_busy: dict[int | str, threading.Thread] = {}
_lock = threading.Lock()


def within(seconds: float, work: Callable[[], T], mark: int | str) -> T:
    """What `work` returns, or its exception. Raises Late when it takes longer; one that is late is not asked again yet.

    `mark`: who works, a name or an identity.
    """
    if seconds <= 0:
        raise Late("the deadline leaves no time for it")
    if seconds == math.inf:
        return work()
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # raised again by who waits
            failed.append(error)

    with _lock:
        before = _busy.get(mark)
        if before is not None and before.is_alive():
            raise Late("it is still busy with an earlier recall")
        thread = _busy[mark] = threading.Thread(target=run, name="limpet-beside", daemon=True)
        thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise Late("the deadline came before it had answered")
    with _lock:
        if _busy.get(mark) is thread:
            del _busy[mark]
    if failed:
        raise failed[0]
    return found[0]


class InTime:
    """An embedder of others that makes vectors beside a recall: what it has not answered by `until`, on the monotonic
    clock, raises EmbedderUnavailable. A later `until` may be set."""

    def __init__(self, embedder: Embedder, until: float) -> None:
        self.embedder, self.name = embedder, embedder.name
        self.until = until

    def ask(self, work: Callable[[], T]) -> T:
        """What `work` returns, or raises."""
        try:
            return within(self.until - time.monotonic(), work, id(self.embedder))
        except Late as late:
            raise EmbedderUnavailable(f"{self.name}: {late}", hint="`limpet work` waits for it") from None

    @property
    def fingerprint(self) -> str:
        return self.ask(lambda: self.embedder.fingerprint)

    @property
    def dimensions(self) -> int:
        return self.ask(lambda: self.embedder.dimensions)

    def load(self) -> None:
        load = getattr(self.embedder, "load", None)
        if load is not None:
            self.ask(load)

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        return self.ask(lambda: self.embedder.embed_passages(texts))

    def embed_query(self, text: str) -> np.ndarray:
        return self.ask(lambda: self.embedder.embed_query(text))

    def __getattr__(self, name: str) -> Any:
        """What an embedder may state besides."""
        return getattr(self.embedder, name)
