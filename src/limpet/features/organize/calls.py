"""Tool calls of any client in one form: the shell's command, the file that is changed, whether it failed."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

from .turns import LONGEST_OUTPUT, Call

# The shells of the clients, in lower case.
_SHELLS = frozenset(
    {"bash", "shell", "exec_command", "local_shell", "container.exec", "run_shell_command", "powershell",
     "run_terminal_cmd", "run_terminal_command", "execute_command", "shell_command", "unified_exec"}
)  # fmt: skip
# Tools that change files, by what their names hold.
_CHANGES = ("edit", "write", "replace", "apply_patch", "create", "patch", "notebook")
_FILE = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file", "filename")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_EXIT = re.compile(r"(?:Process exited with code|[Ee]xit(?:ed with)? code:?|<exited with exit code)\s*:?\s*(-?\d+)")
OWN = "limpet"
_OWN_COMMAND = re.compile(r"(?:^|[\s;&|/])limpet\s")
_STORES = re.compile(r"(?:remember|correct|add|fact)\w*$", re.IGNORECASE)
_OWN_STORES = re.compile(r"(?:^|[\s;&|/])limpet\s(?:--\S+ )*(?:remember|add|correct)\s+(.+)$")


def call_of(tool: Any, given: Any, output: Any, failed: bool | None) -> Call | None:
    """None for what is no call, and for limpet's own tools: what they say is in the store already."""
    if not isinstance(tool, str) or not tool or is_own(tool):
        return None
    given = decoded(given)
    name = tool.rpartition("__")[2] or tool
    command = _command(given) if name.lower() in _SHELLS else ""
    if command and _OWN_COMMAND.search(command):
        return None
    path = ""
    if not command and any(mark in name.lower() for mark in _CHANGES):
        path = _path(given)
    text = output_text(output)
    if failed is None:
        failed = _exit(text)
    return Call(tool=name[:100], command=command[:4_000], path=path[:1_000], output=text, failed=failed)


def is_own(tool: str) -> bool:
    return OWN in tool.lower()


def remembered_by(tool: Any, given: Any) -> list[str]:
    """The texts that a call of limpet's own tools, or of its command, stores."""
    given = decoded(given)
    if isinstance(tool, str) and is_own(tool):
        return given_texts(given) if _STORES.search(tool) else []
    if not isinstance(tool, str) or (tool.rpartition("__")[2] or tool).lower() not in _SHELLS:
        return []
    found = _OWN_STORES.search(_command(given))
    try:
        return [word for word in shlex.split(found[1]) if len(word.split()) >= 3] if found else []
    except ValueError:
        return []


def given_texts(given: Any) -> list[str]:
    """The texts in what limpet's own tools were given."""
    if isinstance(given, str):
        return [given] if len(given.split()) >= 3 else []
    if isinstance(given, dict):
        given = list(given.values())
    return [text for one in given[:200] for text in given_texts(one)] if isinstance(given, list) else []


def decoded(given: Any) -> Any:
    """Arguments that come as JSON in a string."""
    if isinstance(given, str) and given[:1] in "{[" and len(given) < 1_000_000:
        try:
            return json.loads(given)
        except (ValueError, RecursionError):
            return given
    return given


def _command(given: Any) -> str:
    found = given
    if isinstance(given, dict):
        found = next((given[name] for name in ("command", "cmd", "script") if given.get(name)), "")
    if isinstance(found, list):
        words = [one for one in found if isinstance(one, str)]
        # ["bash", "-lc", "make test"]
        found = words[-1] if len(words) == 3 and words[1] in ("-lc", "-c", "-Command") else " ".join(words)
    # Scripts of several lines are made for one purpose.
    return " ".join(found.split()) if isinstance(found, str) and "\n" not in found.strip() else ""


def _path(given: Any) -> str:
    if isinstance(given, dict):
        for name in _FILE:
            if isinstance(given.get(name), str):
                return str(given[name])
        given = next((given[name] for name in ("input", "patch", "patchText") if isinstance(given.get(name), str)), "")
    if isinstance(given, str):
        found = _PATCHED.search(given)
        return found[1].strip() if found else "?"
    return "?"


def output_text(output: Any) -> str:
    """What a tool answered, as text, from any of the shapes that clients keep."""
    output = decoded(output)
    for _ in range(4):
        if isinstance(output, dict):
            output = next(
                (
                    output[name]
                    for name in ("output", "content", "error", "stderr", "stdout", "message", "text")
                    if output.get(name)
                ),
                "",
            )
    if isinstance(output, list):
        output = "\n".join(
            one if isinstance(one, str) else str(one.get("text") or "") for one in output if isinstance(one, str | dict)
        )
    if not isinstance(output, str):
        return ""
    # The end of a long output says how it ended.
    return (
        output
        if len(output) <= LONGEST_OUTPUT
        else output[: LONGEST_OUTPUT // 2] + "\n" + output[-LONGEST_OUTPUT // 2 :]
    )


def _exit(text: str) -> bool | None:
    found = _EXIT.search(text[:2_000]) or _EXIT.search(text[-500:])
    return None if found is None else int(found[1]) != 0
