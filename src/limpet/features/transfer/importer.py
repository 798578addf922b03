"""Records of any reader into the store. For limpet's own JSONL see `jsonl.py`.

A thousand records are a transaction, and so are a thousand links: what stops in between is completed by importing
again. An imported memory has an id that follows from the format, the scope and the id it had, so a second import finds
it. What was read last time is marked in its metadata: a record that has changed at its source since is edited, one that
was changed here is left alone. Every record becomes a memory of its own, also when two say the same; `limpet work`
merges those, and that can be undone. The rules about people are not applied, which would take a model for each text:
`limpet review sweep` does that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ...model.clock import format_time
from ...model.edges import ACYCLIC_TYPES, MAX_WEIGHT, STORED_TYPES, SYMMETRIC_TYPES, TEMPORAL
from ...model.errors import BadInput, LimpetError, NotFound
from ...model.memory import is_below, unlike_topics
from ...remember.decide import state
from ...remember.validation import ValidStatement, validate
from ...remember.write import Writer
from .records import MARK, Record, TransferReport, digest, imported_id
from .schema import Acyclic

if TYPE_CHECKING:
    from ...context import Context

# Records, or links, in one transaction.
BATCH = 1_000

_PLAIN_ID = re.compile(r"[0-9a-fA-F-]{1,64}")


class Link(NamedTuple):
    """A link between two imported memories."""

    source: bytes
    type: str
    target: bytes
    weight: float
    at: int | None
    place: str


class Importer:
    """One import into one scope."""

    def __init__(self, context: Context, *, format: str, report: TransferReport, origin: str = "import") -> None:
        self._context = context
        self._format = format
        self._origin = origin
        self._report = report
        self._order: dict[bytes, int] = {}  # ids of this import, in its order
        self._fresh: set[bytes] = set()  # those that it made
        self._links: list[Link] = []

    def run(self, records: Iterator[Record]) -> None:
        """Raises BadInput when the source cannot be read at all; when it breaks off later, that is in the report."""
        ended: LimpetError | None = None
        batch: list[Record] = []
        while ended is None:
            try:
                batch.extend(islice(records, BATCH))
            except LimpetError as error:
                if not batch and not self._order:
                    raise
                ended = error
            if not batch:
                break
            self._import_batch(batch)
            batch = []
        if ended is not None:
            self._report.bad("the rest", f"not read: {ended.message}")
        self._import_links()

    # -- memories

    def _import_batch(self, batch: Sequence[Record]) -> None:
        good: list[tuple[Record, ValidStatement]] = []
        for record in batch:
            id = self._id(record.id)
            if id in self._order:
                self._report.bad(record.place, f"the id {record.id[:100]!r} was there before")
                continue
            try:
                good.append((record, self._validated(record, id)))
            except LimpetError as error:
                self._report.bad(record.place, error.message)
                continue
            except (ValueError, OverflowError, RecursionError) as error:
                self._report.bad(record.place, f"not usable: {error}")
                continue
            self._order[id] = len(self._order)
            for link in record.links:
                self._links.append(
                    Link(id, link.type, self._id(link.target), link.weight, link.at, f"{record.place}, a link")
                )
        # What takes a key's place must see the one before it in the store: parts in which no key comes twice.
        part: list[tuple[Record, ValidStatement]] = []
        keys: set[str] = set()
        for record, one in good:
            if one.key and one.key in keys:
                self._import_part(part)
                part, keys = [], set()
            if one.key:
                keys.add(one.key)
            part.append((record, one))
        self._import_part(part)

    def _id(self, id: str) -> bytes:
        return imported_id(self._format, f"{self._context.scope}\0{id}")

    def _validated(self, record: Record, id: bytes) -> ValidStatement:
        now = self._context.now()
        start = None if record.created is None else min(record.created, now)
        mark: dict[str, Any] = {"from": self._format, "id": record.id[:1_000]}
        if record.created is not None and record.created != start:
            mark["created"] = format_time(record.created)
        if record.updated is not None and record.updated != record.created:
            mark["updated"] = format_time(record.updated)
        end = record.valid_to
        if end is not None and end <= (now if start is None else start):
            self._report.note("an end that is not after the beginning was left out")
            end = None
        # An id that can neither hide a secret nor a control character needs no second look.
        plain = _PLAIN_ID.fullmatch(record.id) is not None and MARK not in record.metadata
        valid = validate(
            {
                "content": record.content,
                "kind": record.kind,
                "topics": record.topics,
                "key": record.key,
                "importance": record.importance,
                "confidence": record.confidence,
                "valid_from": start,
                "valid_to": end,
                "session": record.session,
                "speaker": record.speaker,
                "source": record.source,
                "metadata": record.metadata if plain else {**record.metadata, MARK: mark},
                "origin": self._origin,
                "id": id,
            },
            scope=self._context.scope,
            now=now,
        )
        if plain:
            valid.metadata[MARK] = mark
        # What was read, in two parts: the text as it is stored, and the rest that an import brings, but use and links.
        rest = digest(record.kind, record.topics, record.valid_to, record.key, record.metadata, record.speaker)
        valid.metadata[MARK]["mark"] = f"{digest(valid.content)}-{rest}"
        return valid

    def _import_part(self, part: Sequence[tuple[Record, ValidStatement]]) -> None:

        def decide(writer: Writer) -> list[str]:
            # The event that makes a memory has its id, so that one look-up tells which are there.
            there = {event.id for event in writer.reads.ledger.events(ids=[one.id for _, one in part if one.id])}
            return [self._decide(writer, record, one, one.id in there) for record, one in part]

        outcomes = self._context.write(decide) if part else []
        used = []
        for (record, one), outcome in zip(part, outcomes, strict=True):
            if outcome in ("created", "quarantined", "proposed"):
                self._report.new += 1
                self._report.quarantined += outcome != "created"
                self._report.redacted += bool(one.secrets)
                assert one.id is not None
                self._fresh.add(one.id)
                if record.uses > 0:
                    counts = {"uses": min(record.uses, 1 << 31), "useful": 0, "not_useful": 0, "wrong": 0}
                    used.append(counts | {"id": one.id, "used_at": record.used or 0})
            elif outcome == "changed":
                self._report.changed += 1
            elif outcome == "known":
                self._report.known += 1
            else:
                self._report.bad(record.place, outcome)
        if used:
            self._context.store.usage.restore(used)

    def _decide(self, writer: Writer, record: Record, one: ValidStatement, known: bool) -> str:
        """created, quarantined, proposed (both wait for review), known, changed, or why it was not taken."""
        assert one.id is not None
        there = writer.reads.memories.get(one.id) if known else None
        if there is None:
            try:
                status = state(writer, one, fresh=True, unused=one.id).status
            except (BadInput, NotFound) as error:
                return error.message
            if record.archived and status == "created":
                writer.event("archived", one.id, origin=self._origin)
            return status
        then = there.metadata.get(MARK)
        before = then.get("mark") if isinstance(then, dict) else None
        if there.state == "purged" or before == one.metadata[MARK]["mark"]:
            return "known"
        if there.state != "active" or there.superseded_by is not None:
            stands = "superseded" if there.state == "active" else there.state
            return f"changed at its source, but {stands} here: left so"
        if not isinstance(before, str) or before.split("-")[0] != digest(there.content):
            return "changed at its source and here: left as it is here"
        if is_below(self._origin, there.trust):
            return "changed at its source, but said by a more trusted origin here: left as it is here"
        if one.quarantine:
            return f"its new text {one.quarantine}: left as it was"
        if there.content != one.content:
            writer.event("edited", one.id, origin=self._origin, content=one.content)
        topics = list(unlike_topics((*there.topics, *one.topics)))[:50]
        writer.event("tagged", one.id, origin=self._origin, topics=topics, metadata={**there.metadata, **one.metadata})
        return "changed"

    # -- links

    def _import_links(self) -> None:
        wanted: dict[tuple[bytes, str, bytes], Link] = {}
        for link in self._links:
            if reason := self._unfit(link):
                self._report.bad(link.place, reason)
            elif link.type == TEMPORAL:
                self._report.note(f"{TEMPORAL} links follow from the order in a session and are not stored")
            elif link.type not in SYMMETRIC_TYPES or (link.target, link.type, link.source) not in wanted:
                wanted.setdefault((link.source, link.type, link.target), link)
        coming = iter(self._without_cycles(list(wanted.values())))
        while part := list(islice(coming, BATCH)):

            def decide(writer: Writer, part: list[Link] = part) -> int:
                replaced: set[bytes] = set()
                return sum(self._decide_link(writer, link, replaced) for link in part)

            self._report.links += self._context.write(decide)

    def _unfit(self, link: Link) -> str | None:
        if link.type not in STORED_TYPES and link.type != TEMPORAL:
            return f"unknown link type: {link.type[:60]!r}"
        if link.source == link.target:
            return f"{link.type} links a memory to itself"
        if link.target not in self._order:
            return f"{link.type} leads to a memory that is not there"
        if not 0 <= link.weight <= MAX_WEIGHT:
            return f"{link.type}: a weight must be from 0 to {MAX_WEIGHT:g}"
        return None

    def _without_cycles(self, links: list[Link]) -> list[Link]:
        kept = [link for link in links if link.type not in ACYCLIC_TYPES]
        acyclic = Acyclic(self._context.store)

        def rank(link: Link) -> tuple[bool, int]:
            """What rests on earlier memories, then, the last first, what rests on later ones: little leads to each."""
            forward = self._order[link.source] <= self._order[link.target]
            return forward, -self._order[link.source] if forward else self._order[link.source]

        for link in sorted((link for link in links if link.type in ACYCLIC_TYPES), key=rank):
            if acyclic.closes(link.type, link.source, link.target):
                self._report.bad(link.place, f"{link.type} would close a cycle")
            else:
                acyclic.add(link.type, link.source, link.target)
                kept.append(link)
        return kept

    def _decide_link(self, writer: Writer, link: Link, replaced: set[bytes]) -> bool:
        """Whether the link is new. One that was there and was ended here stays ended."""
        ends = [(link.source, link.target)]
        if link.type in SYMMETRIC_TYPES:
            ends.append((link.target, link.source))
        for source_id, target_id in ends:
            events = writer.reads.ledger.events(memory=source_id) if source_id not in self._fresh else ()
            linked = (event.data for event in events if event.type == "linked")
            if any(data["edge"] == link.type and data["target"] == target_id.hex() for data in linked):
                return False
        source, target = writer.reads.memories.get(link.source), writer.reads.memories.get(link.target)
        if source is None or target is None or "purged" in (source.state, target.state):
            return False
        data: dict[str, Any] = {"edge": link.type, "target": link.target.hex()}
        if link.weight != 1.0:
            data["weight"] = link.weight
        if link.at is not None:
            data["since"] = link.at
        writer.event("linked", link.source, origin=self._origin, **data)
        if link.type != "supersedes":
            return True
        # The old one ends where the new one begins, unless something replaced it before, or it is trusted more.
        if is_below(source.trust, target.trust):
            self._report.note("what is trusted more was not replaced by a link")
        elif target.superseded_by is None and target.state != "retracted" and link.target not in replaced:
            replaced.add(link.target)
            until = max(source.valid_from_us, target.valid_from_us)
            writer.event("superseded", link.target, origin=self._origin, by=link.source.hex(), valid_to=until)
        return True
