"""Memory for agent frameworks: each module gives one framework's own interface for memory a limpet store.

They call public verbs of `api.py` alone. A framework is an extra (`pip install 'limpet[langgraph]'`), which its module
imports.
"""

from __future__ import annotations


def missing(extra: str, error: ImportError, *, instead: str | None = None) -> ImportError:
    """What to raise when the framework of an adapter is not there. `instead`: what to install where it is no extra."""
    wanted = instead or f"'limpet[{extra}]'"
    return ImportError(f"{error}: this adapter needs its framework (pip install {wanted})", name=error.name)
