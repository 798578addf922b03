"""The power is lost: disk states of each point of a recorded workload, and what a store says that is found so.

The workload runs once. The states are made from the record of its writes, syncs and truncates: what was flushed is
there; of what was not, all, nothing, a part, or some in any order.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from limpet.model.errors import LimpetError
from limpet.model.ids import parse_id

from .recording import Step, events_in, recorded
from .report import Part
from .workload import Told, Workload, check_whole

# What becomes of the writes that were not flushed: all are there; none; the last one in part; any of them, or parts.
FATES = ("kept", "dropped", "torn", "reordered")
SECTOR_BYTES = 512
# Points whose store is looked at as a whole although its ledger was seen before: one of so many.
WHOLE_EVERY = 200
STORE = "memory.db"


class Point(NamedTuple):
    """A step of the record, and how many operations were acknowledged before it."""

    step: Step
    done: int


def record(folder: Path, operations: int, seed: int) -> tuple[list[Point], list[Told]]:
    """Run a workload in a folder: its steps, and what the store said after each operation."""
    points: list[Point] = []
    told: list[Told] = []
    folder.mkdir(parents=True)
    with recorded(lambda step: points.append(Point(step, len(told)))), Workload(folder / STORE, seed) as workload:
        told.append(workload.told([]))  # opened, which is acknowledged too
        for _ in range(operations):
            ids = workload.step()
            told.append(workload.told(ids))
    return points, told


class Image:
    """A file of the simulated disk: what is flushed (None: the name is not), what is not, and where it was put."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.flushed: bytearray | None = None
        self.pending: list[Step] = []
        self._touched: list[tuple[int, int]] = []  # where the file may differ from what is flushed

    def flush(self) -> None:
        self.flushed = self.flushed or bytearray()
        for step in self.pending:
            self._touch(step)
            _apply(self.flushed, step)
        self.pending = []

    def show(self, chosen: Iterable[Step]) -> None:
        """Make the file what it would be: what was flushed, and then these steps."""
        steps = list(chosen)
        if self.flushed is None and not steps:
            self.path.unlink(missing_ok=True)
            return
        flushed = self.flushed or bytearray()
        if not self.path.exists():
            self._touched = [(0, len(flushed))]
        with self.path.open("r+b" if self.path.exists() else "w+b", buffering=0) as file:
            for start, end in self._touched:
                file.seek(start)
                file.write(flushed[start:end])
            file.truncate(len(flushed))
            self._touched = []
            for step in steps:
                self._touch(step)
                if step.kind == "truncate":
                    file.truncate(step.offset)
                else:
                    file.seek(step.offset)
                    file.write(step.data)

    def _touch(self, step: Step) -> None:
        # After a truncate all behind it may differ.
        end = step.offset + len(step.data) if step.kind == "write" else 1 << 40
        self._touched.append((step.offset, end))


def _apply(image: bytearray, step: Step) -> None:
    if step.kind == "truncate":
        del image[step.offset :]
        return
    image.extend(bytes(max(0, step.offset - len(image))))
    image[step.offset : step.offset + len(step.data)] = step.data


class Disk:
    """The files in a folder as steps go on, and as they are found when the power is lost before one has ended."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._folder, self._chance = folder, chance
        self._images: dict[str, Image] = {}
        self._deleted: list[Image] = []  # which the folder on the disk may still name
        folder.mkdir(parents=True)
        (folder / STORE).touch()

    def lose_power(self, step: Step, fate: str) -> None:
        """Put the files into the folder, found so when the power is lost during `step`."""
        for image in self._images.values():
            pending = list(image.pending)
            if image.path.name == step.file and step.kind in ("write", "truncate"):
                pending.append(step)
            image.show(self._chosen(pending, fate))
        for image in self._deleted:
            if image.path.name not in self._images:
                back = fate in ("dropped", "reordered") and self._chance.random() < 0.5
                image.show(image.pending) if back else image.path.unlink(missing_ok=True)

    def _chosen(self, pending: list[Step], fate: str) -> list[Step]:
        chance = self._chance
        if fate == "kept":
            return pending
        if fate == "dropped":
            return []
        if fate == "torn":
            return pending[:-1] + [part for step in pending[-1:] for part in _torn(step, chance)]
        found = [step for step in pending if chance.random() < 0.5]
        chance.shuffle(found)
        return [part for step in found for part in (_torn(step, chance) if chance.random() < 0.2 else [step])]

    def go_on(self, step: Step) -> None:
        """The step is done."""
        if step.kind == "delete":
            gone = self._images.pop(step.file, None)
            self._deleted += [gone] if gone else []
            return
        image = self._images.get(step.file)
        if image is None:
            image = self._images[step.file] = Image(self._folder / step.file)
        if step.kind == "sync":
            image.flush()
            for one in self._deleted:  # SQLite flushes the folder with the first flush of a log that it makes
                if one.path.name not in self._images:
                    one.path.unlink(missing_ok=True)
            self._deleted = []
        else:
            image.pending.append(step)


def _torn(step: Step, chance: random.Random) -> list[Step]:
    """Parts of a write: its first bytes, or any of its sectors."""
    if step.kind != "write":
        return [step] if chance.random() < 0.5 else []
    if chance.random() < 0.5 or len(step.data) <= SECTOR_BYTES:
        return [step._replace(data=step.data[: chance.randrange(len(step.data))])]
    starts = [start for start in range(0, len(step.data), SECTOR_BYTES) if chance.random() < 0.5]
    return [step._replace(offset=step.offset + start, data=step.data[start : start + SECTOR_BYTES]) for start in starts]


def lose_power(
    folder: Path, operations: int, most: int | None, seed: int, progress: Callable[[int, int], None] | None
) -> Part:
    """Lose the power at every step of a workload, or at `most` of them that chance chooses, each once."""
    points, told = record(folder / "recorded", operations, seed)
    return judge(folder, points, told, most, seed, progress)


def judge(
    folder: Path, points: list[Point], told: list[Told], most: int | None, seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Part:  # fmt: skip
    """Make the disk states of a record in a folder, and look at each."""
    chance = random.Random(seed)
    chosen = set(range(len(points)) if most is None else chance.sample(range(len(points)), min(most, len(points))))
    disk = Disk(folder / "found", chance)
    found = _Found(folder / "found", folder / "whole", told)
    fates: Counter[str] = Counter()
    for place, (step, done) in enumerate(points):
        if place in chosen:
            fate = chance.choice(FATES)
            fates[fate] += 1
            disk.lose_power(step, fate)
            found.look(done, f"step {place} ({step.kind} of {step.file}, {fate})", must=step.kind != "write")
            if progress:
                progress(found.looked, len(chosen))
        disk.go_on(step)
    kinds = Counter(step.kind for step, _ in points)
    steps = ", ".join(f"{kinds[kind]:,} {kind}s" for kind in ("write", "sync", "truncate", "delete"))
    return Part(
        "power loss",
        f"{len(told) - 1:,} operations are {steps}; the power lost at {len(chosen):,} of them, what was not flushed "
        + ", ".join(f"{fates[fate]:,} times {fate}" for fate in FATES)
        + f": {found.lost:,} lose what was acknowledged, {found.unopenable:,} do not open",
        {
            "operations": len(told) - 1, "steps": len(points), **{f"{kind}s": kinds[kind] for kind in kinds},
            "faulted": len(chosen), **{fate: fates[fate] for fate in FATES}, "whole_checks": found.whole,
            "lost": found.lost, "unopenable": found.unopenable,
        },
        found.problems,
    )  # fmt: skip


class _Found:
    """Looks at stores as they are found, and counts what is wrong with them."""

    def __init__(self, folder: Path, other: Path, told: list[Told]) -> None:
        self._folder, self._other, self._told = folder, other, told
        self._events = [one.events for one in told]
        self._last = _last_changed(told)
        self._seen: set[int] = set()
        self._expected: tuple[int, dict[str, tuple[str, str]]] = (0, {})
        self.looked = self.whole = self.lost = self.unopenable = 0
        self.problems: list[str] = []

    def look(self, done: int, where: str, *, must: bool) -> None:
        """`done`: operations that were acknowledged. `must`: look at the whole of it."""
        self.looked += 1
        try:
            if done == 0 or (self._folder / f"{STORE}-journal").exists():
                self._whole(0, where)  # a store that is being made: to be gone on with
                return
            least, most = self._events[done - 1], self._events[min(done, len(self._told) - 1)]
            id, said = self._last[done - 1]
            allowed = (said, self._under_way(done).get(id, ("", said))[1])
            events, content = events_in(str(self._folder / STORE), parse_id(id) if id else None)
            if events not in (least, most):  # the operation that is under way is there as a whole or not at all
                self._lost(where, f"{events} events where {least} were acknowledged, and {most} are after that")
            elif id and (content or "") not in allowed:
                self._lost(where, f"{id} says {content!r}, acknowledged was {said!r}")
            elif must or events not in self._seen or self.looked % WHOLE_EVERY == 0:
                self._seen.add(events)
                self._whole(done, where)
        except LimpetError as error:
            self.unopenable += 1
            self.problems.append(f"{where}: {error.message}")

    def _whole(self, done: int, where: str) -> None:
        """Open a copy as a user would, compare each memory, check, and write to it."""
        self.whole += 1
        shutil.rmtree(self._other, ignore_errors=True)
        shutil.copytree(self._folder, self._other)
        if done < self._expected[0]:
            self._expected = (0, {})
        expected = self._expected[1]
        for one in self._told[self._expected[0] : done]:
            expected |= one.changed
        self._expected = (done, expected)
        for problem in check_whole(self._other / STORE, expected, or_else=self._under_way(done)):
            self._lost(where, problem)

    def _under_way(self, done: int) -> dict[str, tuple[str, str]]:
        """What the operation that was not acknowledged yet makes of memories."""
        return self._told[done].changed if done < len(self._told) else {}

    def _lost(self, where: str, what: str) -> None:
        self.lost += 1
        self.problems.append(f"{where}: {what}")


def _last_changed(told: list[Told]) -> list[tuple[str, str]]:
    """After each operation the memory that changed last and is not purged, with its content."""
    found, last = [], ("", "")
    for one in told:
        for id, (state, content) in one.changed.items():
            last = (id, content) if state != "purged" else ("", "")
        found.append(last)
    return found
