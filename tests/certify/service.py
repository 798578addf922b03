"""Runs the parts of the certificate one after the other, in a folder of its own that is removed at the end."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from limpet.model.errors import BadInput, StoreError
from limpet.store.files import writing
from limpet.store.sqlite.connection import file_system_of

from .failing import fail
from .power import lose_power
from .processes import kill, together
from .report import Certificate, Part

Progress = Callable[[int, int], None]
# What the files of a run need at most.
FREE_BYTES = 300_000_000


class Extent(NamedTuple):
    """How much is tried. `points`: of the workload's steps, None for every one."""

    operations: int
    points: int | None
    kills: int
    processes: int
    each: int  # statements a process
    failing: int  # operations on a disk that fails


QUICK = Extent(operations=50, points=120, kills=10, processes=3, each=8, failing=40)
USUAL = Extent(operations=300, points=None, kills=300, processes=8, each=50, failing=500)
WHOLE = Extent(operations=2_000, points=None, kills=1_000, processes=8, each=200, failing=2_000)


def certify(
    folder: str | os.PathLike[str],
    extent: Extent = USUAL,
    *,
    seed: int = 0,
    progress: Callable[[str], AbstractContextManager[Progress | None]],
    tell: Callable[[Part], None],
) -> Certificate:
    """Try what stores survive in a folder; none of those that are there is touched. `tell`: of each part when it is
    done. The files of a run that found something are kept. Raises BadInput, StoreError."""
    place = Path(folder).absolute()
    if not place.is_dir():
        raise BadInput(f"{folder} is not a folder", hint="give a folder on the disk that is to be tried")
    if shutil.disk_usage(place).free < FREE_BYTES:
        raise StoreError(f"less than {FREE_BYTES // 1_000_000} MB are free in {place}", hint="free some space")
    started = time.monotonic()
    with writing(place):
        work = Path(tempfile.mkdtemp(prefix=".limpet-certify-", dir=place))
    parts: list[Part] = []
    try:
        for label, run in _parts(work, extent, seed).items():
            with progress(label) as bar:
                parts.append(run(bar))
            tell(parts[-1])
        flush_ms = _flush_ms(work / "flushed")
    finally:
        bad = any(part.problems for part in parts)
        if not bad:
            shutil.rmtree(work, ignore_errors=True)
    return Certificate(
        str(place), file_system_of(place / "memory.db"), flush_ms, round(time.monotonic() - started, 1), parts,
        str(work) if bad else None,
    )  # fmt: skip


def _parts(work: Path, extent: Extent, seed: int) -> dict[str, Callable[[Progress | None], Part]]:
    """By what a bar says meanwhile."""
    return {
        "losing power": lambda bar: lose_power(work / "power", extent.operations, extent.points, seed, bar),
        "failing": lambda bar: fail(work / "failing", extent.failing, seed, bar),
        "killing": lambda bar: kill(work / "kills", extent.kills, seed, bar),
        "writing": lambda bar: together(work / "together", extent.processes, extent.each, bar),
    }


def _flush_ms(file: Path) -> float:
    """The median time of a flush to the disk. One that is much shorter than the disk can write is not one."""
    times = []
    with writing(file), file.open("xb", buffering=0) as opened:
        for _ in range(25):
            opened.write(bytes(4096))
            started = time.perf_counter()
            os.fsync(opened.fileno())
            times.append(time.perf_counter() - started)
    return round(sorted(times)[len(times) // 2] * 1000, 3)
