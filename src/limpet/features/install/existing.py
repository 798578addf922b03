"""What a client's entries start, and the store and scope that they name: an install that is told none keeps them."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

from ...agents.hooks.client_adapters import CLIENT_ADAPTERS
from ...agents.hooks.entry import parted
from ...folders import absolute, is_url
from .change import Part, present
from .clients import Place, parts
from .entries import commands, inner_of, is_ours

Command = str | list[str]
_SHIM = re.compile(r"^const (RUN|OPTIONS) = (\[.*\])$", re.MULTILINE)
# What limpet writes needs no shell for more than its quotes.
_SHELL = re.compile(r"[;&|<>$`\n(){}*?#]")


def argv_of(entry: dict[str, Any]) -> list[str]:
    """The command line of the server's entry; [] for none."""
    command, more = entry.get("command"), entry.get("args")
    argv = command if isinstance(command, list) else [command, *(more if isinstance(more, list) else [])]
    return argv if all(isinstance(word, str) for word in argv) else []


def hook_commands(client: str, part: Part, there: Any) -> list[tuple[str, Command]]:
    """The commands of limpet's hooks by their events: a line for the shell, or words."""
    if client == "opencode" and isinstance(there, str):
        shim = {name: json.loads(argv) for name, argv in _SHIM.findall(there)}
        events = CLIENT_ADAPTERS[client].events if len(shim) == 2 else ()
        return [(event, [*shim["RUN"], "hook", client, event, *shim["OPTIONS"]]) for event in events]
    if not isinstance(there, dict):  # a script of Cline's, named by its event
        return [(part.path.name, [str(part.path)])] if there else []
    found: list[tuple[str, Command]] = []
    for event, entry in there.items():
        groups = entry if isinstance(entry, list) else [entry]
        ours = [one for group in groups for one in (inner_of(group) or [group]) if is_ours(one)]
        lines = next(filter(None, map(commands, ours)), [])
        found += [(event, line) for line in (lines[-1:] if sys.platform == "win32" else lines[:1])]
    return found


def command_words(command: Command) -> list[str]:
    """The words of limpet's own command; nothing where a shell would do more than part them."""
    if isinstance(command, list) and len(command) == 1:
        lines = Path(command[0]).read_text(encoding="utf-8", errors="replace").splitlines()
        command = lines[2].removeprefix("exec ") if len(lines) == 3 and lines[2].startswith("exec ") else []
    try:
        return command if isinstance(command, list) else [] if _SHELL.search(command) else shlex.split(command)
    except ValueError:
        return []


def completed(client: str, place: Place) -> Place:
    """The place with what the client's MCP entry names, else its hooks. Raises BadInput for an unreadable file.

    Nothing of it for a project: a repository may come from anybody, and would choose where memories are kept.
    """
    if place.project is not None:
        return place
    environment: dict[str, Any] = {}
    server: list[str | None] = [None, None]  # store and scope
    hooks: list[str | None] = [None, None]
    for part, there in present(parts(client, place)):
        if part.what == "MCP server" and isinstance(there, dict):
            server = [*parted(argv_of(there)[1:])[1:]]
            given = there.get("env", there.get("environment"))
            environment = given if isinstance(given, dict) else {}
        elif part.what == "hooks":
            for _, command in hook_commands(client, part, there):
                named = parted(command_words(command))[1:]
                hooks = [had or value for had, value in zip(hooks, named, strict=True)]
    options, server_options = list(place.options), list[str]()
    for name, given, own, of_hooks in zip(("store", "scope"), parted(place.options)[1:], server, hooks, strict=True):
        value = own or environment.get(f"LIMPET_{name.upper()}") or of_hooks
        if not value and name == "store":
            # A client that a desktop starts has no variables of a shell: it would work in another store. An address
            # may hold a password.
            here = os.environ.get("LIMPET_STORE", "")
            value = absolute(here) if here and not is_url(here) else None
        if given is not None or not isinstance(value, str):
            continue
        if "$" not in value:
            options += [f"--{name}", value]
        elif own:  # a hook's line is quoted: only the client can fill in a variable, for its server
            server_options += [f"--{name}", value]
    return place._replace(options=tuple(options), server_options=tuple(server_options))
