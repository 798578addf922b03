"""Sync when files change or, at intervals, when the store has."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from ...model.errors import BadInput
from .folder import OWN

# A change is taken up when the folder has been still for this long: an editor writes in several steps.
STILL_MS = 400
# How often the store is looked at while nothing happens in the folder.
STORE_EVERY_MS = 2_000


def changes(root: Path, store_version: Callable[[], int], stop: threading.Event) -> Iterator[None]:
    """Yields when something changed on either side, until `stop`. Raises BadInput without the package watchfiles."""
    try:
        from watchfiles import watch
    except ImportError:
        raise BadInput("watching needs the package watchfiles", hint='pip install "limpet[watch]"') from None

    def ours(_: object, path: str) -> bool:
        return Path(path).suffix.lower() == ".md" and OWN not in Path(path).parts

    seen = store_version()
    for found in watch(
        root, watch_filter=ours, debounce=1_600, step=STILL_MS, stop_event=stop, rust_timeout=STORE_EVERY_MS,
        yield_on_timeout=True, recursive=False, raise_interrupt=False,
    ):  # fmt: skip
        now = store_version()
        if found or now != seen:
            yield
            seen = store_version()
