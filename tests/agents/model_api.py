"""A model API on this machine, for clients under test: it keeps what it was sent, and answers by a script.

Speaks Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's, as streams and whole. The answer is "Done.", unless the
script names a tool that the request offers and that this conversation has not called yet: then it is that call.
"""

from __future__ import annotations

import html
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

SAID = "Done."


class Call(NamedTuple):
    """A call of a tool as it goes to the client. `number`: a client takes a second call with the same id for the first."""

    name: str
    space: str | None
    arguments: dict[str, Any]
    number: int


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model is to call, once: a tool by the end of its name; `unlisted`: by its name, whatever is offered."""

    name: str
    arguments: dict[str, Any]
    unlisted: bool = False


@dataclass
class ModelApi:
    """`with ModelApi() as api`: listens on `api.url` until the end of the block."""

    calls: list[ToolCall] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    port: int = 0

    def __enter__(self) -> ModelApi:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def text(self) -> str:
        """All that the model was sent, as it would read it. Gemini CLI writes what hooks add with `&lt;` for `<`."""
        said = (body.get("messages", body.get("input", body.get("contents"))) for body in self.requests)
        return html.unescape("\n".join(text for one in said for text in strings(one)))

    def system(self) -> str:
        """The system prompts and instructions of all requests."""
        return "\n".join(
            text
            for body in self.requests
            for text in strings([body.get("system"), body.get("instructions"), body.get("systemInstruction")])
        )

    def results(self) -> list[str]:
        """What tools answered."""
        return [text for body in self.requests for text in _results(body)]

    def next_call(self, body: dict[str, Any]) -> Call | None:
        """The call that the script wants now: as many are done as the conversation holds answers of tools."""
        done = len(_results(body))
        offered = list(_offered(body.get("tools") or []))
        if done >= len(self.calls):
            return None
        call = self.calls[done]
        if call.unlisted and offered:
            return Call(call.name, None, call.arguments, done + 1)
        for name, space in offered:
            if name == call.name or name.endswith((f"_{call.name}", f"-{call.name}")):
                return Call(name, space, call.arguments, done + 1)
        return None


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


def _offered(tools: list[dict[str, Any]], space: str | None = None) -> Iterator[tuple[str, str | None]]:
    for tool in tools:
        if "functionDeclarations" in tool:
            yield from _offered(tool["functionDeclarations"])
        elif tool.get("type") == "namespace":
            yield from _offered(tool.get("tools") or [], tool.get("name"))
        else:
            name = (tool.get("function") or tool).get("name")
            if name:
                yield name, space


def _results(body: dict[str, Any]) -> list[str]:
    found = []
    for message in body.get("messages") or []:
        if message.get("role") == "tool":
            found.append(" ".join(strings(message.get("content"))))
        content = message.get("content")
        for part in content if isinstance(content, list) else []:
            if isinstance(part, dict) and part.get("type") == "tool_result":
                found.append(" ".join(strings(part.get("content"))))
    items = body.get("input")
    for item in items if isinstance(items, list) else []:
        if item.get("type") == "function_call_output":
            found.append(" ".join(strings(item.get("output"))))
    for content in body.get("contents") or []:
        for part in content.get("parts") or []:
            if "functionResponse" in part:
                found.append(" ".join(strings(part["functionResponse"].get("response"))))
    return found


# -- the four dialects


def _anthropic(model: str, call: Call | None) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{call.number}", "name": call.name, "input": call.arguments}
        start, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
    else:
        block = {"type": "text", "text": SAID}
        start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": SAID}
    reason = "tool_use" if call else "end_turn"
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [block],
             "stop_reason": reason, "stop_sequence": None, "usage": usage}  # fmt: skip
    events = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return whole, [(one["type"], one) for one in events]


def _responses(model: str, call: Call | None) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    if call:
        item = {"type": "function_call", "id": f"fc_{call.number}", "call_id": f"call_{call.number}", "name": call.name,
                "arguments": json.dumps(call.arguments), "status": "completed"}  # fmt: skip
        if call.space:
            item["namespace"] = call.space
    else:
        item = {"type": "message", "role": "assistant", "id": "m_1", "status": "completed",
                "content": [{"type": "output_text", "text": SAID, "annotations": []}]}  # fmt: skip
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None,
             "total_tokens": 2}  # fmt: skip
    whole = {"id": "r_1", "model": model, "usage": usage, "output": [item]}
    events = [
        {"type": "response.created", "response": {"id": "r_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [(one["type"], one) for one in events]


def _chat(model: str, call: Call | None) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    message: dict[str, Any] = {"role": "assistant", "content": None if call else SAID}
    if call:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        message["tool_calls"] = [{"index": 0, "id": f"call_{call.number}", "type": "function", "function": function}]
    reason = "tool_calls" if call else "stop"
    about = {"id": "c_1", "created": 1, "model": model}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    whole = {**about, "object": "chat.completion", "usage": usage,
             "choices": [{"index": 0, "message": message, "finish_reason": reason}]}  # fmt: skip
    chunks = [
        {**about, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
        for delta, end in ((message, None), ({}, reason))
    ]
    return whole, [("", one) for one in chunks]


def _gemini(model: str, call: Call | None) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    part = {"functionCall": {"name": call.name, "args": call.arguments}} if call else {"text": SAID}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    whole = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage, "modelVersion": model,
    }  # fmt: skip
    return whole, [("", whole)]


_DIALECTS = {
    ":generateContent": _gemini, ":streamGenerateContent": _gemini,
    "/messages": _anthropic, "/responses": _responses, "/chat/completions": _chat,
}  # fmt: skip


def _handler(api: ModelApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self._send(b'{"data": []}')

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            path = self.path.split("?")[0]
            try:
                body = json.loads(raw)
            except ValueError:
                body = {}
            speak = next((one for end, one in _DIALECTS.items() if path.endswith(end)), None)
            if speak is None:
                self._send(b'{"input_tokens": 1}')
                return
            api.requests.append(body)
            whole, events = speak(body.get("model", "stub"), api.next_call(body))
            if not body.get("stream") and not path.endswith(":streamGenerateContent"):
                self._send(json.dumps(whole).encode())
                return
            lines = [f"event: {name}\n" * bool(name) + f"data: {json.dumps(one)}\n\n" for name, one in events]
            end = "data: [DONE]\n\n" if speak is _chat else ""
            self._send("".join([*lines, end]).encode(), "text/event-stream")

        def _send(self, body: bytes, kind: str = "application/json") -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
