"""Memory for agent frameworks: each module gives one framework's memory interface a limpet store.

The adapters call public verbs of `api.py` alone. Each imports its framework (`pip install 'limpet[langgraph]'`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def framework(package: str) -> Iterator[None]:
    """Add the command to install to an import error."""
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{error}: this adapter needs its framework (pip install '{package}')", name=error.name
        ) from error
