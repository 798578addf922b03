"""The MCP server over stdio: remember, prepare, recall, correct, feedback.

The engine is synchronous and thread-safe; the SDK runs these tools on worker threads. A background thread embeds what
was written, so that no call waits for a model except the first recall by meaning. What the store decides is in
`engine.py`; the words that teach an agent to use it are here, and short: they are paid for in every session.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer

import limpet

from ..model.clock import format_time
from ..model.errors import BadInput, LimpetError
from ..model.memory import Kind
from ..rank.constants import BRIEF_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..engine import Limpet

# Jobs a background turn takes at once, about a second of embedding: a client that closes stdin kills us 2 s later.
WORK_BATCH_JOBS = 16
# How long a brief may take; the first one of a process may have to load the embedding model.
PREPARE_DEADLINE_MS = 2_000.0
# The drain looks for jobs that other processes left even when nobody writes here.
IDLE_LOOK_SECONDS = 60.0
# How long a stopping server waits for the batch in hand; its jobs are leased, another process takes them over.
STOP_WAIT_SECONDS = 10.0

INSTRUCTIONS = """Persistent memory across sessions.
- Start of a task: prepare with what you were asked.
- A question on the way: recall, in a full sentence plus exact names or error codes.
- Learned something that will matter later (decision, preference, lesson, fact): remember it, one self-contained \
statement an item, with names and dates spelled out.
- A memory proved wrong or outdated: correct it (supersede) rather than storing a second version.
- A recalled memory helped or misled: feedback."""


class Compact(BaseModel):
    """A result that leaves out what is empty: tokens are the agent's."""

    @model_serializer(mode="wrap")
    def _without_empty(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in handler(self).items() if value not in (None, "", [])}


class NewMemory(BaseModel):
    content: str
    kind: Kind = "fact"
    topics: list[str] = []
    key: Annotated[str, Field(description="SUBJECT.ATTRIBUTE, e.g. user.city")] = ""
    origin: Literal["agent", "user"] = "agent"
    source: Annotated[str, Field(description="file:line or URL")] = ""
    valid_from: Annotated[str, Field(description="when it became true, if not now")] = ""
    session: str = ""


class Written(Compact):
    id: str = ""
    status: str
    reason: str = ""
    redacted: list[str] = []


class Remembered(Compact):
    results: list[Written]


class Found(Compact):
    id: str
    kind: str
    content: str
    score: float
    confidence: float
    date: str = ""
    topics: list[str] = []
    key: str = ""
    origin: str = ""


class Recalled(Compact):
    items: list[Found] = []
    missing: list[str] = []
    truncated: bool = False

    @model_serializer(mode="wrap")
    def _items_always(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        shown = handler(self)
        return {name: value for name, value in shown.items() if value or name == "items"}


class Noted(Compact):
    noted: int


class Tools:
    """The tools over one open store. `wrote` is called after every change."""

    def __init__(self, memory: Limpet, wrote: Callable[[], None]) -> None:
        self._memory = memory
        self._wrote = wrote

    def remember(self, items: list[NewMemory]) -> Remembered:
        """Store memories. One statement an item, understandable on its own."""
        with _told_to_the_agent():
            if not items:
                raise BadInput("nothing to remember", hint="give at least one item")
            receipts = self._memory.remember_batch([_without_defaults(item) for item in items])
            self._wrote()
            return Remembered(results=[_written(receipt) for receipt in receipts])

    def recall(
        self,
        *,
        query: Annotated[str, Field(description="question or topic, with exact names")],
        k: Annotated[int, Field(ge=1, le=100)] = 8,
        kinds: list[str] = [],  # noqa: B006  (a schema default; never changed)
        topics: list[str] = [],  # noqa: B006
        since: str = "",
        until: str = "",
        known_at: Annotated[str, Field(description="as believed at this time")] = "",
        budget_tokens: Annotated[int, Field(ge=0, description="0: no limit")] = 2000,
    ) -> Recalled:
        """Find memories by meaning and by words, best first. Times: ISO 8601 or "3 days ago"."""
        with _told_to_the_agent():
            found = self._memory.recall(
                query,
                k=k,
                kinds=kinds,
                topics=topics,
                since=since or None,
                until=until or None,
                known_at=known_at or None,
                budget_tokens=budget_tokens or None,
            )
            return Recalled(
                items=[
                    Found(
                        id=item.id,
                        kind=item.kind,
                        content=item.content,
                        score=round(item.score, 3),
                        confidence=round(item.confidence, 2),
                        date=(format_time(item.valid_from) or "")[:10],
                        topics=list(item.topics),
                        key=item.key or "",
                        origin=item.origin,
                    )
                    for item in found.items
                ],
                missing=list(found.missing),
                truncated=found.truncated,
            )

    def prepare(self, message: str, budget_tokens: Annotated[int, Field(ge=1)] = BRIEF_TOKENS) -> str:
        """Brief yourself before a task: rules, facts, lessons, goals, recent work, conflicts."""
        with _told_to_the_agent():
            brief = self._memory.prepare(
                message, budget=budget_tokens, lexical_only=False, deadline_ms=PREPARE_DEADLINE_MS
            )
            return brief.text() or "Nothing is remembered here yet."

    def correct(
        self,
        *,
        id: str,
        action: Literal["supersede", "retract", "archive"] = "supersede",
        content: Annotated[str, Field(description="the new statement, to supersede")] = "",
        why: str = "",
        valid_from: Annotated[str, Field(description="when the new one became true")] = "",
        origin: Literal["agent", "user"] = "agent",
    ) -> Written:
        """Change a belief: supersede (new content), retract (was wrong) or archive. History is kept."""
        with _told_to_the_agent():
            if action == "supersede":
                if not content:
                    raise BadInput("to supersede, give the new content", hint="retract needs none")
                receipt = self._memory.correct(
                    id, content, why=why or None, valid_from=valid_from or None, origin=origin
                )
            elif content:
                raise BadInput(f"{action} takes no content", hint="supersede replaces a memory")
            elif action == "retract":
                if not why:
                    raise BadInput("say why it is retracted", hint="give why")
                receipt = self._memory.retract(id, why)
            else:
                receipt = self._memory.archive(id)
            self._wrote()
            return _written(receipt)

    def feedback(self, ids: list[str], verdict: Literal["useful", "not_useful", "wrong"]) -> Noted:
        """Say whether recalled memories helped; it steers later ranking."""
        with _told_to_the_agent():
            for id in ids:
                self._memory.feedback(id, verdict)
            return Noted(noted=len(ids))


class Drain:
    """A daemon thread that works the queue after writes. Starts with the first `wake`; `stop` waits for its batch."""

    def __init__(self, memory: Limpet) -> None:
        self._memory = memory
        self._work = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="limpet-work", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        self._work.set()

    def stop(self) -> None:
        self._stopping.set()
        self._work.set()
        self._thread.join(STOP_WAIT_SECONDS)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._work.wait(IDLE_LOOK_SECONDS)
            self._work.clear()
            self._drain()

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


def build(memory: Limpet, wrote: Callable[[], None] = lambda: None) -> MCPServer[Any]:
    """A server whose tools speak to `memory`; it neither closes the store nor starts a thread."""
    tools = Tools(memory, wrote)
    read = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    add = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
    # Nothing is lost by a correction (purge is not offered), so it is not destructive.
    change = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    return MCPServer(
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
            _tool(tools.feedback, add),
        ],
    )


def serve(store: str | None, scope: str | None) -> None:
    """Serve one store over stdin and stdout until stdin closes. Raises LimpetError if the store cannot be opened.

    No model is loaded before the first write or recall.
    """
    with limpet.open(store, scope=scope) as memory:
        drain = Drain(memory)
        if not memory.read_only:
            drain.start()
        try:
            build(memory, drain.wake).run("stdio")
        except KeyboardInterrupt:
            pass
        finally:
            if not memory.read_only:
                drain.stop()


@contextmanager
def _told_to_the_agent() -> Iterator[None]:
    """Only a ToolError's words reach the model: give it the message and the hint."""
    try:
        yield
    except LimpetError as error:
        raise ToolError(f"{error.message} ({error.hint})" if error.hint else error.message) from error


def _tool(function: Callable[..., Any], annotations: ToolAnnotations, *, structured: bool = True) -> Tool:
    """A tool without the titles that Pydantic derives from names: a quarter of the schema, and no information.

    `structured=False`: it answers with text alone, which is then paid for once.
    """
    tool = Tool.from_function(function, annotations=annotations, structured_output=None if structured else False)
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


def _without_defaults(item: NewMemory) -> dict[str, Any]:
    return {name: value for name, value in item.model_dump().items() if name == "content" or value not in ("", [])}


def _written(receipt: Any) -> Written:
    return Written(
        id=receipt.id or "", status=receipt.status, reason=receipt.reason or "", redacted=list(receipt.redacted)
    )
