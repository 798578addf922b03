"""The MCP server as a process; what it offers is in `protocol.py` and `tools.py`.

The API is synchronous and thread-safe; calls run on worker threads. A background thread embeds what was written, so
that no call waits for a model except the first recall by meaning.
"""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import sys
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import limpet

from .. import registry
from ..model.errors import LimpetError
from ..store.heap import give_back, share_one_heap
from . import protocol
from .hooks.entry import answer_call, answer_for
from .protocol import INVALID_REQUEST, PARSE_ERROR, ProtocolError, Service, session_of
from .recall_server import RecallServer

if TYPE_CHECKING:
    from ..api import Limpet

# Jobs a background turn takes at once, about a second of embedding: a client that closes stdin kills us 2 s later.
WORK_BATCH_JOBS = 16
# Vectors are made after so many seconds without a call, since they take all processors, or after so many in any case. A
# recall makes those that it needs itself.
QUIET_SECONDS, LONGEST_SECONDS = 0.2, 10.0
# After so many calls free memory is returned to the system: 60 recalls in a row leave 45 MB.
CALLS_GIVEN_BACK = 4
# The drain looks for jobs that other processes left even when nobody writes here.
IDLE_LOOK_SECONDS = 60.0
# Exposures that wait for the thread; a store that cannot be written must not fill the memory.
MOST_EXPOSURES = 1_000
# How long a stopping server waits for the batch in hand; its jobs are leased, another process takes them over.
STOP_WAIT_SECONDS = 10.0
# Calls at once; more wait. Each thread keeps a heap of its own.
MOST_CALLS = 8
# Bytes of a message, which is a line. A longer one is read in pieces and thrown away.
MOST_LINE_BYTES = 8_000_000
# Methods that take no time are answered before the next line is read, the handshake first.
_AT_ONCE = frozenset({"initialize", "ping", *protocol.LISTS})


class Drain:
    """A daemon thread that works the queue after writes, and stores exposures (what was surfaced) in quiet moments.

    Starts with the first `wake`; `stop` waits for its batch.
    """

    def __init__(self, memory: Limpet) -> None:
        self._memory = memory
        self._exposures: deque[tuple[Limpet, str, list[tuple[str, int]], str]] = deque(maxlen=MOST_EXPOSURES)
        self._woken = threading.Event()
        self._since = math.inf  # when what waits came, in monotonic seconds; inf: nothing waits
        self._called_at, self._calls = 0.0, 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="limpet-work", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Note that something was written."""
        self._since = min(self._since, time.monotonic())
        self._woken.set()

    def called(self) -> None:
        """Note that a call begins, which must not wait for background work."""
        self._called_at = time.monotonic()
        self._calls += 1

    def add(self, via: str, items: list[tuple[str, int]], session: str, seen: Limpet | None = None) -> None:
        """Add an exposure for each memory that a tool answered with. `seen`: the store from the scope of the call."""
        if items and not self._memory.read_only:
            self._exposures.append((seen or self._memory, via, items, session))
            self.wake()

    def stop(self) -> None:
        self._stopping.set()
        self._woken.set()
        self._thread.join(STOP_WAIT_SECONDS)

    def _run(self) -> None:
        self._take_in_edits()
        while not self._stopping.is_set():
            is_woken = self._woken.wait(self._pause())
            self._woken.clear()
            # Immediately: a client that has its answer may end this process without notice.
            self._keep()
            if self._calls >= CALLS_GIVEN_BACK:
                self._calls = 0
                give_back()
            if not is_woken and self._since == math.inf:
                self._take_in_edits()
                self._since = 0.0
            if self._pause() <= 0.0:
                self._since = math.inf
                self._drain()
                # Memory that this thread and the calls before it have left free, some 40 MB.
                give_back()
        self._keep()

    def _pause(self) -> float:
        """Return the seconds until background work is due; if none is, until the next look for others' work."""
        if self._since == math.inf:
            return IDLE_LOOK_SECONDS
        due = min(max(self._since, self._called_at) + QUIET_SECONDS, self._since + LONGEST_SECONDS)
        return max(0.0, due - time.monotonic())

    def _take_in_edits(self) -> None:
        """Take in the edits of mirrors of any size: recalls look at small ones themselves."""
        try:
            registry.part("features.mirror").take_in_edits(self._memory)
            registry.call("team", self._memory)
        except LimpetError as error:
            print(f"limpet: mirrors: {error.message}", file=sys.stderr)  # noqa: T201

    def _keep(self) -> None:
        while self._exposures:
            memory, via, items, session = self._exposures.popleft()
            try:
                registry.call("shown", memory, items, session=session, client="mcp", via=via)
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
            if not (report.done or report.checked):
                return


class Connection:
    """The one client of a server over stdio: a line is a message. Every request with an id is answered, unless it is
    cancelled. Calls run on threads, so that the next line, a cancellation or a faster call, is read meanwhile."""

    def __init__(self, service: Service, write: BinaryIO) -> None:
        self._service = service
        self._write = write
        self._lock = threading.Lock()
        self._open: set[int | str] = set()  # ids of the requests whose answers the client still wants

    def run(self, read: BinaryIO) -> None:
        """Answer until stdin ends; then finish the open requests."""
        with ThreadPoolExecutor(MOST_CALLS, thread_name_prefix="limpet-call") as pool:
            while line := read.readline(MOST_LINE_BYTES):
                if len(line) == MOST_LINE_BYTES and not line.endswith(b"\n"):
                    while (piece := read.readline(65_536)) and not piece.endswith(b"\n"):
                        pass
                    self._error(None, INVALID_REQUEST, f"a message of more than {MOST_LINE_BYTES:,} bytes")
                elif line.strip():
                    self._take(line, pool)

    def _take(self, line: bytes, pool: ThreadPoolExecutor) -> None:
        try:
            message = json.loads(line, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            self._error(None, PARSE_ERROR, "this line is no JSON, or nested too deeply")
            return
        # Several at once, as the protocol of 2025-03-26 has them, are answered one by one.
        for part in message if isinstance(message, list) and message else [message]:
            self._take_message(part if isinstance(part, dict) else {}, pool)

    def _take_message(self, message: dict[str, Any], pool: ThreadPoolExecutor) -> None:
        method, params, id = message.get("method"), message.get("params"), message.get("id")
        params = {} if params is None else params
        if method is None and ("result" in message or "error" in message):
            return  # an answer, to which nothing was asked
        id = id if isinstance(id, int | str) and not isinstance(id, bool) else None
        if not isinstance(method, str) or not isinstance(params, dict) or (id is None and "id" in message):
            self._error(id, INVALID_REQUEST, "a request has jsonrpc, an id (text or whole number), method and params")
        elif id is None:
            given_up = params.get("requestId") if method == "notifications/cancelled" else None
            if isinstance(given_up, int | str):
                self._open.discard(given_up)
        else:
            self._open.add(id)
            if method in _AT_ONCE:
                self._answer(id, method, params)
            else:
                pool.submit(self._answer, id, method, params)

    def _answer(self, id: int | str, method: str, params: dict[str, Any]) -> None:
        try:
            protocol.check_meta(method, params)
            result = self._service.answer(method, params, session_of(params.get("_meta"), None))
        except ProtocolError as error:
            answer: dict[str, Any] = {"error": error.as_dict()}
        else:
            answer = {"result": result}
        if id in self._open:
            self._open.discard(id)
            self._send({"id": id, **answer})

    def _error(self, id: int | str | None, code: int, message: str) -> None:
        self._send({"id": id, "error": ProtocolError(code, message).as_dict()})

    def _send(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":")) + "\n"
        with suppress(OSError, ValueError), self._lock:  # the client has gone: stdin ends too
            # Half a character in what a client named is escaped, as JSON writes it.
            self._write.write(line.encode("utf-8", "backslashreplace"))
            self._write.flush()


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
            service = Service(memory, drain.wake, drain.add, drain.called, partial(answer_call, memory, scope))
            Connection(service, sys.stdout.buffer).run(sys.stdin.buffer)
        finally:
            if not memory.read_only:
                recall_server.stop()
                drain.stop()


def _end_at_signals(recall_server: RecallServer) -> None:
    """Start a thread that ends the process at Ctrl-C or SIGTERM; acknowledged writes are stored. In the main thread, a
    signal just before the read of stdin would wait for the client's next line."""
    reader, tell = socket.socketpair()
    tell.setblocking(False)
    signal.set_wakeup_fd(tell.fileno())  # C's own handler writes the number there, whatever Python's threads do

    def end() -> None:
        number = reader.recv(1)[0]
        recall_server.stop()
        os._exit(128 + number)

    threading.Thread(target=end, name="limpet-signals", daemon=True).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: tell.fileno())  # which keeps the socket as long as the handler


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
