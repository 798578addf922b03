"""MCP over stdin and stdout. A call that cannot be read is answered with an error: the SDK alone would drop it.

JSON can name half a character (a lone surrogate, "\\ud800"), which no UTF-8 can hold: the SDK reads no such line.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import anyio
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from .calls import HALF_A_CHARACTER

if TYPE_CHECKING:
    from types import TracebackType

    from mcp.shared._stream_protocols import ReadStream, WriteStream


class StdioServer(MCPServer[Any]):
    """An MCP server that leaves no call over stdio without an answer."""

    async def run_stdio_async(self) -> None:
        server = self._lowlevel_server
        async with stdio_server() as (read, write):
            await server.run(_Answered(read, write), write, server.create_initialization_options())


class _Answered:
    """A stream of messages without those that could not be read, which are answered."""

    def __init__(self, read: ReadStream[SessionMessage | Exception], write: WriteStream[SessionMessage]) -> None:
        self._read, self._write = read, write

    @property
    def last_context(self) -> Any:
        return getattr(self._read, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        while True:
            item = await self._read.receive()
            answer = _refusal(item) if isinstance(item, Exception) else None
            if answer is None:
                return item
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await self._write.send(SessionMessage(answer))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._read.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _refusal(error: Exception) -> JSONRPCError | None:
    """The answer to a request that could not be read; None when nobody waits for one, or it says not who."""
    if not isinstance(error, ValidationError):
        return None
    detail = error.errors(include_url=False)[0]
    if detail["type"] != "json_invalid":
        return None
    try:
        asked = json.loads(detail["input"])
        id = asked["id"] if "method" in asked else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if isinstance(id, bool) or not isinstance(id, int | str) or not _encodes(id):
        return None
    said = detail["msg"] if _encodes(asked) else HALF_A_CHARACTER
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=PARSE_ERROR, message=said))


def _encodes(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
