"""The disk is full, or fails: writes, truncates and flushes go wrong while a workload runs, and right again."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from limpet.model.errors import LimpetError

from .recording import DiskFails, DiskFull, Step, recorded
from .report import Part
from .workload import Workload, check_whole

STORE = "memory.db"
# A disk goes wrong before one of so many steps of an operation, and stays so until the operation has ended.
WITHIN_STEPS = 60
SHARE = 0.5


def fail(folder: Path, operations: int, seed: int, progress: Callable[[int, int], None] | None) -> Part:
    """Run a workload on a disk that is full or fails in every other operation."""
    folder.mkdir()
    chance = random.Random(seed)
    disk = _Disk()
    expected: dict[str, tuple[str, str]] = {}
    problems: list[str] = []
    refused = doubtful = 0
    # Errors while a store is closed are passed over by SQLite, and told by the driver when a file is of Python.
    with recorded(disk.seen), Workload(folder / STORE, seed, reopens=False) as workload:
        for number in range(operations):
            before = workload.memory.stats().events
            disk.after(chance.randrange(WITHIN_STEPS) if chance.random() < SHARE else None,
                       DiskFull if chance.random() < 0.5 else DiskFails)  # fmt: skip
            try:
                ids = workload.step()
            except LimpetError:
                disk.after(None)
                refused += 1
                if workload.memory.stats().events != before:
                    # Stored all the same: what failed came after the commit, as the copying of the log into the file.
                    # SQLite passes over that, and the driver tells of it when a file is of Python.
                    doubtful += 1
                    ids = [one.id for one in workload.memory.list(limit=10_000, all_states=True).memories]
                    expected |= workload.told(ids).changed
            except Exception as error:
                problems.append(f"operation {number}: {type(error).__name__}: {error}")
            else:
                disk.after(None)
                expected |= workload.told(ids).changed
            if progress:
                progress(number + 1, operations)
    try:
        problems += check_whole(folder / STORE, expected, or_else={})
    except LimpetError as error:
        problems.append(f"does not open: {error.message}")
    return Part(
        "full and failing disk",
        f"{operations:,} operations on a disk that was full or failed {disk.faults:,} times at a write, truncate or "
        f"flush; {refused:,} were refused in words, and it went on with the next",
        {"operations": operations, "faults": disk.faults, "refused": refused, "stored_all_the_same": doubtful},
        problems,
    )


class _Disk:
    """Goes wrong after so many steps, until it is told otherwise."""

    def __init__(self) -> None:
        self._left: int | None = None
        self._error: type[DiskFull] | type[DiskFails] = DiskFull
        self.faults = 0

    def after(self, steps: int | None, error: type[DiskFull] | type[DiskFails] = DiskFull) -> None:
        self._left, self._error = steps, error

    def seen(self, step: Step) -> None:
        if self._left is None or step.kind == "delete":
            return
        if self._left > 0:
            self._left -= 1
            return
        if self._error is DiskFull and step.kind != "write":
            return  # what takes no room
        self.faults += 1
        raise self._error(f"{step.kind} of {step.file}")
