"""MCP over stdin and stdout: a line is a message. Every request that names itself is answered, or was cancelled.

Calls run on threads, so that the next line is read: a cancellation, or a call that is faster.
"""

from __future__ import annotations

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from . import calls
from .calls import Call, Cancelled, session_of
from .protocol import INVALID_REQUEST, PARSE_ERROR, ProtocolError, Service

if TYPE_CHECKING:
    from collections.abc import Iterator

# Calls at once; more wait. Each thread keeps a heap of its own.
MOST_CALLS = 8
# Of a line, a message. What is longer is read and thrown away piece by piece.
MOST_LINE_BYTES = 8_000_000
# What takes no time is answered before the next line is read, the handshake first.
_AT_ONCE = frozenset({"initialize", "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list"})


def serve_stdio(service: Service, read: BinaryIO | None = None, write: BinaryIO | None = None) -> None:
    """Answer until stdin ends; then what was asked is answered to the end."""
    Connection(service, write or sys.stdout.buffer).run(read or sys.stdin.buffer)


class Connection:
    """The one client of a server over stdio."""

    def __init__(self, service: Service, write: BinaryIO) -> None:
        self._service = service
        self._write = write
        self._lock = threading.Lock()
        # Requests that are being answered, by their ids.
        self._open: dict[int | str, Call] = {}

    def run(self, read: BinaryIO) -> None:
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
            if call := self._open.get(given_up) if isinstance(given_up, int | str) else None:
                call.cancelled.set()
        else:
            call = self._open[id] = Call(session=session_of(params.get("_meta"), None))
            if method in _AT_ONCE:
                self._answer(id, method, params, call)
            else:
                pool.submit(self._answer, id, method, params, call)

    def _answer(self, id: int | str, method: str, params: dict[str, Any], call: Call) -> None:
        try:
            with self._progress(params):
                result = self._service.answer(method, params, call)
        except Cancelled:
            return  # who cancels waits for nothing
        except ProtocolError as error:
            self._error(id, error.code, error.message)
        else:
            if not call.cancelled.is_set():
                self._send({"id": id, "result": result})
        finally:
            self._open.pop(id, None)

    @contextmanager
    def _progress(self, params: dict[str, Any]) -> Iterator[None]:
        """Tell a client that asked for it how long its call has lasted."""
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if token is None:
            yield
            return
        done = threading.Event()

        def tell() -> None:
            seconds = 0.0
            while not done.wait(calls.PROGRESS_SECONDS):
                seconds += calls.PROGRESS_SECONDS
                shown = {"progressToken": token, "progress": seconds, "message": calls.goes_on(seconds)}
                self._send({"method": "notifications/progress", "params": shown})

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield
        finally:
            done.set()
            teller.join()

    def _error(self, id: int | str | None, code: int, message: str) -> None:
        self._send({"id": id, "error": {"code": code, "message": message}})

    def _send(self, message: dict[str, Any]) -> None:
        message = {"jsonrpc": "2.0", **message}
        try:
            line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:  # half a character in what a client named: escaped, as it was written
            line = json.dumps(message, separators=(",", ":")).encode()
        try:
            with self._lock:
                self._write.write(line + b"\n")
                self._write.flush()
        except (OSError, ValueError):
            pass  # the client has gone: stdin ends too


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
