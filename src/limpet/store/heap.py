"""Memory of the process: garbage collection, and heap that is given back to the system."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator


def give_back() -> None:
    """Hand free memory back to the system: with glibc some 50 MB after a model or a store was read, which else stay."""
    if sys.platform.startswith("linux"):
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """No search for cycles in what is made here: for a thousand records at once, which hold none. It would take a
    tenth of a large import."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
