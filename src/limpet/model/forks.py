"""A process that is forked while it has a store open or a model loaded: its child may use neither.

Locks that other threads held at the fork (SQLite's mutexes, a model's threads) are never released in the child.
"""

from __future__ import annotations

import gc
import os
import weakref

from .errors import StoreError

_in_use: weakref.WeakSet[object] = weakref.WeakSet()
forget_use = _in_use.discard  # of a connection that is closed, whoever still holds it
_kept: list[object] = []  # in a child, what its parent had in use


def note_use(thing: object) -> None:
    """Note a connection or a model that a child must not close: it would release its parent's locks, or wait for
    threads that it does not have."""
    _in_use.add(thing)


def is_child() -> bool:
    """Return whether this process was forked from one that had a store or a model in use."""
    return bool(_kept)


def refuse_child() -> None:
    """Raise StoreError in such a process."""
    if _kept:
        raise StoreError(
            "this process was forked from one that had a store open",
            hint="open it after the fork, in the child alone, or start processes by spawn or forkserver",
        )


def _before() -> None:
    if _in_use:
        import ctypes  # noqa: F401  a child may find that another thread's import never ends


def _in_child() -> None:
    _kept.extend(_in_use)
    if _kept:
        gc.freeze()  # a cursor in a cycle, collected here, would wait for the thread that was in SQLite at the fork
        import ctypes

        for thing in _kept:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))  # the list is emptied as the interpreter ends


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_in_child)
