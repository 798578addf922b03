"""Who wants to hear when a resource changes, and a thread that looks: this process or another one may have written."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..model.errors import LimpetError

# How often what other processes wrote is looked for while anyone is subscribed.
LOOK_SECONDS = 2.0


class Subscriptions:
    """Addresses of resources, each with those who are told when its text is another than before. Thread-safe."""

    def __init__(
        self, read: Callable[[str], tuple[str, str]], on_change: Callable[[Callable[[], None]], Callable[[], None]]
    ) -> None:
        """`on_change`: `Limpet.on_change`; who is told sooner looks sooner."""
        self._read = read
        self._on_change = on_change
        self._told: dict[tuple[object, str], Callable[[str], None]] = {}
        self._seen: dict[str, str] = {}
        self._lock = threading.Lock()
        self._called = threading.Event()
        self._running = False

    def add(self, who: object, uri: str, text: str, tell: Callable[[str], None]) -> None:
        """When the resource is another than `text`, a thread calls `tell(uri)`; if that raises, `who` has gone."""
        with self._lock:
            self._told[who, uri] = tell
            self._seen.setdefault(uri, text)
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="limpet-changes", daemon=True).start()

    def remove(self, who: object, uri: str | None = None) -> None:
        """One subscription, or all of one who has gone."""
        with self._lock:
            for key in [key for key in self._told if key[0] == who and uri in (None, key[1])]:
                del self._told[key]
            self._seen = {uri: text for uri, text in self._seen.items() if any(uri == key[1] for key in self._told)}

    def look(self) -> None:
        """Something was written."""
        self._called.set()

    def _run(self) -> None:
        deaf = self._on_change(self.look)
        try:
            self._follow()
        finally:
            deaf()

    def _follow(self) -> None:
        while True:
            self._called.wait(LOOK_SECONDS)
            self._called.clear()
            with self._lock:
                if not self._told:
                    self._running = False
                    return
                seen = dict(self._seen)
            changed = {uri: now for uri, before in seen.items() if (now := self._text(uri)) != before}
            with self._lock:
                self._seen |= {uri: text for uri, text in changed.items() if uri in self._seen}
                tell = [(key, one) for key, one in self._told.items() if key[1] in changed]
            for (who, uri), one in tell:
                try:
                    one(uri)
                except Exception:  # who cannot be told any more has gone
                    self.remove(who)

    def _text(self, uri: str) -> str:
        try:
            return self._read(uri)[1]
        except LimpetError:
            return ""
