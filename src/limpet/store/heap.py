"""Memory of the process: heap that is given back to the system."""

from __future__ import annotations

import contextlib
import sys

_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h


def give_back() -> None:
    """Return free memory to the system: with glibc some 50 MB after a model or a store was read."""
    _call("malloc_trim", 0)


def share_one_heap() -> None:
    """Make threads share one heap, in a process that stays. With glibc, threads that ask for memory at the same time
    get heaps of their own, and memory free in one serves no other. Call it before threads begin."""
    _call("mallopt", _ARENA_MAX, 1)


def _call(function: str, *numbers: int) -> None:
    if sys.platform.startswith("linux"):
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*numbers)
