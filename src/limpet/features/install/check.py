"""The check of an installed client: `doctor` runs the commands that its files name, on a store of samples.

The MCP server is greeted, and the hook of a message gets one. No client is started.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from ...agents.hooks.client_adapters import CLIENT_ADAPTERS
from ...agents.hooks.entry import words
from ...folders import absolute
from ...model.errors import LimpetError
from ...pause import INCOGNITO
from ...work.doctor import Check
from .change import present
from .clients import CLIENTS, PATIENCE_SECONDS, Place, parts, program
from .entries import Command, command_words, hook_commands, is_address, server_command

# Clients give a server some ten seconds to answer; it ends when its client closes stdin.
GREETING_SECONDS = 15.0
ABOUT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}}
# The memory of the sample store, and a question that finds it by its words.
HELD = "The staging database of the sample shop listens on port 5433"
ASKED = "Which port does the staging database of the sample shop listen on?"


class _Failed(Exception):
    """A client's command that failed: what happened, and what to do about it."""


# Status, message and hint of a check.
Finding = tuple[str, str, str | None]


def check_clients(store: str, scope: str) -> list[Check]:
    """Check each client that has limpet, for the user and in the project around here. `store`, `scope`: limpet's own
    here."""
    folder, home = Path.cwd(), Path.home()
    project = next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)
    place = Place(home, None, program())
    places = {"": place} | ({} if project in (None, home) else {", project": place._replace(project=project)})
    return [
        Check(name=client + which, status=status, message=message, hint=hint)
        for client in CLIENTS
        for which, where in places.items()
        for status, message, hint in _findings(client, where, store, scope)
    ]


def _findings(client: str, place: Place, store: str, scope: str) -> Iterator[Finding]:
    again = f"limpet install {client}" + (f" --project {place.project}" if place.project else "")
    try:
        every = present(parts(client, place))
    except LimpetError as error:
        yield "fail", error.message, f"mend the file, then `{again}`"
        return
    if all(there is None for _, there in every):
        return
    if missing := [f"{part.what} in {part.path}" for part, there in every if there is None]:
        yield "warn", f"not there: {', '.join(missing)}", again
    if place.project is not None:
        yield "ok", "not tried: a project's files may come from anybody, and name programs to run", None
        return
    entry = next((there for part, there in every if part.what == "MCP server" and isinstance(there, dict)), {})
    server = server_command(entry)
    events = CLIENT_ADAPTERS[client].events if client in CLIENT_ADAPTERS else {}
    hooks = chain(*(hook_commands(client, part.path, there, server) for part, there in every if part.what == "hooks"))
    hook = next(((event, command) for event, command in hooks if events.get(event) == "message"), None)
    named = [words(command_words(command)) for command in (server, hook and hook[1]) if command]
    for what, at, here in (("store", 2, absolute(store)), ("scope", 3, scope)):
        for other in sorted({value for line in named if (value := line[at]) and value != here}):
            how = f"`{again} --{what} {here}`, unless it is meant"
            yield "warn", f"works in the {what} {other}; here it is {here}", how
    if is_address(entry):
        yield "ok", "its entry leads to a server by its address: not tried", None
    elif entry.get("enabled") is False or entry.get("disabled") is True:
        yield "warn", "its MCP server is switched off", "enable it"
    elif entry and not server:
        yield "fail", "its MCP entry names no command", again
    elif entry:
        yield _tried(_greet, server, again)
    if hook is not None:
        yield _tried(_ask, client, *hook, again)


def _tried(attempt: Callable[..., str], *given: Any) -> Finding:
    try:
        return "ok", attempt(*given), None
    except _Failed as error:
        message, hint = error.args
        return "fail", message, hint


def _greet(command: list[str], again: str) -> str:
    """Start the entry's command, which answers `initialize`. Raises _Failed."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="limpet-doctor-") as name:
        greeting, store = _request(1, "initialize", ABOUT), str(Path(name) / "sample.db")
        done = _run("the MCP server", _sampled(command), greeting, store, GREETING_SECONDS, again)
    if b'"result"' in done.stdout:
        return f"the MCP server answers after {time.monotonic() - began:.1f} s"
    message = " ".join(done.stderr[:10_000].decode("utf-8", "replace").split())[:300]
    raise _Failed(f"the MCP server ended{message and f': {message}'}", "mend that, then doctor again")


def _ask(client: str, event: str, command: Command, again: str) -> str:
    """Send a sample message to its hook, on a store that holds the answer. Raises _Failed."""
    import limpet

    given = _sample(client, event, str(Path.cwd()))
    raw = json.dumps(given).encode()
    scope = words(command_words(command))[3] or "global"
    if isinstance(command, list) and "hook" not in command and len(command) > 1:  # a call of the server
        call = {"name": "hook", "arguments": {"client": client, "event": event, **given}}
        raw, command = _request(1, "initialize", ABOUT) + _request(2, "tools/call", call), _sampled(command)
    with tempfile.TemporaryDirectory(prefix="limpet-doctor-") as name:
        store = str(Path(name) / "sample.db")
        with limpet.open(store, scope="global", durable=False) as memory:
            memory.remember(HELD, origin="user")
        began = time.monotonic()
        done = _run("a hook", command, raw, store, PATIENCE_SECONDS, again)
        took = time.monotonic() - began
        log = Path(f"{store}.hooks.log")
        logged = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        with limpet.open(store, scope=scope) as memory:
            is_noted = any(line.what == ASKED for line in memory.journal())
    text, errors = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    shows = "message" in CLIENT_ADAPTERS[client].answers
    if done.returncode == 0 and (HELD in text if shows else is_noted):
        did = "found its memory" if shows else "was noted"
        return f"its hooks answer after {1000 * took:.0f} ms; a sample message {did} (on a sample store)"
    lines = (logged or errors or text).strip().splitlines()[-1:]
    what = f"a hook ended with {done.returncode}" if done.returncode else "its hook did not answer a message"
    raise _Failed(": ".join([what, *(line[:200] for line in lines)]), again)


def _run(
    what: str, command: Command, raw: bytes, store: str, seconds: float, again: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a command of a client on a sample store, which is named every way. Raises _Failed."""
    environment = {**os.environ, "LIMPET_HOOK_STORE": store, "LIMPET_STORE": store, "LIMPET_SCOPE": "global"}
    environment.pop(INCOGNITO, None)  # the check ignores the switch that turns hooks off
    line = command if isinstance(command, str) else shlex.join(command)
    try:
        return subprocess.run(
            command, shell=isinstance(command, str), input=raw, capture_output=True,
            # `python -m limpet` imports no limpet.py from the current folder.
            env=environment | {"PYTHONSAFEPATH": "1"}, timeout=seconds, check=False,
        )  # fmt: skip
    except OSError as error:
        raise _Failed(f"{command[0]} cannot be started: {error.strerror}", again) from None
    except subprocess.TimeoutExpired:
        raise _Failed(f"{what} did not answer within {seconds:.0f} s", f"see what `{line}` says") from None


def _sampled(command: list[str]) -> list[str]:
    """Return a server's command line without its --store, which the sample replaces."""
    at = command.index("--store") if "--store" in command else len(command)
    return [*command[:at], *command[at + 2 :]]


def _sample(client: str, event: str, folder: str) -> dict[str, Any]:
    """Return a sample of the event that the client sends with a message, with the fields that limpet reads."""
    made: dict[str, Any] = {"hook_event_name": event}
    for name, value in (("session", "limpet-doctor"), ("folder", folder), ("text", ASKED)):
        place = CLIENT_ADAPTERS[client].fields[name][0]
        *path, last = place.removesuffix(".0").split(".")
        inner = made
        for step in path:
            inner = inner.setdefault(step, {})
        inner[last] = [value] if place.endswith(".0") else value
    return made


def _request(id: int, method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"
