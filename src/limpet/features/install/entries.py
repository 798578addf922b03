"""Entries of the MCP server and of hooks that stand in a client's file already: whose they are, and what is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# How limpet is started: what an install is called for. All else in an entry is its owner's once it is there.
STARTED_BY = ("type", "command", "args")
# A command that runs one of limpet's hooks, however it is quoted and whichever options stand before `hook`.
# The rest of the line belongs to the match, so that each line is read once however often it names limpet.
_OURS = re.compile(r"""(?:^|[\s"'/\\])limpet(?:\.exe|\.cmd)?["']?\s(?P<rest>.*)""")
_HOOK = re.compile(r"(?<=\s)hook\s")
# A hook that calls limpet's server.
HOOK_CALL = {"server": "limpet", "tool": "hook"}
_NEXT = len("\nhook ")  # where a line is continued


def merged(there: dict[str, Any], new: dict[str, Any], *, is_trusted: bool) -> dict[str, Any]:
    """The entry that is there so that it starts limpet: its owner's other keys stay.

    In a file that may come from anybody (not `is_trusted`) only numbers, such as time limits, and whether it is
    switched on stay: an environment, say, decides what the program loads. What leads to a server by its address stays
    as it is, since it names no command.
    """
    if is_address(there):
        return there
    kept = {
        name: value for name, value in there.items()
        if is_trusted or name in (*STARTED_BY, "enabled", "disabled") or type(value) in (int, float)
    }  # fmt: skip
    return {**new, **kept, **{name: value for name, value in new.items() if name in STARTED_BY}}


def is_address(entry: Mapping[str, Any]) -> bool:
    return "command" not in entry and any(isinstance(entry.get(name), str) for name in ("url", "httpUrl", "serverUrl"))


def is_ours(entry: Any) -> bool:
    """An entry of a hooks list whose command, or each of whose hooks, runs limpet."""
    if not isinstance(entry, dict):
        return False
    inner = entry.get("hooks")
    if isinstance(inner, list):
        return bool(inner) and all(map(is_ours, inner))
    if HOOK_CALL.items() <= entry.items():
        return True
    given = entry.get("args")
    rest = " ".join(word for word in given if isinstance(word, str)) if isinstance(given, list) else ""
    lines = [f"{line} {rest} " for line in commands(entry)]
    return any(
        _HOOK.search(line, found.start("rest"), found.end() + _NEXT) for line in lines for found in _OURS.finditer(line)
    )


def inner_of(entry: Any) -> list[Any]:
    """The hooks of a group."""
    found = entry.get("hooks") if isinstance(entry, dict) else None
    return found if isinstance(found, list) else []


def commands(entry: Any) -> list[str]:
    """The command lines of an entry, with those of the hooks inside; this platform's first."""
    if not isinstance(entry, dict):
        return []
    own = [entry.get(name) for name in ("command", "bash", "powershell")]
    return [line for line in own if isinstance(line, str)] + [line for one in inner_of(entry) for line in commands(one)]
