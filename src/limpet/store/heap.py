"""Memory of the process: heap that is given back to the system."""

from __future__ import annotations

import contextlib
import sys

_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h


def give_back() -> None:
    """Hand free memory back to the system: with glibc some 50 MB after a model or a store was read, which else stay."""
    _call("malloc_trim", 0)


def share_one_heap() -> None:
    """For a process that stays: with glibc each thread that asks for memory at the same time as another has a heap of
    its own, and what is free in one serves no other. To be called before threads begin."""
    _call("mallopt", _ARENA_MAX, 1)


def _call(function: str, *numbers: int) -> None:
    if sys.platform.startswith("linux"):
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*numbers)
