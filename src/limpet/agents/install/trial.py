"""Starting what a client's files name, as the client would: a server is greeted, a hook is given an event to answer.

Nothing of the user's is written: the hook's store is a sample in a temporary folder, named by LIMPET_HOOK_STORE, which
goes before the --store of its command line. No client is started.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from ..hooks.client_adapters import CLIENT_ADAPTERS

GREETING = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}},
}  # fmt: skip
# What is held, and what is asked: by words alone the one is found for the other.
HELD = "The staging database of the sample shop listens on port 5433"
ASKED = "Which port does the staging database of the sample shop listen on?"
SESSION = "limpet-doctor"
# A server ends by itself when its client closes stdin.
END_SECONDS = 5.0
ERRORS_READ = 10_000
# `python -m limpet` takes no limpet.py of the folder that is looked at.
SAFE = {"PYTHONSAFEPATH": "1"}


class Said(NamedTuple):
    """How a hook ended: what it printed, and what it noted in the sample's journal and log."""

    code: int
    text: str
    errors: str
    noted: tuple[str, ...]
    log: str
    seconds: float


def sample_event(client: str, event: str, folder: str) -> dict[str, Any]:
    """What the client sends with the event, as far as limpet reads it."""
    adapter = CLIENT_ADAPTERS[client]
    given = {"session": SESSION, "folder": folder, "text": ASKED, "source": "startup"}
    made: dict[str, Any] = {"hook_event_name": event}
    for name, value in given.items():
        for path in adapter.fields.get(name, ())[:1]:
            _set(made, path.split("."), value)
    return made


def _set(made: dict[str, Any], path: list[str], value: Any) -> None:
    name, *rest = path
    if not rest:
        made[name] = value
    elif rest == ["0"]:
        made[name] = [value]
    else:
        _set(made.setdefault(name, {}), rest, value)


def sample_call(client: str, event: str, folder: str) -> bytes:
    """The same as a call of the server, after its greeting."""
    given = {"client": client, "event": event, **sample_event(client, event, folder)}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "hook", "arguments": given}}
    return "".join(json.dumps(one) + "\n" for one in (GREETING, call)).encode()


def without_store(argv: list[str]) -> list[str]:
    """A server's command line, so that the sample's store takes the place of the one it names."""
    at = argv.index("--store") if "--store" in argv else len(argv)
    return [*argv[:at], *argv[at + 2 :]]


def try_hook(command: str | list[str], given: bytes, folder: Path, scope: str | None, seconds: float) -> Said:
    """Run the very command of a client's file, which names `scope`, and give it an event.

    Raises OSError, subprocess.TimeoutExpired.
    """
    import limpet

    with tempfile.TemporaryDirectory(prefix="limpet-doctor-") as name:
        store = Path(name) / "sample.db"
        with limpet.open(str(store), scope="global", durable=False) as memory:
            memory.remember(HELD, origin="user")
        # The client's switches are told of elsewhere; here the way itself is tried.
        env = {name: value for name, value in os.environ.items() if name not in ("LIMPET_HOOKS", "LIMPET_INCOGNITO")}
        began = time.monotonic()
        done = subprocess.run(
            command, shell=isinstance(command, str), input=given, capture_output=True, cwd=folder,
            env=env | {"LIMPET_HOOK_STORE": str(store), "LIMPET_STORE": str(store), "LIMPET_SCOPE": "global", **SAFE},
            timeout=seconds, check=False,
        )  # fmt: skip
        took = time.monotonic() - began
        log = Path(f"{store}.hooks.log")
        with limpet.open(str(store), scope=scope or "global") as memory:
            noted = tuple(one.what for one in memory.actions())
        return Said(
            done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"), noted,
            log.read_text(encoding="utf-8", errors="replace").strip() if log.exists() else "", took,
        )  # fmt: skip


def greet(argv: list[str], folder: Path, seconds: float, *, is_new: bool) -> dict[str, Any] | str | None:
    """What a server answers to `initialize`; what it said on stderr when it ended before, None when it says nothing of
    use in time. Raises OSError.

    `is_new`: there is no store yet, and the server is not to begin one for this.
    """
    with tempfile.TemporaryDirectory(prefix="limpet-doctor-") as name, tempfile.TemporaryFile() as errors:
        env = {**os.environ, **SAFE} | ({"LIMPET_STORE": str(Path(name) / "sample.db")} if is_new else {})
        argv = without_store(argv) if is_new else argv
        process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            encoding="utf-8", cwd=folder, env=env,
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        # A pipe cannot be read with a time limit everywhere: what is late is ended, and the read with it.
        late = threading.Timer(seconds, process.kill)
        late.start()
        try:
            process.stdin.write(json.dumps(GREETING) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line and late.is_alive():  # it closed stdout by itself
                process.wait(END_SECONDS)
                errors.seek(0)
                return errors.read(ERRORS_READ).decode("utf-8", "replace").strip()
            answer = json.loads(line)
            return answer if isinstance(answer, dict) and "result" in answer else None
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return None
        finally:
            try:
                process.stdin.close()
                process.wait(END_SECONDS)
            except (OSError, subprocess.TimeoutExpired):
                process.kill()
                process.wait()
            late.cancel()
            process.stdout.close()
