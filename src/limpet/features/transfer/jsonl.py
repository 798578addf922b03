"""limpet's own JSONL: the ledger, one event a line, lossless. export -> import -> export is byte-identical.

A line that has no "event" is a plain statement, as `remember --batch` takes it.

    {"event", "type", "id", "recorded_at", "origin", "operation"?, "content"?, "data"?}    times in microseconds
    {"usage": {...}}                            use counts, after the events
    {"vector": {"id", "embedder", "exact"}}     on request, base64 float16
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, AnyStr

from ...model.dataclass import replace
from ...model.errors import BadInput, StoreDamaged, counted
from ...model.events import Event
from ...model.ids import format_id, parse_id
from ...model.memory import STATES
from ...remember.validation import check_topics, clean_metadata
from ...store.files import new_file
from ...store.records import Filter
from ...text.secrets import redact, suspected
from .schema import check_event

if TYPE_CHECKING:
    from ...store import Store

# The longest line that is read: the longest text with every character written as an escape, and its fields; in
# transcripts, a message with its pictures.
MAX_LINE = 16_000_000

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def write_event(event: Event) -> str:
    """One line, without its line end."""
    line: dict[str, Any] = {
        "event": format_id(event.id),
        "type": event.type,
        "id": format_id(event.memory),
        "recorded_at": event.at,
        "origin": event.origin,
    }
    if event.operation != event.id:
        line["operation"] = format_id(event.operation)
    if event.content is not None:
        line["content"] = event.content
    # A statement's own fields stand beside its content, as in a batch line.
    return encode(line | {name: value for name, value in event.data.items() if name not in line})


_OWN = frozenset({"event", "type", "id", "recorded_at", "origin", "operation", "content"})


def read_event(line: dict[str, Any]) -> Event:
    """The event of a line that `write_event` wrote, without secrets, should anything else have put some there.

    Raises BadInput.
    """
    try:
        type, at, origin = line["type"], line["recorded_at"], line["origin"]
        id = parse_id(line["event"])
        event = Event(
            id=id,
            type=type,
            memory=parse_id(line["id"]),
            at=at,
            operation=parse_id(line["operation"]) if "operation" in line else id,
            origin=origin,
            content=line.get("content"),
            data={name: value for name, value in line.items() if name not in _OWN},
        )
        check_event(event)
        return _without_secrets(event)
    except KeyError as error:
        raise BadInput(f"not an event of limpet: {error} is missing") from None
    except (TypeError, AttributeError, UnicodeEncodeError) as error:
        raise BadInput(f"not an event of limpet: {error}") from None


def _without_secrets(event: Event) -> Event:
    """The event itself, unless it was written by a hand, or a program, that redacts nothing."""
    content = event.content if event.content is None else redact(event.content)[0]
    metadata, found = clean_metadata(event.data.get("metadata"))
    said = {name: one for name, one in event.data.items() if type(one) is str}
    if suspected("\n".join(said.values())):
        said = {name: redact(one)[0] for name, one in said.items()}
    data = event.data | said | ({"metadata": metadata} if found else {})
    if event.type in ("remembered", "tagged") and data.get("topics"):
        data["topics"] = list(check_topics(data["topics"]))
    return event if content == event.content and data == event.data else replace(event, content=content, data=data)


def bounded(file: IO[AnyStr]) -> Iterator[AnyStr]:
    """The lines of a file. Of one that is too long comes the beginning, which is too long too; it is never held."""
    while line := file.readline(MAX_LINE + 1):
        yield line
        end = line[:0] + (b"\n" if isinstance(line, bytes) else "\n")
        while len(line) > MAX_LINE and not line.endswith(end):
            line = file.readline(MAX_LINE + 1)


def lines(text: Iterable[str | bytes]) -> Iterator[tuple[int, dict[str, Any] | BadInput]]:
    """(line number, object) of every line that is not blank; a BadInput in its place when it is no JSON object."""
    for number, line in enumerate(text, 1):
        if line.strip():
            try:
                yield number, parsed(line)
            except BadInput as error:
                yield number, error


def parsed(line: str | bytes) -> dict[str, Any]:
    """The object of a line. Raises BadInput."""
    if len(line) > MAX_LINE:
        raise BadInput(f"longer than {MAX_LINE:,} bytes")
    try:
        text = line if isinstance(line, str) else line.decode("utf-8")
        value = json.loads(text.lstrip("\ufeff"))
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8: {error.reason} at {error.start}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadInput("not a JSON object")
    return value


# -- a whole store, written

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
    if isinstance(target, str | os.PathLike):
        with new_file(Path(target), store=store.path, force=force) as file:
            if encrypt:
                from . import age

                whole = io.StringIO()
                written = _write(store, lines, whole, progress=progress)
                file.write(age.encrypt(whole.getvalue().encode()))
            else:
                text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
                written = _write(store, lines, text, progress=progress)
                text.detach()
    elif encrypt:
        raise BadInput("what is encrypted is bytes, and needs a file")
    else:
        written = _write(store, lines, target, progress=progress)
    if lines.lost:
        raise StoreDamaged(
            f"{store.path} is damaged: what could be read is written, {written:,} lines; lost: {'; '.join(lines.lost)}",
            hint="import them into a new store, or restore a backup",
        )
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
                yield write_event(event)
                last = event.seq
        except StoreDamaged:
            yield from self._salvaged(last)
        try:
            for row in self._store.usage.rows():
                yield encode({"usage": row | {"id": format_id(row["id"])}})
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
                yield write_event(event)
        yield from map(encode, found.statements)


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
            yield encode({"vector": {"id": format_id(ids[text_id]), **facts, "exact": data}})
