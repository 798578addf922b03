"""MCP over stdin and stdout: a line is a message. Every request that names itself is answered, or was cancelled.

Calls run on threads, so that the next line is read: a cancellation, or a call that is faster.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from . import calls
from .arguments import HALF_A_CHARACTER
from .calls import Call, Cancelled, session_of
from .protocol import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, ProtocolError, Service

if TYPE_CHECKING:
    from collections.abc import Iterator

# Calls at once; more wait, so many in all, beyond which they are refused. Each thread keeps a heap of its own.
MOST_CALLS, MOST_OPEN = 8, 1_000
# Of a line, a message. What is longer is read and thrown away piece by piece.
MOST_LINE_BYTES = 8_000_000
# Which request a line of too many bytes was: clients write the id beside the version, first or last in the object.
_EDGE_BYTES = 1_000
_ID = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2.0"\s*,\s*)?' + _ID + rb"\s*,")
_ID_LAST = re.compile(rb",\s*" + _ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2.0"\s*)?\}\s*\Z')
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
            while line := read.readline(MOST_LINE_BYTES):
                if len(line) < MOST_LINE_BYTES or line.endswith(b"\n"):
                    self._take(line, pool)
                else:
                    self._refuse(line[:_EDGE_BYTES], read)
        self._service.subscriptions.remove(self)

    def _refuse(self, head: bytes, read: BinaryIO) -> None:
        """A line that is too long: past its end, with an error to the request if its id can be seen."""
        tail = b""
        while piece := read.readline(65_536):
            tail = (tail + piece)[-_EDGE_BYTES:]
            if piece.endswith(b"\n"):
                break
        found = _ID_FIRST.match(head) or _ID_LAST.search(tail)
        said = f"a message of more than {MOST_LINE_BYTES:,} bytes"
        self._error(json.loads(found[1]) if found else None, ProtocolError(INVALID_REQUEST, said))

    def _take(self, line: bytes, pool: ThreadPoolExecutor) -> None:
        try:
            message = json.loads(line, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            if line.strip():
                self._error(None, ProtocolError(PARSE_ERROR, "this line is no JSON, or nested too deeply"))
            return
        # Several at once, as the protocol of 2025-03-26 has them, are answered one by one.
        for one in message if isinstance(message, list) and message else [message]:
            self._take_message(one, pool)

    def _take_message(self, message: Any, pool: ThreadPoolExecutor) -> None:
        if isinstance(message, dict) and ("result" in message or "error" in message) and "method" not in message:
            return  # an answer, to which nothing was asked
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            id = message.get("id") if isinstance(message, dict) else None
            id = id if isinstance(id, int | str) and not isinstance(id, bool) else None
            self._error(id, ProtocolError(INVALID_REQUEST, "a request has jsonrpc, id and method"))
            return
        method, params, id = message["method"], message.get("params"), message.get("id")
        params = {} if params is None else params
        if "id" not in message:
            if method == "notifications/cancelled" and isinstance(params, dict):
                self._cancel(params.get("requestId"))
            return
        if isinstance(id, bool) or not isinstance(id, int | str):
            self._error(None, ProtocolError(INVALID_REQUEST, "id must be a text or a whole number"))
            return
        if isinstance(id, str) and not _encodes(id):
            self._error(id, ProtocolError(INVALID_REQUEST, f"id: {HALF_A_CHARACTER}"))
            return
        if not isinstance(params, dict):
            self._error(id, ProtocolError(INVALID_REQUEST, "params must be an object"))
            return
        if len(self._open) >= MOST_OPEN:
            self._error(id, ProtocolError(INTERNAL_ERROR, f"{MOST_OPEN:,} calls wait for an answer: ask again later"))
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

    def _error(self, id: int | str | None, error: ProtocolError) -> None:
        self._send({"id": id, "error": {"code": error.code, "message": error.message}})

    def _send(self, message: dict[str, Any]) -> None:
        message = {"jsonrpc": "2.0", **message}
        try:
            line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:  # half a character in the id: escaped, as it was written
            line = json.dumps(message, separators=(",", ":")).encode()
        try:
            with self._lock:
                self._write.write(line + b"\n")
                self._write.flush()
        except (OSError, ValueError):
            pass  # the client has gone: stdin ends too


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
