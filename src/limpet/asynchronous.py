"""`AsyncLimpet`: the verbs of `Limpet` as coroutines, on threads of its own. Their contracts are in `api.py`.

The coroutines are made from the verbs; `make docs` writes asynchronous.pyi for editors and type checkers.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import partial, wraps
from typing import Any

from .api import Limpet, open
from .history.queries import History
from .model.errors import StoreError

# Verbs of one handle that run at once; more of them wait. Reads share a connection, writes another.
THREADS = 4


class _Runner:
    """One open store and the threads that its verbs run on. It is opened by the first verb."""

    def __init__(self, opener: Callable[[], Limpet]) -> None:
        self._open = opener
        self._lock = threading.Lock()
        self._opened: Limpet | None = None
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="limpet")

    def memory(self) -> Limpet:
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    async def run(self, call: Callable[..., Any], *args: Any, **given: Any) -> Any:
        """Run a call on a thread. A cancelled wait ends at once; a call that has begun ends by itself, as a whole."""
        inside = partial(contextvars.copy_context().run, call, *args, **given)
        try:
            running = asyncio.get_running_loop().run_in_executor(self._threads, inside)
        except RuntimeError as error:
            raise StoreError("the store is closed") from error
        return await running

    async def close(self) -> None:
        """Wait for running calls, also for those that nobody waits for, then close the file."""
        await asyncio.shield(asyncio.to_thread(self._close))

    def _close(self) -> None:
        self._threads.shutdown()
        with self._lock:
            if self._opened is not None:
                self._opened.close()


def _coroutine(verb: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(verb)
    async def call(self: Any, *args: Any, **given: Any) -> Any:
        return await self._runner.run(lambda: getattr(self._limpet(), verb.__name__)(*args, **given))

    return call


def _with_verbs_of(source: type) -> Callable[[type], type]:
    """Return every public method of a class as a coroutine, and its properties, unless the class defines the name
    itself."""

    def fill(cls: type) -> type:
        for name, verb in inspect.getmembers(source):
            if name.startswith("_") or name in vars(cls):
                continue
            if inspect.isfunction(verb):
                setattr(cls, name, _coroutine(verb))
            elif isinstance(verb, property):
                setattr(cls, name, property(lambda self, name=name: getattr(self._limpet(), name), doc=verb.__doc__))
        return cls

    return fill


@_with_verbs_of(History)
class AsyncHistory:
    """The queries of `History` as coroutines."""

    def __init__(self, runner: _Runner, limpet: Callable[[], History]) -> None:
        self._runner = runner
        self._limpet = limpet


@_with_verbs_of(Limpet)
class AsyncLimpet:
    """The verbs of `Limpet` as coroutines: same names, arguments, answers and errors.

    Takes what `limpet.open` takes; the store is opened by the first verb. Use it as an asynchronous context manager, or
    `await close()` it. Verbs run on threads: many may run at once, in any order. A verb that is cancelled is not waited
    for, and a write that has begun is stored as a whole or not at all.

    >>> async def story():
    ...     async with limpet.AsyncLimpet(":memory:") as memory:
    ...         await memory.remember("Deploys go out on Tuesdays")
    ...         return [item.content for item in await memory.recall("when do we deploy?")]
    >>> asyncio.run(story())
    ['Deploys go out on Tuesdays']
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, **given: Any) -> None:
        self._runner = _Runner(partial(open, path, **given))
        self._limpet = self._runner.memory
        self._owns_store = True

    async def __aenter__(self) -> AsyncLimpet:
        try:
            await self._runner.run(self._limpet)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the store when the running calls have ended. Safe to call twice."""
        if self._owns_store:
            await self._runner.close()

    @property
    def graph(self) -> AsyncHistory:
        """Every query over the typed graph, from this scope and `global`: `await memory.graph.why(id)`."""
        return AsyncHistory(self._runner, lambda: self._limpet().graph)

    def in_scope(self, scope: str) -> AsyncLimpet:
        """Return the same open store, seen from another scope. It ends with this one; closing it closes nothing."""
        return self._seen(lambda here: here.in_scope(scope))

    def in_all_scopes(self) -> AsyncLimpet:
        """Return the same open store for its owner to read: recall, list and count see every scope."""
        return self._seen(lambda here: here.in_all_scopes())

    def _seen(self, view: Callable[[Limpet], Limpet]) -> AsyncLimpet:
        other, here = copy(self), self._limpet
        other._limpet = lambda: view(here())
        other._owns_store = False
        return other


__all__ = ["AsyncHistory", "AsyncLimpet"]
