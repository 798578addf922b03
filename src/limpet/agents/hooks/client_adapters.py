"""Client adapters as data: for each client which event means what, where a field lies, how an answer looks.

Read from the clients themselves or their documentation, November 2026; docs/how-to/clients/ says which were run.
"""

from __future__ import annotations

from ...model.dataclass import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The role of an event, and how many seconds a hook may take: a late one only holds the agent up.
ROLES = {"start": 2.0, "message": 1.5, "tool": 1.0, "compact": 2.0, "turn": 1.0, "end": 1.5,
         "subagent": 1.5, "edit": 1.0}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a hook, in our words. Fields that a client does not send are empty."""

    client: str
    event: str
    role: str
    session: str = ""
    folder: str = ""
    text: str = ""  # the user's message, or the agent's last one (turn)
    source: str = ""  # of a start: startup, resume, clear, compact
    tool: str = ""
    input: Any = None
    failed: bool = False
    transcript: str = ""  # the file in which the client keeps the session
    agent: str = ""  # of a sub-agent: its id


@dataclass(frozen=True, slots=True)
class ClientAdapter:
    """`fields`: our name -> places in the client's JSON, dotted, the first that holds something counts.

    `text` is the user's message, `answer` the agent's at the end of a turn.
    """

    events: dict[str, str]  # the client's event -> role
    fields: dict[str, tuple[str, ...]]
    # role -> how its answer is wrapped; a role that is not here gets none. See `shape`.
    answers: dict[str, str]


_CLAUDE = {
    "session": ("session_id",), "folder": ("cwd",), "text": ("prompt",),
    "answer": ("last_assistant_message", "prompt_response"), "source": ("source",), "tool": ("tool_name",),
    "input": ("tool_input",),
    "failed": ("error", "is_error", "tool_response.is_error", "tool_response.interrupted", "tool_response.error"),
    "transcript": ("transcript_path",), "agent": ("agent_id",),
}  # fmt: skip

CLIENT_ADAPTERS = {
    "claude": ClientAdapter(
        {"SessionStart": "start", "UserPromptSubmit": "message", "PreToolUse": "edit", "PostToolUse": "tool",
         "PostToolUseFailure": "tool", "PreCompact": "compact", "SubagentStart": "subagent", "Stop": "turn",
         "SessionEnd": "end"},
        _CLAUDE,
        {"start": "specific", "message": "specific", "edit": "specific", "compact": "plain", "subagent": "specific"},
    ),
    "codex": ClientAdapter(
        {"SessionStart": "start", "UserPromptSubmit": "message", "PostToolUse": "tool", "Stop": "turn",
         "SessionEnd": "end"},
        _CLAUDE,
        {"start": "specific", "message": "specific"},
    ),
    "gemini": ClientAdapter(
        {"SessionStart": "start", "BeforeAgent": "message", "AfterTool": "tool", "AfterAgent": "turn",
         "SessionEnd": "end"},
        _CLAUDE,
        {"start": "specific", "message": "specific"},
    ),
    "qwen": ClientAdapter(
        {"SessionStart": "start", "UserPromptSubmit": "message", "PostToolUse": "tool", "PostToolUseFailure": "tool",
         "Stop": "turn", "SessionEnd": "end"},
        # What was typed, before the client adds to it.
        {**_CLAUDE, "text": ("submitted_prompt", "prompt")},
        {"start": "specific", "message": "specific"},
    ),
    "copilot": ClientAdapter(
        {"sessionStart": "start", "userPromptSubmitted": "message", "postToolUse": "tool", "agentStop": "turn",
         "sessionEnd": "end"},
        {"session": ("sessionId",), "folder": ("cwd",), "text": ("prompt",), "source": ("source",),
         "tool": ("toolName",), "input": ("toolArgs",), "failed": ("error",), "transcript": ("transcriptPath",)},
        {"start": "camel", "message": "camel"},
    ),
    "cursor": ClientAdapter(
        {"sessionStart": "start", "beforeSubmitPrompt": "message", "postToolUse": "tool", "postToolUseFailure": "tool",
         "afterShellExecution": "tool", "afterFileEdit": "tool", "afterMCPExecution": "tool",
         "afterAgentResponse": "turn", "stop": "turn", "sessionEnd": "end"},
        {"session": ("conversation_id", "session_id"), "folder": ("workspace_roots.0", "cwd"),
         "text": ("prompt",), "answer": ("text",), "source": ("source",), "tool": ("tool_name",),
         "input": ("tool_input", "command", "file_path"),
         "failed": ("error_message", "failure_type"), "transcript": ("transcript_path",)},
        {"start": "snake"},
    ),
    "opencode": ClientAdapter(
        {"session.created": "start", "chat.message": "message", "tool.execute.after": "tool",
         "experimental.session.compacting": "compact", "session.deleted": "end"},
        {"session": ("sessionID",), "folder": ("directory",), "text": ("prompt",), "source": ("source",),
         "tool": ("tool",), "input": ("args",), "failed": ("error",)},
        {"start": "camel", "message": "camel", "compact": "camel"},
    ),
    "windsurf": ClientAdapter(
        {"pre_user_prompt": "message", "post_write_code": "tool", "post_run_command": "tool",
         "post_mcp_tool_use": "tool", "post_cascade_response": "turn"},
        {"session": ("trajectory_id",), "folder": ("tool_info.cwd",),
         "text": ("tool_info.user_prompt",), "answer": ("tool_info.response",), "tool": ("tool_info.mcp_tool_name",),
         "input": ("tool_info.command_line", "tool_info.file_path", "tool_info.mcp_tool_arguments")},
        {},
    ),
    "cline": ClientAdapter(
        {"TaskStart": "start", "TaskResume": "start", "UserPromptSubmit": "message", "PostToolUse": "tool",
         "TaskCancel": "end", "TaskComplete": "end"},
        {"session": ("taskId",), "folder": ("workspaceRoots.0",), "text": ("userPromptSubmit.prompt",),
         "tool": ("postToolUse.toolName", "postToolUse.tool"), "input": ("postToolUse.parameters",),
         "failed": ("postToolUse.error", "tool_result.output.0.error")},
        {"start": "modification", "message": "modification"},
    ),
}  # fmt: skip
# Clients whose hooks can call the MCP server, with the fields of an event that its role needs. At a session's beginning
# and end the server is not connected, and events that name files need a process (docs/adr/0035).
CALLS: dict[str, dict[str, tuple[str, ...]]] = {
    "claude": {
        "message": ("session_id", "cwd", "prompt"),
        "edit": ("session_id", "cwd", "tool_name", "tool_input"),
        "tool": ("session_id", "cwd", "tool_name", "tool_input", "tool_response", "error"),
        "turn": ("session_id", "cwd", "last_assistant_message"),
    },
}
# Variables in which clients tell a server the session that it runs in. So the end of a turn, which only a hook sees,
# also judges what a tool surfaced. A later change of the session is not told.
SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")
# Gemini CLI's answer for a turn that ended with tools alone.
_NO_ANSWER = "[no response text]"
# Clients that do not tell how a command ended: it is no proof that it went well.
NO_EXIT_STATUS = frozenset({"codex", "windsurf"})
# Clients whose hooks can show the user something that the model does not get.
SHOWS_NOTICES = frozenset({"claude", "gemini"})
# Clients that put what was shown before the model with each request: they must be told when to stop.
SHOWS_AGAIN = frozenset({"opencode"})
# The tool's name for events that imply it.
_TOOLS = {
    "afterShellExecution": "Shell", "afterFileEdit": "Edit", "post_run_command": "Shell", "post_write_code": "Edit",
}  # fmt: skip
# Session ids are short; longer ones are cut, and control characters removed.
_LONGEST_NAME = 120


def parse_event(client: str, event: str, data: dict[str, Any]) -> Call | None:
    """Parse a client's JSON; None for an event that limpet does nothing about."""
    adapter = CLIENT_ADAPTERS[client]
    role = adapter.events.get(event)
    if role is None:
        return None

    def find(name: str) -> Any:
        for path in adapter.fields.get(name, ()):
            value = _at(data, path)
            if value not in (None, "", [], {}):
                return value
        return None

    def word(name: str, limit: int = _LONGEST_NAME) -> str:
        value = find(name)
        if not isinstance(value, str):
            return ""
        return "".join(char for char in value[:limit] if char.isprintable()).strip()

    # With some clients the end of a turn names the prompt too, which the agent did not say.
    text = find("answer" if role == "turn" else "text")
    if text == _NO_ANSWER:
        text = ""
    return Call(
        client=client, event=event, role=role, session=word("session"), folder=word("folder", 4_000),
        text=text if isinstance(text, str) else "", source="resume" if event == "TaskResume" else word("source"),
        tool=word("tool") or _TOOLS.get(event, ""), input=find("input"),
        failed=bool(find("failed")) or event.endswith("Failure") or _at(data, "postToolUse.success") is False
        or _at(data, "toolResult.resultType") in ("failure", "denied") or (role == "tool" and _exited(data)),
        transcript=word("transcript", 4_000), agent=word("agent"),
    )  # fmt: skip


def call_of(client: str, event: str) -> dict[str, str] | None:
    """Return the arguments of a hook that calls the server, as placeholders the client fills in; None for no call."""
    fields = CALLS.get(client, {}).get(CLIENT_ADAPTERS[client].events[event])
    return None if fields is None else {"client": client, "event": event} | {name: f"${{{name}}}" for name in fields}


def nested(value: Any) -> Any:
    """Decode a field of a call, or a tool's arguments, which some clients send as JSON in a text."""
    if not isinstance(value, str) or not value.startswith(("{", "[")):
        return value
    import json

    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _exited(data: dict[str, Any]) -> bool:
    """Return whether a shell's last lines give a code other than 0: Copilot CLI and Gemini CLI tell it only there."""
    for path in ("toolResult.textResultForLlm", "tool_response.llmContent"):
        text = _at(data, path)
        for line in reversed(text[-500:].splitlines()) if isinstance(text, str) else ():
            if line.startswith(("<shellId:", "Exit Code:")):
                return line.rstrip("> ").rpartition(" ")[2].strip("0") != ""
    return False


def shape(call: Call, text: str, to_user: str = "") -> str:
    """Return the text for the model, and the notice that the client shows its user, as the client reads them from
    stdout. Each is left out where it takes none; "" for nothing at all."""
    kind = CLIENT_ADAPTERS[call.client].answers.get(call.role, "") if text else ""
    if kind == "plain":
        return text
    wrapped: dict[str, dict[str, Any]] = {
        "specific": {"hookSpecificOutput": {"hookEventName": call.event, "additionalContext": text}},
        "camel": {"additionalContext": text},
        "snake": {"additional_context": text},
        "modification": {"cancel": False, "contextModification": text},
    }
    shown = wrapped.get(kind, {})
    if to_user and call.client in SHOWS_NOTICES:
        shown["systemMessage"] = to_user
    if not shown:
        return ""
    import json

    return json.dumps(shown, ensure_ascii=False)


def off(call: Call) -> str:
    """Return the answer for a client that would go on showing what it was given, when limpet is off; "" for others."""
    return '{"off": true}' if call.client in SHOWS_AGAIN else ""


def _at(data: Any, path: str) -> Any:
    for step in path.split("."):
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and step.isdigit() and int(step) < len(data):
            data = data[int(step)]
        else:
            return None
    return data
