"""The process of a hook: it reads, answers in its time and ends with 0. Nothing that goes wrong reaches the client.

Exit code 2 would block the agent and others show stderr to the user, so there is only 0; what went wrong is a line in
`<store>.hooks.log`. A running server is asked first, and until none answers next to nothing is imported: imports stand
where they are used.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

    from ...api import Limpet
    from ...model.clock import Clock
    from .client_adapters import Call

    Asked = tuple[str, str, str | None, str | None]  # client, event, store and scope

# More than any event holds. A longer one is read to its end, so that the client's write succeeds, and ignored.
MAX_INPUT_BYTES = 16_000_000
LOG_BYTES = 200_000
# Seconds that a hook may take if its event is not known yet; and the most that any client waits for one.
USUAL_SECONDS, MAX_SECONDS = 2.0, 60.0
# Seconds that a server lets a hook wait if there is nothing to say.
SILENT_SECONDS = 0.25


def run(argv: list[str]) -> NoReturn:
    """Run `limpet hook ARGV` as a process. It exits at once, without the interpreter's tidying up."""
    try:
        asked = words(argv)
        _watch(asked, USUAL_SECONDS)
        raw = _read()
        client, event, store, scope = asked
        from ...recall_client import ask_hook

        scope = scope if scope is not None else os.environ.get("LIMPET_SCOPE", "")
        answer = ask_hook([client, event, scope], _store(store), raw)
        if answer is None:
            from .client_adapters import CLIENT_ADAPTERS, ROLES

            events = CLIENT_ADAPTERS[client].events if client in CLIENT_ADAPTERS else {}
            _watch(asked, ROLES[events.get(event, "turn")])
            _answer(asked, raw, _write)
        else:
            _write(answer)
    finally:
        os._exit(0)


def handle(argv: list[str], raw: bytes, clock: Clock | None = None, memory: Limpet | None = None) -> bytes:
    """Return a hook's answer to what came on stdin; empty when there is none, or when anything went wrong.

    `memory`: the open store of a process that answers for others.
    """
    answer = bytearray()
    _answer(words(argv), raw, answer.extend, clock=clock, memory=memory)
    return bytes(answer)


def answer_for(memory: Limpet, asked: Asked, raw: bytes, folder: str | None = None) -> bytes:
    """Answer a hook that was started in a folder, in a process that has the store open.

    Returns as soon as there is an answer, or after a moment if there will be none. While another process writes, the
    lines to keep wait here, and the hook does not.
    """
    import threading
    from queue import Empty, SimpleQueue

    from .client_adapters import CLIENT_ADAPTERS

    answers: SimpleQueue[bytes] = SimpleQueue()

    def work() -> None:
        try:
            _answer(asked, raw, answers.put, memory=memory, folder=folder)
        finally:
            answers.put(b"")

    threading.Thread(target=work, name="limpet-hook", daemon=True).start()
    adapter = CLIENT_ADAPTERS.get(asked[0])
    is_silent = adapter is None or adapter.events.get(asked[1]) not in adapter.answers
    try:
        return answers.get(timeout=SILENT_SECONDS if is_silent else MAX_SECONDS)
    except Empty:
        return b""


def answer_call(memory: Limpet, scope: str | None, given: dict[str, Any]) -> str:
    """Answer a client's hook that calls the server instead of a process: return what the process would print.

    `scope`: the one that the server was started with.
    """
    from .client_adapters import CALLS, CLIENT_ADAPTERS, nested

    client, event = str(given.get("client")), str(given.get("event"))
    fields = CALLS.get(client, {}).get(CLIENT_ADAPTERS[client].events.get(event, "") if client in CALLS else "", ())
    if not fields:
        return ""
    import json

    raw = json.dumps({name: nested(given.get(name)) for name in fields}).encode()
    return answer_for(memory, (client, event, memory.path, scope), raw).decode()


def _answer(
    asked: Asked, raw: bytes, put: Callable[[bytes], object], *, clock: Clock | None = None,
    memory: Limpet | None = None, folder: str | None = None,
) -> None:  # fmt: skip
    client, event, store, scope = asked
    call, has_answered = None, False
    try:
        import json

        from .answer import Host, answer
        from .client_adapters import CLIENT_ADAPTERS, parse_event

        if client not in CLIENT_ADAPTERS:
            raise ValueError(f"unknown client; one of {', '.join(CLIENT_ADAPTERS)}")
        if len(raw) >= MAX_INPUT_BYTES:
            raise ValueError(f"more than {MAX_INPUT_BYTES:,} bytes on stdin")
        data = json.loads(raw.decode("utf-8-sig", "replace")) if raw.strip() else {}
        if not isinstance(data, dict):
            raise ValueError(f"not an object on stdin: {type(data).__name__}")
        call = parse_event(client, event, data)

        def say(text: str) -> None:
            nonlocal has_answered
            if text:
                has_answered = True
                put(text.encode("utf-8", "replace"))

        if call is not None:
            answer(call, say, Host(store, scope, clock, memory, folder))
    except Exception as error:
        log(client, event, store, error)
        if call is not None and not has_answered:
            _tell(call, store, error, put)


def _tell(call: Call, store: str | None, error: Exception, put: Callable[[bytes], object]) -> None:
    """Tell the user at a session's start what is wrong with the store, through the model if there is no other way."""
    try:
        from ...model.errors import StoreBusy, StoreError
        from ...text.blocks import plain_line
        from .client_adapters import shape

        # Another process that is using it is nothing that is wrong.
        if call.role == "start" and isinstance(error, StoreError) and not isinstance(error, StoreBusy):
            hint = f" {error.hint[:1].upper()}{error.hint[1:]}." if error.hint else ""
            what = plain_line(f"limpet cannot use its memory: {error.message}.{hint}", 400)
            to_model = f"{what} No memory is found or kept: tell the user, who can run `limpet doctor`."
            put((shape(call, "", what) or shape(call, to_model)).encode("utf-8", "replace"))
    except Exception as another:
        log(call.client, call.event, store, another)


def _store(given: str | None) -> str:
    from ...folders import default_path, is_url

    store = given or os.environ.get("LIMPET_STORE") or default_path()
    return store if is_url(store) else os.path.expanduser(store)  # noqa: PTH111


def words(argv: list[str]) -> Asked:
    """Return (client, event, store, scope) from the words around `hook`; LIMPET_HOOK_STORE goes before --store."""
    rest, store, scope = parted(argv)
    client, event, *_ = [*rest, "", ""]
    # `doctor` runs a client's own command line on another store.
    return client, event, os.environ.get("LIMPET_HOOK_STORE") or store, scope


def parted(argv: Sequence[str]) -> tuple[list[str], str | None, str | None]:
    """Return the words that are no options, the store and the scope."""
    options: dict[str, str | None] = {"--store": None, "--scope": None}
    rest: list[str] = []
    place = 0
    while place < len(argv):
        name, mark, value = argv[place].partition("=")
        if name in options:
            options[name] = value if mark else argv[place + 1] if place + 1 < len(argv) else None
            place += 1 if mark else 2
            continue
        if not argv[place].startswith("-"):
            rest.append(argv[place])
        place += 1
    return rest, options["--store"], options["--scope"]


def log(client: str, event: str, store: str | None, error: object) -> None:
    """Write one line to the log beside the store, if that is possible."""
    try:
        import time
        from pathlib import Path

        from ...folders import beside
        from ...text.blocks import plain_line

        path = Path(beside(_store(store)) + ".hooks.log")
        name = f"{type(error).__name__} " if isinstance(error, BaseException) else ""
        line = plain_line(f"{client} {event}: {name}{error}", 300)
        if sys.flags.dev_mode:
            sys.stderr.write(line + "\n")
        # It begins anew when it has grown long. A folder that is not there is not made for it.
        fresh = path.exists() and path.stat().st_size > LOG_BYTES
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if fresh else 0)
        # Through no link, and without waiting for the other end of a pipe.
        number = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o600)
        try:
            when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            os.write(number, f"{when} {line}\n".encode("utf-8", "replace"))
        finally:
            os.close(number)
    except Exception:
        return


def _read() -> bytes:
    parts, size = [], 0
    while part := os.read(0, 1 << 20):
        if size < MAX_INPUT_BYTES:
            parts.append(part)
        size += len(part)
    return b"".join(parts)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _watch(asked: Asked, usual: float) -> None:
    """End the process when its time is over, whatever it waits for: SQLite and system calls let other threads run.

    LIMPET_HOOK_SECONDS sets its time, else the usual one.
    """
    import _thread
    import time

    client, event, store, _ = asked
    try:
        limit = float(os.environ.get("LIMPET_HOOK_SECONDS", ""))
    except ValueError:
        limit = 0.0
    if not 0.0 < limit <= MAX_SECONDS:
        limit = usual

    def give_up() -> None:
        time.sleep(limit)
        _thread.start_new_thread(last_resort, ())
        log(client, event, store, f"gave up after {limit:g} s")
        os._exit(0)

    def last_resort() -> None:
        """Leave without writing to the log: its disk may be what is slow."""
        time.sleep(0.2)
        os._exit(0)

    _thread.start_new_thread(give_up, ())
