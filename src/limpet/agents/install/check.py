"""Does an installed client reach limpet? What `doctor` tries: the entries in its files, and what they start.

Nothing is stored: the server is only greeted, and the sample event of a hook has nothing in it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...model.errors import LimpetError
from ...work.doctor import Check
from ..hooks.client_adapters import CLIENT_ADAPTERS
from .change import Part, present
from .clients import CLIENTS, PATIENCE_SECONDS, Place, parts

# A client gives a server some ten seconds; what takes longer than SLOW is worth a word.
GREETING_SECONDS, SLOW_SECONDS = 10.0, 5.0
_GREETING = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}},
}  # fmt: skip
_SHIM = re.compile(r"^const (RUN|OPTIONS) = (\[.*\])$", re.MULTILINE)


def check_clients(place: Place) -> list[Check]:
    """What was found of each client into which limpet was installed, for the user or in `place.project`."""
    found: list[Check] = []
    for client in CLIENTS:
        for where in dict.fromkeys((place._replace(project=None), place)):
            found += _check(client, where)
    return found


def _check(client: str, place: Place) -> Iterator[Check]:
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
    for part, there in every:
        if part.what == "MCP server" and isinstance(there, dict):
            yield _server(name, part, there, again)
    hook = next((argv for part, there in every if part.what == "hooks" and (argv := _hook(client, part, there))), None)
    if hook is not None:
        yield _answers(name, hook, again)


def _server(name: str, part: Part, entry: dict[str, Any], again: str) -> Check:
    """The entry's command starts and answers `initialize`."""
    command, more = entry.get("command"), entry.get("args")
    argv = command if isinstance(command, list) else [command, *(more if isinstance(more, list) else [])]
    if not all(isinstance(word, str) for word in argv) or not argv:
        return Check(name=name, status="fail", message=f"the MCP entry in {part.path} names no command", hint=again)
    if entry.get("enabled") is False or entry.get("disabled") is True:
        return Check(
            name=name, status="warn", message=f"the MCP server is switched off in {part.path}", hint="enable it"
        )
    began = time.monotonic()
    try:
        said = _greet(argv)
    except OSError as error:
        return Check(name=name, status="fail", message=f"{argv[0]} cannot be started: {error.strerror}", hint=again)
    took = time.monotonic() - began
    if said is None:
        return Check(
            name=name, status="fail", message=f"the MCP server did not answer within {GREETING_SECONDS:.0f} s",
            hint=f"see what `{' '.join(argv)}` says",
        )  # fmt: skip
    if took > SLOW_SECONDS:
        return Check(
            name=name, status="warn", message=f"the MCP server took {took:.1f} s to answer: a client may give up",
            hint="is the machine busy, or the store on a slow disk?",
        )  # fmt: skip
    return Check(name=name, status="ok", message=f"the MCP server answers after {took:.1f} s")


def _greet(argv: list[str]) -> dict[str, Any] | None:
    """What a server answers to `initialize`; None when it says nothing of use in time. Raises OSError."""
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
    )
    assert process.stdin is not None and process.stdout is not None
    # A pipe cannot be read with a time limit everywhere: what is late is ended, and the read with it.
    late = threading.Timer(GREETING_SECONDS, process.kill)
    late.start()
    try:
        process.stdin.write(json.dumps(_GREETING) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        return answer if isinstance(answer, dict) and "result" in answer else None
    except (OSError, ValueError):
        return None
    finally:
        try:
            process.stdin.close()
            process.wait(PATIENCE_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            process.kill()
            process.wait()
        late.cancel()
        process.stdout.close()


def _hook(client: str, part: Part, there: Any) -> str | list[str] | None:
    """The command of one hook that does nothing for an empty event: a line for the shell, or words."""
    if isinstance(there, dict):
        events = CLIENT_ADAPTERS[client].events
        quiet = [name for name in there if events.get(name) in ("message", "tool")]
        return next((line for name in quiet if (line := _line(there[name]))), None)
    if client == "opencode" and isinstance(there, str):
        shim = {name: json.loads(words) for name, words in _SHIM.findall(there)}
        return [*shim["RUN"], "hook", client, "chat.message", *shim["OPTIONS"]] if len(shim) == 2 else None
    if CLIENT_ADAPTERS[client].events.get(part.path.name) == "message":
        return [str(part.path)]
    return None


def _line(entry: Any) -> str | None:
    if isinstance(entry, list):
        return next((line for one in entry if (line := _line(one))), None)
    if not isinstance(entry, dict):
        return None
    if isinstance(entry.get("hooks"), list):
        return _line([one for one in entry["hooks"] if "limpet" in json.dumps(one)])
    names = ("powershell", "command") if sys.platform == "win32" else ("bash", "command")
    return next((entry[name] for name in names if isinstance(entry.get(name), str)), None)


def _answers(name: str, hook: str | list[str], again: str) -> Check:
    """The hook's command ends with 0, says nothing to an event without content, and does so in time."""
    began = time.monotonic()
    try:
        done = subprocess.run(
            hook, shell=isinstance(hook, str), input=b"{}", capture_output=True, timeout=PATIENCE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Check(
            name=name, status="fail", message=f"a hook took more than {PATIENCE_SECONDS} s", hint="see the hooks' log"
        )
    except OSError as error:
        return Check(name=name, status="fail", message=f"a hook cannot be started: {error.strerror}", hint=again)
    took = time.monotonic() - began
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    if done.returncode or said:
        message = f"a hook ended with {done.returncode}" + (f": {said[-1][:200]}" if said else "")
        return Check(name=name, status="fail", message=message, hint=again)
    return Check(name=name, status="ok", message=f"its hooks answer after {1000 * took:.0f} ms")


def place_of(folder: Path, home: Path, run: tuple[str, ...]) -> Place:
    """Where to look: the user's own files, and those of the project around `folder` when it is one."""
    project = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)
    return Place(home, project if project != home else None, run)
