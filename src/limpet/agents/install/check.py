"""Does an installed client reach limpet? What `doctor` tries: the entries in its files, and what they start.

The server is greeted, and the hook of a message gets one on a store of samples: nothing of the user's is written.
No client is started.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...folders import default_path
from ...model.errors import LimpetError, StoreError, StoreMissing
from ...work.doctor import Check
from ..hooks.client_adapters import CLIENT_ADAPTERS
from ..hooks.entry import words
from . import entries, plugin, trial
from .change import Part, present
from .clients import CLIENTS, PATIENCE_SECONDS, Place, parts

# A client gives a server some ten seconds; what takes longer than SLOW is worth a word.
GREETING_SECONDS, SLOW_SECONDS = 10.0, 5.0
_SHIM = re.compile(r"^const (RUN|OPTIONS) = (\[.*\])$", re.MULTILINE)
# What limpet writes needs no shell for more than its quotes.
_SHELL = re.compile(r"[;&|<>$`\n(){}*?#]")
Command = str | list[str]


class Here:
    """Where doctor looks from: the folder, and which store and scope limpet has there by itself."""

    def __init__(self, folder: Path, store: str, scope: str) -> None:
        self.folder, self.store, self.scope = folder, str(Path(store).absolute()), scope


def check_clients(place: Place, here: Here) -> list[Check]:
    """What was found of each client into which limpet was installed: for the user, in `place.project`, as a plugin."""
    found: list[Check] = []
    for client in CLIENTS:
        merged = False
        for where in dict.fromkeys((place._replace(project=None), place)):
            several = list(_merged(client, where, here))
            found += several
            merged = merged or bool(several)
        if client in plugin.PLUGINS:
            found += _plugged(client, place, here, merged=merged)
    return found


def _merged(client: str, place: Place, here: Here) -> Iterator[Check]:
    name = client if place.project is None else f"{client}, project"
    again = f"limpet install {client}" + (f" --project {place.project}" if place.project else "")
    try:
        every = present(parts(client, place))
    except LimpetError as error:
        yield Check(name=name, status="fail", message=error.message, hint=f"mend the file, then `{again}`")
        return
    if not any(there for _, there in every):
        return
    missing = [f"{part.what} in {part.path}" for part, there in every if not there]
    if missing:
        yield Check(name=name, status="warn", message=f"not there: {', '.join(missing)}", hint=again)
    yield from _tried(client, name, again, every, here, place.project)


def _plugged(client: str, place: Place, here: Here, *, merged: bool) -> Iterator[Check]:
    """The same of a plugin that the client has installed."""
    name, again = f"{client}, plugin", f"install the plugin of limpet anew in {client}"
    try:
        folders = plugin.installed(client, place)
        for folder in folders:
            every = present(plugin.plugin_parts(client, folder))
            yield Check(name=name, status="ok", message=f"installed: {folder}")
            yield from _tried(client, name, again, every, here, None)
    except LimpetError as error:
        yield Check(name=name, status="fail", message=error.message, hint=again)
        return
    if folders and merged:
        yield Check(
            name=name, status="warn", message="limpet is in the settings too: the hooks of both run",
            hint=f"limpet uninstall {client}, or take the plugin out",
        )  # fmt: skip


def _tried(
    client: str, name: str, again: str, every: list[tuple[Part, Any]], here: Here, project: Path | None
) -> Iterator[Check]:
    """What the commands of these parts do. Of a `project`'s files only what limpet wrote is run."""
    commands: list[tuple[str, Command]] = []
    calls: list[str] = []  # events whose hook is a call of the server
    for part, there in every:
        if part.what == "MCP server" and isinstance(there, dict):
            argv = argv_of(there)
            if entries.is_address(there):
                yield Check(name=name, status="ok", message=f"{part.path} leads to a server by its address: not tried")
            elif argv is None:
                yield Check(
                    name=name, status="fail", message=f"the MCP entry in {part.path} names no command", hint=again
                )
            elif there.get("enabled") is False or there.get("disabled") is True:
                yield Check(
                    name=name, status="warn", message=f"the MCP server is switched off in {part.path}", hint="enable it"
                )
            else:
                commands.append(("", argv))
        elif part.what == "hooks":
            commands += hook_commands(client, part, there)
            calls += _hook_calls(there)
    yield from _elsewhere(name, again, [command for _, command in commands], here)
    if project is None and (lost := _lost_store(every, here)):
        yield Check(name=name, status="warn", message=lost, hint=f"{again} --store {here.store}")
    server = next((command for event, command in commands if not event), None)
    called = [] if server is None else [(event, server) for event in calls]
    asked = next(
        (one for one in commands + called if CLIENT_ADAPTERS[client].events.get(one[0]) == "message"), None
    ) if client in CLIENT_ADAPTERS else None  # fmt: skip
    for strange in {_shown(one) for one in (server, asked and asked[1]) if one and _is_strange(one, project)}:
        yield Check(
            name=name, status="warn", message=f"not tried, since limpet did not write it: {strange[:200]}", hint=again
        )
    if isinstance(server, list) and not _is_strange(server, project):
        yield _server(name, server, again, here)
    if asked is not None and not _is_strange(asked[1], project):
        yield _answers(client, name, asked, again, here, is_call=asked in called)


def argv_of(entry: dict[str, Any]) -> list[str] | None:
    command, more = entry.get("command"), entry.get("args")
    argv = command if isinstance(command, list) else [command, *(more if isinstance(more, list) else [])]
    return argv if argv and all(isinstance(word, str) for word in argv) else None


def _is_strange(command: Command, project: Path | None) -> bool:
    """Whether a project's file holds what `install` would not write there: a repository may come from anybody."""
    if project is None:
        return False
    argv = command_words(command)
    program = Path(argv[0]) if argv else Path()
    inside = program.is_absolute() and project in program.parents
    is_limpet = program.stem == "limpet" or argv[1:3] == ["-m", "limpet"]
    on_path = len(program.parts) == 1
    return inside or not is_limpet or not (program.is_absolute() or on_path)


def command_words(command: Command) -> list[str]:
    """The words of limpet's own command; nothing where a shell would do more than part them."""
    if isinstance(command, list) and len(command) == 1:
        lines = Path(command[0]).read_text(encoding="utf-8", errors="replace").splitlines()
        if len(lines) != 3 or not lines[2].startswith("exec "):
            return []
        command = lines[2].removeprefix("exec ")
    try:
        return command if isinstance(command, list) else [] if _SHELL.search(command) else shlex.split(command)
    except ValueError:
        return []


def _shown(command: Command) -> str:
    return command if isinstance(command, str) else shlex.join(command)


def _elsewhere(name: str, again: str, commands: Iterable[Command], here: Here) -> Iterator[Check]:
    """Options in the commands that lead to another store or scope than this folder has, and stores that do not open."""
    import limpet

    stores, scopes = set(), set()
    for command in commands:
        _, _, store, scope = words(command_words(command))
        if store and str(Path(store).absolute()) != here.store:
            stores.add(store)
        if scope and scope != here.scope:
            scopes.add(scope)
    for store in sorted(stores):
        try:
            limpet.open(store, create=False).close()
        except StoreMissing:
            pass  # it begins with the first memory
        except StoreError as error:
            yield Check(name=name, status="fail", message=error.message, hint=error.hint)
    for what, others, own in (("store", stores, here.store), ("scope", scopes, here.scope)):
        if others:
            yield Check(
                name=name, status="warn", message=f"works in the {what} {', '.join(sorted(others))}; here it is {own}",
                hint=f"`{again} --{what} {own}`, unless it is meant",
            )  # fmt: skip


def _lost_store(every: list[tuple[Part, Any]], here: Here) -> str:
    """What is to be said where LIMPET_STORE leads this process to a store that the client's server has no name of."""
    entry = next((there for part, there in every if part.what == "MCP server" and isinstance(there, dict)), None)
    if not os.environ.get("LIMPET_STORE") or entry is None or entries.is_address(entry) or here.store == default_path():
        return ""
    environment = entry.get("env", entry.get("environment"))
    named = words(argv_of(entry) or [])[2] or (isinstance(environment, dict) and environment.get("LIMPET_STORE"))
    return "" if named else "its server names no store, and without LIMPET_STORE, as from a desktop, works in another"


def _server(name: str, argv: list[str], again: str, here: Here) -> Check:
    """The entry's command starts and answers `initialize`."""
    began = time.monotonic()
    try:
        said = trial.greet(argv, here.folder, GREETING_SECONDS, is_new=not Path(here.store).exists())
    except OSError as error:
        return Check(name=name, status="fail", message=f"{argv[0]} cannot be started: {error.strerror}", hint=again)
    took = time.monotonic() - began
    if said is None:
        return Check(
            name=name, status="fail", message=f"the MCP server did not answer within {GREETING_SECONDS:.0f} s",
            hint=f"see what `{' '.join(argv)}` says",
        )  # fmt: skip
    if isinstance(said, str):
        told = f": {' '.join(said.split())[:300]}" if said else ""
        return Check(
            name=name, status="fail", message=f"the MCP server ended{told}", hint="mend that, then doctor again"
        )
    if took > SLOW_SECONDS:
        return Check(
            name=name, status="warn", message=f"the MCP server took {took:.1f} s to answer: a client may give up",
            hint="is the machine busy, or the store on a slow disk?",
        )  # fmt: skip
    return Check(name=name, status="ok", message=f"the MCP server answers after {took:.1f} s")


def hook_commands(client: str, part: Part, there: Any) -> list[tuple[str, Command]]:
    """The commands of hooks by their events: a line for the shell, or words."""
    if isinstance(there, dict):
        return [(event, line) for event, entry in there.items() if (line := _line(entry))]
    if client == "opencode" and isinstance(there, str):
        shim = {name: json.loads(argv) for name, argv in _SHIM.findall(there)}
        if len(shim) < 2:
            return []
        return [
            (event, [*shim["RUN"], "hook", client, event, *shim["OPTIONS"]]) for event in CLIENT_ADAPTERS[client].events
        ]
    # A script of Cline's, named by its event.
    return [(part.path.name, [str(part.path)])] if there else []


def _hook_calls(there: Any) -> list[str]:
    """The events of hooks that call the server."""
    return [event for event, entry in there.items() if _is_call(entry)] if isinstance(there, dict) else []


def _is_call(entry: Any) -> bool:
    inner = [*entry] if isinstance(entry, list) else entries.inner_of(entry)
    return any(_is_call(one) for one in inner) or (
        isinstance(entry, dict) and entries.HOOK_CALL.items() <= entry.items()
    )


def _line(entry: Any) -> str | None:
    if isinstance(entry, list):
        return next((line for one in entry if (line := _line(one))), None)
    if not isinstance(entry, dict):
        return None
    if isinstance(entry.get("hooks"), list):
        return _line([one for one in entry["hooks"] if "limpet" in json.dumps(one)])
    names = ("powershell", "command") if sys.platform == "win32" else ("bash", "command")
    return next((entry[name] for name in names if isinstance(entry.get(name), str)), None)


def _answers(client: str, name: str, asked: tuple[str, Command], again: str, here: Here, *, is_call: bool) -> Check:
    """The hook of a message, given one, answers with the memory that a store of samples holds, or notes the message."""
    event, command = asked
    folder, scope = str(here.folder), words(command_words(command))[3]
    given = json.dumps(trial.sample_event(client, event, folder)).encode()
    if is_call and isinstance(command, list):
        given, command = trial.sample_call(client, event, folder), trial.without_store(command)
    try:
        said = trial.try_hook(command, given, here.folder, scope, PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        return Check(
            name=name, status="fail", message=f"a hook took more than {PATIENCE_SECONDS} s", hint="see the hooks' log"
        )
    except OSError as error:
        return Check(name=name, status="fail", message=f"a hook cannot be started: {error.strerror}", hint=again)
    shows = "message" in CLIENT_ADAPTERS[client].answers
    if said.code == 0 and (trial.HELD in said.text if shows else trial.ASKED in said.noted):
        did = "found its memory" if shows else "was noted"
        return Check(
            name=name,
            status="ok",
            message=f"its hooks answer after {1000 * said.seconds:.0f} ms; a sample message {did} (on a sample store)",
        )
    told = (said.log or said.errors or said.text).strip().splitlines()
    if said.code:
        message = f"a hook ended with {said.code}"
    elif "gave up" in said.log:
        return Check(
            name=name, status="warn", message=f"its hook was too slow: {told[-1][:200]}", hint="is the machine busy?"
        )
    else:
        message = "its hook did not answer a message"
    return Check(name=name, status="fail", message=message + (f": {told[-1][:200]}" if told else ""), hint=again)


def place_of(folder: Path, home: Path, run: tuple[str, ...]) -> Place:
    """Where to look: the user's own files, and those of the project around `folder` when it is one."""
    project = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)
    return Place(home, project if project != home else None, run)
