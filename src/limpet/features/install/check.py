"""Does an installed client reach limpet? What `doctor` tries: the entries in its files, and what they start.

The server is greeted, and the hook of a message gets one on a store of samples: nothing of the user's is written. No
client is started.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...agents.hooks.client_adapters import CLIENT_ADAPTERS
from ...agents.hooks.entry import words
from ...folders import absolute
from ...model.errors import LimpetError
from ...work.doctor import Check
from .change import Part, present
from .clients import CLIENTS, PATIENCE_SECONDS, Place, parts, program
from .entries import HOOK_CALL, inner_of, is_address
from .existing import Command, argv_of, command_words, hook_commands

# A client gives a server some ten seconds to answer; it ends by itself when its client closes stdin.
GREETING_SECONDS = 15.0
ABOUT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}}
# What the sample store holds, and what is asked: by words alone the one is found for the other.
HELD = "The staging database of the sample shop listens on port 5433"
ASKED = "Which port does the staging database of the sample shop listen on?"


def check_clients(store: str, scope: str) -> list[Check]:
    """What was found of each client into which limpet was installed: for the user, and in the project around here.

    `store` and `scope`: what limpet has here by itself.
    """
    folder, home = Path.cwd(), Path.home()
    project = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)
    place = Place(home, None, program())
    places = [place] if project in (None, home) else [place, place._replace(project=project)]
    return [check for client in CLIENTS for where in places for check in _checked(client, where, store, scope)]


def _checked(client: str, place: Place, store: str, scope: str) -> Iterator[Check]:
    name = client if place.project is None else f"{client}, project"
    again = f"limpet install {client}" + (f" --project {place.project}" if place.project else "")

    def check(status: str, message: str, hint: str | None = None) -> Check:
        return Check(name=name, status=status, message=message, hint=hint)

    try:
        every = present(parts(client, place))
    except LimpetError as error:
        yield check("fail", error.message, f"mend the file, then `{again}`")
        return
    if all(there is None for _, there in every):
        return
    if missing := [f"{part.what} in {part.path}" for part, there in every if there is None]:
        yield check("warn", f"not there: {', '.join(missing)}", again)
    if place.project is not None:
        yield check("ok", "not tried: a project's files may come from anybody, and name programs to run")
        return
    server, hook = _commands(client, every)
    named = [words(command_words(command)) for command in (server, hook and hook[1]) if command]
    for what, at, shown in (("store", 2, absolute(store)), ("scope", 3, scope)):
        for other in sorted({value for line in named if (value := line[at]) and value != shown}):
            yield check(
                "warn", f"works in the {what} {other}; here it is {shown}",
                f"`{again} --{what} {shown}`, unless it is meant",
            )  # fmt: skip
    entry = next((there for part, there in every if part.what == "MCP server"), None)
    if isinstance(entry, dict) and is_address(entry):
        yield check("ok", "its entry leads to a server by its address: not tried")
    elif isinstance(entry, dict) and (entry.get("enabled") is False or entry.get("disabled") is True):
        yield check("warn", "its MCP server is switched off", "enable it")
    elif entry is not None and not server:
        yield check("fail", "its MCP entry names no command", again)
    elif entry is not None:
        yield check(*_greeted(server, again))
    if hook is not None:
        yield check(*_asked(client, *hook, again))


def _commands(client: str, every: list[tuple[Part, Any]]) -> tuple[list[str], tuple[str, Command] | None]:
    """What starts the server, and the event of a message with what its hook starts: the server, where it is a call."""
    server: list[str] = []
    hooks: dict[str, Command] = {}
    for part, there in every:
        if part.what == "MCP server" and isinstance(there, dict):
            server = argv_of(there)
        elif part.what == "hooks":
            if isinstance(there, dict) and server:
                hooks |= {event: server for event, entry in there.items() if _is_call(entry)}
            hooks |= dict(hook_commands(client, part, there))
    events = CLIENT_ADAPTERS[client].events if client in CLIENT_ADAPTERS else {}
    return server, next(((event, hooks[event]) for event in hooks if events.get(event) == "message"), None)


def _is_call(entry: Any) -> bool:
    groups = entry if isinstance(entry, list) else [entry]
    return any(HOOK_CALL.items() <= one.items() for group in groups for one in inner_of(group) if isinstance(one, dict))


def _sampled(argv: list[str]) -> list[str]:
    """A server's command line, so that the sample's store takes the place of the one it names."""
    at = argv.index("--store") if "--store" in argv else len(argv)
    return [*argv[:at], *argv[at + 2 :]]


def _run(command: Command, raw: bytes, store: str, seconds: float) -> subprocess.CompletedProcess[bytes]:
    """Run a command of a client on a sample store, which is named every way."""
    environment = {**os.environ, "LIMPET_HOOK_STORE": store, "LIMPET_STORE": store, "LIMPET_SCOPE": "global"}
    # The client's switches are told of elsewhere; here the way itself is tried.
    for name in ("LIMPET_HOOKS", "LIMPET_INCOGNITO"):
        environment.pop(name, None)
    return subprocess.run(
        command, shell=isinstance(command, str), input=raw, capture_output=True,
        # `python -m limpet` takes no limpet.py of the folder that is looked at.
        env=environment | {"PYTHONSAFEPATH": "1"}, timeout=seconds, check=False,
    )  # fmt: skip


def _greeted(argv: list[str], again: str) -> tuple[str, str, str | None]:
    """Start the entry's command, which answers `initialize`: what to say of it."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="limpet-doctor-") as name:
        store = str(Path(name) / "sample.db")
        try:
            done = _run(_sampled(argv), _message(1, "initialize", ABOUT), store, GREETING_SECONDS)
        except OSError as error:
            return "fail", f"{argv[0]} cannot be started: {error.strerror}", again
        except subprocess.TimeoutExpired:
            what = f"the MCP server did not answer within {GREETING_SECONDS:.0f} s"
            return "fail", what, f"see what `{shlex.join(argv)}` says"
    if b'"result"' in done.stdout:
        return "ok", f"the MCP server answers after {time.monotonic() - began:.1f} s", None
    told = " ".join(done.stderr[:10_000].decode("utf-8", "replace").split())[:300]
    return "fail", f"the MCP server ended{told and f': {told}'}", "mend that, then doctor again"


def _asked(client: str, event: str, command: Command, again: str) -> tuple[str, str, str | None]:
    """Give the hook of a message one, on a store that holds the answer: what to say of it."""
    import limpet

    given = _sample(client, event, str(Path.cwd()))
    raw = json.dumps(given).encode()
    scope = words(command_words(command))[3]
    if isinstance(command, list) and "hook" not in command and len(command) > 1:  # a call of the server
        call = {"name": "hook", "arguments": {"client": client, "event": event, **given}}
        raw, command = _message(1, "initialize", ABOUT) + _message(2, "tools/call", call), _sampled(command)
    with tempfile.TemporaryDirectory(prefix="limpet-doctor-") as name:
        store = str(Path(name) / "sample.db")
        with limpet.open(store, scope="global", durable=False) as memory:
            memory.remember(HELD, origin="user")
        began = time.monotonic()
        try:
            done = _run(command, raw, store, PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            return "fail", f"a hook took more than {PATIENCE_SECONDS} s", "see the hooks' log"
        except OSError as error:
            return "fail", f"a hook cannot be started: {error.strerror}", again
        took = time.monotonic() - began
        log = Path(f"{store}.hooks.log")
        logged = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        with limpet.open(store, scope=scope or "global") as memory:
            noted = any(one.what == ASKED for one in memory.actions())
    text, errors = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    shows = "message" in CLIENT_ADAPTERS[client].answers
    if done.returncode == 0 and (HELD in text if shows else noted):
        did = "found its memory" if shows else "was noted"
        message = f"its hooks answer after {1000 * took:.0f} ms; a sample message {did} (on a sample store)"
        return "ok", message, None
    told = (logged or errors or text).strip().splitlines()[-1:]
    what = f"a hook ended with {done.returncode}" if done.returncode else "its hook did not answer a message"
    return "fail", ": ".join([what, *(line[:200] for line in told)]), again


def _sample(client: str, event: str, folder: str) -> dict[str, Any]:
    """What the client sends with a message, as far as limpet reads it."""
    made: dict[str, Any] = {"hook_event_name": event}
    for name, value in (("session", "limpet-doctor"), ("folder", folder), ("text", ASKED)):
        place = CLIENT_ADAPTERS[client].fields[name][0]
        *path, last = place.removesuffix(".0").split(".")
        inner = made
        for step in path:
            inner = inner.setdefault(step, {})
        inner[last] = [value] if place.endswith(".0") else value
    return made


def _message(id: int, method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"
