"""What every call of a tool goes through: whose it is, errors in words, progress while it lasts, a short answer.

The API is synchronous: a call runs on a worker thread, and the loop goes on listening.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel

from ..model.errors import LimpetError

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

# A client that hears nothing for some time gives a call up: so often it is told that this one goes on.
PROGRESS_SECONDS = 1.0
# Clients tell a server that they start in which of their sessions it runs: with that, the end of a turn, which a hook
# hears of, judges what a tool surfaced as well. A session that the client changes later is not told.
SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")
# Codex says it with each call; longer names than a hook takes are none.
SESSION_FIELD, LONGEST_SESSION = "sessionId", 120
# Of a server over stdio, which has one client, when that says nothing.
_THIS_PROCESS = f"mcp-{uuid.uuid4().hex[:12]}"

HALF_A_CHARACTER = "a text holds half a character (a lone surrogate, \\ud800 to \\udfff)"

# The session of the call that this thread works for.
caller: ContextVar[str] = ContextVar("caller", default="")


def session_of(context: Context[Any, Any]) -> str:
    """The client's session, as its hooks name it where they do; "" when nobody says."""
    request = context.request_context
    given = (request.meta or {}).get(SESSION_FIELD)
    headers = context.headers
    if headers is not None:
        given = given or headers.get("mcp-session-id")
    else:
        given = given or next(filter(None, map(os.environ.get, SESSION_VARIABLES)), _THIS_PROCESS)
    return given if isinstance(given, str) and len(given) <= LONGEST_SESSION and given.isprintable() else ""


def called(function: Callable[..., Any], *, structured: bool) -> Callable[..., Any]:
    """`function` as a tool that takes the SDK's context as `ctx`; its signature stays that of the function.

    The SDK would put structured answers into the text block with indentation, which agents pay for by the token.
    """

    @wraps(function)
    async def call(*, ctx: Context[Any, Any], **given: Any) -> Any:
        caller.set(session_of(ctx))
        if _holds_half_a_character(given):
            raise ToolError(HALF_A_CHARACTER)
        work, failed = partial(function, **given), None
        async with anyio.create_task_group() as group:
            group.start_soon(_tell, ctx)
            try:
                answer = await anyio.to_thread.run_sync(work)
            except LimpetError as error:
                failed = error
            group.cancel_scope.cancel()
        if failed is not None:
            # Only a ToolError's words reach the model.
            raise ToolError(in_words(failed)) from failed
        if not structured:
            return answer
        text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=answer)

    return call


def _holds_half_a_character(value: Any) -> bool:
    """Whether a text in there cannot be UTF-8. JSON can name such, also inside of a text that is JSON itself."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return True
        return False
    if isinstance(value, dict):
        return any(map(_holds_half_a_character, (*value, *value.values())))
    if isinstance(value, list):
        return any(map(_holds_half_a_character, value))
    return _holds_half_a_character(vars(value)) if isinstance(value, BaseModel) else False


def in_words(error: LimpetError) -> str:
    """The message, and what to do about it."""
    return f"{error.message} ({error.hint})" if error.hint else error.message


async def _tell(ctx: Context[Any, Any]) -> None:
    """Tell a client that asked for it how long its call has lasted."""
    seconds = 0.0
    while True:
        await anyio.sleep(PROGRESS_SECONDS)
        seconds += PROGRESS_SECONDS
        await ctx.report_progress(seconds, message=f"working for {seconds:.0f} s")
