"""Records of any reader into the store. For limpet's own JSONL see `jsonl.py`.

A thousand records, or links, are a transaction; importing again completes an import that stopped. An imported memory's
id follows from the format, the scope and its id there. Its metadata marks what was read, so a record that has changed
at its source is edited, unless it was changed here too. Every record becomes a memory of its own; `limpet work` merges
duplicates. The rules about people are left to `limpet review sweep`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ...model.clock import format_time
from ...model.dataclass import replace
from ...model.edges import ACYCLIC_TYPES, MAX_WEIGHT, SYMMETRIC_TYPES, TEMPORAL
from ...model.errors import BadInput, EmbedderUnavailable, LimpetError, NotFound
from ...model.ids import parse_id
from ...model.memory import STORED_TYPES, UNVOUCHED, is_below, least_trusted, unlike_topics
from ...model.state import cancelled_by
from ...recall.lookup import INDEXED
from ...remember.decide import state
from ...remember.restate import reasons_of
from ...remember.validation import ValidStatement, validate
from ...remember.write import Writer
from ...vectors.reader import shared
from .records import MARK, Link, Record, TransferReport, digest, imported_id
from .schema import Acyclic

if TYPE_CHECKING:
    from ...context import Context
    from ...store import Store

# Records, or links, in one transaction.
BATCH = 1_000
ORIGIN = "import"

# Kinds that the reader gives to statements of a text, and from which probability; what happened, too, is a note, since
# an episode is of a session. docs/log.md has the figures.
KINDS_READ = frozenset({"fact", "preference", "decision", "lesson", "skill", "goal"})
SURE_OF_KIND = 0.5

# Characters of ids that can hide neither a secret nor a control character, and the most of them.
_PLAIN, _MOST_PLAIN = frozenset("0123456789abcdefABCDEF-"), 64
_Statement = tuple[Record, ValidStatement]
# Source, target, the link, and where it stands.
_Ends = tuple[bytes, bytes, Link, str]
_Wanted = tuple[tuple[bytes, str, bytes], Link]


def vouch(context: Context, claims: Mapping[bytes, str]) -> None:
    """Raise the trust of memories that a file brought when nobody vouched for it: a person does now.

    `claims`: memories and the trust that the file claims for each. One that rests on others is trusted no more than the
    least of them.
    """
    trusted: dict[bytes, str] = {}

    def write(writer: Writer) -> None:
        events = writer.reads.ledger.events(ids=list(claims))
        for id in [event.id for event in events if event.data.get("trust") == UNVOUCHED != claims[event.id]]:
            memory = writer.reads.memories.get(id)
            if memory is None or memory.trust != UNVOUCHED:
                continue
            reasons = [trusted.get(parse_id(reason.id), reason.trust) for reason in reasons_of(writer, id)]
            trusted[id] = least_trusted([claims[id], *reasons])
            if trusted[id] != UNVOUCHED:
                writer.event("observed", id, origin=memory.origin, trust=trusted[id], repeats=True)

    if claims:
        context.write(write)


def _there(store: Store, part: Sequence[_Statement]) -> set[bytes]:
    """Return the ids that are there: the event that makes a memory has its id."""
    return {event.id for event in store.ledger.events(ids=[valid.id for _, valid in part if valid.id])}


def hold_again(writer: Writer, memory: bytes) -> None:
    """Take back the undo that took a memory out."""
    history = list(writer.reads.ledger.events(memory=memory))
    cancelled = cancelled_by(history)
    for event in history:
        if event.type == "undone" and event.data["undoes"] == memory.hex() and event.id not in cancelled:
            writer.event("undone", memory, origin=ORIGIN, undoes=event.id.hex())


class Importer:
    """One import into one scope."""

    def __init__(self, context: Context, *, format: str, report: TransferReport, trusted: bool) -> None:
        """Set up the import. `trusted`: a person vouches for what it says."""
        self._context, self._format, self._report, self._trusted = context, format, report, trusted
        self._order: dict[bytes, int] = {}  # the ids that were read, in their order
        self._fresh: set[bytes] = set()  # those that this import made
        self._links: list[tuple[bytes, Iterable[Link], str]] = []  # source, links, where they stand

    def run(self, records: Iterator[Record]) -> None:
        """Run the import. Raises BadInput for an unreadable source; one that breaks off later is in the report."""
        part: list[_Statement] = []
        keys: set[str] = set()
        for record in self._read(records):
            id = self.id_of(record.id)
            if id in self._order:
                self._report.bad(record.place, f"the id {record.id[:100]!r} was there before")
                continue
            try:
                valid = self._validated(record, id)
            except LimpetError as error:
                self._report.bad(record.place, error.message)
                continue
            except (ValueError, OverflowError, RecursionError) as error:
                self._report.bad(record.place, f"not usable: {error}")
                continue
            self._order[id] = len(self._order)
            self._links.append((id, record.links, f"{record.place}, a link"))
            # A new value of a key must find the one before it in the store.
            if len(part) >= BATCH or valid.key in keys:
                self._write(part)
                part, keys = [], set()
            part.append((record, valid))
            if valid.key:
                keys.add(valid.key)
        self._write(part)
        self._write_links()
        if self._trusted and self._report.known + self._report.changed:
            vouch(self._context, dict.fromkeys(self._order, ORIGIN))

    def id_of(self, id: str) -> bytes:
        return imported_id(self._format, f"{self._context.scope}\0{id}")

    def _read(self, records: Iterator[Record]) -> Iterator[Record]:
        try:
            yield from records
        except LimpetError as error:
            if not self._order:
                raise
            self._report.bad("the rest", f"not read: {error.message}")

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
        plain = len(record.id) <= _MOST_PLAIN and _PLAIN.issuperset(record.id) and MARK not in record.metadata
        names = "content kind topics key importance confidence session speaker source"
        given = {name: getattr(record, name) for name in names.split()} | {
            "valid_from": start, "valid_to": end, "origin": ORIGIN, "id": id,
            "metadata": record.metadata if plain else {**record.metadata, MARK: mark},
        }  # fmt: skip
        valid = validate(given, scope=self._context.scope, now=now)
        if plain:
            valid.metadata[MARK] = mark
        # Two parts: the text as it is stored, and other fields but use, links and the place in a project's file.
        metadata = {name: value for name, value in record.metadata.items() if name != INDEXED}
        rest = digest(record.kind, record.topics, record.valid_to, record.key, metadata, record.speaker)
        valid.metadata[MARK]["mark"] = f"{digest(valid.content)}-{rest}"
        return valid if self._trusted else replace(valid, trust=UNVOUCHED)

    def _write(self, part: list[_Statement]) -> None:
        part = self._with_kinds(part)

        def decide(writer: Writer) -> list[str]:
            there = _there(writer.reads, part)
            return [self._decide(writer, record, valid, valid.id in there) for record, valid in part]

        outcomes = self._context.write(decide) if part else []
        used = []
        for (record, valid), outcome in zip(part, outcomes, strict=True):
            if outcome in ("created", "quarantined", "proposed"):
                self._report.new += 1
                self._report.quarantined += outcome != "created"
                self._report.redacted += bool(valid.secrets)
                assert valid.id is not None
                self._fresh.add(valid.id)
                if record.uses > 0:
                    counts = {"uses": min(record.uses, 1 << 31), "useful": 0, "not_useful": 0, "wrong": 0}
                    used.append(counts | {"id": valid.id, "used_at": record.used or 0})
            elif outcome == "changed":
                self._report.changed += 1
            elif outcome == "known":
                self._report.known += 1
            else:
                self._report.bad(record.place, outcome)
        if used:
            self._context.store.usage.restore(used)

    def _with_kinds(self, part: list[_Statement]) -> list[_Statement]:
        """Return statements, new ones without a kind of their source's with that which the reader says; it is a note
        whose language or kind the reader does not know."""
        there, reader, kinds = _there(self._context.store, part), shared(), dict[bytes | None, str]()
        with suppress(EmbedderUnavailable):
            asked = {valid.id: record.prose for record, valid in part if record.prose and valid.id not in there}
            asked = {id: text for id, text in asked.items() if reader.reads(text)}
            answers = reader.answers("worth", [("", text) for text in asked.values()])
            best = {id: max(shares.items(), key=itemgetter(1)) for id, shares in zip(asked, answers, strict=True)}
            kinds = {id: kind for id, (kind, share) in best.items() if kind in KINDS_READ and share >= SURE_OF_KIND}
        return [(record, replace(valid, kind=kinds.get(valid.id, valid.kind))) for record, valid in part]

    def _decide(self, writer: Writer, record: Record, valid: ValidStatement, known: bool) -> str:
        """Return created, quarantined, proposed (both wait for review), known, changed, or why it was not taken."""
        id = valid.id
        assert id is not None
        there = writer.reads.memories.get(id) if known else None
        if there is None:
            try:
                status = state(writer, valid, fresh=True, unused=id).status
            except (BadInput, NotFound) as error:
                return error.message
            if record.archived and status == "created":
                writer.event("archived", id, origin=ORIGIN)
            return status
        if there.reason == "undone":  # it was imported and taken back: now it is wanted
            hold_again(writer, id)
            return "created"
        then = there.metadata.get(MARK)
        before = then.get("mark") if isinstance(then, dict) else None
        active = there.state == "active" and there.superseded_by is None
        if there.state == "archived" and not record.archived and INDEXED in there.metadata:
            archived = [event.origin for event in writer.reads.ledger.events(memory=id) if event.type == "archived"]
            if archived[-1:] == [ORIGIN]:  # it was gone at its source, and nobody here wanted it gone
                writer.event("restored", id, origin=ORIGIN)
                active = True
        same = before == valid.metadata[MARK]["mark"]
        if there.state == "purged" or (same and not active):
            return "known"
        if not same:
            if not active:
                stands = "superseded" if there.state == "active" else there.state
                return f"changed at its source, but {stands} here: left so"
            if not isinstance(before, str) or before.split("-")[0] != digest(there.content):
                return "changed at its source and here: left as it is here"
            if is_below(ORIGIN, there.trust):
                return "changed at its source, but said by a more trusted origin here: left as it is here"
            if valid.quarantine:
                return f"its new text {valid.quarantine}: left as it was"
            if there.content != valid.content:
                writer.event("edited", id, origin=ORIGIN, content=valid.content)
                if not self._trusted:  # who vouched for it has not seen this
                    writer.event("observed", id, origin=ORIGIN, trust=UNVOUCHED, repeats=True)
        elif there.metadata.get(INDEXED) == valid.metadata.get(INDEXED):
            return "known"
        topics = list(unlike_topics((*there.topics, *valid.topics)))[:50]
        metadata = {**there.metadata, **valid.metadata}
        writer.event("tagged", id, origin=ORIGIN, topics=topics, metadata=metadata)
        return "known" if same else "changed"

    def _write_links(self) -> None:
        def rank(ends: _Ends) -> tuple[bool, int]:
            """Return a sort key: links to earlier memories, then links to later ones from the last back."""
            source, target, *_ = ends
            forward = self._order[source] <= self._order.get(target, -1)
            return forward, -self._order[source] if forward else self._order[source]

        acyclic = Acyclic(self._context.store)
        wanted: dict[tuple[bytes, str, bytes], Link] = {}
        links = [(id, self.id_of(link.target), link, place) for id, own, place in self._links for link in own]
        for source, target, link, place in sorted(links, key=rank):
            type, problem = link.type, ""
            if type not in STORED_TYPES and type != TEMPORAL:
                problem = f"unknown link type: {type[:60]!r}"
            elif source == target:
                problem = f"{type} links a memory to itself"
            elif target not in self._order:
                problem = f"{type} leads to a memory that is not there"
            elif not 0 <= link.weight <= MAX_WEIGHT:
                problem = f"{type}: a weight must be from 0 to {MAX_WEIGHT:g}"
            elif type == TEMPORAL:
                self._report.note(f"{TEMPORAL} links follow from the order in a session and are not stored")
                continue
            elif (source, type, target) in wanted or (type in SYMMETRIC_TYPES and (target, type, source) in wanted):
                continue
            elif type in ACYCLIC_TYPES and acyclic.closes(type, source, target):
                problem = f"{type} would close a cycle"
            if problem:
                self._report.bad(place, problem)
                continue
            if type in ACYCLIC_TYPES:
                acyclic.add(type, source, target)
            wanted[source, type, target] = link
        new = list(wanted.items())
        for start in range(0, len(new), BATCH):

            def decide(writer: Writer, part: Sequence[_Wanted] = new[start : start + BATCH]) -> int:
                replaced = set[bytes]()
                return sum(self._link(writer, *ends, link, replaced) for ends, link in part)

            self._report.links += self._context.write(decide)

    def _link(self, writer: Writer, start: bytes, type: str, goal: bytes, link: Link, replaced: set[bytes]) -> bool:
        """Write a link that is new. One that was there and was ended here stays ended."""
        for first, other in ((start, goal), (goal, start)) if type in SYMMETRIC_TYPES else ((start, goal),):
            events = writer.reads.ledger.events(memory=first) if first not in self._fresh else ()
            linked = (event.data for event in events if event.type == "linked")
            if any(data["edge"] == type and data["target"] == other.hex() for data in linked):
                return False
        source, target = writer.reads.memories.get(start), writer.reads.memories.get(goal)
        if source is None or target is None or "purged" in (source.state, target.state):
            return False
        data: dict[str, Any] = {"edge": type, "target": goal.hex()}
        if link.weight != 1.0:
            data["weight"] = link.weight
        if link.at is not None:
            data["since"] = link.at
        writer.event("linked", start, origin=ORIGIN, **data)
        if type != "supersedes":
            return True
        # The old one ends where the new one begins, unless it was replaced before or is trusted more.
        if is_below(source.trust, target.trust):
            self._report.note("what is trusted more was not replaced by a link")
        elif target.superseded_by is None and target.state != "retracted" and goal not in replaced:
            replaced.add(goal)
            until = max(source.valid_from_us, target.valid_from_us)
            writer.event("superseded", goal, origin=ORIGIN, by=start.hex(), valid_to=until)
        return True
