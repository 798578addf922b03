"""A store as JSONL: its ledger, use counts, and vectors on request."""

from __future__ import annotations

import base64
import contextlib
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ...model.errors import BadInput, StoreDamaged, counted
from ...model.ids import format_id
from ...model.memory import STATES
from ...store.files import new_file
from ...store.records import Filter
from . import jsonl

if TYPE_CHECKING:
    from ...store import Store

Progress = Callable[[int, int], None]


def export_jsonl(
    store: Store, target: str | os.PathLike[str] | IO[str], *, vectors: bool, force: bool, encrypt: bool = False,
    progress: Progress | None,
) -> int:  # fmt: skip
    """Write all lines; returns how many. A file gets its name only when it is complete, `force`: also where one is.

    `encrypt`: a file of age, which is held in memory as a whole. Raises BadInput, StoreError; StoreDamaged also when
    what could be read of a damaged store is written.
    """
    lines = _Lines(store, vectors=vectors)
    written = _export(store, lines, target, force=force, encrypt=encrypt, progress=progress)
    if lines.lost:
        raise StoreDamaged(
            f"{store.path} is damaged: what could be read is written, {written:,} lines; lost: {'; '.join(lines.lost)}",
            hint="import them into a new store, or restore a backup",
        )
    return written


def _export(
    store: Store, lines: _Lines, target: str | os.PathLike[str] | IO[str], *, force: bool, encrypt: bool,
    progress: Progress | None,
) -> int:  # fmt: skip
    if encrypt:
        return _encrypted(store, lines, target, force=force, progress=progress)
    if not isinstance(target, str | os.PathLike):
        return _write(store, lines, target, progress=progress)
    with new_file(Path(target), store=store.path, force=force) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
        written = _write(store, lines, text, progress=progress)
        text.detach()
    return written


def _encrypted(
    store: Store, lines: _Lines, target: str | os.PathLike[str] | IO[str], *, force: bool, progress: Progress | None
) -> int:
    from . import age

    if not isinstance(target, str | os.PathLike):
        raise BadInput("what is encrypted is bytes, and needs a file")
    text = io.StringIO()
    with new_file(Path(target), store=store.path, force=force) as file:
        written = _write(store, lines, text, progress=progress)
        file.write(age.encrypt(text.getvalue().encode()))
    return written


def _write(store: Store, lines: _Lines, file: IO[str], *, progress: Progress | None) -> int:
    total = 0
    with contextlib.suppress(StoreDamaged):
        total = store.maintenance.stats().events
    written = 0
    for line in lines:
        file.write(line + "\n")
        written += 1
        if progress and written % 500 == 0:
            progress(written, max(total, written))
    if progress:
        progress(written, written)
    return written


class _Lines:
    """The lines of a store. `lost`: what of a damaged one could not be read, in words."""

    def __init__(self, store: Store, *, vectors: bool) -> None:
        self._store = store
        self._vectors = vectors
        self.lost: list[str] = []

    def __iter__(self) -> Iterator[str]:
        last = 0
        try:
            for event in self._store.ledger.events():
                yield jsonl.write_event(event)
                last = event.seq
        except StoreDamaged:
            yield from self._salvaged(last)
        try:
            for row in self._store.usage.rows():
                yield jsonl.encode({"usage": row | {"id": format_id(row["id"])}})
        except StoreDamaged:
            self.lost.append("use counts")
        if self._vectors:
            try:
                yield from _vector_lines(self._store)
            except StoreDamaged:
                self.lost.append("vectors")

    def _salvaged(self, after: int) -> Iterator[str]:
        from ...store.engines import salvage

        found = salvage(self._store.path)
        self.lost.append(f"{counted(found.lost, 'event')} or more")
        if found.statements:
            self.lost.append(f"the history of {len(found.statements):,} memories, which are there as they are now")
        for event in found.events:
            if event.seq > after:
                yield jsonl.write_event(event)
        yield from map(jsonl.encode, found.statements)


def _vector_lines(store: Store) -> Iterator[str]:
    """Vectors of current texts, by memory id: text numbers mean nothing in another store."""
    active = next((row for row in store.vectors.embedders() if row.state == "active"), None)
    if active is None:
        return
    facts: dict[str, Any] = {"embedder": active.fingerprint, "name": active.name, "dimensions": active.dimensions}
    text_ids = store.search.allowed(Filter(states=STATES))
    for start in range(0, len(text_ids), 1_000):
        part = text_ids[start : start + 1_000]
        ids = {one.text_id: one.id for one in store.search.candidates(part, Filter(states=STATES))}
        for text_id, exact in store.vectors.exact(active.num, part):
            data = base64.b64encode(exact).decode()
            yield jsonl.encode({"vector": {"id": format_id(ids[text_id]), **facts, "exact": data}})
