"""JSONL into a store: events of another ledger keep their ids and times, plain statements are remembered."""

from __future__ import annotations

import base64
import io
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from ...model.clock import parse_time
from ...model.dataclass import replace
from ...model.errors import BadInput, LimpetError, message_of
from ...model.events import Event
from ...model.ids import format_id, parse_id
from ...model.memory import STATES, Memory, caseless, is_below
from ...model.state import MemoryState
from ...remember.decide import former_values
from ...remember.validation import check_name
from ...remember.write import Turn, Writer, effective_trust, raw_id
from ...store.records import Filter
from ...text.normalise import fingerprint, value_form
from . import age, jsonl
from .records import interrupted
from .schema import Lifecycle

if TYPE_CHECKING:
    from ...context import Context
    from ...remember.validation import ValidStatement

Progress = Callable[[int, int], None]
Bad = list[tuple[int, str]]
CHUNK = 2_000
# What is taken in at once, in characters: few long lines are as much to hold as many short ones.
CHUNK_CHARACTERS = 32_000_000
# Lines that are reported one by one; the others are counted.
MAX_LISTED = 10_000
# Above any count that use has given, far below where SQLite's numbers end.
MAX_USES = 1 << 31
MAX_DIMENSIONS = 16_384


def import_jsonl(
    context: Context,
    source: str | os.PathLike[str] | IO[str] | IO[bytes],
    *,
    dry_run: bool,
    progress: Progress | None,
) -> tuple[int, int, Bad, int, bytes | None]:
    """Returns (new, known already, [(line, reason)], how many of the new wait for a person, the operation). The lines
    of events keep their own operations.

    One bad line stops no other. Raises BadInput for a bad file; KeyboardInterrupt says what is stored.
    """
    run = _Import(context, dry_run=dry_run, progress=progress).run
    with context.one_operation() as operation:
        if not isinstance(source, str | os.PathLike):
            counts = run(source, 0)
        else:
            path = Path(source)
            if not path.is_file():
                raise BadInput(f"{path} is a folder, not a file" if path.is_dir() else f"no file {path}")
            size = path.stat().st_size
            with path.open("rb") as file:
                encrypted = age.is_encrypted(file.read(len(age.HEAD)))
                if encrypted and size > age.MAX_BYTES:
                    limit = f"{age.MAX_BYTES >> 20} MB"
                    raise BadInput(f"{path} is larger than {limit}", hint="decrypt it with `age -d` before")
                file.seek(0)
                counts = run(io.BytesIO(age.decrypt(file.read(), str(path))) if encrypted else file, size)
        return *counts, operation[0] if operation else None


class _Import:
    def __init__(self, context: Context, *, dry_run: bool, progress: Progress | None) -> None:
        self._context = context
        self._dry_run = dry_run
        self._progress = progress
        self._bad: Bad = []
        self._more_bad = 0
        self._held = 0  # characters of lines since the last were taken in
        self._new = self._known = self._quarantined = 0
        self._lifecycle = Lifecycle(context.store, keep=dry_run)
        # Statements of a dry run are decided as others are, by one writer: later lines meet what earlier ones say.
        self._spoken: Counter[Turn] = Counter()
        self._trial = Trial(context.store, context.new_id, context.now(), context.scopes) if dry_run else None
        self._named: set[object] = set()  # ids that lines of a dry run gave
        # Values that a key had before, by scope and key, with their lines: for as long as no later line has another.
        self._aside: dict[tuple[str, str], tuple[int, dict[str, Any]]] = {}
        self._before: dict[tuple[str, str], frozenset[str]] = {}  # what keys had before, of the lines taken in at once

    def run(self, file: IO[Any], size: int) -> tuple[int, int, Bad, int]:
        try:
            return self._run(file, size)
        except KeyboardInterrupt:
            raise interrupted(self._new, dry_run=self._dry_run) from None

    def _run(self, file: IO[Any], size: int) -> tuple[int, int, Bad, int]:
        events: list[tuple[int, Event]] = []
        statements: list[tuple[int, dict[str, Any]]] = []
        usage: list[dict[str, Any]] = []
        vectors: list[tuple[int, dict[str, Any]]] = []
        read = 0
        for number, line in jsonl.lines(self._measured(jsonl.bounded(file), size)):
            read = number
            if isinstance(line, BadInput):
                self._reject(number, line.message)
            elif "event" in line:
                self._take_statements(statements)
                try:
                    events.append((number, jsonl.read_event(line)))
                except LimpetError as error:
                    self._reject(number, error.message)
            elif "usage" in line or "vector" in line:
                kind = "usage" if "usage" in line else "vector"
                if not isinstance(line[kind], dict):
                    self._reject(number, f"{kind} must be an object")
                elif kind == "usage":
                    usage.append(line[kind] | {"line": number})
                else:
                    vectors.append((number, line[kind]))
            else:
                self._take_events(events)
                statements.append((number, line))
            if self._held >= CHUNK_CHARACTERS or max(len(events), len(statements), len(usage), len(vectors)) >= CHUNK:
                self._take(events, statements, usage, vectors)
        self._take(events, statements, usage, vectors)
        self._remember(list(self._aside.values()))
        if self._progress and read:
            self._progress(size or read, size or read)
        self._bad.sort()
        if self._more_bad:
            self._bad.append((read, f"and {self._more_bad:,} more lines were left out"))
        return self._new, self._known, self._bad, self._quarantined

    def _take(
        self,
        events: list[tuple[int, Event]],
        statements: list[tuple[int, dict[str, Any]]],
        usage: list[dict[str, Any]],
        vectors: list[tuple[int, dict[str, Any]]],
    ) -> None:
        self._take_events(events)
        self._take_statements(statements)
        self._take_usage(usage)
        self._take_vectors(vectors)
        self._held = 0

    def _reject(self, number: int, reason: str) -> None:
        if len(self._bad) < MAX_LISTED:
            self._bad.append((number, reason))
        else:
            self._more_bad += 1

    def _measured(self, file: Iterator[str | bytes], size: int) -> Iterator[str | bytes]:
        read = 0
        for count, line in enumerate(file, 1):
            read += len(line)
            self._held += len(line)
            if self._progress and count % 500 == 0:
                self._progress(min(read, size or read), size or read)
            yield line

    def _take_events(self, events: list[tuple[int, Event]]) -> None:
        left: Sequence[tuple[int, Event]] = list(events)
        events.clear()
        while left:
            fresh, known, bad, left = self._lifecycle.judge(left)
            new = len(fresh) if self._dry_run else self._context.store.ledger.append(fresh)
            self._new += new
            self._known += known + len(fresh) - new
            for number, reason in bad:
                self._reject(number, reason)

    def _take_statements(self, statements: list[tuple[int, dict[str, Any]]]) -> None:
        self._remember([one for one in statements if not self._put_aside(*one)])
        statements.clear()
        self._before.clear()

    def _put_aside(self, number: int, line: dict[str, Any]) -> bool:
        """Whether a line waits for the file's end, because its key had this value before: of a file that is imported
        again only the last value of a key says what holds, and the ones before it are known."""
        if not line.get("key") or line.get("valid_from"):
            return False
        try:
            statement = self._context.validate(line)
        except LimpetError:
            return False  # the receipt will say why
        slot = statement.scope, caseless(statement.key or "")
        self._known += self._aside.pop(slot, None) is not None
        if statement.id is not None or value_form(statement.content) not in self._former_values(statement):
            return False
        self._aside[slot] = number, line
        return True

    def _former_values(self, statement: ValidStatement) -> frozenset[str]:
        """Read once for all lines that are taken in together: those of one key may be thousands."""
        slot = statement.scope, statement.key or ""
        if slot not in self._before:
            context = self._context
            writer = self._trial or Writer(context.store, context.new_id, context.now(), context.scopes)
            self._before[slot] = former_values(writer, statement)
        return self._before[slot]

    def _remember(self, statements: list[tuple[int, dict[str, Any]]]) -> None:
        from ...remember.batch import BATCH_ITEMS, remember_batch

        for start in range(0, len(statements), BATCH_ITEMS):  # a transaction each: what is counted is stored
            part = statements[start : start + BATCH_ITEMS]
            lines = [self._without_named(line) if self._dry_run else line for _, line in part]
            receipts = remember_batch(self._context, lines, quiet=True, trial=self._trial, spoken=self._spoken)
            for (number, _), receipt in zip(part, receipts, strict=True):
                if receipt.status == "rejected":
                    self._reject(number, receipt.reason or "rejected")
                elif receipt.status in ("created", "quarantined", "proposed"):
                    self._new += 1
                    self._quarantined += receipt.status != "created"
                else:
                    self._known += 1

    def _without_named(self, line: dict[str, Any]) -> dict[str, Any]:
        """A statement without reasons that earlier lines are, which no store has in a dry run."""
        self._named.add(str(line.get("id")))
        if not isinstance(line.get("because"), list):
            return line
        return line | {"because": [one for one in line["because"] if str(one) not in self._named]}

    def _take_usage(self, usage: list[dict[str, Any]]) -> None:
        good = []
        for row in usage:
            number = row.pop("line")
            try:
                counts = {name: row[name] for name in ("uses", "useful", "not_useful", "wrong")}
                if not all(type(one) is int and 0 <= one <= MAX_USES for one in counts.values()):
                    raise ValueError("a count must be a whole number, not below 0")
                good.append(counts | {"used_at": parse_time(row["used_at"], now=0), "id": parse_id(row["id"])})
            except (KeyError, TypeError, ValueError, AttributeError, LimpetError) as error:
                self._reject(number, f"not a usage line: {message_of(error)}")
        usage.clear()
        if good and not self._dry_run:
            self._context.store.usage.restore(good)

    def _take_vectors(self, vectors: list[tuple[int, dict[str, Any]]]) -> None:
        """Vectors spare the embedding; those of an embedder with another fingerprint are left to the queue."""
        if self._dry_run:
            vectors.clear()
        if not vectors:
            return
        import numpy as np

        from ...vectors.codes import encode_for_store, to_unit

        wanted: dict[int, dict[bytes, Any]] = {}  # by embedder
        rows: dict[tuple[str, str, int], int] = {}
        for number, line in vectors:
            try:
                exact = np.frombuffer(base64.b64decode(line["exact"], validate=True), dtype=np.float16)
                facts = line["embedder"], line["name"], line["dimensions"]
                id = parse_id(line["id"])
                if facts not in rows:
                    _check_embedder(*facts)
                if len(exact) != line["dimensions"]:
                    raise ValueError("a vector of another length")
                (unit,), fits = to_unit(exact[None])
                if not fits.all():
                    raise ValueError("a vector that is nothing, or not of numbers")
                if facts not in rows:
                    rows[facts] = self._context.store.vectors.register(*facts).num
                wanted.setdefault(rows[facts], {})[id] = unit
            except (KeyError, TypeError, ValueError, AttributeError, LimpetError) as error:
                self._reject(number, f"not a vector line: {message_of(error)}")
        vectors.clear()
        for num, units in wanted.items():
            text_ids = self._context.store.search.texts_of(list(units))
            found = [
                (one.text_id, units[one.id])
                for one in self._context.store.search.candidates(text_ids, Filter(states=STATES))
            ]
            if found:
                stored = encode_for_store([text_id for text_id, _ in found], np.stack([unit for _, unit in found]))
                self._context.store.vectors.add(num, stored)
                self._context.store.jobs.finish("embed", [text_id for text_id, _ in found])


def _check_embedder(fingerprint: Any, name: Any, dimensions: Any) -> None:
    check_name("embedder", fingerprint)
    check_name("name", name)
    if not fingerprint or not name or type(dimensions) is not int or not 0 < dimensions <= MAX_DIMENSIONS:
        raise ValueError("an embedder without a name, or of no size")


class Trial(Writer):
    """The writer of a dry run: it decides as the transactions of the import would, and stores nothing.

    One for all parts of an import: later ones meet what earlier ones said as if it was stored.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._keyed: dict[tuple[str, str], list[bytes]] = {}  # memories by the scope and key that they got here
        self._spelled: dict[tuple[str, str], str] = {}  # keys by how they are in lower case
        self._named: set[bytes] = set()  # memories that had no key, and that parts before this one gave one
        self._named_now: set[bytes] = set()
        self._values_seen: dict[bytes, tuple[int, Memory]] = {}  # with the events that there were then

    def expect(self, statements: Sequence[ValidStatement]) -> list[int]:
        self._ids.clear()  # another part begins: those before it are there now
        self._named |= self._named_now
        self._named_now.clear()
        return super().expect(statements)

    def _add(self, *given: Any, **more: Any) -> Event:
        made = super()._add(*given, **more)
        memory, data = made.memory, made.data
        if made.type in ("remembered", "keyed") and data.get("key"):
            there = self.as_it_is(memory)
            if made.type == "keyed":
                self._named_now.add(memory)
            scope = data["scope"] if there is None else there.scope
            self._keyed.setdefault((scope, data["key"]), []).append(memory)
            self._spelled.setdefault((scope, caseless(data["key"])), data["key"])
        return made

    def values(self, statement: ValidStatement) -> tuple[list[Memory], str | None]:
        values, renamed = super().values(statement)
        if statement.key is None:
            return values, renamed
        spelled = self._spelled.get((statement.scope, caseless(statement.key)))
        own = self._keyed.get((statement.scope, renamed or statement.key), [])
        if not values and not own and spelled:
            own, renamed = self._keyed[statement.scope, spelled], spelled
        ids = dict.fromkeys((*map(raw_id, values), *own))
        found = [self._value(id) for id in ids]
        found.sort(key=lambda one: one.valid_from_us)
        key = renamed or statement.key
        return [one for one in found if one.state == "active" and one.key == key], renamed

    def _value(self, id: bytes) -> Memory:
        count = len(self._by_memory.get(id, ()))
        if id not in self._values_seen or self._values_seen[id][0] != count:
            there = self.as_it_is(id)
            if isinstance(there, MemoryState):  # the fields that decide are named as those of a `Memory`
                there = cast(Memory, replace(cast(Any, there), id=format_id(id)))
            assert there is not None
            self._values_seen[id] = count, there
        return self._values_seen[id][1]

    def known(self, statement: ValidStatement, mark: int, values: Sequence[Memory]) -> Memory | MemoryState | None:
        if statement.key:  # what holds decides, and not what was said at some time
            self.said.pop((statement.scope, mark), None)
        there = super().known(statement, mark, values)
        gone = statement.key is None and there is not None and raw_id(there) in self._named
        return None if gone else there

    def _without_key(self, statement: ValidStatement) -> Memory | None:
        there = super()._without_key(statement)
        there = None if there is not None and raw_id(there) in self._named else there
        bare = fingerprint(statement.scope, statement.kind, statement.speaker, None, statement.content)
        said = self.said.get((statement.scope, bare))
        if there or said is None or said in self._ids or (statement.valid_from, statement.valid_to) != (None, None):
            return there
        there = self._value(said)
        trusted = not is_below(effective_trust(statement, self.causes(statement)), there.trust)
        return there if trusted and not there.key else None
