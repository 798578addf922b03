"""The recall server: a long-lived limpet process answers short-lived ones (`recall_client.py`).

A cold process has no embedding model and would wait half a second for one; a running MCP server has it, from the first
question on. Recalls are only read; of a hook's event it does the whole.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..checkout import checkout_of
from ..recall_client import (
    ANSWERED,
    DECLINED,
    ENVIRONMENT,
    MOST_ASKED_BYTES,
    TAKEN,
    VERSION,
    address_of,
    environment,
    is_served,
    receive,
    send,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..api import Limpet

    # Takes (client, event, store, scope), the client's input and the folder; returns the hook's output.
    Hook = Callable[[tuple[str, str, str, str | None], bytes, str], bytes]

# A server that found another one at the socket path looks again this often, to take over.
LOOK_SECONDS = 5.0
# A connection that has not asked by then is closed; when there are too many, the one that has been silent the longest.
SILENCE_SECONDS, CONNECTIONS = 5.0, 64
# Questions that are answered at once; others wait.
ANSWERS = 8
VERBS = frozenset({"recall", "recall_sessions"})
# If the models could not be loaded, or nothing has a vector, it is tried again only after so many seconds.
AGAIN_SECONDS = 60.0
# Any question loads the models, and embeds waiting texts.
FIRST_QUESTION = "when is the deploy?"


class RecallServer:
    """A server of cold processes on a daemon thread, once no other process serves. `stop` frees the path.

    The first question loads both models, in the background, and calls `asked`, which starts other background work.
    """

    def __init__(
        self, memory: Limpet, *, look_seconds: float = LOOK_SECONDS, asked: Callable[[], object] = lambda: None,
        hook: Hook | None = None, again_seconds: float = AGAIN_SECONDS,
    ) -> None:  # fmt: skip
        self._memory = memory
        self._asked = asked
        self._hook = hook
        self._is_loaded = False
        self._again_seconds = again_seconds
        self._loads_from = 0.0  # on the monotonic clock: not before that again
        self._loading = threading.Thread()  # none yet
        self._look_seconds = look_seconds
        self._stopping = threading.Event()
        self._answering = threading.BoundedSemaphore(ANSWERS)
        self._lock = threading.Lock()
        # Connections, the oldest first, and whether each has asked.
        self._connections: dict[socket.socket, bool] = {}
        path = address_of(memory.path)
        self._path = None if path is None else Path(path)
        self._thread = threading.Thread(target=self._run, name="limpet-recall-server", daemon=True)

    def start(self) -> None:
        if self._path is not None:
            self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(self._look_seconds + SILENCE_SECONDS)
        # An accepted event is handled here or nowhere. Codex ends its servers and calls its last hook at once.
        until = time.monotonic() + SILENCE_SECONDS
        while self._connections and time.monotonic() < until:
            time.sleep(0.01)
        # This thread reads the store, which is closed next. As a daemon it is left if an embedder never answers.
        if self._loading.is_alive():
            self._loading.join(SILENCE_SECONDS)

    def _run(self) -> None:
        while not self._stopping.is_set():
            listener = self._listen()
            if listener is not None:
                with listener:
                    self._serve(listener)
            self._stopping.wait(self._look_seconds)

    def _listen(self) -> socket.socket | None:
        """Return a listening socket at its path if no process answers there; replace a dead process's socket."""
        assert self._path is not None
        if is_served(str(self._path)):
            return None
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            fresh.unlink(missing_ok=True)
            before = os.umask(0o177)
            try:
                listener.bind(str(fresh))
            finally:
                os.umask(before)
            listener.listen(CONNECTIONS)
            # In one step: a cold process sees the old socket or this one, and never a half-made one.
            fresh.replace(self._path)
        except OSError:
            listener.close()
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
            return None
        return listener

    def _serve(self, listener: socket.socket) -> None:
        """Serve until stopped, or until another process has taken the path."""
        assert self._path is not None
        mine = _mark(self._path)
        listener.settimeout(min(self._look_seconds, 0.5))
        while not self._stopping.is_set() and _mark(self._path) == mine:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError:
                break
            if self._accept(connection):
                with suppress(OSError):
                    connection.send(TAKEN)
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()
            else:
                connection.close()
        if mine is not None and _mark(self._path) == mine:
            with suppress(OSError):
                self._path.unlink()

    def _accept(self, connection: socket.socket) -> bool:
        """Accept a connection, ending the oldest that has not asked if need be; False when all others have asked."""
        with self._lock:
            if len(self._connections) >= CONNECTIONS:
                oldest = next((waiting for waiting, has_asked in self._connections.items() if not has_asked), None)
                if oldest is None:
                    return False
                del self._connections[oldest]
                with suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)  # its thread reads the end, and closes it
            self._connections[connection] = False
            return True

    def _answer(self, connection: socket.socket) -> None:
        try:
            with connection:
                asked = receive(connection, MOST_ASKED_BYTES, time.monotonic() + SILENCE_SECONDS)
                with self._lock:
                    if connection not in self._connections:
                        return  # it was ended for another
                    self._connections[connection] = True
                connection.settimeout(SILENCE_SECONDS)
                with self._answering:
                    answer = self._answer_to(asked) if asked.startswith(b"{") else self._answer_to_hook(asked)
                send(connection, answer)
        except (OSError, ValueError, RecursionError):
            pass  # the cold process is gone, or was none of ours
        finally:
            with self._lock:
                self._connections.pop(connection, None)

    def _answer_to(self, question: bytes) -> bytes:
        """Return {"answer": ...}, or {} when it cannot: the cold process then finds out why, and tells its user."""
        asked = json.loads(question)
        try:
            if asked.get("version") != VERSION or asked.get("embedder") != self._memory.embedder:
                return b"{}"
            self._have_loaded()
            if asked.get("verb") not in VERBS:
                return b"{}"
            of, folder = self._memory, asked.get("folder")
            memory = of._in_project(checkout_of(folder)) if folder else of.in_scope(str(asked["scope"]))
            result = getattr(memory, asked["verb"])(**asked["given"])
            short = memory.abbreviate([item.id for item in result.items])
            return json.dumps({"answer": result.as_dict() | {"short": short}}).encode()
        except Exception:  # whatever it is, it must not end a server that others rely on
            return b"{}"

    def _answer_to_hook(self, question: bytes) -> bytes:
        """Handle a hook's event. Decline it if the hook has another environment or version: it then does the work."""
        fields = question.split(b"\0", 6 + len(ENVIRONMENT))
        version, client, event, scope, store, folder, *theirs = map(os.fsdecode, fields[:-1])
        # Where a hook names no scope, its folder says which; here the environment would.
        is_mine = theirs == environment() and (scope or not os.environ.get("LIMPET_SCOPE"))
        if self._hook is None or version != str(VERSION) or not is_mine:
            return DECLINED
        self._have_loaded()
        return ANSWERED + self._hook((client, event, store, scope or None), fields[-1], folder)

    def _have_loaded(self) -> None:
        with self._lock:
            waits = self._is_loaded or self._stopping.is_set() or time.monotonic() < self._loads_from
            if waits or self._loading.is_alive():
                return
            self._loading = threading.Thread(target=self._load, name="limpet-load", daemon=True)
            self._loading.start()

    def _load(self) -> None:
        """Load the models with a first recall. It is tried again now and then until there are vectors."""
        try:
            self._asked()
            self._is_loaded = "vector" not in self._memory.recall(FIRST_QUESTION).missing
        except Exception:  # a question in the client's own process will show the same error
            return
        finally:
            self._loads_from = time.monotonic() + self._again_seconds


def _mark(path: Path) -> tuple[int, int] | None:
    """Return a mark that tells a socket at the path from the next one: the inode number alone is soon reused."""
    try:
        about = path.lstat()
    except OSError:
        return None
    return about.st_ino, about.st_ctime_ns
