"""The MCP server as a process; what it offers is in `protocol.py` and `tools.py`.

The API is synchronous and thread-safe; calls run on worker threads. A background thread embeds what was written, so
that no call waits for a model except the first recall by meaning.
"""

from __future__ import annotations

import math
import os
import signal
import socket
import sys
import threading
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

import limpet

from .. import registry
from ..model.errors import LimpetError
from ..store.heap import give_back, share_one_heap
from .hooks.entry import answer_call, answer_for
from .protocol import Service
from .recall_server import RecallServer
from .stdio import serve_stdio

if TYPE_CHECKING:
    from ..api import Limpet

# Jobs a background turn takes at once, about a second of embedding: a client that closes stdin kills us 2 s later.
WORK_BATCH_JOBS = 16
# Vectors are made when no call came for so long, as they take all processors; or after so long, whoever calls. A
# recall makes those that it lacks itself.
QUIET_SECONDS, LONGEST_SECONDS = 0.2, 10.0
# The drain looks for jobs that other processes left even when nobody writes here.
IDLE_LOOK_SECONDS = 60.0
# Exposures that wait for the thread; a store that cannot be written must not fill the memory.
MOST_EXPOSURES = 1_000
# How long a stopping server waits for the batch in hand; its jobs are leased, another process takes them over.
STOP_WAIT_SECONDS = 10.0


class Drain:
    """A daemon thread that works the queue after writes, and keeps exposures, what was surfaced, while nobody waits.

    Starts with the first `wake`; `stop` waits for its batch.
    """

    def __init__(self, memory: Limpet) -> None:
        self._memory = memory
        self._exposures: deque[tuple[Limpet, str, list[tuple[str, int]], str]] = deque(maxlen=MOST_EXPOSURES)
        self._told = threading.Event()
        # Since when something waits, in monotonic seconds. What others left is looked for after the first call.
        self._since: float | None = math.inf
        self._called_at = 0.0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="limpet-work", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._deaf = self._memory.on_change(self.wake)

    def wake(self) -> None:
        """Something was written."""
        self._since = min(self._since or math.inf, time.monotonic())
        self._told.set()

    def called(self) -> None:
        """A call begins, which is not to wait for what has time."""
        self._called_at = time.monotonic()

    def add(self, via: str, items: list[tuple[str, int]], session: str, seen: Limpet | None = None) -> None:
        """An exposure for each memory that a tool answered with. `seen`: the store from the scope of the call."""
        if items and not self._memory.read_only:
            self._exposures.append((seen or self._memory, via, items, session))
            self.wake()

    def stop(self) -> None:
        self._deaf()
        self._stopping.set()
        self._told.set()
        self._thread.join(STOP_WAIT_SECONDS)

    def _run(self) -> None:
        self._take_in_edits()
        while not self._stopping.is_set():
            told = self._told.wait(self._pause())
            self._told.clear()
            # At once: a client that has its answer may end this process without a word.
            self._keep()
            if not told and self._since in (None, math.inf):
                self._take_in_edits()
                self._since = 0.0
            if self._pause() <= 0.0:
                self._since = None
                self._drain()
                # What this thread's work and the calls before it left free in the heap, some 40 MB.
                give_back()
        self._keep()

    def _pause(self) -> float:
        """Seconds until it is time for what waits; where nothing does, to look whether others left something."""
        if self._since in (None, math.inf):
            return IDLE_LOOK_SECONDS
        due = min(max(self._since, self._called_at) + QUIET_SECONDS, self._since + LONGEST_SECONDS)
        return max(0.0, due - time.monotonic())

    def _take_in_edits(self) -> None:
        """Of folders of any size: recalls look at small ones themselves."""
        try:
            registry.part("features.mirror").take_in_edits(self._memory)
        except LimpetError as error:
            print(f"limpet: mirrors: {error.message}", file=sys.stderr)  # noqa: T201

    def _keep(self) -> None:
        while self._exposures:
            memory, via, items, session = self._exposures.popleft()
            try:
                memory.note_exposures(items, session=session, client="mcp", via=via)
            except LimpetError as error:
                print(f"limpet: exposures: {error.message}", file=sys.stderr)  # noqa: T201
                return

    def _drain(self) -> None:
        while not self._stopping.is_set():
            try:
                report = self._memory.work(limit=WORK_BATCH_JOBS)
            except LimpetError as error:
                # A dead embedder or a busy store: recall says what is missing; the jobs stay in the queue.
                print(f"limpet: background work: {error.message}", file=sys.stderr)  # noqa: T201
                return
            if not report.done or not report.remaining:
                return


def serve(store: str | None, scope: str | None) -> None:
    """Serve one store over stdin and stdout until stdin closes.

    No model is loaded before the first write or recall, or a hook's first event.
    Raises LimpetError if the store cannot be opened.
    """
    share_one_heap()
    with limpet.open(store, scope=scope) as memory:
        drain = Drain(memory)
        recall_server = RecallServer(memory, asked=drain.wake, hook=partial(answer_for, memory))
        if not memory.read_only:
            drain.start()
            recall_server.start()
        try:
            _end_at_signals(recall_server)
            serve_stdio(Service(memory, drain.wake, drain.add, drain.called, partial(answer_call, memory, scope)))
        finally:
            if not memory.read_only:
                recall_server.stop()
                drain.stop()


def _end_at_signals(recall_server: RecallServer) -> None:
    """At Ctrl-C or SIGTERM a thread ends the process; what was acknowledged is stored. Not the main thread: a signal
    between its last look for signals and its read of stdin would wait for the client's next line."""
    told, tell = socket.socketpair()
    tell.setblocking(False)
    signal.set_wakeup_fd(tell.fileno())  # C's own handler writes the number there, whatever Python's threads do

    def end() -> None:
        number = told.recv(1)[0]
        recall_server.stop()
        os._exit(128 + number)

    threading.Thread(target=end, name="limpet-signals", daemon=True).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: tell.fileno())  # which keeps the socket as long as the handler
