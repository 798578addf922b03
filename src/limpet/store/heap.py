"""Memory that was used for a while and is free again."""

from __future__ import annotations

import contextlib
import sys


def give_back() -> None:
    """Hand it back to the system: with glibc some 50 MB after a model or a store was read, which else stay."""
    if sys.platform.startswith("linux"):
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
