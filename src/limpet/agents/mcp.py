"""The MCP server over stdio; what it offers is in `tools.py`.

The API is synchronous and thread-safe; calls run on worker threads (`calls.py`). A background thread embeds what
was written, so that no call waits for a model except the first recall by meaning. What the store decides is in
`api.py`; the words that teach an agent to use it are here, and short: they are paid for in every session.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import deque
from functools import partial, wraps
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations

import limpet

from ..model.errors import LimpetError
from ..recall_server import RecallServer
from ..store.heap import give_back
from .calls import called, in_words
from .resources import Pages
from .stdio import StdioServer
from .tools import Exposures, Tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server import MCPServer

    from ..api import Limpet

# Jobs a background turn takes at once, about a second of embedding: a client that closes stdin kills us 2 s later.
WORK_BATCH_JOBS = 16
# The drain looks for jobs that other processes left even when nobody writes here.
IDLE_LOOK_SECONDS = 60.0
# Exposures that wait for the thread; a store that cannot be written must not fill the memory.
MOST_EXPOSURES = 1_000
# How long a stopping server waits for the batch in hand; its jobs are leased, another process takes them over.
STOP_WAIT_SECONDS = 10.0

INSTRUCTIONS = """Persistent memory across sessions.
- Start of a task: prepare with what you were asked.
- A question on the way: recall, in a full sentence plus exact names or error codes.
- Learned something that will matter later (decision, preference, lesson, fact): remember it, one self-contained \
statement an item, with names and dates spelled out.
- A memory proved wrong or outdated: correct it (supersede) rather than storing a second version.
- One current value of something (a limit, a version, a city): fact.
- Before you rely on a doubtful memory, or change one that others rest on: explain (why, impact, audit).
- A recalled memory helped or misled: feedback."""


class Drain:
    """A daemon thread that works the queue after writes, and keeps exposures, what was surfaced, while nobody waits.

    Starts with the first `wake`; `stop` waits for its batch.
    """

    def __init__(self, memory: Limpet) -> None:
        self._memory = memory
        self._exposures: deque[tuple[str, list[tuple[str, int]], str]] = deque(maxlen=MOST_EXPOSURES)
        self._called = threading.Event()
        self._wrote = True  # what others left is looked for at the start
        self._stopping = threading.Event()
        self._given_back = 0.0  # when memory was last handed back, in monotonic seconds
        self._thread = threading.Thread(target=self._run, name="limpet-work", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        self._wrote = True
        self._called.set()

    def add(self, via: str, items: list[tuple[str, int]], session: str) -> None:
        """An exposure for each memory that a tool answered with."""
        if items and not self._memory.read_only:
            self._exposures.append((via, items, session))
            self._called.set()

    def stop(self) -> None:
        self._stopping.set()
        self._called.set()
        self._thread.join(STOP_WAIT_SECONDS)

    def _run(self) -> None:
        self._take_in_edits()
        while not self._stopping.is_set():
            asked = self._called.wait(IDLE_LOOK_SECONDS)
            self._called.clear()
            # At once: a client that has its answer may end this process without a word.
            self._keep()
            if not asked:
                self._take_in_edits()
            if self._wrote or not asked:
                self._wrote = False
                self._drain()
                self._give_back()
        self._keep()

    def _take_in_edits(self) -> None:
        """Of folders of any size: recalls look at small ones themselves."""
        try:
            self._memory.take_in_edits()
        except LimpetError as error:
            print(f"limpet: mirrors: {error.message}", file=sys.stderr)  # noqa: T201

    def _give_back(self) -> None:
        """What this thread's work and the calls beside it left free in the heaps of their threads, some 30 MB."""
        if time.monotonic() >= self._given_back + IDLE_LOOK_SECONDS:
            give_back()
            self._given_back = time.monotonic()

    def _keep(self) -> None:
        while self._exposures:
            via, items, session = self._exposures.popleft()
            try:
                self._memory.note_exposures(items, session=session, client="mcp", via=via)
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


def build(
    memory: Limpet, wrote: Callable[[], None] = lambda: None, exposures: Exposures | None = None
) -> MCPServer[Any]:
    """A server whose tools speak to `memory`; it neither closes the store nor starts a thread."""
    tools = Tools(memory, wrote, exposures)
    read = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    add = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
    # Nothing is lost by a correction (purge is not offered), so it is not destructive.
    change = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    server = StdioServer(
        name="limpet",
        title="limpet memory",
        instructions=INSTRUCTIONS,
        version=version("limpet"),
        log_level="WARNING",
        tools=[
            _tool(tools.remember, add),
            _tool(tools.prepare, read, structured=False),
            _tool(tools.recall, read),
            _tool(tools.correct, change),
            _tool(tools.fact, change),
            _tool(tools.explain, read),
            _tool(tools.feedback, add),
            _tool(tools.session, add),
        ],
    )
    pages = Pages(memory)
    server.resource("memory://index", name="index", description="what is remembered", mime_type="text/markdown")(
        _told(pages.index)
    )
    server.resource("memory://{id}", name="memory", description="one memory", mime_type="application/json")(
        _told(pages.memory)
    )
    server.resource("memory://topic/{topic}", name="topic", description="a topic's page", mime_type="text/markdown")(
        _told(pages.topic)
    )
    server.prompt(name="brief", description="What memory holds for a task")(_told(pages.brief))
    server.prompt(name="reflect", description="Keep what this conversation taught")(_told(pages.reflect))
    return server


def serve(store: str | None, scope: str | None, *, port: int | None = None) -> None:
    """Serve one store over stdin and stdout until stdin closes; or on a port of this machine, until interrupted.

    No model is loaded before the first write or recall. Raises LimpetError if the store cannot be opened, or the port.
    """
    with limpet.open(store, scope=scope) as memory:
        drain, recall_server = Drain(memory), RecallServer(memory)
        if not memory.read_only:
            drain.start()
            recall_server.start()
        try:
            server = build(memory, drain.wake, drain)
            if port is None:
                signal.signal(signal.SIGINT, partial(_end_at_once, recall_server))
                server.run("stdio")
            else:
                from .http import HOST, serve_http, token_for

                token, place = token_for(memory.path)
                print(f"limpet: http://{HOST}:{port}/mcp, bearer token in {place}", file=sys.stderr)  # noqa: T201
                serve_http(server, port, token)
        except KeyboardInterrupt:
            pass
        finally:
            if not memory.read_only:
                recall_server.stop()
                drain.stop()


def _end_at_once(recall_server: RecallServer, *_: object) -> None:
    """At Ctrl-C: a thread that waits for stdin would keep the process. What was acknowledged is in the store."""
    recall_server.stop()
    os._exit(130)


def _told(function: Callable[..., str]) -> Callable[..., str]:
    """The words of our errors, not their traces, for what is read or asked. Signatures stay for the SDK."""

    @wraps(function)
    def told(*given: Any, **named: Any) -> str:
        try:
            return function(*given, **named)
        except LimpetError as error:
            raise ValueError(in_words(error)) from error

    return told


def _tool(function: Callable[..., Any], annotations: ToolAnnotations, *, structured: bool = True) -> Tool:
    """A tool without the titles that Pydantic derives from names: a quarter of the schema, and no information.

    `structured=False`: it answers with text alone, which is then paid for once.
    """
    tool = Tool.from_function(
        called(function, structured=structured),
        annotations=annotations,
        context_kwarg="ctx",
        structured_output=None if structured else False,
    )
    tool.parameters = _bare(tool.parameters)
    if tool.fn_metadata.output_schema is not None:
        tool.fn_metadata.output_schema = _bare(tool.fn_metadata.output_schema)
    return tool


def _bare(schema: Any, *, names: bool = False) -> Any:
    """`schema` without titles, docstrings of models and empty defaults; `names`: its keys name properties."""
    if isinstance(schema, list):
        return [_bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    is_model = "properties" in schema
    return {
        key: _bare(value, names=not names and key in ("properties", "$defs"))
        for key, value in schema.items()
        if names
        or not (
            key == "title" or (key == "description" and is_model) or (key == "default" and value in ("", [], False))
        )
    }
