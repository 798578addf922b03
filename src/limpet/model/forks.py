"""A process that is forked while its threads use a store: the fork waits for them, and the child makes locks anew.

A child has one thread. What other threads held at the fork (a lock, SQLite's own mutexes) nobody there lets go of.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from typing import Any, Protocol

# How long a fork waits for what others do at a store, together: a long write, or one that waits for another process.
# A store that is not free then is refused in the child, so that nobody waits for what never comes.
FORK_WAIT_SECONDS = 10.0


class Held(Protocol):
    """What threads may be inside of when their process is forked."""

    def hold(self, until: float) -> None:
        """Wait until no other thread is inside, to a time of the monotonic clock."""
        ...

    def let_go(self) -> None:
        """In the parent, after the fork."""
        ...

    def renew(self) -> None:
        """In the child, in place of that."""
        ...


class Renewed(Protocol):
    """What has locks, threads or models that a child cannot use."""

    def renew(self) -> None: ...


_held: weakref.WeakSet[Any] = weakref.WeakSet()
_renewed: weakref.WeakSet[Any] = weakref.WeakSet()
_holding: list[Held] = []
_abandoned: list[object] = []


def hold_at_fork(one: Held) -> None:
    _held.add(one)


def renew_in_child(one: Renewed) -> None:
    _renewed.add(one)


class ForkedLock:
    """A lock that is free in a child, whoever held it."""

    def __init__(self) -> None:
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def abandon(thing: object) -> None:
    """Keep what would wait for threads, or let go of another process's locks, if it was closed here."""
    import ctypes

    _abandoned.append(thing)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))  # the list itself is emptied as the interpreter ends


def _before() -> None:
    until = time.monotonic() + FORK_WAIT_SECONDS
    _holding[:] = list(_held)
    for one in _holding:
        one.hold(until)
    while _holding and _others_import() and time.monotonic() < until:
        time.sleep(0.001)


def _others_import() -> bool:
    """Whether another thread is at an `import`, as verbs are at first use: Python's lock of the module is one too, and
    a child that needs the module would wait for it."""
    locks = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    owners = {getattr(ref(), "owner", None) for ref in list(locks.values())}
    return not owners <= {None, threading.get_ident()}


def _in_parent() -> None:
    for one in reversed(_holding):
        one.let_go()
    _holding.clear()


def _in_child() -> None:
    # The locks first, which others use.
    for one in sorted((*_holding, *_renewed), key=lambda one: not isinstance(one, ForkedLock)):
        one.renew()
    _holding.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
