"""What the server answers to each method of the Model Context Protocol: JSON in, JSON out, the same over every way.

No SDK is imported here: over stdio a client waits for this server to start, and importing the SDK takes longer than all
the rest. `stdio.py` reads and writes lines; `features/serve/sdk.py` puts the same answers behind the SDK's server.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from .. import __version__
from ..context import before_commit
from ..model.errors import BadInput, LimpetError, NotFound
from ..text.blocks import json_text
from .arguments import HALF_A_CHARACTER, checked, holds_half_a_character, in_words
from .calls import Call, Cancelled, caller
from .resources import REFLECT, Pages
from .tools import TAKES, TOOLS, Expose, Tools, state_of

if TYPE_CHECKING:
    from ..api import Limpet

Params = dict[str, Any]

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
RESOURCE_NOT_FOUND = -32002
# Newest last; a client that asks for another is offered the newest. The handshakes of all of them are the same.
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
# A tool that is not listed, so that no model sees it: a client's own hooks call it (hooks/client_adapters.py).
HOOK_TOOL = "hook"

TITLE = "limpet memory"
INSTRUCTIONS = """Persistent memory across sessions.
- Start of a task: prepare with what you were asked.
- A question on the way: recall, in a full sentence plus exact names or error codes.
- Learned something that will matter later (decision, preference, lesson, fact): remember it, one self-contained \
statement an item, with names and dates spelled out.
- What a page or a tool's output says, and the user did not: origin web or tool.
- A memory proved wrong or outdated: correct it (supersede) rather than storing a second version.
- One current value of something (a limit, a version, a city): fact.
- Before you rely on a doubtful memory, or change one that others rest on: explain (why, impact, audit).
- A recalled memory helped or misled: feedback."""

RESOURCES = [
    {"uri": "memory://index", "name": "index", "description": "what is remembered", "mimeType": "text/markdown"}
]
TEMPLATES = [
    {"uriTemplate": "memory://{id}", "name": "memory", "description": "one memory", "mimeType": "application/json"},
    {
        "uriTemplate": "memory://topic/{topic}", "name": "topic", "description": "a topic's page",
        "mimeType": "text/markdown",
    },
]  # fmt: skip
PROMPTS = [
    {
        "name": "brief", "description": "What memory holds for a task",
        "arguments": [{"name": "task", "description": "what you are about to do", "required": True}],
    },
    {"name": "reflect", "description": "Keep what this conversation taught"},
]  # fmt: skip
# Nothing is declared that is not here. Lists do not change while a server runs.
CAPABILITIES: Params = {"tools": {}, "resources": {}, "prompts": {}}
# Methods that read or store something: while limpet is off they tell that alone.
_USES_MEMORY = ("tools/call", "resources/read", "prompts/get")


class ProtocolError(Exception):
    """An answer that is an error of the protocol, not of a tool."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Service:
    """The methods over one open store. Thread-safe."""

    def __init__(
        self, memory: Limpet, wrote: Callable[[], object] = lambda: None, expose: Expose = lambda *_: None,
        called: Callable[[], object] = lambda: None, hook: Callable[[Params], str] | None = None,
    ) -> None:  # fmt: skip
        """`wrote` is told of every change, `called` of every call as it begins; `hook` answers a client's hooks."""
        self._memory, self._called, self._hook = memory, called, hook
        self._pages = Pages(memory)
        self._tools = Tools(memory, wrote, expose)
        self.methods: dict[str, Callable[[Params], Params]] = {
            "initialize": _initialize,
            "ping": lambda _: {},
            "tools/list": lambda _: {"tools": TOOLS},
            "tools/call": self._call,
            "resources/list": lambda _: {"resources": RESOURCES},
            "resources/templates/list": lambda _: {"resourceTemplates": TEMPLATES},
            "resources/read": self._read,
            "prompts/list": lambda _: {"prompts": PROMPTS},
            "prompts/get": self._prompt,
        }

    def answer(self, method: str, params: Params, call: Call) -> Params:
        """The result. Raises ProtocolError, and Cancelled where nobody waits for one."""
        if method not in self.methods:
            raise ProtocolError(METHOD_NOT_FOUND, f"there is no method {method}")
        self._called()
        caller.set(call.session)
        before_commit.set(call.check)
        try:
            call.check()
            if holds_half_a_character(params):
                raise ProtocolError(INVALID_PARAMS, HALF_A_CHARACTER)
            # A hook sees by itself whether it is off, for the folder that it names.
            if method in _USES_MEMORY and params.get("name") != HOOK_TOOL:
                state = state_of(self._memory.path, call.session)
                if state.why:
                    return _off(method, params, state.why)
            return self.methods[method](params)
        except (ProtocolError, Cancelled):
            raise
        except LimpetError as error:
            code = RESOURCE_NOT_FOUND if method == "resources/read" else INVALID_PARAMS
            raise ProtocolError(code, in_words(error)) from None
        except Exception as error:  # what is wrong here is told in a line, and the next call is answered
            print(f"limpet: {method}: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
            raise ProtocolError(INTERNAL_ERROR, f"limpet failed: {type(error).__name__}: {error}") from None

    def _call(self, params: Params) -> Params:
        name = params.get("name")
        if name == HOOK_TOOL and self._hook is not None:
            block = self._hook(params.get("arguments") or {})
            return {"content": [_text(block)] if block else []}
        if not isinstance(name, str) or name not in TAKES:
            raise ProtocolError(INVALID_PARAMS, f"there is no tool {name!r}; there are: {', '.join(TAKES)}")
        try:
            given = checked(params.get("arguments") or {}, TAKES[name], of=name)
            answer = getattr(self._tools, name)(**given)
        except LimpetError as error:
            return {"content": [_text(in_words(error))], "isError": True}
        # A brief is read as it is. Others: without indentation, which agents pay for by the token.
        text = answer["brief"] if name == "prepare" else json_text(answer, separators=(",", ":"))
        # A batch of which nothing was taken is an error to who asked for it.
        failed = bool(answer.get("rejected")) and answer["rejected"] == len(answer.get("results", ()))
        return {"content": [_text(text)], "structuredContent": answer, "isError": failed}

    def _read(self, params: Params) -> Params:
        uri = str(params.get("uri", ""))
        scheme, _, place = uri.partition("://")
        if scheme != "memory" or not place:
            raise NotFound(f"no resource {uri}", hint="there are memory://index, memory://ID and memory://topic/TOPIC")
        type = "text/markdown"
        if place == "index":
            text = self._pages.index()
        elif place.startswith("topic/"):
            text = self._pages.topic(unquote(place.removeprefix("topic/")))
        else:
            type, text = "application/json", self._pages.memory(unquote(place))
        return {"contents": [{"uri": uri, "mimeType": type, "text": text}]}

    def _prompt(self, params: Params) -> Params:
        name, given = params.get("name"), params.get("arguments") or {}
        if name == "reflect":
            text = REFLECT
        elif name == "brief":
            if not isinstance(given, dict) or not isinstance(given.get("task"), str):
                raise BadInput("the prompt brief needs 'task': a text")
            text = self._pages.brief(given["task"])
        else:
            raise BadInput(f"there is no prompt {name!r}", hint="there are: brief, reflect")
        return {"messages": [{"role": "user", "content": _text(text)}]}


def _initialize(params: Params) -> Params:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in VERSIONS else VERSIONS[-1],
        "capabilities": CAPABILITIES,
        "serverInfo": {"name": "limpet", "title": TITLE, "version": __version__},
        "instructions": INSTRUCTIONS,
    }


def _off(method: str, params: Params, why: str) -> Params:
    """What is answered while limpet is off: nothing is read, nothing stored, and a plain sentence says so."""
    text = (
        f"limpet is off: {why}. Nothing is read or stored until the user turns it on again; do not try again, and do "
        "not keep it elsewhere."
    )
    if method == "resources/read":
        return {"contents": [{"uri": str(params.get("uri", "")), "mimeType": "text/markdown", "text": text}]}
    if method == "prompts/get":
        return {"messages": [{"role": "user", "content": _text(text)}]}
    return {"content": [_text(text)], "isError": True}


def _text(text: str) -> Params:
    return {"type": "text", "text": text}
