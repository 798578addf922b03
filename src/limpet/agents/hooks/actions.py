"""A tool call as one line of the journal; "" for a call that only looks."""

from __future__ import annotations

import re

from .client_adapters import nested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LINE_CHARACTERS = 200
# What of an input says most, the first that is there. Clients' own names.
_FILES = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file", "filename")
_TELLING = (
    "command", "cmd", "commands", *_FILES, "url", "title", "description", "message", "name", "query", "prompt",
)  # fmt: skip
# Tools that look, plan or ask, by the first word of their name. (A shell is told by its input, before this.)
_LOOKING = frozenset(
    {"read", "grep", "glob", "ls", "list", "search", "find", "get", "view", "fetch", "web", "codebase", "think",
     "todo", "exit", "enter", "ask", "task", "skill", "tool", "bash", "kill", "resolve", "load", "query", "wait"}
)  # fmt: skip
SHELLS = frozenset(
    {"bash", "shell", "powershell", "run_shell_command", "execute_command", "run_terminal_cmd", "run_terminal_command",
     "exec_command", "local_shell", "container.exec", "shell_command", "unified_exec", "exec", "terminal"}
)  # fmt: skip
_PLANS = frozenset({"update_plan", "update_todos"})
# Shell commands that change nothing.
HARMLESS = frozenset(
    {"ls", "cat", "pwd", "cd", "echo", "head", "tail", "less", "which", "whoami", "type", "find", "grep", "rg",
     "fd", "wc", "stat", "file", "tree", "du", "df", "ps", "env", "printenv", "date", "true", "sleep", "history",
     "man", "dir", "get-childitem", "get-content"}
)  # fmt: skip
_GIT_LOOKS = frozenset({"status", "log", "diff", "show", "blame", "ls-files", "rev-parse", "describe"})
_FIRST = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# A patch that a client's model writes (Codex): what it changes, in place of its text.
_PATCH, PATCHED = "*** Begin Patch", r"^\*\*\* (?:Update File|Add File|Delete File|Move to): *(\S.*?) *$"
STEP = re.compile(r"&&|\|\||[;\n|]")


def describe_action(tool: str, given: Any, *, failed: bool) -> str:
    """Describe an action in one line, without secrets; "" for noise. A failure is told by the kind of the line."""
    if not tool or "limpet" in tool.lower():
        return ""
    given = nested(given)
    text = _telling(given)
    if _PATCH in text:
        files = dict.fromkeys(re.findall(PATCHED, text, re.MULTILINE))
        return _line(f"apply_patch: {', '.join(files)}" if files else tool)
    is_shell = isinstance(given, dict) and not {"command", "cmd", "commands"}.isdisjoint(given)
    if is_shell or tool.lower() in SHELLS:
        return _line(f"{tool}: {text}") if text and (failed or not _only_looks(text)) else ""
    short = tool.rpartition("__")[2] or tool
    first = _FIRST.search(short)
    if short in _PLANS or (first and first[0].lower() in _LOOKING):
        return ""
    return _line(f"{tool}: {text}" if text else tool)


def file_of(given: Any) -> str:
    """Return the file that a tool is called on; "" for none."""
    given = nested(given)
    values = map(given.get, _FILES) if isinstance(given, dict) else ()
    return next((value for value in values if value and isinstance(value, str)), "")


def _telling(given: Any) -> str:
    if isinstance(given, str):
        listed = nested(given)  # Cline sends each argument as JSON in a string
        return _telling(listed) if isinstance(listed, list) else given
    if isinstance(given, list):
        return " ".join(part for part in given[:20] if isinstance(part, str))
    if isinstance(given, dict):
        for name in _TELLING:
            value = given.get(name)
            if value and isinstance(value, str | list):
                return _telling(value)
    return ""


def _only_looks(command: str) -> bool:
    """Return whether a command only looks: no redirection, and every step changes nothing."""
    if ">" in command.replace("2>&1", "").replace(">/dev/null", "").replace("> /dev/null", ""):
        return False
    for step in STEP.split(command[:2_000]):
        words = [word for word in step.split() if "=" not in word[1:20]]
        name = words[0].rpartition("/")[2].lower() if words else ""
        if name == "git":
            looks = any(word in _GIT_LOOKS for word in words[1:4])
        elif name == "find":
            looks = not any(word in ("-delete", "-exec", "-execdir", "-ok") for word in words)
        else:
            looks = not words or name in HARMLESS
        if not looks:
            return False
    return True


def _line(text: str) -> str:
    from ...secrets import redact_command
    from ...text.blocks import plain_line

    # Redacted before it is cut: half a secret is none that can be recognised.
    return plain_line(redact_command(text[:20_000])[0], LINE_CHARACTERS)
