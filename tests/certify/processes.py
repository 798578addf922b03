"""Processes that write and read one store at once, and are killed: what they were told was stored has to be there.

Each acknowledgement goes into a file of the writer's own, which a killed process leaves behind.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from limpet.api import open as open_store
from limpet.model.errors import LimpetError

from .report import Part
from .workload import stored

SCOPE, STORE = "global", "memory.db"
WRITERS = 4
# A writer is killed within so many seconds after its first acknowledgement; this share of them after its start.
WITHIN_SECONDS, EARLY = 0.06, 0.25
# All are killed at once after so many kills: the next to open the store has to recover it by its log alone.
ALL_AFTER = 8
# A process that does not end by itself in this time hangs.
PATIENCE_SECONDS = 120.0
Progress = Callable[[int, int], None]


def write(folder: str, name: str, most: int, key: str | None) -> None:
    """Store statements, and note each as soon as it is acknowledged. What goes wrong is noted too."""
    noted = os.open(Path(folder) / f"{name}.acknowledged", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        with open_store(Path(folder) / STORE, scope=SCOPE, durable=True) as memory:
            for number in _while_wanted(most):
                text = f"Writer {name} says {number}"
                id = stored(memory.remember(text, topics=["certify"], session=name, key=key))
                os.write(noted, f"{id} {text}\n".encode())
                if number % 7 == 3:
                    memory.edit(id, f"{text}, edited")
                    os.write(noted, f"{id} {text}, edited\n".encode())
    except Exception as error:
        os.write(noted, f"failed {type(error).__name__}: {' '.join(str(error).split())}\n".encode())


def read(folder: str, name: str, most: int, _: str | None) -> None:
    """Search and count; memories never become fewer."""
    noted = os.open(Path(folder) / f"{name}.acknowledged", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        with open_store(Path(folder) / STORE, scope=SCOPE, durable=True) as memory:
            before = 0
            for _number in _while_wanted(most):
                memory.recall("what does the writer say", lexical_only=True)
                events = memory.stats().events
                if events < before:
                    os.write(noted, f"failed {events} events where there were {before}\n".encode())
                before = events
    except Exception as error:
        os.write(noted, f"failed {type(error).__name__}: {' '.join(str(error).split())}\n".encode())


def _while_wanted(most: int) -> Iterator[int]:
    """Numbers, until the process that this was started for has ended itself."""
    parent = multiprocessing.parent_process()
    for number in range(most):
        if parent is not None and not parent.is_alive():
            return
        yield number


def start(target: Callable[..., None], *args: Any) -> BaseProcess:
    """A process of its own that has opened no store yet; quickly, where the system can fork."""
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["tests.certify.preload"])
    process = context.Process(target=target, args=args, daemon=True)  # type: ignore[attr-defined]
    process.start()
    return process  # type: ignore[no-any-return]


def kill(folder: Path, kills: int, seed: int, progress: Progress | None) -> Part:
    """Kill writers at any moment of theirs while others write and read; SIGKILL where there is one."""
    folder.mkdir()
    open_store(folder / STORE, scope=SCOPE, durable=True).close()
    chance = random.Random(seed)
    running = _Running(folder)
    found: list[str] = []
    done = recoveries = 0
    try:
        while done < kills:
            running.fill()
            if chance.random() < 1 / ALL_AFTER or done + 1 >= kills:
                done, recoveries = done + running.kill_all(), recoveries + 1
                found += check(folder, whole=False)[1]
            else:
                done += running.kill_one(chance)
            if progress:
                progress(min(done, kills), kills)
    finally:
        running.kill_all()
    acknowledged, more = check(folder, whole=True)
    found = list(dict.fromkeys(found + more))
    return Part(
        "kills",
        f"{WRITERS} writers and a reader at once, {done:,} writers killed at any moment, {recoveries:,} times all at "
        f"once; {acknowledged:,} statements were acknowledged",
        {"kills": done, "recoveries": recoveries, "acknowledged": acknowledged,
         "lost": sum(" is not there" in one for one in found)},
        found,
    )  # fmt: skip


class _Running:
    """Writers and a reader of a store."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._started = str(folder), 0
        self._writers: list[BaseProcess] = []
        self._readers: list[BaseProcess] = []

    def fill(self) -> None:
        while len(self._writers) < WRITERS:
            self._writers.append(self._start(write))
        if not self._readers:
            self._readers.append(self._start(read))

    def kill_one(self, chance: random.Random) -> int:
        """Most when they have written something, however slow the machine; some before."""
        one = self._writers.pop(chance.randrange(WRITERS))
        noted, until = Path(self._folder) / f"{one.name}.acknowledged", time.monotonic() + PATIENCE_SECONDS
        if chance.random() > EARLY:
            while not (noted.exists() and noted.stat().st_size) and one.is_alive() and time.monotonic() < until:
                time.sleep(0.001)
        time.sleep(chance.uniform(0.0, WITHIN_SECONDS))
        return _end([one])

    def kill_all(self) -> int:
        """How many writers that were."""
        killed = _end(self._writers)
        _end(self._readers)
        self._writers, self._readers = [], []
        return killed

    def _start(self, target: Callable[..., None]) -> BaseProcess:
        self._started += 1
        process = start(target, self._folder, f"{self._started}", 1 << 30, None)
        process.name = f"{self._started}"
        return process


def together(folder: Path, processes: int, each: int, progress: Progress | None) -> Part:
    """Processes that all write at once, some the same key, and readers; all end by themselves."""
    folder.mkdir()
    open_store(folder / STORE, scope=SCOPE, durable=True).close()
    running = [
        start(write, str(folder), f"{number}", each, "certify.key" if number % 2 else None)
        for number in range(processes)
    ]
    running += [start(read, str(folder), f"reader{number}", each, None) for number in range(processes // 2)]
    ends = time.monotonic() + PATIENCE_SECONDS + each
    found = []
    for number, process in enumerate(running):
        process.join(max(0.0, ends - time.monotonic()))
        if process.exitcode != 0:
            found.append(f"a process ended with {process.exitcode}" if process.exitcode else "a process does not end")
        if progress:
            progress(number + 1, len(running))
    _end(running)
    acknowledged, more = check(folder, whole=True)
    found += more
    if acknowledged != processes * each:
        found.append(f"{acknowledged} statements were acknowledged, not {processes * each}")
    with open_store(folder / STORE, scope=SCOPE, read_only=True) as memory:
        current = len(memory.list(key="certify.key", limit=10).memories)
    if current != 1:
        found.append(f"a key has {current} current values")
    return Part(
        "many processes",
        f"{processes} processes write at once, half of them the same key, and {processes // 2} read; "
        f"{acknowledged:,} statements were acknowledged",
        {"processes": len(running), "acknowledged": acknowledged},
        found,
    )


def check(folder: Path, *, whole: bool) -> tuple[int, list[str]]:
    """(statements that were acknowledged, what is wrong). The store is opened, which recovers it."""
    said: dict[str, str] = {}
    found = []
    for file in folder.glob("*.acknowledged"):
        for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
            id, _, text = line.rstrip("\n").partition(" ")
            if id == "failed":
                found.append(text)
            elif line.endswith("\n"):
                said[id] = text
    try:
        with open_store(folder / STORE, scope=SCOPE, durable=True) as memory:
            there = _contents(memory)
            for id, text in said.items():
                if not there.get(id, "").startswith(text):  # an edit may have been stored, and not acknowledged
                    found.append(f"{text!r} is not there ({id})")
            if whole:
                found += [f"{one.check}: {one.message}" for one in memory.verify()]
    except LimpetError as error:
        found.append(f"does not open: {error.message}")
    return len(said), found


def _contents(memory: Any) -> dict[str, str]:
    there: dict[str, str] = {}
    cursor = None
    while True:
        page = memory.list(limit=10_000, all_states=True, cursor=cursor)
        there |= {one.id: one.content for one in page.memories}
        cursor = page.cursor
        if cursor is None:
            return there


def _end(processes: list[BaseProcess]) -> int:
    for process in processes:
        if process.is_alive() and process.pid is not None:
            os.kill(process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    for process in processes:
        process.join()
    return len(processes)
