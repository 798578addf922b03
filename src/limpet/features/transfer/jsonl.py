"""limpet's own JSONL: the ledger, one event a line, lossless. export -> import -> export is byte-identical.

A line that has no "event" is a plain statement, as `remember --batch` takes it.

    {"event", "type", "id", "recorded_at", "origin", "operation"?, "content"?, "data"?}    times in microseconds
    {"usage": {...}}                            use counts, after the events
"""

from __future__ import annotations

import contextlib
import io
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ...model.dataclass import replace
from ...model.errors import BadInput, LimpetError, StoreDamaged, counted, message_of
from ...model.events import Event
from ...model.ids import format_id, parse_id
from ...model.memory import UNVOUCHED, caseless
from ...model.times import parse_time
from ...remember.batch import BATCH_ITEMS, Turn, remember_batch
from ...remember.validation import check_topics, clean_metadata
from ...remember.write import held, values_of
from ...secrets import redact, suspected
from ...store.records import ALL
from ...text.normalise import value_form
from .importer import vouch
from .records import TransferReport, encode, parsed_lines
from .schema import Lifecycle, check_event

if TYPE_CHECKING:
    from ...context import Context
    from ...store import Store
    from .service import Source

CHUNK = 2_000
# Characters that are taken in at once: few long lines need as much memory as many short ones.
CHUNK_CHARACTERS = 32_000_000
# Above any real count, far below SQLite's largest number.
MAX_USES = 1 << 31


def write_event(event: Event) -> str:
    """Return an event as one line, without its line end."""
    line: dict[str, Any] = {
        "event": format_id(event.id), "type": event.type, "id": format_id(event.memory), "recorded_at": event.at,
        "origin": event.origin,
    }  # fmt: skip
    if event.operation != event.id:
        line["operation"] = format_id(event.operation)
    if event.content is not None:
        line["content"] = event.content
    # A statement's own fields stand beside its content, as in a batch line.
    return encode(line | {name: value for name, value in event.data.items() if name not in line})


_OWN = frozenset({"event", "type", "id", "recorded_at", "origin", "operation", "content"})


def read_event(line: dict[str, Any]) -> Event:
    """Return the event of a line that `write_event` wrote, without any secrets put there since. Raises BadInput."""
    try:
        id = parse_id(line["event"])
        event = Event(
            id=id, type=line["type"], memory=parse_id(line["id"]), at=line["recorded_at"], origin=line["origin"],
            operation=parse_id(line["operation"]) if "operation" in line else id, content=line.get("content"),
            data={name: value for name, value in line.items() if name not in _OWN},
        )  # fmt: skip
        check_event(event)
        # Lines written by hand, or by a program that redacts nothing, lose their secrets here.
        content = event.content if event.content is None else redact(event.content)[0]
        metadata, secrets = clean_metadata(event.data.get("metadata"))
        words = {name: value for name, value in event.data.items() if isinstance(value, str)}
        if any(map(suspected, words.values())):
            words = {name: redact(value)[0] for name, value in words.items()}
        data = event.data | words | ({"metadata": metadata} if secrets else {})
        if event.type in ("remembered", "tagged") and data.get("topics"):
            data["topics"] = list(check_topics(data["topics"]))
        same = content == event.content and data == event.data
        return event if same else replace(event, content=content, data=data)
    except KeyError as error:
        raise BadInput(f"not an event of limpet: {error} is missing") from None
    except (TypeError, AttributeError, UnicodeEncodeError) as error:
        raise BadInput(f"not an event of limpet: {error}") from None


# -- a whole store, written


def write(source: Source, target: str | os.PathLike[str] | IO[str]) -> int:
    """Write all lines and return how many. A file appears when it is complete. Raises BadInput, StoreError;
    StoreDamaged also after writing what could be read of a damaged store."""
    store, report = source.store, source.report
    lost: list[str] = []
    total = 0
    with contextlib.suppress(StoreDamaged):
        total = store.maintenance.stats().events

    def lines_to(file: IO[str]) -> int:
        written = 0
        for written, line in enumerate(_lines(store, lost), 1):
            file.write(line + "\n")
            if written % 500 == 0:
                report.at(written, max(total, written))
        report.at(written, written)
        return written

    if not isinstance(target, str | os.PathLike):
        written = lines_to(target)
    else:
        with source.new_file(Path(target)) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
            written = lines_to(text)
            text.detach()
    if lost:
        raise StoreDamaged(
            f"{store.path} is damaged: what could be read is written, {written:,} lines; lost: {'; '.join(lost)}",
            hint="import them into a new store, or restore a backup",
        )
    return written


def _lines(store: Store, lost: list[str]) -> Iterator[str]:
    """Yield the lines of a store. What cannot be read of a damaged one is added to `lost`, in words."""
    last = 0
    try:
        for event in store.ledger.events():
            yield write_event(event)
            last = event.seq
    except StoreDamaged:
        from .salvage import salvage

        rows = salvage(store.path)
        lost.append(f"{counted(rows.lost, 'event')} or more")
        if rows.statements:
            lost.append(f"the history of {len(rows.statements):,} memories, which are there as they are now")
        yield from (write_event(event) for event in rows.events if event.seq > last)
        yield from map(encode, rows.statements)
    try:
        for row in store.usage.rows():
            yield encode({"usage": row | {"id": format_id(row["id"])}})
    except StoreDamaged:
        lost.append("use counts")


# -- a file taken in


def read(
    context: Context, source: str | os.PathLike[str] | IO[str] | IO[bytes], report: TransferReport, trusted: bool
) -> None:  # fmt: skip
    """Take in the lines of a file or a stream. One bad line stops no other. `trusted`: a person vouches for what they
    say of their origins. Raises BadInput for a bad file."""
    taker = _Import(context, report, trusted)
    if not isinstance(source, str | os.PathLike):
        taker.run(source, 0)
        return
    path = Path(source)
    if not path.is_file():
        raise BadInput(f"{path} is a folder, not a file" if path.is_dir() else f"no file {path}")
    with path.open("rb") as file:
        taker.run(file, path.stat().st_size)


class _Import:
    def __init__(self, context: Context, report: TransferReport, trusted: bool) -> None:
        self._context, self._report, self._trusted = context, report, trusted
        self._claims: dict[bytes, str] = {}  # the trust that lines claim for memories
        self._lifecycle = Lifecycle(context.store, report)
        self._spoken: Counter[Turn] = Counter()
        # Lines that wait to be taken in together, each with its place; use counts without.
        self._events: list[tuple[str, Event]] = []
        self._statements: list[tuple[str, dict[str, Any]]] = []
        self._usage: list[dict[str, Any]] = []
        # Lines with a former value of a key, by scope and key, until a later line has another value.
        self._aside: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
        # Values that keys had and lost to a later one, as `value_form` writes them, of the lines taken in at once.
        self._before: dict[tuple[str, str], set[str]] = {}

    def run(self, file: IO[Any], size: int) -> None:
        read = held = 0
        for place, length, line in parsed_lines(file, size, self._report):
            read, held = read + length, held + length
            try:
                self._line(place, line)
            except LimpetError as error:
                self._report.bad(place, error.message)
            if held >= CHUNK_CHARACTERS or max(len(self._events), len(self._statements), len(self._usage)) >= CHUNK:
                self._take()
                held = 0
        self._take()
        self._remember(list(self._aside.values()))
        if self._trusted and self._report.known:
            vouch(self._context, self._claims)
        if size or read:
            self._report.at(size or read, size or read)
        self._report.rejected.sort(key=lambda pair: int(pair[0].removeprefix("line ")))

    def _line(self, place: str, line: dict[str, Any]) -> None:
        """Add a line to those that wait. Raises BadInput."""
        if "usage" in line:
            try:
                row = line["usage"]
                counts = {name: row[name] for name in ("uses", "useful", "not_useful", "wrong")}
                if not all(type(count) is int and 0 <= count <= MAX_USES for count in counts.values()):
                    raise ValueError("a count must be a whole number, not below 0")
                self._usage.append(counts | {"used_at": parse_time(row["used_at"], now=0), "id": parse_id(row["id"])})
            except (KeyError, TypeError, ValueError, AttributeError, LimpetError) as error:
                raise BadInput(f"not a usage line: {message_of(error)}") from None
        elif "event" in line:
            event = read_event(line)
            if event.type == "remembered":
                self._claims[event.memory] = event.data.get("trust") or event.origin
            if not self._trusted:  # what nobody vouches for is trusted least, and raises no trust
                trust = {"trust": UNVOUCHED} if event.type == "remembered" else {}
                data = {name: value for name, value in event.data.items() if name != "trust"}
                event = replace(event, data=data | trust)
            if self._statements:
                self._take()
            self._events.append((place, event))
        else:
            if self._events:
                self._take()
            self._statements.append((place, line))

    def _take(self) -> None:
        """Store what waits; of events and statements one kind does."""
        if self._events:
            self._lifecycle.take(self._events)
        self._remember([pair for pair in self._statements if not self._put_aside(*pair)])
        if self._usage:
            self._context.store.usage.restore(self._usage)
        self._events, self._statements, self._usage = [], [], []
        self._before.clear()

    def _put_aside(self, place: str, line: dict[str, Any]) -> bool:
        """Return whether a line waits for the end of the file because its key had this value before: in a file that is
        imported again only the last value of a key holds."""
        if not line.get("key") or line.get("valid_from"):
            return False
        context = self._context
        try:
            statement = context.validate(line)
        except LimpetError:
            return False  # the receipt will say why
        slot = statement.scope, caseless(statement.key or "")
        self._report.known += self._aside.pop(slot, None) is not None
        if slot not in self._before:  # once for all lines taken in together: those of one key may be thousands
            now = context.now()
            values = values_of(context.store, statement.scope, statement.key or "")[0]
            holds = held(values, now)
            ended = [value for value in values if value.superseded_by and (value.valid_to_us or ALL) <= now]
            former = {value_form(value.content) for value in ended}
            self._before[slot] = former - {value_form(holds.content)} if holds else set()
        if statement.id is not None or value_form(statement.content) not in self._before[slot]:
            return False
        self._aside[slot] = place, line
        return True

    def _remember(self, statements: list[tuple[str, dict[str, Any]]]) -> None:
        for start in range(0, len(statements), BATCH_ITEMS):  # a transaction each: what is counted is stored
            part = statements[start : start + BATCH_ITEMS]
            receipts = remember_batch(
                self._context,
                [line for _, line in part],
                quiet=True,
                spoken=self._spoken,
                trust=None if self._trusted else UNVOUCHED,
            )
            for (place, line), receipt in zip(part, receipts, strict=True):
                if receipt.id:
                    self._claims[parse_id(receipt.id)] = line.get("origin") or "agent"
                if receipt.status == "rejected":
                    self._report.bad(place, receipt.reason or "rejected")
                elif receipt.status in ("created", "quarantined", "proposed"):
                    self._report.new += 1
                    self._report.quarantined += receipt.status != "created"
                else:
                    self._report.known += 1
