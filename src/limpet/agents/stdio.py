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
from .protocol import INVALID_REQUEST, ProtocolError, Service

if TYPE_CHECKING:
    from collections.abc import Iterator

# Calls at once; more wait. Each thread keeps a heap of its own.
MOST_CALLS = 8
# What takes no time is answered before the next line is read, the handshake first.
_AT_ONCE = frozenset({"initialize", "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list"})


def serve_stdio(service: Service, read: BinaryIO | None = None, write: BinaryIO | None = None) -> None:
    """Until stdin ends; then what was asked is answered to the end."""
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
            for line in read:
                self._take(line, pool)
        self._service.subscriptions.remove(self)

    def _take(self, line: bytes, pool: ThreadPoolExecutor) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            if line.strip():
                print("limpet: a line on stdin is no JSON", file=sys.stderr)  # noqa: T201
            return
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return  # an answer, to which nothing was asked; or nothing that says who waits
        method, params, id = message["method"], message.get("params"), message.get("id")
        params = {} if params is None else params
        if "id" not in message:
            if method == "notifications/cancelled" and isinstance(params, dict):
                self._cancel(params.get("requestId"))
            return
        if isinstance(id, bool) or not isinstance(id, int | str) or (isinstance(id, str) and not _encodes(id)):
            return
        if not isinstance(params, dict):
            self._error(id, ProtocolError(INVALID_REQUEST, "params must be an object"))
            return
        call = Call(session=session_of(params.get("_meta"), None), client=self, tell=self._changed)
        self._open[id] = call
        if method in _AT_ONCE:
            self._answer(id, method, params, call)
        else:
            pool.submit(self._answer, id, method, params, call)

    def _cancel(self, id: Any) -> None:
        call = self._open.get(id) if isinstance(id, int | str) else None
        if call is not None:
            call.cancelled.set()

    def _answer(self, id: int | str, method: str, params: dict[str, Any], call: Call) -> None:
        try:
            with self._progress(params):
                result = self._service.answer(method, params, call)
        except Cancelled:
            return  # who cancels waits for nothing
        except ProtocolError as error:
            self._error(id, error)
        else:
            if not call.cancelled.is_set():
                self._send({"id": id, "result": result})
        finally:
            self._open.pop(id, None)

    def _changed(self, uri: str) -> None:
        self._send({"method": "notifications/resources/updated", "params": {"uri": uri}})

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
                said = {"progressToken": token, "progress": seconds, "message": calls.goes_on(seconds)}
                self._send({"method": "notifications/progress", "params": said})

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield
        finally:
            done.set()
            teller.join()

    def _error(self, id: int | str, error: ProtocolError) -> None:
        self._send({"id": id, "error": {"code": error.code, "message": error.message}})

    def _send(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
        try:
            with self._lock:
                self._write.write(line.encode("utf-8", "replace") + b"\n")
                self._write.flush()
        except (OSError, ValueError):
            pass  # the client has gone: stdin ends too


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
