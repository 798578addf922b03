"""Entries of the MCP server and of hooks that stand in a client's file already: whose they are, and what is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
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
# What `install` writes names the program by its whole path, since clients have a PATH of their own; a hand rarely does.
WHOLE_PATH = re.compile(r"""(?:& )?["']?(?:[A-Za-z]:)?[/\\]""")


def changed(there: Any, new: Mapping[str, Any]) -> dict[str, Any] | None:
    """Keys to set in an entry so that it starts limpet; None where there is none, and the whole is to be written.

    {} for one that leads to a server by its address: it names no command to bring up to date.
    """
    if not isinstance(there, dict):
        return None
    if is_address(there):
        return {}
    return {name: value for name, value in new.items() if name in STARTED_BY or name not in there}


def kept(there: Any, new: Mapping[str, Any]) -> list[str]:
    """Names of what stays of an entry as it is, though limpet would not write it so."""
    if not isinstance(there, dict):
        return []
    if is_address(there):
        return ["the entry, which leads to a server by its address"]
    return [name for name, value in there.items() if name not in new or (name not in STARTED_BY and value != new[name])]


def strange(there: Any, new: Mapping[str, Any]) -> list[str]:
    """Names in an entry that nobody can vouch for: an environment, say, decides what the program loads.

    Numbers, such as time limits, and whether it is switched on do no harm.
    """
    if not isinstance(there, dict) or is_address(there):
        return []
    harmless = {name for name, value in there.items() if type(value) in (int, float)} | {"enabled", "disabled"}
    return [name for name, value in there.items() if name not in {*STARTED_BY, *harmless} and value != new.get(name)]


def is_address(entry: Mapping[str, Any]) -> bool:
    return "command" not in entry and any(isinstance(entry.get(name), str) for name in ("url", "httpUrl", "serverUrl"))


def is_by_hand(there: Any, new: Mapping[str, Any]) -> bool:
    """Whether limpet did not write the entry: it has other keys, or finds its command by the PATH."""
    if not isinstance(there, dict) or not set(there) <= set(new):
        return True
    command = there.get("command")
    first = command[0] if isinstance(command, list) and command else command
    return not (isinstance(first, str) and Path(first).is_absolute())


def is_ours(entry: Any) -> bool:
    """An entry of a hooks list whose command, or each of whose hooks, runs limpet."""
    if not isinstance(entry, dict):
        return False
    inner = entry.get("hooks")
    if isinstance(inner, list):
        return bool(inner) and all(is_ours(one) for one in inner)
    if HOOK_CALL.items() <= entry.items():
        return True
    given = entry.get("args")
    rest = " ".join(one for one in given if isinstance(one, str)) if isinstance(given, list) else ""
    return any(_runs_hook(f"{one} {rest} ") for one in commands(entry))


def _runs_hook(line: str) -> bool:
    return any(_HOOK.search(line, one.start("rest"), one.end() + _NEXT) for one in _OURS.finditer(line))


def inner_of(entry: Any) -> list[Any]:
    """The hooks of a group."""
    found = entry.get("hooks") if isinstance(entry, dict) else None
    return found if isinstance(found, list) else []


def commands(entry: Any) -> list[str]:
    """The command lines of an entry or a list of them, with those of the hooks inside."""
    if isinstance(entry, list):
        return [line for one in entry for line in commands(one)]
    if not isinstance(entry, dict):
        return []
    own = [entry.get(name) for name in ("command", "bash", "powershell")]
    return [one for one in own if isinstance(one, str)] + commands(entry.get("hooks"))
