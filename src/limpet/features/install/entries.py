"""Entries of the MCP server and of hooks in a client's file: their owner, and the command they run."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...agents.hooks.client_adapters import CLIENT_ADAPTERS

# The keys that start limpet. All other keys of an existing entry belong to its owner.
STARTED_BY = ("type", "command", "args")
# A hook that calls limpet's server.
HOOK_CALL = {"server": "limpet", "tool": "hook"}
# A command that runs limpet, however it is quoted. The match takes the rest of the line, which is read only once.
_OURS = re.compile(r"""(?:^|[\s"'/\\])limpet(?:\.exe|\.cmd)?["']?\s(?P<rest>.*)""")
_HOOK = re.compile(r"(?<=\s)hook\s")
_NEXT = len("\nhook ")  # where a line is continued
# How OpenCode's plugin starts limpet.
_SHIM = re.compile(r"^const (RUN|OPTIONS) = (\[.*\])$", re.MULTILINE)
# What limpet writes needs no shell for more than its quotes.
_SHELL = frozenset(";&|<>$`\n(){}*?#")

Command = str | list[str]  # a line for the shell, or words


def merged(there: dict[str, Any], new: dict[str, Any], *, is_trusted: bool) -> dict[str, Any]:
    """Return the present entry, changed to start limpet: its owner's other keys stay.

    If the file is not `is_trusted`, only numbers and the on/off switch stay: an environment decides what a program
    loads. An entry with an address stays as it is.
    """
    if is_address(there):
        return there
    kept = {
        name: value for name, value in there.items()
        if is_trusted or name in (*STARTED_BY, "enabled", "disabled") or type(value) in (int, float)
    }  # fmt: skip
    return {**new, **kept, **{name: value for name, value in new.items() if name in STARTED_BY}}


def is_address(entry: Mapping[str, Any]) -> bool:
    """Return whether the server's entry names an address instead of a command."""
    return "command" not in entry and any(isinstance(entry.get(name), str) for name in ("url", "httpUrl", "serverUrl"))


def is_ours(entry: Any) -> bool:
    """Return whether the entry of a hooks list, or every hook in it, runs limpet."""
    if not isinstance(entry, dict):
        return False
    if isinstance(entry.get("hooks"), list):
        return bool(entry["hooks"]) and all(map(is_ours, entry["hooks"]))
    if HOOK_CALL.items() <= entry.items():
        return True
    given = entry.get("args")
    rest = " ".join(word for word in given if isinstance(word, str)) if isinstance(given, list) else ""
    lines = [f"{line} {rest} " for line in _lines(entry)]
    return any(
        _HOOK.search(line, match.start("rest"), match.end() + _NEXT) for line in lines for match in _OURS.finditer(line)
    )


def inner_of(entry: Any) -> list[Any]:
    """Return the hooks of a group."""
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    return hooks if isinstance(hooks, list) else []


def _lines(entry: dict[str, Any]) -> list[str]:
    """Return the command lines of a hook: for any shell, for bash, for PowerShell."""
    return [line for name in ("command", "bash", "powershell") if isinstance(line := entry.get(name), str)]


def server_command(entry: Mapping[str, Any]) -> list[str]:
    """Return the command line of the server's entry; [] for none."""
    command, more = entry.get("command"), entry.get("args")
    words = command if isinstance(command, list) else [command, *(more if isinstance(more, list) else [])]
    return words if all(isinstance(word, str) for word in words) else []


def hook_commands(client: str, file: Path, there: Any, server: Sequence[str] = ()) -> list[tuple[str, Command]]:
    """Return the commands of limpet's hooks in a file, by their events: the server's, where a hook is a call of it."""
    if client == "opencode" and isinstance(there, str):
        shim = {name: json.loads(words) for name, words in _SHIM.findall(there)}
        events = CLIENT_ADAPTERS[client].events if len(shim) == 2 else ()
        return [(event, [*shim["RUN"], "hook", client, event, *shim["OPTIONS"]]) for event in events]
    if not isinstance(there, dict):  # a script of Cline's, named by its event
        return [(file.name, [str(file)])] if there else []
    commands: list[tuple[str, Command]] = []
    for event, entry in there.items():
        for group in entry if isinstance(entry, list) else [entry]:
            for hook in filter(is_ours, inner_of(group) or [group]):
                if lines := _lines(hook):
                    commands.append((event, lines[-1 if sys.platform == "win32" else 0]))
                elif server:
                    commands.append((event, [*server]))
    return commands


def command_words(command: Command) -> list[str]:
    """Return the words of limpet's own command; [] where a shell would do more than part them."""
    if isinstance(command, list) and len(command) == 1:
        lines = Path(command[0]).read_text(encoding="utf-8", errors="replace").splitlines()
        command = lines[2].removeprefix("exec ") if len(lines) == 3 and lines[2].startswith("exec ") else []
    try:
        return command if isinstance(command, list) else shlex.split(command) if _SHELL.isdisjoint(command) else []
    except ValueError:
        return []
