"""What clients hand to hooks, as described in their sources and documentation (November 2026): one set a client.

Each line: client, event, JSON on stdin, and where the answer's text stands (None: the client takes no text there;
"": the answer is the text itself).
"""

CWD = "/home/ana/shop"
CLAUDE = {
    "session_id": "3f0c",
    "transcript_path": "/home/ana/.claude/projects/x/3f0c.jsonl",
    "cwd": CWD,
    "permission_mode": "default",
}
CODEX = {
    "session_id": "01a1",
    "turn_id": "t1",
    "transcript_path": None,
    "cwd": CWD,
    "model": "gpt-5",
    "permission_mode": "on-request",
}
GEMINI = {"session_id": "g-7", "transcript_path": "/t.json", "cwd": CWD, "timestamp": "2026-03-01T12:00:00.000Z"}
QWEN = {
    "session_id": "q-9",
    "transcript_path": "/home/ana/.qwen/projects/x/chats/q-9.jsonl",
    "cwd": CWD,
    "timestamp": "2026-03-01T12:00:00.000Z",
}
COPILOT = {"sessionId": "c-1", "timestamp": 1772366400000, "cwd": CWD}
CURSOR = {
    "conversation_id": "k-1",
    "generation_id": "g",
    "model": "auto",
    "cursor_version": "2.5",
    "workspace_roots": [CWD],
    "transcript_path": None,
}
WINDSURF = {"trajectory_id": "w-1", "execution_id": "e", "timestamp": "2026-03-01T12:00:00Z", "model_name": "swe-1"}
CLINE = {
    "clineVersion": "3.0.65",
    "timestamp": "1772366400000",
    "taskId": "n-1",
    "workspaceRoots": [CWD],
    "userId": "u",
}
OPENCODE = {"sessionID": "ses_1", "directory": CWD}
ASK = "Which port does the staging database listen on?"
EDIT = {"file_path": "/home/ana/shop/api.py", "old_string": "a", "new_string": "b"}
RUN = {"command": "make test", "description": "Run the tests"}

SPECIFIC = ("hookSpecificOutput", "additionalContext")

MESSAGES = [
    ("claude", "UserPromptSubmit", {**CLAUDE, "hook_event_name": "UserPromptSubmit", "prompt": ASK}, SPECIFIC),
    ("codex", "UserPromptSubmit", {**CODEX, "hook_event_name": "UserPromptSubmit", "prompt": ASK}, SPECIFIC),
    ("gemini", "BeforeAgent", {**GEMINI, "hook_event_name": "BeforeAgent", "prompt": "<hook_context>old</hook_context>\n\n" + ASK}, SPECIFIC),
    ("qwen", "UserPromptSubmit", {**QWEN, "hook_event_name": "UserPromptSubmit", "prompt": ASK, "submitted_prompt": ASK}, SPECIFIC),
    ("copilot", "userPromptSubmitted", {**COPILOT, "prompt": ASK}, ("additionalContext",)),
    ("cursor", "beforeSubmitPrompt", {**CURSOR, "hook_event_name": "beforeSubmitPrompt", "prompt": ASK, "attachments": []}, None),
    ("opencode", "chat.message", {**OPENCODE, "prompt": ASK}, ("additionalContext",)),
    ("windsurf", "pre_user_prompt", {**WINDSURF, "agent_action_name": "pre_user_prompt", "tool_info": {"user_prompt": ASK}}, None),
    ("cline", "UserPromptSubmit", {**CLINE, "hookName": "UserPromptSubmit", "userPromptSubmit": {"prompt": ASK, "attachments": []}}, ("contextModification",)),
]  # fmt: skip

STARTS = [
    ("claude", "SessionStart", {**CLAUDE, "hook_event_name": "SessionStart", "source": "startup", "model": "opus"}, SPECIFIC),
    ("codex", "SessionStart", {**CODEX, "hook_event_name": "SessionStart", "source": "startup"}, SPECIFIC),
    ("gemini", "SessionStart", {**GEMINI, "hook_event_name": "SessionStart", "source": "startup"}, SPECIFIC),
    ("qwen", "SessionStart", {**QWEN, "hook_event_name": "SessionStart", "permission_mode": "yolo", "source": "startup"}, SPECIFIC),
    ("copilot", "sessionStart", {**COPILOT, "source": "new", "initialPrompt": "hi"}, ("additionalContext",)),
    ("cursor", "sessionStart", {**CURSOR, "hook_event_name": "sessionStart", "session_id": "k-1"}, ("additional_context",)),
    ("opencode", "session.created", OPENCODE, ("additionalContext",)),
    ("cline", "TaskStart", {**CLINE, "hookName": "TaskStart", "taskStart": {"taskMetadata": {}}}, ("contextModification",)),
]  # fmt: skip

# The last member is the line of the journal.
TOOLS = [
    ("claude", "PostToolUse", {**CLAUDE, "tool_name": "Bash", "tool_input": RUN, "tool_response": {"stdout": "ok", "interrupted": False}, "duration_ms": 9}, ("did", "Bash: make test")),
    ("claude", "PostToolUse", {**CLAUDE, "tool_name": "Edit", "tool_input": EDIT, "tool_response": {}}, ("did", "Edit: /home/ana/shop/api.py")),
    ("claude", "PostToolUseFailure", {**CLAUDE, "tool_name": "Bash", "tool_input": RUN, "error": "exit 2"}, ("failed", "Bash: make test")),
    ("claude", "PostToolUse", {**CLAUDE, "tool_name": "mcp__github__create_issue", "tool_input": {"title": "It breaks"}}, ("did", "mcp__github__create_issue: It breaks")),
    ("codex", "PostToolUse", {**CODEX, "tool_name": "shell", "tool_input": {"command": ["bash", "-lc", "make test"]}, "tool_response": "ok"}, ("did", "shell: bash -lc make test")),
    ("gemini", "AfterTool", {**GEMINI, "tool_name": "run_shell_command", "tool_input": RUN, "tool_response": {"llmContent": "ok"}}, ("did", "run_shell_command: make test")),
    ("qwen", "PostToolUse", {**QWEN, "tool_name": "run_shell_command", "tool_input": RUN, "tool_response": {"llmContent": "ok"}}, ("did", "run_shell_command: make test")),
    ("copilot", "postToolUse", {**COPILOT, "toolName": "bash", "toolArgs": '{"command": "make test"}', "toolResult": {"resultType": "failure"}}, ("failed", "bash: make test")),
    ("cursor", "postToolUse", {**CURSOR, "tool_name": "Shell", "tool_input": RUN, "tool_output": "ok", "duration": 3}, ("did", "Shell: make test")),
    ("cursor", "afterFileEdit", {**CURSOR, "file_path": "/home/ana/shop/api.py", "edits": []}, ("did", "Edit: /home/ana/shop/api.py")),
    ("opencode", "tool.execute.after", {**OPENCODE, "tool": "bash", "args": RUN}, ("did", "bash: make test")),
    ("windsurf", "post_run_command", {**WINDSURF, "tool_info": {"command_line": "make test", "cwd": CWD}}, ("did", "Shell: make test")),
    ("windsurf", "post_mcp_tool_use", {**WINDSURF, "tool_info": {"mcp_server_name": "gh", "mcp_tool_name": "create_issue", "mcp_tool_arguments": {"title": "T"}}}, ("did", "create_issue: T")),
    ("cline", "PostToolUse", {**CLINE, "postToolUse": {"toolName": "execute_command", "parameters": {"command": "make test"}, "result": "x", "success": False}}, ("failed", "execute_command: make test")),
    ("cline", "PostToolUse", {**CLINE, "tool_result": {"output": [{"result": "[Command exited with code 2]", "error": "Command exited with code 2"}]}, "postToolUse": {"toolName": "run_commands", "parameters": {"commands": '["make test"]', "description": "x"}, "success": True}}, ("failed", "run_commands: make test")),
]  # fmt: skip

TURNS = [
    ("claude", "Stop", {**CLAUDE, "prompt": ASK, "stop_hook_active": False, "last_assistant_message": "All 12 tests pass now."}),
    ("codex", "Stop", {**CODEX, "stop_hook_active": False, "last_assistant_message": "All 12 tests pass now."}),
    ("gemini", "AfterAgent", {**GEMINI, "prompt": ASK, "prompt_response": "All 12 tests pass now.", "stop_hook_active": False}),
    ("qwen", "Stop", {**QWEN, "stop_hook_active": False, "last_assistant_message": "All 12 tests pass now."}),
    ("cursor", "afterAgentResponse", {**CURSOR, "text": "All 12 tests pass now."}),
    ("windsurf", "post_cascade_response", {**WINDSURF, "tool_info": {"response": "All 12 tests pass now."}}),
]  # fmt: skip

ENDS = [
    ("claude", "SessionStart", "SessionEnd", {**CLAUDE, "reason": "exit"}),
    ("codex", "SessionStart", "SessionEnd", CODEX),
    ("gemini", "SessionStart", "SessionEnd", {**GEMINI, "reason": "exit"}),
    ("qwen", "SessionStart", "SessionEnd", {**QWEN, "reason": "prompt_input_exit"}),
    ("copilot", "sessionStart", "sessionEnd", {**COPILOT, "reason": "complete"}),
    ("cursor", "sessionStart", "sessionEnd", {**CURSOR, "reason": "completed"}),
    ("opencode", "session.created", "session.deleted", OPENCODE),
    ("cline", "TaskStart", "TaskComplete", CLINE),
]
# Before a compaction: where the text goes.
COMPACTIONS = [
    ("claude", "PreCompact", {**CLAUDE, "trigger": "auto", "custom_instructions": ""}, ""),
    ("opencode", "experimental.session.compacting", OPENCODE, ("additionalContext",)),
    ("codex", "PreCompact", {**CODEX, "trigger": "auto"}, None),
    ("gemini", "PreCompress", {**GEMINI, "trigger": "auto"}, None),
]
ALL = [one[:3] for one in (*MESSAGES, *STARTS, *TOOLS, *TURNS, *COMPACTIONS)] + [
    (c, end, data) for c, _, end, data in ENDS
]
